/** @file The find box: actions of the page, pages, record types, zones, containers, and a record by its name. */

import {element, fill, icon, uniqueID} from "../core/dom.js";
import {findItems} from "../core/finder.js";
import {go} from "../core/router.js";
import {openDialog} from "./dialog.js";
import {keysItem} from "./keys.js";

let shortcut = null;

document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (!shortcut || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    shortcut();
});

/** Creates the form in the top bar. */
export function findForm(route) {
    const {input, list, box} = findBox(route);
    const form = element("form", {class: "find", role: "search"}, icon("search"), input,
        element("kbd", {"aria-hidden": "true"}, "Ctrl K"), list);
    form.addEventListener("submit", (event) => event.preventDefault());
    shortcut = () => {
        if (!input.offsetParent) return openFind(route);
        input.focus();
        return openList(box);
    };
    return form;
}

/** Opens the find box as a dialog, where the top bar has no room for it. */
export function openFind(route) {
    const {input, list, box} = findBox(route, () => dialog.close());
    const dialog = openDialog({title: "Find", children: element("div", {class: "find-in"}, input, list),
        submit: () => {}});
    input.focus();
    openList(box);
}

function findBox(route, chosen) {
    const id = uniqueID("find");
    const list = element("ul", {class: "menu find-list", role: "listbox", id, "aria-label": "Results", hidden: true});
    const input = element("input", {type: "search", class: chosen ? "input" : undefined, role: "combobox",
        "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list", autocomplete: "off",
        spellcheck: "false", "aria-label": "Find an action, page, container, record type, zone or record",
        placeholder: "Action, page, type, zone, record"});
    const box = {route, input, list, items: [], active: 0, chosen};
    input.addEventListener("input", () => { box.pending = update(box); });
    input.addEventListener("focus", () => { box.pending = update(box); });
    input.addEventListener("keydown", (event) => key(box, event));
    input.addEventListener("blur", () => hide(box));
    return {input, list, box};
}

// Also without a text.
function openList(box) {
    box.isOpenEmpty = true;
    box.pending = update(box);
}

async function update(box) {
    const text = box.input.value.trim();
    if (!text && !box.isOpenEmpty) return hide(box);
    const found = await findItems(text, box.route);
    const items = keysItem.text.toLowerCase().includes(text.toLowerCase()) ? [...found, keysItem] : found;
    if (box.input.value.trim() !== text || document.activeElement !== box.input) return undefined;
    Object.assign(box, {items, active: 0});
    draw(box);
    return undefined;
}

function draw(box) {
    const {input, list, items, active} = box;
    fill(list, items.length ? items.map((item, index) => option(box, item, index, index === active))
        : element("li", {role: "option", "aria-disabled": "true", "aria-selected": "false", class: "quiet"},
            "Nothing found"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (items.length) input.setAttribute("aria-activedescendant", `${list.id}-${active}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({block: "nearest"});
}

function option(box, item, index, isActive) {
    // mousedown would move the focus, and hide the list before the click.
    const listeners = {mousedown: (event) => event.preventDefault(), click: () => choose(box, item)};
    return element("li", {role: "option", id: `${box.list.id}-${index}`, "aria-selected": String(isActive),
        on: listeners},
        icon(item.icon), element("span", {class: "cut"}, item.text),
        item.note ? element("small", {class: "quiet"}, item.note) : null);
}

function hide(box) {
    box.isOpenEmpty = false;
    box.list.hidden = true;
    box.input.setAttribute("aria-expanded", "false");
    box.input.removeAttribute("aria-activedescendant");
}

function key(box, event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === "ArrowDown" && box.list.hidden) {
        event.preventDefault();
        openList(box);
    } else if (step && box.items.length && !box.list.hidden) {
        event.preventDefault();
        box.active = (box.active + step + box.items.length) % box.items.length;
        draw(box);
    } else if (event.key === "Enter") {
        event.preventDefault();
        enter(box);
    } else if (event.key === "Escape" && !box.list.hidden) {
        event.preventDefault();
        hide(box);
    }
}

// Somebody who types fast presses Enter before the results are there.
async function enter(box) {
    await box.pending;
    if (!box.list.hidden && box.items[box.active]) choose(box, box.items[box.active]);
}

function choose(box, item) {
    box.input.value = "";
    hide(box);
    box.input.blur();
    box.chosen?.();
    if (item.run) item.run();
    else go(item.address);
}
