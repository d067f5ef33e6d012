/** @file The editor of one field: a value, a list of values, or the reason why there is no editor. */

import {element, icon} from "../../core/dom.js";
import {badge} from "../badge.js";
import {button, iconButton} from "../button.js";
import {fileEditor} from "./file-editor.js";
import {isTyped, valueInput} from "./input.js";
import {fieldText, isUnset} from "./text.js";
import {isList, itemType} from "./types.js";

/**
 * What an editor holds: a field for the wire (null: no value), or what is wrong.
 * @typedef {{field?: import("./text.js").Field|null, wrong?: string, input?: HTMLElement}} Edited
 */

/**
 * An editor of a field. `label` is the element to focus from its label; without it the editor is a group.
 * @typedef {{nodes: Node[], first: HTMLElement|null, read: function(): Edited, set: function(any): void}} Editor
 */

/** Text differs from other types: an empty text is a value, and no value is another thing. */
function textEditor(name, changed) {
    const input = valueInput("STRING", name, {placeholder: "Not set"});
    const area = input.inputs[0];
    const clear = button("Remove the value", {className: "bare", label: `Remove the value of ${name}`, click: () => {
        set(null);
        changed();
        area.focus();
    }});
    const state = element("div", {class: "was"}, element("span", null, "Empty text, not the same as no value."), clear);
    let hasValue = false;
    const show = () => {
        area.placeholder = hasValue ? "Empty text" : "Not set";
        state.hidden = !hasValue || area.value !== "";
    };
    const set = (field) => {
        hasValue = !isUnset(field);
        input.set(hasValue ? field.value : "");
        show();
    };
    area.addEventListener("input", () => {
        hasValue = true;
        show();
        changed();
    });
    return {nodes: [area, state], first: area, set,
        read: () => ({field: hasValue ? {value: area.value, type: "STRING"} : null})};
}

function scalarEditor(type, name, changed) {
    const input = valueInput(type, name, {placeholder: "Not set"});
    for (const part of input.inputs) part.addEventListener("input", changed);
    return {
        nodes: input.nodes, first: input.inputs[0],
        read: () => {
            const {value, wrong} = input.read();
            if (wrong) return {wrong, input: input.inputs[0]};
            return {field: value === undefined ? null : {value, type}};
        },
        set: (field) => input.set(isUnset(field) ? null : field.value),
    };
}

/** A list: one line for each item. A list without items is no value, unless it came empty. */
function listEditor(type, name, changed) {
    const item = itemType(type);
    const rows = element("div", {class: "list-rows"});
    let lines = [];
    let cameEmpty = false;
    const renumber = () => lines.forEach((line, index) => {
        line.input.inputs[0].setAttribute("aria-label", `${name}, item ${index + 1}`);
        line.remove.setAttribute("aria-label", `Remove item ${index + 1} of ${name}`);
        line.remove.title = `Remove item ${index + 1}`;
    });
    const addLine = (value) => {
        const input = valueInput(item, name, {isItem: true});
        if (value !== undefined) input.set(value);
        const line = {input, remove: null, node: null};
        line.remove = iconButton("cross", "Remove", {click: () => {
            const index = lines.indexOf(line);
            lines = lines.filter((other) => other !== line);
            line.node.remove();
            renumber();
            changed();
            (lines[Math.min(index, lines.length - 1)]?.input.inputs[0] ?? add).focus();
        }});
        const content = input.nodes.length === 1 ? input.nodes : element("div", {class: "item-parts"}, input.nodes);
        line.node = element("div", {class: "row"}, content, line.remove);
        for (const part of input.inputs) part.addEventListener("input", changed);
        lines.push(line);
        rows.append(line.node);
        renumber();
        return line;
    };
    const add = button("Add an item", {icon: "plus", className: "bare", label: `Add an item to ${name}`, click: () => {
        addLine().input.inputs[0].focus();
        changed();
    }});
    const read = () => {
        const values = [];
        for (const {input} of lines) {
            const {value, wrong} = input.read();
            if (wrong) return {wrong, input: input.inputs[0]};
            if (value === undefined) return {wrong: "An item is empty. Fill it in or remove it.",
                input: input.inputs[0]};
            values.push(value);
        }
        return {field: values.length === 0 && !cameEmpty ? null : {value: values, type}};
    };
    const set = (field) => {
        lines = [];
        rows.replaceChildren();
        cameEmpty = Array.isArray(field?.value) && field.value.length === 0;
        for (const value of Array.isArray(field?.value) ? field.value : []) addLine(value);
    };
    return {nodes: [rows, element("div", null, add)], first: null, read, set};
}

/** A field that can't be typed, as lists of files are: it can only be removed. */
function fixedEditor(type, changed) {
    const words = element("span", {class: "cut"});
    let field = null;
    const remove = button("Remove", {className: "bare", click: () => {
        set(null);
        changed();
    }});
    const set = (next) => {
        field = isUnset(next) ? null : next;
        words.textContent = fieldText(field);
        remove.hidden = field === null;
    };
    const hint = element("p", {class: "hint"}, /^ASSETID/.test(type)
        ? "Lists of files are made by apps or by yap, not here." : `Values of type ${type} can’t be edited here.`);
    return {nodes: [element("div", {class: "row"}, words, remove), hint], first: null, read: () => ({field}), set};
}

function encryptedEditor() {
    let field = null;
    return {
        nodes: [element("div", {class: "row"}, badge("Encrypted", {state: "info", icon: "lock"})),
            element("p", {class: "hint"}, "The server can’t read this field, so it can’t be edited here.")],
        first: null, read: () => ({field}), set: (next) => { field = next ?? null; },
    };
}

/**
 * Creates the editor for a field.
 * @param {{name: string, type: string, isEncrypted: boolean}} definition
 * @param {function(): void} changed is called at each change
 * @returns {Editor}
 */
export function fieldEditor({name, type, isEncrypted}, changed) {
    if (isEncrypted || type.startsWith("ENCRYPTED")) return encryptedEditor();
    if (type === "ASSETID") return fileEditor(name, changed);
    if (!isTyped(itemType(type))) return fixedEditor(type, changed);
    if (isList(type)) return listEditor(type, name, changed);
    return type === "STRING" ? textEditor(name, changed) : scalarEditor(type, name, changed);
}

/** Creates the sentence under an editor that says what is wrong with its text. */
export function wrongSentence(id, text) {
    return element("p", {class: "wrong", id}, icon("bad"), element("span", null, text));
}
