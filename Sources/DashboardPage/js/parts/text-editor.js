/** @file A text area with line numbers, in which one line can be marked as wrong. */

import {element, fill} from "../core/dom.js";

/**
 * Creates the editor. `part.input` is the text area, `part.markLine(number)` marks a line (null: none), and
 * `part.goTo(line, column)` puts the cursor there.
 * @param {{label: string, value: string, isReadOnly?: boolean, changed?: function(): void}} options
 */
export function textEditor({label, value, isReadOnly = false, changed}) {
    const numbers = element("div", {class: "numbers", "aria-hidden": "true"});
    const input = element("textarea", {"aria-label": label, wrap: "off", spellcheck: "false", autocomplete: "off",
        autocapitalize: "none", readonly: isReadOnly});
    const part = element("div", {class: "text-editor"}, numbers, input);
    const number = () => {
        const lines = input.value.split("\n").length;
        // The area is as high as its text, so that numbers and lines scroll together.
        input.rows = lines;
        if (numbers.children.length === lines) return;
        fill(numbers, Array.from({length: lines}, (_, index) => element("span", null, index + 1)));
        part.markLine(part.wrongLine);
    };
    part.markLine = (line) => {
        part.wrongLine = line;
        numbers.querySelector(".wrong-line")?.classList.remove("wrong-line");
        if (line) numbers.children[line - 1]?.classList.add("wrong-line");
        if (line) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
    };
    part.goTo = (line, column) => {
        const before = input.value.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
        input.focus();
        input.setSelectionRange(before + column - 1, before + column - 1);
        numbers.children[line - 1]?.scrollIntoView({block: "center"});
    };
    part.setText = (text) => {
        input.value = text;
        number();
    };
    input.addEventListener("input", () => {
        number();
        changed?.();
    });
    part.input = input;
    part.setText(value);
    return part;
}
