/** @file What the answer was, and why. */

import {element, icon} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {message} from "../../parts/message.js";
import {recordErrorsOf, tookText} from "./words.js";

const advice = {
    CONFLICT: "Another device saved the record after this one had fetched it. The app fetches the record, applies its "
        + "change to it, and saves again.",
    THROTTLED: "The client sent more requests than its limit. It may try again after the time in the answer.",
    TRY_AGAIN_LATER: "The server was busy. The client tries again by itself.",
    AUTHENTICATION_FAILED: "The token or session isn’t valid, or has ended. The user signs in again.",
    AUTHENTICATION_REQUIRED: "The request needs a user who is signed in.",
    ACCESS_DENIED: "The roles of the schema don’t grant this to this user.",
    ZONE_NOT_FOUND: "The zone doesn’t exist in this environment, or was deleted.",
    QUOTA_EXCEEDED: "The user’s storage is full.",
    INTERNAL_ERROR: "The server failed. Its own log has the details, with this request’s ID.",
};

/** Creates the part at the top: done, done in part, or refused with the reason. */
export function answerPart(request) {
    const {status, code, reason, milliseconds} = request;
    const took = `in ${tookText(milliseconds)}`;
    const errors = recordErrorsOf(request);
    if (status >= 400) {
        return message("bad", `Refused with ${code ?? `HTTP status ${status}`} ${took}`, {},
            reason ? element("p", null, reason) : null,
            advice[code] ? element("p", {class: "quiet"}, advice[code]) : null);
    }
    if (errors.length || code) {
        const first = errors[0]?.[0] ?? code;
        const failed = errors.reduce((sum, [, number]) => sum + number, 0);
        const title = failed ? `${errors.length === 1 ? `${first}: ` : ""}${failedWords(failed, request)} ${took}`
            : `Answered with ${code} ${took}`;
        return message("warn", title, {}, reason ? element("p", null, reason) : null,
            errors.length > 1
                ? element("p", null, errors.map(([name, number]) => `${name}: ${number}`).join(", ")) : null,
            advice[first] ? element("p", {class: "quiet"}, advice[first]) : null);
    }
    return element("div", {class: "message done"}, icon("good"), element("h2", null, `Done ${took}`));
}

function failedWords(failed, {recordsCount}) {
    if (recordsCount === 1) return "the record failed";
    return recordsCount > 1 ? `${failed} of ${recordsCount} records failed` : `${plural(failed, "record")} failed`;
}
