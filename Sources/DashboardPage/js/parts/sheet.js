/** @file The sheet of a page: its head, and what stands below. */

import {element} from "../core/dom.js";

/**
 * Creates the sheet of a page.
 * @param {{title: any, note?: any, above?: any, actions?: any}} head `above` is a link back, over the title.
 * @param {...any} children
 */
export function sheet({title, note, above, actions}, ...children) {
    return element("div", {class: "sheet"}, element("div", {class: "head"},
        element("div", null, above ? element("p", null, above) : null, element("h1", null, title),
            note ? element("p", null, note) : null),
        actions ? element("div", {class: "actions"}, actions) : null), ...children);
}

/** Creates a part of a page with a heading. */
export function section(id, title, {note} = {}, ...children) {
    return element("section", {class: "section", "aria-labelledby": id},
        element("header", null, element("h2", {id}, title), note ? element("span", {class: "quiet"}, note) : null),
        ...children);
}
