/** @file The columns of the table: which fields, in which order, and the menu that chooses them. */

import {element, fill, icon} from "../../core/dom.js";
import {setQuery} from "../../core/router.js";
import {button, iconButton} from "../../parts/button.js";
import {attachMenu} from "../../parts/picker.js";
import {announce} from "../../parts/status.js";
import {columnsText, readColumns} from "../../parts/query/syntax.js";
import {defaultColumns} from "../../parts/query/fields.js";
import {typeIcon} from "../../parts/values/types.js";

/**
 * Returns the fields that are shown. Names of the address that the schema doesn't have are left out.
 * @param {import("../../parts/query/fields.js").QueryField[]} fields the type's own
 * @param {string|null} text `cols` of the address
 */
export function shownColumns(fields, text) {
    const names = readColumns(text);
    if (!names) return defaultColumns(fields);
    return names.map((name) => fields.find((field) => field.name === name)).filter(Boolean);
}

/**
 * Creates the button with the menu of columns. The menu stays open while columns are chosen.
 * @param {function(): any[]} shown returns the fields that are shown
 */
export function columnsPicker(fields, shown) {
    const opener = button("Columns", {icon: "columns", className: "shrink"});
    const holder = element("div", {class: "picker"}, opener);
    const menu = attachMenu(opener, holder, {isRight: true, label: "Columns",
        content: () => columnsMenu(fields, shown(), () => menu.close())});
    return holder;
}

function columnsMenu(fields, shown, close) {
    const chosen = new Set(shown.map(({name}) => name));
    const order = [...shown, ...fields.filter(({name}) => !chosen.has(name))];
    const list = element("ul");
    const find = element("input", {class: "input", type: "search", "aria-label": "Find a column",
        placeholder: "Find a column",
        autocomplete: "off", spellcheck: "false", on: {input: () => draw()}});
    const apply = () => setQuery({cols: columnsText(order.filter(({name}) => chosen.has(name)).map(({name}) => name))});
    const toggle = (name) => {
        if (!chosen.delete(name)) chosen.add(name);
        apply();
    };
    const moveUp = (field) => {
        const index = order.indexOf(field);
        if (index < 1) return;
        order.splice(index, 1);
        order.splice(index - 1, 0, field);
        draw();
        [...list.querySelectorAll("button")].find((target) => target.dataset.name === field.name)?.focus();
        announce(`${field.name} is column ${index}`);
        apply();
    };
    const row = (field) => element("li", null, element("label", null,
        element("input", {type: "checkbox", checked: chosen.has(field.name), on: {change: () => toggle(field.name)}}),
        icon(typeIcon(field.type, field.isEncrypted)), element("span", {class: "cut"}, field.label)),
    iconButton("rising", `Move ${field.label} up`, {click: () => moveUp(field),
        attributes: {"data-name": field.name}}));
    const draw = () => {
        const text = find.value.trim().toLowerCase();
        fill(list, order.filter(({name}) => name.toLowerCase().includes(text)).map(row));
    };
    draw();
    return [find, list, element("div", {class: "foot"}, button("Reset", {click: () => {
        close();
        setQuery({cols: null});
    }}))];
}
