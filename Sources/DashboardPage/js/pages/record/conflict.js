/** @file Two people changed one record: three columns, and a choice for each field that differs. */

import {element, uniqueID} from "../../core/dom.js";
import {relative} from "../../core/format.js";
import {button} from "../../parts/button.js";
import {openDialog} from "../../parts/dialog.js";
import {bare, own} from "../../parts/values/own.js";
import {fieldText, isSame} from "../../parts/values/text.js";

const lettersShown = 300;

/**
 * One field in three versions.
 * @typedef {{name: string, base: any, yours: any, server: any}} Difference
 */

/**
 * Returns the fields that differ between the three.
 * @param {any} base the record as the edit began with it
 * @param {Object} changes what was typed; the value null clears
 * @param {any} server the record as the service has it
 * @returns {{differences: Difference[], equalCount: number}}
 */
export function compare(base, changes, server) {
    const names = new Set([base.fields, changes, server.fields].flatMap((fields) => Object.keys(fields ?? {})));
    const differences = [];
    for (const name of names) {
        const typed = own(changes, name);
        const versions = {name, base: own(base.fields, name), server: own(server.fields, name)};
        versions.yours = typed === undefined ? versions.base : typed;
        if (!isSame(versions.yours, versions.server)) differences.push(versions);
    }
    return {differences, equalCount: names.size - differences.length};
}

/** Returns which version comes chosen: the one that somebody changed; yours where both did. */
export function chosenAtFirst({base, yours, server}) {
    return isSame(base, yours) && !isSame(base, server) ? "server" : "yours";
}

function changedNote(version, difference) {
    const mine = !isSame(difference.base, difference.yours);
    const theirs = !isSame(difference.base, difference.server);
    if (version === "yours" && mine) return theirs ? "changed by you" : "changed by you only";
    if (version === "server" && theirs) return mine ? "changed by others" : "changed by others only";
    return null;
}

function side(version, word, difference, group) {
    const text = fieldText(difference[version]);
    const note = changedNote(version, difference);
    return element("label", {class: "side"},
        element("input", {type: "radio", name: group, value: version, checked: chosenAtFirst(difference) === version}),
        element("span", null, element("span", {class: "word"}, word),
            element("bdi", null, text.length > lettersShown ? `${text.slice(0, lettersShown)}…` : text),
            note ? element("small", null, note) : null));
}

function choice(difference) {
    const group = uniqueID("choice");
    return element("fieldset", {class: "choice", "data-name": difference.name}, element("legend", null,
        difference.name),
        side("base", "Base", difference, group), side("yours", "Yours", difference, group),
        side("server", "On the server", difference, group));
}

function headOf(base, server) {
    const tag = (record) => element("code", null, record.recordChangeTag ?? "");
    return [element("p"), element("p", null, element("strong", null, "Base"), "when you opened it, tag ", tag(base)),
        element("p", null, element("strong", null, "Yours"), "not saved"),
        element("p", null, element("strong", null, "On the server"), "now, tag ", tag(server))];
}

function chosenChanges(form, differences) {
    const changes = bare();
    for (const fieldset of form.querySelectorAll(".choice")) {
        const difference = differences.find(({name}) => name === fieldset.dataset.name);
        const value = difference[fieldset.querySelector("input:checked").value];
        if (!isSame(value, difference.server)) changes[difference.name] = value ?? {value: null};
    }
    return changes;
}

/**
 * Asks which values to keep.
 * @param {{base: any, changes: Object, server: any, isProduction: boolean, who: string,
 *     signal: AbortSignal}} conflict `who` saved the server's record
 * @returns {Promise<{does: "back"|"discard"|"save", changes?: Object}>} `changes` are to be saved over the server's
 *     record
 */
export async function resolveConflict({base, changes, server, isProduction, who, signal}) {
    const {differences, equalCount} = compare(base, changes, server);
    const when = server.modified?.timestamp ? relative(Number(server.modified.timestamp)) : "meanwhile";
    const equal = equalCount === 1 ? "1 field is equal and not shown."
        : `${equalCount} fields are equal and not shown.`;
    const dialog = openDialog({
        title: "The record was changed while you edited it", isWide: true, isProduction, signal,
        submit: () => dialog.close({does: "save", changes: chosenChanges(dialog.body, differences)}),
        children: [element("p", {class: "quiet"}, `${who} saved it ${when}. Nothing of yours has been written. `
            + `Choose a value for each field; ${equal}`),
        element("div", {class: "sides"}, headOf(base, server), differences.map(choice))],
        actions: [button("Go back to my edits", {click: () => dialog.close({does: "back"})}),
            button("Discard mine", {click: () => dialog.close({does: "discard"})}),
            button("Save the chosen values", {className: "first", type: "submit"})],
    });
    return await dialog.closed ?? {does: "back"};
}
