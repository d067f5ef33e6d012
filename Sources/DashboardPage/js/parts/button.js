/** @file Buttons, and links that look like one. */

import {element, fill, icon} from "../core/dom.js";

/**
 * Creates a button.
 * @param {string} text
 * @param {{icon?: string, className?: string, type?: string, click?: function(Event): any, label?: string,
 *     attributes?: Object}} [options] `className` holds variants: first, destroy, bare, wide, shrink.
 */
export function button(text, options = {}) {
    return make("button", text, {type: options.type ?? "button"}, options);
}

/** Creates a link that looks like a button. The options are those of `button`. */
export function linkButton(text, address, options = {}) {
    return make("a", text, {href: address}, options);
}

/**
 * Creates a button that shows only an icon. Its text is read by screen readers and shown as its title.
 * @param {string} name The icon.
 * @param {string} label
 */
export function iconButton(name, label, options = {}) {
    const attributes = {type: "button", class: `button bare only ${options.className ?? ""}`.trim(),
        "aria-label": label,
        title: label, on: options.click ? {click: options.click} : undefined, ...options.attributes};
    return element("button", attributes, icon(name));
}

/** Creates a link that shows only an icon. */
export function iconLink(name, label, address, options = {}) {
    return element("a", {class: "button bare only", href: address, "aria-label": label, title: label,
        ...options.attributes}, icon(name));
}

/**
 * Disables a button while work is running, so that it runs once. Focus stays on the button.
 * @template T
 * @param {HTMLButtonElement|null} target
 * @param {function(): Promise<T>} work
 * @returns {Promise<T|undefined>}
 */
export async function whileBusy(target, work) {
    if (target?.getAttribute("aria-disabled") === "true") return undefined;
    target?.setAttribute("aria-disabled", "true");
    try {
        return await work();
    } finally {
        target?.removeAttribute("aria-disabled");
    }
}

/** Replaces the text of a button, and keeps its icon. */
export function setButtonText(target, text) {
    const picture = target.querySelector("svg");
    fill(target, picture, target.classList.contains("shrink") ? element("span", null, text) : text);
}

function make(tag, text, own, options) {
    const attributes = {class: `button ${options.className ?? ""}`.trim(), ...own, "aria-label": options.label,
        on: options.click ? {click: options.click} : undefined, ...options.attributes};
    const isShrinking = options.className?.split(" ").includes("shrink");
    return element(tag, attributes, options.icon ? icon(options.icon) : null,
        isShrinking ? element("span", null, text) : text);
}
