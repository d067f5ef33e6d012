/** @file Requests of the log in words. */

import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {clientName} from "../../parts/client.js";

/** The service's operations, as the filter offers them. */
export const operations = ["changes/database", "changes/zone", "records/modify", "records/query", "records/lookup",
    "records/resolve", "records/accept", "zones/list", "zones/lookup", "zones/modify", "users/caller", "users/discover",
    "subscriptions/modify", "subscriptions/list", "tokens/create", "tokens/register", "assets/upload", "asset/upload",
    "asset/file", "notifications/list", "courier", "sign-in", "sign-out", "sessions", "operator/records/modify",
    "operator/zones/modify", "operator/schema/change", "other"];

/** The error codes that the filter offers. */
export const codes = ["ACCESS_DENIED", "ATOMIC_ERROR", "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED",
    "BAD_REQUEST", "CONFLICT", "EXISTS", "INTERNAL_ERROR", "NOT_FOUND", "QUOTA_EXCEEDED", "THROTTLED",
    "TRY_AGAIN_LATER", "UNIQUE_FIELD_ERROR", "VALIDATING_REFERENCE_ERROR", "ZONE_NOT_FOUND"];

/** Returns the errors of a request's records: `[code, number]`, the most frequent first. */
export function recordErrorsOf({recordErrors}) {
    return Object.entries(recordErrors ?? {}).filter(([, number]) => number > 0)
        .sort(([, one], [, other]) => other - one);
}

/** Creates the result of a request: done is quiet, anything else is a badge with the service's code. */
export function resultOf(entry) {
    const {status, code} = entry;
    const errors = recordErrorsOf(entry);
    const failed = errors.reduce((sum, [, number]) => sum + number, 0);
    if (status >= 400) return badge(code ?? `HTTP ${status}`, {state: "bad"});
    if (failed) {
        const [first] = errors[0];
        return badge(entry.recordsCount > 1 ? `${first}, ${failed} of ${count(entry.recordsCount)}` : first,
            {state: "warn"});
    }
    if (code) return badge(code, {state: "warn"});
    return badge("Done", {icon: "check"});
}

/** Returns how long it took: "4 ms", "2.31 s". */
export function tookText(milliseconds) {
    if (milliseconds < 1) return "<1 ms";
    if (milliseconds < 1000) return `${count(Math.round(milliseconds))} ms`;
    return `${Number((milliseconds / 1000).toFixed(2))} s`;
}

/** Creates the time with milliseconds, in UTC, and the day where it isn't today's. */
export function logTime(milliseconds) {
    const date = new Date(milliseconds);
    if (Number.isNaN(date.getTime())) return element("span", null, String(milliseconds));
    const text = date.toISOString();
    const isToday = text.slice(0, 10) === new Date().toISOString().slice(0, 10);
    return element("time", {datetime: text, title: `${text.slice(0, 10)} ${text.slice(11, 23)} UTC`},
        isToday ? text.slice(11, 23) : `${text.slice(5, 10)} ${text.slice(11, 19)}`);
}

/** Returns the program of a device: an app's name and version, or a browser. */
export function deviceName(client) {
    if (!client) return "Unknown program";
    if (/^Mozilla\//.test(client)) return clientName(client);
    return client.length > 60 ? `${client.slice(0, 59)}…` : client;
}

/** Returns a number of records, or null where there are none. */
export function recordsWords(number) {
    return number ? plural(number, "record") : null;
}
