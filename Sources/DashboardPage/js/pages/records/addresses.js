/** @file Addresses of the record pages. */

import {path} from "../../core/api.js";
import {scopeAddress} from "../../parts/frame.js";
import {defaultSort} from "../../parts/query/fields.js";
import {readFilters, readSort} from "../../parts/query/syntax.js";
import {shownColumns} from "./columns.js";

/**
 * Returns the address of a scope, cut where it ends.
 * @param {import("./source.js").Scope} scope
 */
export function scopePath({container, environment, database, user, zone, type}) {
    if (!environment) return `/dashboard/${path(container)}`;
    const parts = ["data"];
    if (database) parts.push(database);
    if (database === "private" && user) parts.push(user);
    const isReady = database === "public" || user;
    if (isReady && zone) parts.push(zone);
    if (isReady && zone && type) parts.push(type);
    return scopeAddress(container, environment, path(...parts));
}

/** Returns the present address with other query items; null removes one. */
export function queryAddress(items) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(items)) {
        if (value === null || value === "") query.delete(name);
        else query.set(name, value);
    }
    const text = query.toString();
    return location.pathname + (text ? `?${text}` : "");
}

/** Returns the present address with a record's panel open. */
export function recordAddress(name) {
    return queryAddress({open: name, new: null, view: null});
}

/** Returns the present address without a panel. */
export function listAddress() {
    return queryAddress({open: null, new: null, view: null});
}

/** Returns where the scope is, in words: "Private database of ann, zone lists". */
export function scopeWordsOf({database, user, account, zone}) {
    return database === "public" ? "Public database" : `Private database of ${account ?? user}, zone ${zone}`;
}

/**
 * Reads what a query asks of the list.
 * @param {URLSearchParams} query
 * @param {any[]} fields all that a query may name
 * @param {any[]} ownFields those of the type
 * @returns {{filters: any[], chosenSort: any, sort: any, columns: any[], unreadable: Error|null}} `sort` is the one
 *     that
 *     is used, `chosenSort` the one of the address
 */
export function readList(query, fields, ownFields) {
    const columns = shownColumns(ownFields, query.get("cols"));
    try {
        const filters = readFilters(query.get("q"));
        const chosenSort = readSort(query.get("sort"));
        const sort = chosenSort ?? (filters.length > 0 ? null : defaultSort(fields));
        return {filters, chosenSort, sort, columns, unreadable: null};
    } catch (error) {
        return {filters: [], chosenSort: null, sort: null, columns, unreadable: error};
    }
}
