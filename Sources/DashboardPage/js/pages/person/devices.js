/** @file Devices of an account that push notifications go to, by container and environment. */

import {get, path} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {count} from "../../core/format.js";
import {environmentLabel} from "../../parts/badge.js";
import {button} from "../../parts/button.js";
import {loadInto, skeleton} from "../../parts/states.js";
import {table} from "../../parts/table.js";
import {relativeTime} from "../../parts/time.js";
import {madeEnvironments} from "./containers.js";

// Each place is a request, so a server with many containers isn't asked for all at once.
const placesMax = 8;

/** Creates the list of devices. It loads by itself. */
export function devicesPart({containers, made}, {signal}) {
    const places = containers.flatMap(({identifier, userRecordName}) => madeEnvironments(identifier, made)
        .map((environment) => ({container: identifier, environment, user: userRecordName})));
    const area = element("div", {class: "section"});
    if (!places.length) return element("p", {class: "quiet"}, "No environment is in use yet.");
    showPlaces(area, places, Math.min(places.length, placesMax), signal);
    return area;
}

function showPlaces(area, places, shown, signal) {
    return loadInto(area, {
        signal, waiting: () => skeleton(true),
        load: () => Promise.all(places.slice(0, shown).map((place) => devicesOf(place, signal))),
        show: (lists) => {
            const rest = places.length - shown;
            const more = button(`Look in ${count(Math.min(rest, placesMax))} more environments`, {
                click: () => showPlaces(area, places, Math.min(places.length, shown + placesMax), signal)});
            return [devicesTable(lists.flat()), rest ? element("div", null, more) : null];
        },
    });
}

async function devicesOf(place, signal) {
    const {devices} = await get(`${path(place.container, place.environment)}/devices`, {user: place.user}, {signal});
    return devices.map((device) => ({...place, ...device}));
}

function devicesTable(rows) {
    if (!rows.length) {
        return element("p", {class: "quiet"}, "No device of this account waits for pushes. A device registers when its "
            + "app first listens for changes.");
    }
    const columns = [
        {head: "Device", isName: true, cell: ({device}) => element("code", {class: "cut"}, device)},
        {head: "Container", word: "container", cell: ({container}) => element("span", {class: "cut", title: container},
            container)},
        {head: "Environment", word: "environment", cell: ({environment}) => environmentLabel(environment)},
        {head: "Last active", word: "last active", cell: ({lastMilliseconds}) => (lastMilliseconds
            ? relativeTime(lastMilliseconds) : null)},
        {head: "Pushes waiting", word: "pushes waiting", className: "number",
            cell: ({pushesWaiting}) => count(pushesWaiting ?? 0)},
    ];
    return table({label: "Devices", columns, rows, isPlain: true});
}
