/** @file A span of time in the log: the log is read by numbers, which grow with time. */

import {get} from "../../core/api.js";

const stepsMax = 48;

/**
 * Returns the number of the first request at a time or later, or null when there is none.
 * @param {number} to Milliseconds.
 * @param {AbortSignal} signal
 */
export async function firstAfter(to, signal) {
    const newestBefore = async (before) => (await get("requests", {before, limit: 1}, {signal})).requests[0] ?? null;
    const newest = await newestBefore(null);
    if (!newest || newest.timeMilliseconds < to) return null;
    // Requests below `low` are earlier; the one with the number `high` isn't.
    let [low, high] = [0, newest.number];
    for (let step = 0; step < stepsMax && high - low > 1; step += 1) {
        const middle = Math.floor((low + high) / 2);
        const found = await newestBefore(middle);
        if (found && found.timeMilliseconds >= to) high = found.number;
        else low = middle;
    }
    return high;
}

/** Returns a page of the log without what is older than `from`; then there is no next page. */
export function since(from, answer) {
    if (from === null) return answer;
    const requests = answer.requests.filter((entry) => entry.timeMilliseconds >= from);
    return requests.length === answer.requests.length ? answer : {...answer, requests, before: null};
}
