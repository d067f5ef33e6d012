/** @file Gauges, errors by code, operations, and the sentence that sums them up. */

import {element, fill} from "../../core/dom.js";
import {count} from "../../core/format.js";
import {section} from "../../parts/sheet.js";
import {shareBar} from "../../parts/share-bar.js";
import {table} from "../../parts/table.js";
import {logAddress} from "../requests/addresses.js";
import {milliseconds, rate} from "./charts.js";

const gauges = [["connections", "Connections"], ["polls", "Waiting devices"],
    ["environmentsOpen", "Environments open"]];
const indexesShown = 3;

/**
 * Fills the list of gauges.
 * @param {HTMLElement} target
 * @param {Object} [values] The server's gauges. What it doesn't count isn't shown.
 * @param {Object} [backlog] What waits in the environment.
 */
export function gaugesPart(target, values = {}, backlog = null) {
    const known = gauges.filter(([key]) => typeof values[key] === "number");
    return fill(target, known.map(([key, word]) => fact(word, count(values[key]))),
        backlog ? backlogParts(backlog) : null);
}

function backlogParts({pushesWaiting, webhooksWaiting, indexesBeingBuilt = []}) {
    const more = indexesBeingBuilt.length - indexesShown;
    const names = indexesBeingBuilt.slice(0, indexesShown).map(({recordType, field, kind}) => element("span",
        {class: "line"}, element("code", null, `${recordType}.${field}`), ` ${kind}`));
    return [
        pushesWaiting ? fact("Pushes waiting",
            `${count(pushesWaiting.count)}${pushesWaiting.isCapped ? "+" : ""}`) : null,
        typeof webhooksWaiting === "number" ? fact("Webhooks waiting", count(webhooksWaiting)) : null,
        fact("Indexes being built", count(indexesBeingBuilt.length), names.length
            ? [names, more > 0 ? element("span", {class: "line"}, `and ${more} more`) : null] : null),
    ];
}

function fact(word, value, note = null) {
    return element("div", null, element("dt", null, word), element("dd", {class: "number"}, value),
        note ? element("dd", {class: "gauge-note"}, note) : null);
}

/** Fills the lists of the last hour: errors by code, operations. A list that is being read isn't replaced. */
export function listsPart(target, {codes, operations}, scope) {
    if (!codes && !operations) return void fill(target);
    if (target.contains(document.activeElement)) return undefined;
    return fill(target, codesPart(codes ?? [], scope), operationsPart(operations ?? [], scope));
}

function codesPart(codes, scope) {
    const most = Math.max(1, ...codes.map((one) => one.count));
    const columns = [
        {head: "Code", isName: true, className: "mono", cell: ({code}) => element("a",
            {href: logAddress({...scope, code})}, code || "unknown")},
        {head: "Share of the largest", isHiddenHead: true, className: "bar-cell",
            cell: (one) => shareBar(one.count, most, "bad")},
        {head: "Requests", word: "requests", className: "number", cell: (one) => count(one.count)},
    ];
    return lists("codes", "Errors by code", {note: "last hour"}, codes.length
        ? table({label: "Errors by code", columns, rows: codes, isPlain: true})
        : element("p", {class: "quiet"}, "No request failed in the last hour."));
}

function operationsPart(operations, scope) {
    const columns = [
        {head: "Operation", isName: true, className: "mono", cell: ({operation}) => element("a",
            {href: logAddress({...scope, operation})}, operation || "unknown")},
        {head: "Requests", word: "requests", className: "number", cell: (one) => count(one.count)},
        {head: "Half within", word: "half within", className: "number", cell: (one) => time(one.milliseconds50)},
        {head: "99 of 100 within", word: "99 of 100 within", className: "number",
            cell: (one) => time(one.milliseconds99)},
    ];
    return lists("operations", "Operations", {note: "last hour"}, operations.length
        ? table({label: "Operations", columns, rows: operations, isPlain: true})
        : element("p", {class: "quiet"}, "No request came in the last hour."));
}

function lists(id, title, options, content) {
    const part = section(id, title, options, content);
    part.classList.add("list-part");
    return part;
}

function time(value) {
    return typeof value === "number" ? milliseconds(value) : null;
}

/** Returns the sentence that sums up a bucket of the newest points. */
export function summaryWords({requests, succeeded, failed, errors, p50, p99}, name) {
    const when = name === "hour" ? "In the last minute" : "In the last 24 hours";
    const unit = name === "hour" ? "a second" : "an hour";
    if (!requests) return `${when}: no requests.`;
    const share = 100 * errors / requests;
    const said = errors ? `${share < 0.1 ? "under 0.1" : Number(share.toFixed(1))}% of them failed` : "none failed";
    const speed = rate(succeeded + failed);
    const noun = speed === "1" ? "request" : "requests";
    const times = p50 === null ? "" : ` Half took up to ${milliseconds(p50)}, 99 of 100 up to ${milliseconds(p99)}.`;
    return `${when}: ${speed} ${noun} ${unit}, ${said}.${times}`;
}
