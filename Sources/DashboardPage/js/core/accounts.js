/** @file Accounts of a container, by their user record name. */

import {get, path} from "./api.js";

const known = new Map();

/**
 * Returns the account of a user record name, or null.
 * @param {string} container
 * @param {string} user A userRecordName.
 * @param {AbortSignal} [signal]
 */
export async function accountOf(container, user, signal) {
    const key = `${container}/${user}`;
    if (!known.has(key)) {
        const {accounts} = await get(`${path(container)}/accounts`, {named: user}, {signal});
        const account = accounts.find((one) => one.userRecordName === user) ?? null;
        if (!account) return null;
        known.set(key, account);
    }
    return known.get(key);
}

/** Loads a page of accounts: `{accounts, after}`. */
export function accountsPage(container, query, signal) {
    return get(`${path(container)}/accounts`, query, {signal});
}
