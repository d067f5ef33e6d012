/** @file Requests about the zones of the database that the page shows. */

import {path, post} from "../core/api.js";

/** Returns the path of an endpoint of the page's database. */
export function zonesTarget({place}, endpoint) {
    return `${path(place.container, place.environment, place.database)}/${endpoint}`;
}

/** Sends a request to an endpoint of the page's database. */
export function postZones(context, endpoint, body) {
    const {place, signal} = context;
    return post(zonesTarget(context, endpoint), body, {user: place.user}, {signal});
}
