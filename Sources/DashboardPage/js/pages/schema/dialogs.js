/** @file Dialogs that change development's schema. */

import {element, uniqueID} from "../../core/dom.js";
import {go} from "../../core/router.js";
import {control, selectControl, setWrong, tick} from "../../parts/control.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {formDialog} from "../../parts/form-dialog.js";
import {announce} from "../../parts/status.js";
import {reloadFocused} from "./frame.js";
import {changeSchema, schemaAddress} from "./source.js";
import {canBeEncrypted, fieldTypes, indexKinds, possibleIndexes} from "./words.js";

const plainInput = {autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 255};
const refusedWhen = "This is refused while records of development have values of it, or while production has it.";

/** Asks for a name, makes the record type, and goes to it. */
export async function askNewType(page) {
    const name = control("Name", plainInput, {hint: "As in code: Todo, ShoppingList."});
    const made = await formDialog({
        title: "New record type", action: "Create the type", signal: page.signal,
        children: [element("p", {class: "quiet"}, "In the public database, everyone may read its records, signed-in ",
            "users may create them, and a record’s creator may change it. Roles can change that."), name],
        run: () => sendNamed(page, name.input, (recordType) => ({op: "addType", recordType})),
    });
    if (!made) return;
    announce(`Type ${made} was created`);
    await go(schemaAddress(page.params, "types", made));
}

/** Asks for name, type and indexes of a field, and adds it. */
export async function askNewField(recordType, page) {
    const name = control("Name", plainInput);
    const type = selectControl("Type", fieldTypes.map((value) => ({value, text: value})), "STRING");
    const encrypted = tick("Encrypted", {hint: "Kept as the device encrypted it. It can’t have indexes."});
    const boxes = indexKinds.map(({kind, text, note}) => ({kind, box: tick(text, {isChecked: true, hint: note})}));
    const update = () => {
        encrypted.input.disabled = !canBeEncrypted(type.input.value);
        const possible = isEncrypted() ? [] : possibleIndexes(type.input.value);
        for (const {kind, box} of boxes) box.input.disabled = !possible.includes(kind);
    };
    const isEncrypted = () => encrypted.input.checked && !encrypted.input.disabled;
    for (const part of [type, encrypted]) part.input.addEventListener("change", update);
    update();
    const id = uniqueID("indexes");
    const added = await formDialog({
        title: `New field of ${recordType}`, action: "Add the field", signal: page.signal,
        children: [name, type, encrypted, element("div", {class: "section", role: "group", "aria-labelledby": id},
            element("h3", {id}, "Indexes"), boxes.map(({box}) => box))],
        run: () => sendNamed(page, name.input, (field) => [
            {op: "addField", recordType, field, type: type.input.value, isEncrypted: isEncrypted()},
            ...boxes.filter(({box}) => box.input.checked && !box.input.disabled)
                .map(({kind}) => ({op: "setIndex", recordType, field, kind, isOn: true}))]),
    });
    if (!added) return;
    announce(`Field ${added} was added`);
    await reloadFocused(page);
}

/** Asks for a name, and makes a role. */
export async function askNewRole(page) {
    const name = control("Name", plainInput, {hint: "It doesn’t begin with _."});
    const made = await formDialog({
        title: "New role", action: "Create the role", signal: page.signal, children: name,
        run: () => sendNamed(page, name.input, (role) => ({op: "addRole", role})),
    });
    if (!made) return;
    announce(`Role ${made} was created`);
    await reloadFocused(page);
}

/** Asks before a record type is deleted. */
export function askDeleteType(recordType, page) {
    return askDelete(page, {title: `Delete type ${recordType}?`, action: `Delete ${recordType}`,
        text: `Its fields, indexes and grants are deleted with it. ${refusedWhen}`,
        operation: {op: "deleteType", recordType}, done: `Type ${recordType} was deleted`});
}

/** Asks before a field is deleted. */
export function askDeleteField(recordType, field, page) {
    return askDelete(page, {title: `Delete field ${field}?`, action: `Delete ${field}`,
        text: `It is deleted from ${recordType} with its indexes. ${refusedWhen}`,
        operation: {op: "deleteField", recordType, field}, done: `Field ${field} was deleted`});
}

/** Asks before a role is deleted. */
export function askDeleteRole(role, page) {
    return askDelete(page, {title: `Delete role ${role}?`, action: `Delete ${role}`,
        text: "Its grants are deleted with it. Users who have the role lose its permissions.",
        operation: {op: "deleteRole", role}, done: `Role ${role} was deleted`});
}

async function askDelete(page, {title, action, text, operation, done}) {
    const isDone = await confirmDestroy({title, action, signal: page.signal, environment: page.params.environment,
        where: "", children: element("p", null, text), run: () => changeSchema(page, [operation])});
    if (!isDone) return;
    announce(done);
    await reloadFocused(page);
}

// Resolves with the name, or undefined when none was typed.
async function sendNamed(page, input, operations) {
    setWrong(input, null);
    const name = input.value.trim();
    if (!name) return setWrong(input, "Type a name.");
    await changeSchema(page, [operations(name)].flat());
    return name;
}
