/** @file Addresses of the log, and what links to it. */

import {path, queryText} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {middleCut} from "../../core/format.js";
import {scopeAddress} from "../../parts/frame.js";

/** The items of the log's address, in the order of its form. `from` and `to` are a span of time. */
export const filterNames = ["container", "environment", "operation", "code", "slow", "database", "administrator",
    "user", "session", "zone", "record", "id", "from", "to"];

/** Returns the address of the log with some filters. */
export function logAddress(filters = {}) {
    const known = filterNames.filter((name) => filters[name] !== undefined && filters[name] !== null
        && filters[name] !== "").map((name) => [name, String(filters[name])]);
    return `/dashboard/requests${queryText(Object.fromEntries(known))}`;
}

/** Returns the address of one request. */
export function requestAddress(id) {
    return `/dashboard/requests/${path(id)}`;
}

/** Creates the link to a request, with its ID cut in the middle. */
export function requestLink(id, length = 13) {
    return element("a", {href: requestAddress(id), title: id, class: "mono"}, middleCut(id, length));
}

/** Returns the address of a record, or null where it isn't known enough. */
export function recordOf({container, environment, database, user}, {recordType, name, zone}) {
    if (!container || !environment || !recordType || !name) return null;
    if (database !== "public" && (database !== "private" || !user)) return null;
    const place = [...(database === "public" ? ["public"] : ["private", user]), zone || "_defaultZone"];
    return `${scopeAddress(container, environment, `data/${path(...place, recordType)}`)}`
        + `?open=${encodeURIComponent(name)}`;
}

/**
 * Returns the address of what changed in a zone between two changes, or null where the zone isn't known enough.
 * @param {Object} entry
 * @param {string} zone
 * @param {{since?: number, until?: number, at?: number}} items `at`: the zone as it was then.
 */
export function changesAddress({container, environment, database = "private", user}, zone, items) {
    if (!container || !environment || !user || !zone || database !== "private") return null;
    return scopeAddress(container, environment, `zones/${path(user, zone)}${queryText(items)}`);
}

/** Returns the address of a user's page in the sync inspector. */
export function syncAddress({container, environment}, user) {
    return scopeAddress(container, environment, user ? `sync/${path(user)}` : "sync");
}
