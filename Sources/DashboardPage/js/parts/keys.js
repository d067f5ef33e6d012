/**
 * @file The list of keys, which `?` opens. A person can switch that off: a key alone may be in the way of speech input.
 */

import {element} from "../core/dom.js";
import {button} from "./button.js";
import {tick} from "./control.js";
import {openDialog} from "./dialog.js";

const storageKey = "yap-question-mark";
const keys = [
    [["Ctrl", "K"], "Find an action, a page, a record type, a zone or a record"],
    [["?"], "Open this list"],
    [["Tab"], "Go to the next control; with Shift to the one before"],
    [["↓", "↑"], "Move in a list or a menu; ↓ also opens it"],
    [["Enter"], "Choose; press a button; open a link"],
    [["Ctrl", "Enter"], "Save the record that is edited"],
    [["Esc"], "Close a menu or a dialog"],
];

/** The item of the find box that opens the list. */
export const keysItem = {text: "Keyboard shortcuts", note: "help", icon: "info", run: openKeys};

document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select");
    const hasKey = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key !== "?" || isTyping || hasKey || event.defaultPrevented) return;
    if (!isOn() || document.querySelector("dialog[open]") || !document.querySelector(".rail")) return;
    event.preventDefault();
    openKeys();
});

/** Opens the list of keys. */
export function openKeys() {
    const choice = tick("The key ? opens this list", {isChecked: isOn()});
    choice.input.addEventListener("change", () => keep(choice.input.checked));
    const dialog = openDialog({
        title: "Keyboard shortcuts",
        children: [element("dl", {class: "keys"}, keys.map(([names, text]) => element("div", null,
            element("dt", null, names.map((name) => element("kbd", null, name))), element("dd", null, text)))), choice],
        actions: button("Close", {className: "first", click: () => dialog.close()}),
    });
}

function isOn() {
    try {
        return localStorage.getItem(storageKey) !== "off";
    } catch {
        return true;
    }
}

function keep(isChecked) {
    try {
        if (isChecked) localStorage.removeItem(storageKey);
        else localStorage.setItem(storageKey, "off");
    } catch {
        // Storage is blocked: the key works again after the page is loaded anew.
    }
}
