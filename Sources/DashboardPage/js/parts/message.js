/** @file Messages in the page: warnings and errors with what to do. */

import {element, icon} from "../core/dom.js";
import {button} from "./button.js";
import {copyButton} from "./copy.js";

/**
 * Creates a message.
 * @param {"warn"|"bad"} state
 * @param {string} title
 * @param {{level?: string, role?: string}} options `level` is the heading's tag (h2).
 * @param {...any} children
 */
export function message(state, title, {level = "h2", role} = {}, ...children) {
    return element("div", {class: `message ${state}`, role}, icon(state), element(level, null, title), ...children);
}

/**
 * Creates the message for an error of a request: the service's own words, its code and request ID, and a retry.
 * @param {any} error
 * @param {{title?: string, retry?: function(): any, level?: string}} [options]
 */
export function errorMessage(error, {title, retry, level = "h2"} = {}) {
    const facts = [["Code", error?.code], ["Request", error?.requestID]].filter(([, value]) => value);
    return message("bad", title ?? titleOf(error), {level, role: "alert"},
        element("p", null, reasonOf(error)),
        facts.length ? element("dl", {class: "reason"}, facts.map(([word, value]) => element("div", null,
            element("dt", null, word), element("dd", {class: "row"}, element("code", null, word === "Request"
                ? element("a", {href: `/dashboard/requests/${encodeURIComponent(value)}`}, value) : value),
                word === "Request" ? copyButton(value, "Copy the request ID") : null)))) : null,
        retry ? element("div", {class: "actions"}, button("Try again", {icon: "retry", click: retry})) : null);
}

/** Returns an error as a sentence. */
export function reasonOf(error) {
    if (error?.code === "ACCESS_DENIED") return `Your role doesn't allow this: ${error.reason}`;
    return error?.reason ?? String(error?.message ?? error);
}

function titleOf(error) {
    const titles = {ACCESS_DENIED: "Not allowed", NOT_FOUND: "Not found", ZONE_NOT_FOUND: "The zone doesn't exist",
        THROTTLED: "Too many requests", TRY_AGAIN_LATER: "The server is busy",
        UNREACHABLE: "The server doesn't respond"};
    return titles[error?.code] ?? (error?.code ? "The server refused the request" : "This part of the page failed");
}
