/** @file Tables: rows of a table, cards on a phone. */

import {element, icon} from "../core/dom.js";
import {skeleton} from "./states.js";

/**
 * Creates a table in its scroll area. A row that fails is shown as failed, the others stay.
 * @param {{label: string, columns: Column[], rows: any[], isPlain?: boolean,
 *     attributesOf?: function(any): Object}} options
 *     A column is `{head, word?, className?, cell(row), isName?, isHeadCell?, isHiddenHead?,
 *     sort?: {direction?, click}}`: `word` stands before the value on a phone, `cell` returns the content or null for
 *     none.
 */
export function table({label, columns, rows, isPlain, attributesOf}) {
    return scrollArea(label, isPlain, element("table", {class: "table", role: "table"}, headOf(columns),
        element("tbody", {role: "rowgroup"}, rows.map((row) => safeRow(columns, row, attributesOf)))));
}

/** Creates the same table while it is loading. */
export function loadingTable({label, columns, isPlain, rowsCount = 5}) {
    const rows = Array.from({length: rowsCount}, (_, index) => element("tr", {role: "row"},
        columns.map((column, place) => cellOf(column, element("span", null, skeleton((index + place) % 2 === 1),
            column.isName ? element("span", {class: "hidden"}, "Loading") : null)))));
    return scrollArea(label, isPlain, element("table", {class: "table", role: "table", "aria-busy": "true"},
        headOf(columns), element("tbody", {role: "rowgroup"}, rows)));
}

/** Creates one row, for tables that grow. */
export function safeRow(columns, row, attributesOf) {
    try {
        return element("tr", {role: "row", ...attributesOf?.(row)},
            columns.map((column) => cellOf(column, column.cell(row))));
    } catch {
        return element("tr", {role: "row"}, element("td", {role: "cell", colspan: columns.length, class: "bad"},
            element("span", {class: "with"}, icon("bad"), "This row can't be shown.")));
    }
}

function scrollArea(label, isPlain, content) {
    return element("div", {class: isPlain ? "scroll plain" : "scroll", role: "region", "aria-label": `${label}, table`,
        tabindex: "0"}, content);
}

function headOf(columns) {
    return element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, columns.map(headCell)));
}

function headCell({head, className, isName, isHiddenHead, sort}) {
    const classes = [className, isName ? "name" : ""].filter(Boolean).join(" ");
    const attributes = {role: "columnheader", scope: "col", class: classes || undefined, "aria-sort": sort?.direction};
    if (!sort) return element("th", attributes, element("span", {class: isHiddenHead ? "hidden" : undefined}, head));
    const arrow = sort.direction ? icon(sort.direction === "ascending" ? "rising" : "falling") : null;
    return element("th", attributes, element("button", {type: "button", on: {click: sort.click}}, head, arrow));
}

function cellOf({className, word, isName, isHeadCell}, content) {
    const isNone = content === null || content === undefined || content === "";
    const classes = [className, isName ? "name" : "", isHeadCell ? "head-cell" : "", isNone ? "none quiet" : ""];
    const attributes = {class: classes.filter(Boolean).join(" ") || undefined, "data-word": isName ? undefined : word};
    if (isName) return element("th", {...attributes, role: "rowheader", scope: "row"}, content);
    return element("td", {...attributes, role: "cell"}, isNone ? (/\bend\b/.test(className) ? null : "—") : content);
}
