/** @file Copies text. */

import {element, fill, icon} from "../core/dom.js";
import {iconButton} from "./button.js";
import {announce} from "./status.js";

/**
 * Creates a button that copies a text.
 * @param {string|function(): string} text
 * @param {string} label For example "Copy the record name".
 */
export function copyButton(text, label) {
    const target = iconButton("copy", label, {click: async () => {
        const isCopied = await copyText(typeof text === "function" ? text() : text);
        fill(target, icon(isCopied ? "check" : "warn"));
        announce(isCopied ? "Copied" : "Copying failed: select the text instead");
        setTimeout(() => fill(target, icon("copy")), 1500);
    }});
    return target;
}

// Returns whether it worked.
async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return copyBySelection(text);
    }
}

// The clipboard exists only under TLS and on loopback.
function copyBySelection(text) {
    const area = element("textarea", {class: "hidden", "aria-hidden": "true", tabindex: "-1", readonly: true}, text);
    const holder = document.querySelector("dialog[open]") ?? document.body;
    const focused = document.activeElement;
    holder.append(area);
    area.select();
    let isCopied = false;
    try {
        isCopied = document.execCommand("copy");
    } catch {
        isCopied = false;
    }
    area.remove();
    focused?.focus();
    return isCopied;
}
