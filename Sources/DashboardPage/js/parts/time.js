/** @file Times as elements. */

import {element} from "../core/dom.js";
import {exact, relative, short} from "../core/format.js";

/** Creates "4 min ago", with the exact UTC time in its title. */
export function relativeTime(milliseconds) {
    return timeElement(milliseconds, relative(milliseconds), `${exact(milliseconds, {seconds: true})} UTC`);
}

/** Creates "27 Nov 2026, 08:30", in UTC. The table's head or the text beside it must say so. */
export function exactTime(milliseconds, options) {
    return timeElement(milliseconds, exact(milliseconds, options), relative(milliseconds));
}

/** Creates "09:46:02" today and "26 Nov, 17:31" before, in UTC. The table's head must say so. */
export function shortTime(milliseconds) {
    return timeElement(milliseconds, short(milliseconds), exact(milliseconds, {seconds: true}));
}

/** Creates "4 min ago" and the exact UTC time beside it. */
export function bothTimes(milliseconds) {
    return element("span", null, timeElement(milliseconds, relative(milliseconds), null), " ",
        element("small", {class: "quiet"}, `${exact(milliseconds)} UTC`));
}

function timeElement(milliseconds, text, title) {
    const date = new Date(milliseconds);
    const isValid = !Number.isNaN(date.getTime());
    return element("time", {datetime: isValid ? date.toISOString() : undefined, title}, text);
}
