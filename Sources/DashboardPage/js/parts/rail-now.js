/** @file The group "Now" of the rail. The log's address has its scope in the query. */

import {path, queryText} from "../core/api.js";

/** Returns the heading of the group, and its entries: section, text, address and icon. */
export function nowGroup({container, environment}) {
    const scope = container && environment ? `/dashboard/${path(container, environment)}` : null;
    return ["Now", [
        ["now", "Now", scope ? `${scope}/now` : "/dashboard/now", "now"],
        ["requests", "Requests", logOf(container, environment), "requests"],
        ...(scope ? [["sync", "Sync", `${scope}/sync`, "sync"], ["usage", "Usage", `${scope}/usage`, "usage"],
            ["slow", "Slow", `${scope}/slow`, "slow"]] : []),
    ]];
}

/** Returns a route with the scope of the log's address. */
export function withScope(route) {
    if (route.section !== "requests" || route.params.container) return route;
    const query = new URLSearchParams(location.search);
    const [container, environment] = [query.get("container"), query.get("environment")];
    const isKnown = container && ["development", "production"].includes(environment);
    return {...route, params: {...route.params, ...(container ? {container} : {}), ...(isKnown ? {environment} : {})}};
}

/** Returns the log's address for a scope. */
export function logOf(container, environment) {
    return `/dashboard/requests${queryText(container ? {container, environment} : {})}`;
}
