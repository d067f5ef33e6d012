/** @file Requests to the operator API: errors, the expired session, the server that doesn't respond. */

import {isUnreachable, serverResponded, whenReachable} from "./reach.js";

const base = "/operator/1/";
const retriesMax = 3;
let signInAgain = null;
let runningSignIn = null;

/** An error response, or a response that never came (`code` is "UNREACHABLE"). */
export class ApiError extends Error {
    constructor({code, reason, requestID = null, status = 0, retryAfterSeconds = null, body = null}) {
        super(reason || code);
        this.name = "ApiError";
        Object.assign(this, {code, reason: reason || code, requestID, status, retryAfterSeconds, body});
    }
}

/** Returns whether an error only says that its request was cancelled. */
export function isAbort(error) {
    return error?.name === "AbortError";
}

/** Joins path segments, each percent-encoded. */
export function path(...segments) {
    return segments.map((segment) => encodeURIComponent(segment)).join("/");
}

/** Returns `?a=b` for the entries that have a value, or an empty text. */
export function queryText(query) {
    const entries = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined);
    return entries.length ? `?${new URLSearchParams(entries)}` : "";
}

/**
 * Sends a GET. Repeats it until the server responds.
 * @param {string} target Path below /operator/1/, with encoded segments.
 * @param {Object} [query]
 * @param {{signal?: AbortSignal, signsIn?: boolean}} [options] `signsIn: false` throws AUTHENTICATION_REQUIRED instead
 *     of opening the sign-in dialog.
 */
export function get(target, query, options = {}) {
    return request("GET", target, undefined, query, options);
}

/**
 * Sends a POST with a JSON body. It is not repeated when the server doesn't respond, since it may have been done.
 * @param {string} target
 * @param {Object} body
 * @param {Object} [query]
 * @param {{signal?: AbortSignal, signsIn?: boolean}} [options]
 */
export function post(target, body, query, options = {}) {
    return request("POST", target, body ?? {}, query, options);
}

/** Sets the function that opens the sign-in dialog. It returns a promise that resolves once a session exists. */
export function whenSessionExpired(handler) {
    signInAgain = handler;
}

async function request(method, target, body, query, options) {
    for (let tries = 0; ; tries += 1) {
        try {
            return await sendOnce(method, base + target + queryText(query), body, options.signal);
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (!await mayRepeat(error, method, tries, options)) throw error;
        }
    }
}

async function mayRepeat(error, method, tries, {signal, signsIn = true}) {
    if (error.code === "AUTHENTICATION_REQUIRED" && signsIn && signInAgain) {
        runningSignIn ??= signInAgain().finally(() => { runningSignIn = null; });
        await runningSignIn;
        signal?.throwIfAborted();
        return true;
    }
    if (error.code === "UNREACHABLE") {
        if (method !== "GET") return false;
        await whenReachable(signal);
        return true;
    }
    const waits = error.code === "THROTTLED" || error.code === "TRY_AGAIN_LATER";
    if (method !== "GET" || !waits || tries >= retriesMax || (error.retryAfterSeconds ?? 1) > 5) return false;
    await pause((error.retryAfterSeconds ?? 1) * 1000, signal);
    return true;
}

async function sendOnce(method, address, body, signal) {
    const headers = {Accept: "application/json"};
    if (method === "POST") {
        headers["Content-Type"] = "application/json";
        // Our own keys of the protocol, for example `serverRecord` of a conflict.
        headers["X-Yap-Client"] = "1";
    }
    let response;
    let text;
    try {
        response = await fetch(address, {
            method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
            credentials: "same-origin", cache: "no-store", redirect: "error",
        });
        text = await response.text();
    } catch (error) {
        if (isAbort(error) || signal?.aborted) throw abortError(signal);
        throw unreachable();
    }
    return readResponse(response, text);
}

function readResponse(response, text) {
    const value = parsed(text);
    // A proxy answers so while the server behind it is down.
    if (value === undefined && [502, 503, 504].includes(response.status)) throw unreachable();
    serverResponded();
    if (response.ok && value !== undefined) return value;
    const wait = value?.retryAfter ?? Number(response.headers.get("Retry-After"));
    throw new ApiError({
        code: value?.serverErrorCode ?? `HTTP_${response.status}`,
        reason: value?.reason ?? `The server's response (${response.status}) isn't JSON.`,
        requestID: value?.uuid ?? response.headers.get("X-Apple-Request-UUID"),
        status: response.status,
        retryAfterSeconds: Number.isFinite(wait) && wait > 0 ? wait : null,
        body: value ?? null,
    });
}

function unreachable() {
    isUnreachable();
    return new ApiError({
        code: "UNREACHABLE",
        reason: "The server doesn't respond. A change that was sent may or may not have been saved.",
    });
}

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

function abortError(signal) {
    return signal?.reason?.name === "AbortError" ? signal.reason : new DOMException("Cancelled", "AbortError");
}

function pause(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, milliseconds);
        signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(abortError(signal));
        }, {once: true});
    });
}
