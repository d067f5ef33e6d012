/** @file The columns of the log. */

import {element} from "../../core/dom.js";
import {count, middleCut} from "../../core/format.js";
import {requestAddress} from "./addresses.js";
import {whoOf} from "./names.js";
import {deviceName, logTime, resultOf, tookText} from "./words.js";

/**
 * Returns the columns.
 * @param {{nameOf: function(string, string): HTMLElement, filters?: Object, hasOneContainer?: boolean}} options What is
 *     filtered needs no column.
 */
export function logColumns({nameOf, filters = {}, hasOneContainer = false}) {
    return [
        {head: "Time, UTC", word: "time, UTC", className: "number-left",
            cell: (entry) => logTime(entry.timeMilliseconds)},
        {head: "Operation", isName: true, className: "mono", cell: (entry) => element("a",
            {href: requestAddress(entry.id), title: entry.id}, breakable(entry.operation || entry.path || "unknown"))},
        {head: "Result", word: "result", isHeadCell: true, cell: resultOf},
        {head: "Took", word: "took", className: "number", cell: (entry) => tookText(entry.milliseconds)},
        filters.session ? null : {head: "User", word: "user", cell: (entry) => whoOf(entry, nameOf)},
        filters.zone ? null : {head: "Zones", word: "zones", cell: (entry) => zonesOf(entry)},
        {head: "Records", word: "records", className: "number",
            cell: (entry) => (entry.recordsCount ? count(entry.recordsCount) : null)},
        filters.environment ? null : {head: "Where", word: "where",
            cell: (entry) => whereOf(entry, filters.container || hasOneContainer)},
        filters.session ? null : {head: "Device", word: "device", className: "wide-cell",
            cell: (entry) => element("span", {class: "cut device", title: entry.client ?? ""},
                deviceName(entry.client))},
    ].filter(Boolean);
}

// A path may break before its slashes.
function breakable(text) {
    return text.split(/(?=\/)/).flatMap((part) => [element("wbr"), part]);
}

// Words without colour: a log of coloured labels can't be read.
function whereOf({container, environment}, isKnown) {
    if (!container) return null;
    const text = isKnown ? environment : `${container.slice(container.lastIndexOf(".") + 1)}, ${environment}`;
    return element("span", {title: `${container}, ${environment}`}, text);
}

function zonesOf({zones = []}) {
    if (!zones.length) return null;
    const text = zones.length > 2 ? `${middleCut(zones[0], 24)} and ${zones.length - 1} more` : zones.join(", ");
    return element("span", {class: "cut", title: zones.join(", ")}, text);
}
