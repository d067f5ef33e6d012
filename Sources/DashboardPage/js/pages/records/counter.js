/** @file How many records a query finds: counted on request only, since the server reads them all. */

import {isAbort} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {button, whileBusy} from "../../parts/button.js";
import {reasonOf} from "../../parts/message.js";
import {announce} from "../../parts/status.js";

const countMax = 10_000;
const rowsMax = 20_000;

// The server stops at one of three limits.
function words({count: number, isCapped, stoppedBy}) {
    if (!isCapped) return `${plural(number, "record")} in all`;
    if (stoppedBy === "records") return `More than ${count(countMax)} records`;
    const why = stoppedBy === "bytes" ? "64 MB were read" : `${count(rowsMax)} rows were examined`;
    return `${count(number)} records or more: ${why}`;
}

/**
 * Creates the button "Count", in whose place the number comes.
 * @param {function(): Promise<{count: number, isCapped: boolean}>} load
 * @param {function(): void} counted Called when `total` is set.
 * @returns {HTMLElement} Its `total` is the number, or null if it isn't known or the server stopped before the end.
 */
export function counter(load, counted) {
    const said = element("span", {tabindex: "-1"});
    const run = async () => {
        try {
            const answer = await load();
            said.textContent = words(answer);
            part.total = answer.isCapped ? null : answer.count;
            counted();
            if (opener.contains(document.activeElement)) said.focus();
            opener.remove();
        } catch (error) {
            if (isAbort(error)) return;
            said.textContent = `Counting failed: ${reasonOf(error)}`;
        }
        announce(said.textContent);
    };
    const opener = button("Count", {className: "bare", label: "Count the records",
        click: () => whileBusy(opener, run)});
    const part = Object.assign(element("span", {class: "row counter"}, said, opener), {total: null});
    return part;
}
