/** @file A span of time in the address, as the charts and the log write it. */

import {exact} from "../../core/format.js";

/** Returns `{from, to}` in milliseconds, or null: one end may be missing. */
export function readSpan(query) {
    const from = Date.parse(query.get("from") ?? "");
    const to = Date.parse(query.get("to") ?? "");
    if (Number.isNaN(from) && Number.isNaN(to)) return null;
    return {from: Number.isNaN(from) ? null : from, to: Number.isNaN(to) ? null : to};
}

/** Returns the items of the address for a span. */
export function spanItems(span) {
    return {from: timeText(span?.from), to: timeText(span?.to)};
}

/** Returns a span as words, in UTC: "27 Nov 2026, 09:31:00 to 09:34:00 UTC". */
export function spanWords({from, to}) {
    if (from === null) return `until ${exact(to, {seconds: true})} UTC`;
    if (to === null) return `since ${exact(from, {seconds: true})} UTC`;
    const [begin, end] = [exact(from, {seconds: true}), exact(to, {seconds: true})];
    const isSameDay = begin.split(", ")[0] === end.split(", ")[0];
    return `${begin} to ${isSameDay ? end.split(", ")[1] : end} UTC`;
}

function timeText(milliseconds) {
    return typeof milliseconds === "number" ? new Date(milliseconds).toISOString().replace(".000Z", "Z") : null;
}
