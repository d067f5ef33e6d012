/** @file The accounts of the users in a list, looked up one after the other, at most a few a page. */

import {accountOf} from "../../core/accounts.js";
import {element, icon} from "../../core/dom.js";
import {middleCut} from "../../core/format.js";

const lookupsMax = 40;

/**
 * Creates what shows users by their accounts.
 * @param {AbortSignal} signal
 * @returns {function(string, string): HTMLElement} Takes container and userRecordName; the text becomes the account's
 *     name when it is known.
 */
export function userNames(signal) {
    const known = new Map();
    let queue = Promise.resolve();
    return (container, user) => {
        const part = element("span", {class: "user cut", title: user}, middleCut(user, 11));
        const key = `${container}/${user}`;
        if (!container || user.startsWith("_server")) return part;
        if (!known.has(key) && known.size < lookupsMax) {
            const found = queue.then(() => accountOf(container, user, signal)).catch(() => null);
            known.set(key, found);
            queue = found;
        }
        known.get(key)?.then((account) => { if (account?.name) part.textContent = account.name; });
        return part;
    };
}

/**
 * Creates who sent a request: a user, or an administrator with the user whose data they saw. Null if it is unknown.
 * @param {{administrator?: string, user?: string, container?: string}} entry
 * @param {function(string, string): HTMLElement} nameOf Of `userNames`.
 */
export function whoOf({administrator, user, container}, nameOf) {
    const name = user ? nameOf(container, user) : null;
    if (!administrator) return name;
    return element("span", {class: "with by-admin", title: `Administrator ${administrator}`}, icon("shield"),
        element("span", {class: "hidden"}, "Administrator"), element("span", {class: "cut"}, administrator),
        name ? [element("small", {class: "quiet"}, "as"), name] : null);
}
