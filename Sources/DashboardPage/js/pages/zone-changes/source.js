/** @file Requests for the changes of a zone. */

import {ApiError, path, post} from "../../core/api.js";
import {count} from "../../core/format.js";
import {isSameZone, readToken, tokenText} from "./token.js";

/** How many records a page has. */
export const pageSize = 50;

/** A text of the address that is no change of this zone: the message says why. */
export class PlaceError extends Error {}

/** Returns the path of an endpoint. */
export function target({container, environment}, endpoint = "changes/zone") {
    return `${path(container, environment)}/private/${endpoint}`;
}

/** Returns the body of a page of changes. */
export function bodyFor({zone}, token, reverse = false) {
    return {zones: [{zoneID: {zoneName: zone}, ...(token ? {syncToken: token} : {}), ...(reverse ? {reverse} : {}),
        resultsLimit: pageSize}]};
}

/**
 * Loads a page of changes.
 * @param {{params: Object, signal: AbortSignal}} context
 * @param {string|null} token
 * @param {boolean} [reverse] Whether the newest change comes first.
 * @returns {Promise<{records: any[], syncToken: string, moreComing: boolean}>}
 */
export function fetchPage(context, token, reverse = false) {
    return zoneOf(context, "changes/zone", bodyFor(context.params, token, reverse));
}

/**
 * Loads where the zone stands now.
 * @returns {Promise<import("./token.js").Token>}
 */
export async function loadPresent(context) {
    const zone = await zoneOf(context, "zones/lookup", {zones: [{zoneName: context.params.zone}]});
    const token = readToken(zone.syncToken ?? "");
    if (!token) throw new ApiError({code: "UNKNOWN", reason: "The zone has no changes that can be followed."});
    return token;
}

async function zoneOf({params, signal}, endpoint, body) {
    const answer = await post(target(params, endpoint), body, {user: params.user}, {signal});
    const zone = answer.zones?.[0];
    if (!zone || zone.serverErrorCode) {
        throw new ApiError({code: zone?.serverErrorCode ?? "INTERNAL_ERROR",
            reason: zone?.reason ?? "The answer has no zone.", body: zone});
    }
    return zone;
}

/** Whether a text is the number of a change, and no token. */
export function isNumber(text) {
    return /^\d{1,15}$/.test(text);
}

/**
 * Reads the number of a change from a number or a sync token.
 * @param {string} text
 * @param {import("./token.js").Token} present Where the zone stands.
 * @returns {number}
 * @throws {PlaceError}
 */
export function readChange(text, present) {
    const token = isNumber(text) ? null : readToken(text);
    if (!token && !isNumber(text)) {
        throw new PlaceError("It is neither the number of a change nor a sync token of a zone.");
    }
    if (token && !isSameZone(token, present)) {
        throw new PlaceError("The token is of another zone, or of an earlier life of this one.");
    }
    if (token?.isDescending) {
        throw new PlaceError("The token is of a fetch from the newest change downwards that isn’t done.");
    }
    const change = token?.change ?? Number(text);
    if (change > present.change) {
        throw new PlaceError(`The zone’s newest change has the number ${count(present.change)}.`);
    }
    return change;
}

/**
 * Loads a page of what changed after a change. Where deletions were discarded, it has those records only that exist.
 * @param {number} change
 * @returns {Promise<{records: any[], syncToken: string, moreComing: boolean, lacksDeletions: boolean}>}
 */
export async function fetchAfter(context, present, change) {
    try {
        return await fetchPage(context, tokenText(present, {change}));
    } catch (error) {
        if (error.body?.tokenRefusal !== "expired") throw error;
        const page = await fetchPage(context, tokenText(present, {change, liveUntil: present.change}));
        return {...page, lacksDeletions: true};
    }
}

/** Loads the first page of the records whose last change is a change or one before it, newest first. */
export function fetchUntil(context, present, change) {
    if (change === present.change) return fetchPage(context, null, true);
    const descent = {newest: present.change, below: change + 1};
    return fetchPage(context, tokenText(present, {change: 0, liveUntil: present.change, descent}), true);
}

/** Returns a page of changes as a growing table takes it. */
export function pageOf({records, moreComing, syncToken}) {
    return {rows: records, next: moreComing ? syncToken : null};
}
