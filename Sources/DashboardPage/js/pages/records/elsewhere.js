/** @file Where records of a type are, when the list of one place is empty: counts of other zones and environments. */

import {get, path} from "../../core/api.js";
import {element, fill} from "../../core/dom.js";
import {count} from "../../core/format.js";
import {environmentLabel} from "../../parts/badge.js";
import {elsewhere} from "../../parts/states.js";
import {scopePath} from "./addresses.js";

const placesMax = 5;

/**
 * Creates the list of places. It shows the usual ones until the counts are there, and when they show nothing; below
 * the counted places stands the second of the usual ones, which leads to all others.
 * @param {import("./source.js").Scope} scope
 * @param {any[]} usual As `elsewhere` takes them.
 * @param {AbortSignal} signal
 */
export function countedPlaces(scope, usual, signal) {
    const part = element("div", {class: "fill"}, elsewhere(usual));
    loadPlaces(scope, signal).then((places) => {
        if (signal.aborted || !places.length) return;
        const counted = places.slice(0, placesMax).map((place) => placeEntry(scope, place));
        fill(part, elsewhere([...counted, usual[1]]));
    }).catch(() => {});
    return part;
}

// Up to four requests: both environments, the account's database and the public one.
async function loadPlaces(scope, signal) {
    const users = scope.database === "private" ? [scope.user, null] : [null];
    const others = [scope.environment, scope.environment === "production" ? "development" : "production"];
    const asked = others.flatMap((environment) => users.map((user) => placesOf(scope, {environment, user}, signal)));
    const places = (await Promise.all(asked.map((one) => one.catch(() => [])))).flat();
    return places.filter((place) => !isHere(scope, place)).sort((one, other) => other.count - one.count);
}

async function placesOf({container, type}, {environment, user}, signal) {
    const {zones = []} = await get(`${path(container, environment)}/counts`, {user}, {signal});
    return zones.flatMap(({zone, recordTypes = []}) => recordTypes.filter((one) => one.recordType === type && one.count)
        .map((one) => ({environment, user, zone, count: one.count, isCapped: one.isCapped})));
}

function isHere(scope, {environment, user, zone}) {
    return environment === scope.environment && zone === scope.zone && user === (scope.user ?? null);
}

function placeEntry(scope, {environment, user, zone, count: number, isCapped}) {
    const place = user ? `Zone ${zone}` : "The public database";
    return {icon: user ? "zones" : "records",
        address: scopePath({...scope, environment, zone, user, database: user ? "private" : "public"}),
        text: [place, environment === scope.environment ? null : [" in ", environmentLabel(environment)]],
        note: element("small", {class: "quiet number"}, `${count(number)}${isCapped ? "+" : ""} ${
            number === 1 ? "record" : "records"}`)};
}
