/** @file What the whole page knows: the session, and the server's containers. */

import {get} from "./api.js";

let session = null;
let containers = null;

/** Returns the session as `GET session` answers it, or null. */
export function currentSession() {
    return session;
}

/** Keeps the session that the server answered with. */
export function setSession(value) {
    session = value;
}

/** Returns whether the administrator's role includes another one: look, change, administer. */
export function mayDo(role) {
    const order = ["look", "change", "administer"];
    return order.indexOf(session?.administrator?.role) >= order.indexOf(role);
}

/** Returns the server's containers, from memory where they were loaded before. */
export async function loadContainers({fresh = false, signal} = {}) {
    if (fresh || !containers) {
        const answer = await get("containers", null, {signal});
        containers = Array.isArray(answer.containers) ? answer.containers : [];
    }
    return containers;
}

/** Forgets what was loaded for another administrator. */
export function forget() {
    session = null;
    containers = null;
}

/** Returns the address that apps and curl use for this server. */
export function serverURL() {
    return (session?.url || location.origin).replace(/\/$/, "");
}
