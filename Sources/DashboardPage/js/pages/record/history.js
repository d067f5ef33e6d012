/** @file The requests that changed a record, as far as the log of requests reaches back. */

import {get} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {exact, plural, relative} from "../../core/format.js";
import {growingTable} from "../../parts/growing-table.js";
import {empty, loadInto, skeleton} from "../../parts/states.js";
import {shortTime} from "../../parts/time.js";
import {logAddress, requestAddress} from "../requests/addresses.js";
import {userNames, whoOf} from "../requests/names.js";
import {kinds, outcomeOf} from "../requests/touched.js";
import {deviceName} from "../requests/words.js";

const pageSize = 20;

/**
 * Returns the items of the log's query for a record.
 * @param {import("../records/source.js").Scope} scope
 * @param {string} record The record's name.
 */
export function historyItems({container, environment, database, user, zone}, record) {
    return {container, environment, database, user: database === "private" ? user : null, zone, record};
}

/**
 * Creates the view of a record's history.
 * @param {{scope: import("../records/source.js").Scope, name: string, created?: number, title?: string,
 *     signal: AbortSignal}} options `created` is when the record was made, if it exists.
 */
export function historyView(options) {
    const {title, signal} = options;
    const list = element("div", {class: "section"});
    loadInto(list, {signal, load: () => loadHistory(options, null), show: (page) => shown(options, page),
        waiting: () => [skeleton(), skeleton(true), skeleton()]});
    return element("div", {class: "body record-body history"}, title ? element("h2", null, title) : null, list);
}

async function loadHistory({scope, name, signal}, before) {
    const answer = await get("requests", {...historyItems(scope, name), before, limit: pageSize}, {signal});
    const rows = answer.requests.map((entry) => ({entry, changes: (entry.records ?? []).filter((one) =>
        one.operation !== "lookup" && (one.zone || "_defaultZone") === scope.zone)}))
        .filter(({changes}) => changes.length);
    return {rows, next: answer.before, oldest: answer.oldestMilliseconds ?? null};
}

function shown(options, first) {
    const {scope, name, created, signal} = options;
    const said = [reach(first.oldest, created), element("p", {class: "quiet"},
        "The log has no values of fields, so a record’s earlier values aren’t known. Of a request with many records it "
        + "names the first 50.")];
    if (!first.rows.length && first.next === null) {
        return [empty("No request in the log changed this record", said)];
    }
    const {area, line} = growingTable({label: "Requests that changed the record", isPlain: true,
        columns: columnsFor(userNames(signal)), first, load: (next) => loadHistory(options, next),
        end: ({count, next, more}) => [element("p", {role: "status"}, next === null
            ? `All ${plural(count, "request")} shown` : `${plural(count, "request")} shown, newest first`),
        next === null ? null : more(count ? "Show more" : "Search on")], endClass: "row between"});
    return [element("div", null, said), area, line,
        element("p", null, element("a", {href: logAddress(historyItems(scope, name))}, "Open in the log"))];
}

function reach(oldest, created) {
    if (!oldest) return element("p", null, "The log is empty.");
    const isOlder = created && created < oldest;
    return element("p", null, `The log reaches back to ${exact(oldest)} UTC, ${relative(oldest)}.`,
        isOlder ? " The record is older: changes before that aren’t known." : null);
}

function columnsFor(nameOf) {
    return [
        {head: "When, UTC", isName: true, cell: ({entry}) => element("a", {href: requestAddress(entry.id),
            title: entry.id}, shortTime(entry.timeMilliseconds))},
        {head: "Change", isHeadCell: true, cell: ({changes}) => element("span", {class: "lines"},
            changes.map(({operation, outcome}) => element("span", {class: "with"}, kinds[operation] ?? operation,
                outcome === "done" || !outcome ? null : outcomeOf({outcome}))))},
        {head: "By", word: "by", cell: ({entry}) => element("span", {class: "lines"}, whoOf(entry, nameOf) ?? "no user",
            element("small", {class: "quiet cut", title: entry.client ?? ""}, deviceName(entry.client)))},
    ];
}
