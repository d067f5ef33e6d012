/** @file Whether the server responds. While it doesn't, one probe at a time asks it again, with growing waits. */

const waits = [1, 2, 4, 8, 15, 30];
const listeners = new Set();
const waiting = new Set();
let isGone = false;
let tries = 0;
let timer = null;
let nextMilliseconds = 0;

/** Notes that a request got no response, and begins to probe. */
export function isUnreachable() {
    if (isGone) return;
    isGone = true;
    tries = 0;
    plan();
}

/** Notes that the server responded, whatever the response was. */
export function serverResponded() {
    if (!isGone) return;
    isGone = false;
    clearTimeout(timer);
    for (const resolve of waiting) resolve();
    waiting.clear();
    notify();
}

/** Resolves when the server responds again; rejects when the signal is aborted. */
export function whenReachable(signal) {
    return new Promise((resolve, reject) => {
        if (!isGone) return resolve();
        waiting.add(resolve);
        signal?.addEventListener("abort", () => {
            waiting.delete(resolve);
            reject(signal.reason);
        }, {once: true});
    });
}

/** Calls a listener with `{isGone, nextMilliseconds}` at each change, and now. */
export function watchReach(listener) {
    listeners.add(listener);
    listener({isGone, nextMilliseconds});
}

/** Probes the server now instead of at the planned time. */
export function probeNow() {
    clearTimeout(timer);
    return probe();
}

function plan() {
    const seconds = waits[Math.min(tries, waits.length - 1)];
    tries += 1;
    nextMilliseconds = Date.now() + seconds * 1000;
    timer = setTimeout(probe, seconds * 1000);
    notify();
}

async function probe() {
    // A hidden page sends nothing.
    if (document.hidden) return document.addEventListener("visibilitychange", probe, {once: true});
    try {
        const response = await fetch("/operator/1/session", {cache: "no-store", credentials: "same-origin"});
        await response.json();
        serverResponded();
    } catch {
        if (isGone) plan();
    }
    return undefined;
}

function notify() {
    for (const listener of listeners) listener({isGone, nextMilliseconds});
}
