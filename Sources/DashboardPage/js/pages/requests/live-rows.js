/** @file New rows of a live table: they wait while the reader is elsewhere than at its top, or reads a row. */

import {element, fill, icon} from "../../core/dom.js";
import {count} from "../../core/format.js";
import {button} from "../../parts/button.js";
import {announce} from "../../parts/status.js";

const waitingMax = 200;
const rowsMax = 500;

/**
 * Creates what puts new rows at the top of a table.
 * @param {{area: HTMLElement, makeRow: function(any): HTMLElement, reload: function(): any}} options `area` is the
 *     scroll area. `reload` loads the list anew, when more rows wait than are kept.
 * @returns {{pill: HTMLElement, add: function(any[]): void, show: function(): void}} `add` takes entries, oldest first.
 */
export function liveRows({area, makeRow, reload}) {
    const body = area.querySelector("tbody");
    let waiting = [];
    let number = 0;
    const pill = element("div", {class: "new-rows"});
    const show = () => {
        if (number > waiting.length) return reload();
        insert();
        area.scrollTop = 0;
        if (area.getBoundingClientRect().top < 0) area.scrollIntoView({block: "center"});
        area.focus({preventScroll: true});
        return undefined;
    };
    const newButton = button("", {className: "first", click: show});
    const draw = () => {
        if (!number) return fill(pill);
        fill(newButton, icon("rising"), `${count(number)} new`);
        if (!newButton.isConnected) {
            fill(pill, newButton);
            announce("New requests wait above the list");
        }
        return undefined;
    };
    const insert = () => {
        const rows = waiting.map(makeRow);
        for (const row of rows) row.classList.add("fresh");
        body.prepend(...rows.reverse());
        [waiting, number] = [[], 0];
        while (body.rows.length > rowsMax && !body.lastElementChild.contains(document.activeElement)) {
            body.lastElementChild.remove();
        }
        draw();
    };
    return {
        pill, show,
        add(entries) {
            if (!entries.length) return;
            number += entries.length;
            waiting = [...waiting, ...entries].slice(-waitingMax);
            if (number === waiting.length && isAtTop(area, body) && !isRead(area)) insert();
            else draw();
        },
    };
}

function isAtTop(area, body) {
    const bar = document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0;
    return body.getBoundingClientRect().top >= Math.max(area.getBoundingClientRect().top, bar) - 4;
}

// A row that has the focus, or a selected text, stays where it is.
function isRead(area) {
    if (area.contains(document.activeElement) && document.activeElement !== area) return true;
    if (document.querySelector("dialog[open]")) return true;
    const selection = document.getSelection();
    return Boolean(selection && !selection.isCollapsed && area.contains(selection.anchorNode));
}
