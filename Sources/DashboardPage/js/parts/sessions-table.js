/** @file Sessions of administrators, each with a button that ends it. */

import {post} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {badge} from "./badge.js";
import {button, whileBusy} from "./button.js";
import {clientName} from "./client.js";
import {errorMessage} from "./message.js";
import {announce} from "./status.js";
import {table} from "./table.js";
import {exactTime, relativeTime} from "./time.js";

const shownMax = 10;

/**
 * Creates the table. It has the first 10 sessions until more are wanted.
 * @param {any[]} sessions As `GET sessions` answers them.
 * @param {{ended: function(): any, showsNames?: boolean, label: string}} options
 */
export function sessionsTable(sessions, {ended, showsNames, label}) {
    const failure = element("div", {hidden: true});
    const columns = [
        showsNames ? {head: "Administrator", isName: true, cell: (row) => row.administrator} : null,
        {head: "Program", word: "program", isName: !showsNames,
            cell: (row) => element("span", {class: "cut", title: row.client}, clientName(row.client))},
        {head: "Address", word: "address", className: "mono", cell: (row) => row.address},
        {head: "Signed in, UTC", word: "signed in, UTC", cell: (row) => exactTime(row.createdMilliseconds)},
        {head: "Last used", word: "last used", cell: (row) => relativeTime(row.lastMilliseconds)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => (row.isCurrent
            ? badge("This session", {state: "good"}) : endButton(row, failure, ended))},
    ].filter(Boolean);
    const draw = (rows) => table({label, columns, rows, isPlain: true});
    const area = element("div", {class: "section"}, draw(sessions.slice(0, shownMax)));
    const all = button(`Show all ${sessions.length} sessions`, {click: () => fill(area, draw(sessions))});
    if (sessions.length > shownMax) area.append(element("div", null, all));
    return [area, failure];
}

/** Returns the sessions: the present one first, then by their last use. */
export function newestFirst(sessions) {
    const order = (one) => (one.isCurrent ? Infinity : one.lastMilliseconds);
    return [...sessions].sort((one, other) => order(other) - order(one) || 0);
}

function endButton(row, failure, ended) {
    const target = button("End", {label: `End the session of ${row.administrator}: ${clientName(row.client)}`,
        click: () => whileBusy(target, () => end(row, failure, ended))});
    return target;
}

async function end(row, failure, ended) {
    try {
        failure.hidden = true;
        await post("sessions/end", {session: row.session});
        announce("The session was ended");
    } catch (error) {
        if (error.code !== "NOT_FOUND") {
            failure.hidden = false;
            failure.replaceChildren(errorMessage(error, {level: "h3"}));
            return;
        }
    }
    await ended();
}
