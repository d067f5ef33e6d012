/** @file The editor of a field with a file: choose one, or remove it. The file is sent when the record is saved. */

import {element} from "../../core/dom.js";
import {button} from "../button.js";
import {fieldText, isUnset} from "./text.js";

let chosenCount = 0;

/** The field of a file that was chosen; its checksum is one that no file has, so that it counts as changed. */
function chosenField(file) {
    chosenCount += 1;
    return {type: "ASSETID", value: {file, size: file.size, fileChecksum: `chosen ${chosenCount}`}};
}

/**
 * Creates the editor of a field that holds one file.
 * @param {string} name the field's
 * @param {function(): void} changed
 * @returns {import("./editor.js").Editor}
 */
export function fileEditor(name, changed) {
    const words = element("span", {class: "cut"});
    const input = element("input", {class: "input", type: "file"});
    let field = null;
    const show = () => {
        words.textContent = field?.value?.file ? `${field.value.file.name} (${fieldText(field)}) is sent when you save`
            : fieldText(field);
        remove.hidden = field === null;
    };
    const remove = button("Remove", {className: "bare", label: `Remove the file of ${name}`, click: () => {
        set(null);
        changed();
        input.focus();
    }});
    const set = (next) => {
        field = isUnset(next) ? null : next;
        if (!field?.value?.file) input.value = "";
        show();
    };
    input.addEventListener("change", () => {
        // A dialog that was cancelled leaves what was there.
        if (input.files.length === 0) return;
        field = chosenField(input.files[0]);
        show();
        changed();
    });
    set(null);
    return {nodes: [element("div", {class: "row"}, words, remove), input], first: input, read: () => ({field}), set};
}
