/** @file What the device's page calls things, and what follows from the file's numbers. */

import {element} from "../core/dom.js";
import {exact, plural} from "../core/format.js";
import {badge} from "../parts/badge.js";

/** Returns the name of a database. */
export function databaseName({identifier}) {
    return identifier ? `Database ${identifier}` : "Private database";
}

/** Creates the badges of a database's state. */
export function stateBadges({pending, differs, fetchesAgain, isFetched}) {
    const badges = [
        differs ? badge("Differs from the server", {state: "bad"}) : null,
        pending.putAside ? badge(`${pending.putAside} quarantined`, {state: "bad"}) : null,
        pending.inFlight ? badge("Sending", {state: "info", icon: "upload"}) : null,
        pending.changes && !pending.inFlight ? badge("Waiting", {state: "warn", icon: "slow"}) : null,
        fetchesAgain ? badge("Fetching a zone again", {state: "info", icon: "download"}) : null,
        isFetched ? null : badge("Nothing fetched yet", {state: "info"}),
    ].filter(Boolean);
    return element("span", {class: "tags"}, badges.length ? badges : badge("Everything is sent", {state: "good"}));
}

/** Returns why changes may wait, as far as the file says; null where none wait. */
export function waitingWords({pending, lastError}) {
    if (!pending.changes || pending.inFlight) return null;
    const changes = plural(pending.changes, "change");
    return {title: `${changes} ${pending.changes === 1 ? "waits" : "wait"}`, lines: [
        lastError ? `The last error, ${exact(lastError.atMilliseconds, {seconds: true})} UTC: `
            + `${lastError.name}. ${lastError.message}` : "The file has no error that would say why.",
        ["Whether the app runs, and whether it has paused the sync, isn’t in its file: ",
            element("code", null, "status"), " in the app has it."],
    ]};
}
