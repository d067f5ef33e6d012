/** @file The data requests of the record pages. Numbers always come as text, so that no digit is lost. */

import {ApiError, get, path, post} from "../../core/api.js";

/**
 * Where records are. `user` is a `userRecordName`, in a private database only.
 * @typedef {{container: string, environment: string, database: "public"|"private", user?: string, account?: string,
 *     zone: string, type: string}} Scope
 */

/** A request changes at most so many records. */
export const operationsMax = 200;

/** Returns the path of an endpoint below /operator/1/. */
export function target({container, environment, database}, endpoint) {
    return `${path(container, environment, database)}/${endpoint}`;
}

/** Returns the query items of a request: whose private database. */
export function owner({database, user}) {
    return database === "private" ? {user} : {};
}

/**
 * Loads the schema of an environment.
 * @returns {Promise<{recordTypes: any[], text: string}>}
 */
export async function loadSchema({container, environment}, signal) {
    const answer = await get(`${path(container, environment)}/schema`, null, {signal});
    return {recordTypes: Array.isArray(answer.recordTypes) ? answer.recordTypes : [], text: answer.text ?? ""};
}

/**
 * Loads a page of accounts.
 * @param {{named?: string, after?: string}} query
 */
export async function loadAccounts({container}, query, signal) {
    const answer = await get(`${path(container)}/accounts`, query, {signal});
    return {accounts: Array.isArray(answer.accounts) ? answer.accounts : [], after: answer.after ?? null};
}

/** Loads the names of a user's zones, up to 1,000. The default zone always exists. */
export async function loadZones(scope, signal) {
    const names = [];
    let syncToken;
    for (let page = 0; page < 5; page += 1) {
        const answer = await post(target(scope, "zones/list"), syncToken ? {syncToken} : {}, owner(scope), {signal});
        for (const zone of answer.zones ?? []) {
            if (zone?.zoneID?.zoneName && !zone.deleted) names.push(zone.zoneID.zoneName);
        }
        syncToken = answer.syncToken;
        if (!answer.moreComing || !syncToken) break;
    }
    return names.includes("_defaultZone") ? names : ["_defaultZone", ...names];
}

/** Returns the body of one page of a query. */
export function queryPageBody(scope, {query, marker, limit, desiredKeys}) {
    return {
        query, zoneID: {zoneName: scope.zone}, resultsLimit: limit, numbersAsStrings: true,
        ...(desiredKeys ? {desiredKeys} : {}), ...(marker ? {continuationMarker: marker} : {}),
    };
}

/** Returns the query items of a page: whose database, and from how many bytes on values are cut. */
export function queryPageItems(scope, {valueBytesMax}) {
    return {...owner(scope), ...(valueBytesMax ? {valueBytesMax} : {})};
}

/**
 * Counts the records that a query finds, up to 10,000.
 * @param {Scope} scope
 * @param {Object} query
 * @returns {Promise<{count: number, isCapped: boolean}>}
 */
export function countRecords(scope, query, signal) {
    const items = {...owner(scope), count: true};
    return post(target(scope, "records/query"), queryPageBody(scope, {query}), items, {signal});
}

/**
 * Loads one page of a query.
 * @param {Scope} scope
 * @param {{query: Object, marker?: string, limit: number, desiredKeys?: string[], valueBytesMax?: number}} page With
 *     `valueBytesMax` the server cuts longer values, and says so in `cutFields`.
 * @returns {Promise<{records: any[], marker: string|null}>}
 */
export async function loadPage(scope, page, signal) {
    const answer = await post(target(scope, "records/query"), queryPageBody(scope, page), queryPageItems(scope, page),
        {signal});
    const records = (answer.records ?? []).filter((record) => typeof record?.recordName === "string");
    return {records, marker: answer.continuationMarker ?? null};
}

/** Makes an error of what stands in a response in a record's place. */
export function entryError(entry) {
    return new ApiError({
        code: entry.serverErrorCode, reason: entry.reason, requestID: entry.uuid ?? null,
        retryAfterSeconds: entry.retryAfter ?? null, body: entry,
    });
}

/**
 * Loads a record with all fields.
 * @throws {ApiError} `NOT_FOUND` if it doesn't exist.
 */
export async function loadRecord(scope, name, signal) {
    const body = {records: [{recordName: name}], zoneID: {zoneName: scope.zone}, numbersAsStrings: true};
    const answer = await post(target(scope, "records/lookup"), body, owner(scope), {signal});
    const entry = answer.records?.[0];
    if (!entry || entry.serverErrorCode) {
        throw entryError(entry ?? {serverErrorCode: "NOT_FOUND", reason: "Record not found"});
    }
    return entry;
}

/** Returns the body that changes records. Each operation succeeds or fails for itself. */
export function modifyBody(scope, operations) {
    return {operations, zoneID: {zoneName: scope.zone}, atomic: false, numbersAsStrings: true};
}

/**
 * Changes records; 200 in a request.
 * @param {Scope} scope
 * @param {{operationType: string, record: Object}[]} operations
 * @returns {Promise<{record?: any, error?: ApiError}[]>} in the operations' order
 * @throws {ApiError} if a request failed as a whole; `done` has the results before it.
 */
export async function modify(scope, operations, signal) {
    const results = [];
    for (let start = 0; start < operations.length; start += operationsMax) {
        const part = operations.slice(start, start + operationsMax);
        try {
            const answer = await post(target(scope, "records/modify"), modifyBody(scope, part), owner(scope), {signal});
            for (let index = 0; index < part.length; index += 1) {
                const entry = answer.records?.[index];
                results.push(entry && !entry.serverErrorCode ? {record: entry}
                    : {error: entryError(entry ?? {serverErrorCode: "UNKNOWN",
                        reason: "The response has no result for it."})});
            }
        } catch (error) {
            error.done = results;
            throw error;
        }
    }
    return results;
}
