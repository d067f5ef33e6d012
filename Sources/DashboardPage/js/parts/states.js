/** @file Empty, loading, failed. */

import {element, fill, icon, svg, fileAddress} from "../core/dom.js";
import {isAbort} from "../core/api.js";
import {errorMessage} from "./message.js";

/**
 * Creates the state of a page without content: why, where else, what to run.
 * @param {string} title
 * @param {...any} children Paragraphs, `elsewhere(...)`, `commandCode(...)`.
 */
export function empty(title, ...children) {
    const picture = svg("svg", {"aria-hidden": "true"}, svg("use", {href: `${fileAddress("icons.svg")}#nothing`}));
    return element("div", {class: "empty"}, picture, element("h2", null, title), ...children);
}

/**
 * Creates links to places that have content.
 * @param {{address: string, text: any, icon?: string, note?: any}[]} places
 */
export function elsewhere(places) {
    return element("ul", {class: "elsewhere"}, places.map((place) => element("li", null,
        element("a", {href: place.address}, place.icon ? icon(place.icon) : null, element("span", null, place.text),
            place.note, icon("right")))));
}

/** Creates a bar in place of a text that is loading. */
export function skeleton(isShort = false) {
    return element("span", {class: isShort ? "skeleton short" : "skeleton"});
}

/**
 * Shows a skeleton after 150 ms, then the result or the error with a retry, in an element.
 * @param {Element} target
 * @param {{load: function(): Promise<any>, show: function(any): any, waiting?: function(): any,
 *     signal?: AbortSignal}} work
 *     `show` returns the children. `waiting` returns what is shown while loading.
 */
export async function loadInto(target, {load, show, waiting, signal}) {
    target.setAttribute("aria-busy", "true");
    const timer = setTimeout(() => { if (waiting && !signal?.aborted) fill(target, waiting()); }, 150);
    try {
        const value = await load();
        clearTimeout(timer);
        if (!signal?.aborted) fill(target, show(value));
    } catch (error) {
        clearTimeout(timer);
        if (isAbort(error) || signal?.aborted) return;
        const retry = () => loadInto(target, {load, show, waiting, signal});
        fill(target, element("div", {class: "failed"}, errorMessage(error, {retry})));
    } finally {
        clearTimeout(timer);
        target.removeAttribute("aria-busy");
    }
}

/**
 * Does a change of a page, and shows its error there.
 * @param {{failure: HTMLElement}} page
 * @param {function(): Promise<any>} work
 * @param {{title?: string}} [options] of the message
 * @returns {Promise<boolean>} whether it was done
 */
export async function guarded({failure}, work, {title} = {}) {
    failure.hidden = true;
    try {
        await work();
        return true;
    } catch (error) {
        if (isAbort(error)) return false;
        failure.hidden = false;
        fill(failure, errorMessage(error, {title}));
        failure.scrollIntoView({block: "nearest"});
        return false;
    }
}
