/** @file Pickers and menus: a button that opens a list of links or buttons. */

import {element, fill, icon, uniqueID} from "../core/dom.js";
import {isAbort} from "../core/api.js";
import {reasonOf} from "./message.js";

/**
 * Creates a picker.
 * @param {{label: string, value: any, valueText?: string, isBoxed?: boolean, className?: string,
 *     items: function(): (Item[]|Promise<Item[]>), foot?: function(): any}} options `label` is shown small in a boxed
 *     picker, and is part of the button's name. `items` is called at each opening.
 *     `content(close)` returns the menu's nodes in place of `items`, and `menuLabel` names such a menu.
 *     An item is `{text, address?, click?, isCurrent?, note?}`.
 */
export function picker({label, value, valueText, isBoxed, className, items, foot, content, menuLabel}) {
    const text = element("span", {class: "cut"}, isBoxed ? element("small", null, label) : null, value);
    const opener = element("button", {type: "button", "aria-expanded": "false",
        "aria-label": `${label}: ${valueText ?? (typeof value === "string" ? value : "")}`}, text, icon("down"));
    const part = element("div", {class: ["picker", isBoxed ? "boxed" : "", className].filter(Boolean).join(" ")},
        opener);
    attachMenu(opener, part, {items, foot, content, label: menuLabel});
    return part;
}

/**
 * Lets a button open a menu.
 * @param {HTMLButtonElement} opener
 * @param {HTMLElement} holder `div.picker` around the button; the menu is added to it.
 * @param {{items: function(): any, foot?: function(): any, content?: function(function(): void): any,
 *     isRight?: boolean, label?: string}} options `content(close)` returns the menu's nodes in place of `items`.
 */
export function attachMenu(opener, holder, {items, foot, content, isRight, label}) {
    const id = uniqueID("menu");
    const menu = element("div",
        {class: isRight ? "menu right" : "menu", id, hidden: true, role: label ? "group" : undefined,
        "aria-label": label});
    opener.setAttribute("aria-expanded", "false");
    opener.setAttribute("aria-controls", id);
    holder.append(menu);
    const close = ({focuses = true} = {}) => {
        if (menu.hidden) return;
        menu.hidden = true;
        opener.setAttribute("aria-expanded", "false");
        document.removeEventListener("pointerdown", outside, true);
        if (focuses) opener.focus();
    };
    const outside = (event) => { if (!holder.contains(event.target)) close({focuses: false}); };
    const open = async () => {
        menu.hidden = false;
        opener.setAttribute("aria-expanded", "true");
        document.addEventListener("pointerdown", outside, true);
        if (content) fillContent(menu, content(close));
        else await fillItems(menu, items, foot, close);
    };
    opener.addEventListener("click", () => (menu.hidden ? open() : close()));
    holder.addEventListener("keydown", (event) => menuKey(event, menu, opener, close));
    holder.addEventListener("focusout", (event) => {
        if (event.relatedTarget && !holder.contains(event.relatedTarget)) close({focuses: false});
    });
    return {close};
}

function fillContent(menu, nodes) {
    fill(menu, nodes);
    menu.querySelector("input, a, button")?.focus();
}

async function fillItems(menu, items, foot, close) {
    try {
        const pending = items();
        if (pending instanceof Promise) fill(menu, element("p", {class: "quiet row", role: "status"}, "Loading…"));
        const list = await pending;
        const bottom = foot?.();
        fill(menu, list.length ? element("ul", null, list.map((item) => entry(item, close)))
            : element("p", {class: "quiet row"}, "Nothing to choose from."),
        bottom ? element("div", {class: "foot"}, bottom) : null);
        if (menu.parentElement.contains(document.activeElement)) {
            (menu.querySelector("[aria-current]") ?? menu.querySelector("a, button, input"))?.focus();
        }
    } catch (error) {
        if (!isAbort(error)) fill(menu, element("p", {class: "wrong", role: "alert"}, icon("bad"), reasonOf(error)));
    }
}

function entry({text, address, click, isCurrent, note}, close) {
    const run = () => {
        close({focuses: !address});
        click?.();
    };
    const attributes = {"aria-current": isCurrent ? "true" : undefined, on: {click: run}};
    const content = [element("span", {class: "cut"}, text), note ? element("small", {class: "quiet"}, note) : null];
    return element("li", null, address ? element("a", {href: address, ...attributes}, content)
        : element("button", {type: "button", ...attributes}, content));
}

function menuKey(event, menu, opener, close) {
    if (menu.hidden) {
        if (event.key === "ArrowDown" && event.target === opener) {
            event.preventDefault();
            opener.click();
        }
        return;
    }
    if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        close();
        return;
    }
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    event.preventDefault();
    const stops = [...menu.querySelectorAll("a, button, input")];
    const index = stops.indexOf(document.activeElement);
    stops[(index + step + stops.length) % stops.length]?.focus();
}
