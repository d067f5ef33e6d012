/** @file Requests of the device's page. The secret goes in a header: a cookie would go to each port of the machine. */

import {ApiError, isAbort, queryText} from "../core/api.js";

const storedKey = "yap-device-secret";

/** Takes the secret out of the address, or from this tab's memory after a reload; empty where there is none. */
export function takeSecret() {
    const given = location.hash.slice(1);
    try {
        if (given) sessionStorage.setItem(storedKey, given);
        else return sessionStorage.getItem(storedKey) ?? "";
    } catch {
        // Storage is blocked: the address keeps the secret.
        return given;
    }
    history.replaceState(null, "", location.pathname + location.search);
    return given;
}

/**
 * Reads the file's state.
 * @param {string} secret
 * @param {{limit: number, after: string|null}} query After a version that is still the present one, the answer has that
 *     alone.
 * @param {AbortSignal} signal
 */
export async function loadState(secret, query, signal) {
    let response;
    let value;
    try {
        response = await fetch(`/device/1/state${queryText(query)}`, {headers: {Authorization: `Bearer ${secret}`},
            signal, cache: "no-store", credentials: "omit", redirect: "error"});
        value = await response.json();
    } catch (error) {
        if (isAbort(error)) throw error;
        throw new ApiError({code: "UNREACHABLE",
            reason: "yap sync inspect --open may have ended. Start it again, and open the address that it prints."});
    }
    if (response.ok) return value;
    throw new ApiError({code: value.serverErrorCode, reason: value.reason, status: response.status});
}
