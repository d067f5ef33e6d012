/** @file A table that gets its next pages below the first, with a line at its end. */

import {element, fill} from "../core/dom.js";
import {button, whileBusy} from "./button.js";
import {errorMessage} from "./message.js";
import {safeRow, table} from "./table.js";

/**
 * A page of rows. `next` is what `load` takes for the page behind it; null when there is none.
 * @typedef {{rows: any[], next: any}} Page
 */

/**
 * Creates the table.
 * @param {{label: string, columns: any[], isPlain?: boolean, first: Page, load: function(any): Promise<Page>,
 *     end: function({count: number, next: any, more: function(string=): HTMLButtonElement}): any,
 *     endClass?: string}} options `end` returns the nodes of the line at the end, anew after each page, or null to
 *     hide it; `more` creates the button that loads the next page.
 * @returns {{area: HTMLElement, line: HTMLElement}} the table in its scroll area, and the line
 */
export function growingTable({label, columns, isPlain, first, load, end, endClass = "after"}) {
    const area = table({label, columns, rows: first.rows, isPlain});
    const line = element("div", {class: endClass});
    const state = {count: first.rows.length, next: first.next};
    const more = (text = "Show more") => {
        const opener = button(text, {click: () => whileBusy(opener, grow)});
        return opener;
    };
    const update = () => {
        const content = end({...state, more});
        line.hidden = content === null;
        fill(line, content);
    };
    const grow = async () => {
        try {
            const page = await load(state.next);
            area.querySelector("tbody").append(...page.rows.map((row) => safeRow(columns, row)));
            Object.assign(state, {count: state.count + page.rows.length, next: page.next});
            update();
        } catch (error) {
            fill(line, errorMessage(error, {retry: () => { update(); grow(); }}));
        }
    };
    update();
    return {area, line};
}
