/** @file Cells of the sync inspector: a device, its position in a zone, its last error. */

import {element} from "../../core/dom.js";
import {count, middleCut, plural, relative} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {relativeTime} from "../../parts/time.js";
import {changesAddress, logAddress, requestAddress} from "../requests/addresses.js";
import {deviceName} from "../requests/words.js";

/** Creates the badge of a device's state in a zone. */
export function stateBadge({state, behindCount, behindIsCapped, isLegend}) {
    if (state === "up to date") return badge("Up to date", {state: "good"});
    if (state === "never fetched") return badge("Never fetched", {state: "info"});
    if (state === "token expired") return badge("Token expired", {state: "bad"});
    if (state !== "behind") return badge(state ?? "Unknown");
    return badge(isLegend ? "Behind" : `Behind ${count(behindCount)}${behindIsCapped ? " or more" : ""}`,
        {state: "warn", icon: "slow"});
}

/** Creates the cell of a device. */
export function deviceCell({session, client, address, lastMilliseconds}) {
    return element("span", {class: "lines"}, element("strong", {class: "cut", title: client ?? ""}, deviceName(client)),
        element("small", {class: "quiet"}, lastMilliseconds ? ["seen ", relativeTime(lastMilliseconds)] : "not seen",
            address ? `, ${address}` : ""),
        session ? element("a", {href: logAddress({session}), class: "mono", title: session}, middleCut(session, 15))
            : null);
}

/**
 * Creates the cell of a device's position in a zone, or null where the server knows of none.
 * @param {Object} [own]
 * @param {Object} [zone]
 * @param {Object} place Container, environment and user.
 */
export function zoneCell(own, zone, place) {
    if (!own) return zone ? stateBadge({state: "never fetched"}) : null;
    const {fetchedToChange, lastFetchMilliseconds, lastSaveMilliseconds, lastSaveCount, lastSaveRequestID} = own;
    const newest = zone?.newestChange;
    const position = typeof fetchedToChange === "number"
        ? `change ${count(fetchedToChange)}${typeof newest === "number" ? ` of ${count(newest)}` : ""}` : null;
    const address = changesAddress(place, own.zone, {at: fetchedToChange});
    return element("span", {class: "lines"}, element("span", null, stateBadge(own)),
        lastFetchMilliseconds ? element("small", {class: "quiet"}, "fetched ", relativeTime(lastFetchMilliseconds),
            position ? element("span", {class: "line"}, address ? element("a", {href: address,
                title: "The zone as this device has it"}, position) : position) : null) : null,
        lastSaveMilliseconds ? element("small", {class: "quiet"}, savedText(lastSaveCount, lastSaveMilliseconds,
            lastSaveRequestID)) : null);
}

function savedText(number, milliseconds, id) {
    const text = `saved ${typeof number === "number" ? `${plural(number, "record")} ` : ""}${relative(milliseconds)}`;
    return id ? element("a", {href: requestAddress(id)}, text) : text;
}

/** Creates the cell of a device's last error. */
export function errorCell({lastError}) {
    if (!lastError) return null;
    return element("span", {class: "lines"}, element("span", null, badge(lastError.code, {state: "bad"})),
        element("small", {class: "quiet"}, relativeTime(lastError.timeMilliseconds)),
        lastError.requestID ? element("a", {href: requestAddress(lastError.requestID), class: "mono",
            title: lastError.requestID}, middleCut(lastError.requestID, 13)) : null);
}

/** Creates the cell of the pushes that wait for a device. */
export function pushesCell({pushesWaiting}) {
    if (typeof pushesWaiting !== "number") return null;
    return pushesWaiting ? badge(count(pushesWaiting), {state: "warn", icon: "slow"}) : "0";
}
