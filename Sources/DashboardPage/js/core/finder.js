/** @file What the find box finds. */

import {get, path} from "./api.js";
import {loadContainers, mayDo} from "./state.js";

const resultsMax = 8;
const schemas = new Map();

/**
 * Returns what fits a text, the best first.
 * @param {string} text
 * @param {Object} route
 * @returns {Promise<{text: string, note?: string, icon: string, address: string}[]>}
 */
export async function findItems(text, route) {
    const [containers, types] = await Promise.all([containerItems(), typeItems(route)]);
    const wanted = text.toLowerCase();
    const fits = [...pageItems(route), ...types, ...containers]
        .map((item) => ({item, place: item.text.toLowerCase().indexOf(wanted)}))
        .filter(({place}) => place >= 0)
        .sort((one, other) => Number(one.place > 0) - Number(other.place > 0))
        .map(({item}) => item);
    return [...fits.slice(0, resultsMax), ...recordItems(text, route)];
}

function pageItems({params}) {
    const base = params.environment ? `/dashboard/${path(params.container, params.environment)}` : null;
    return [
        {text: "Overview", icon: "overview", address: "/dashboard"},
        base ? {text: "Records", note: params.environment, icon: "records", address: `${base}/data`} : null,
        base ? {text: "Zones", note: params.environment, icon: "zones", address: `${base}/zones`} : null,
        {text: "Admins", icon: "people", address: "/dashboard/admins"},
        {text: "Audit log", icon: "audit", address: "/dashboard/audit"},
        {text: "Account and sessions", icon: "account", address: "/dashboard/account"},
    ].filter(Boolean);
}

async function containerItems() {
    const containers = mayDo("look") ? await loadContainers().catch(() => []) : [];
    return containers.flatMap(({identifier, environments = []}) => environments.filter((one) => one.isMade)
        .map(({environment}) => ({text: identifier, note: environment, icon: "records",
            address: `/dashboard/${path(identifier, environment)}/data`})));
}

async function typeItems({params}) {
    if (!params.environment) return [];
    const scope = path(params.container, params.environment);
    if (!schemas.has(scope)) schemas.set(scope, get(`${scope}/schema`));
    const schema = await schemas.get(scope).catch(() => { schemas.delete(scope); return {}; });
    const place = params.database === "private" && params.user
        ? `private/${path(params.user, params.zone ?? "_defaultZone")}`
        : `public/${path(params.zone ?? "_defaultZone")}`;
    return (schema.recordTypes ?? []).map(({name}) => ({text: name, note: "record type", icon: "list",
        address: `/dashboard/${scope}/data/${place}/${path(name)}`}));
}

// A record can be opened where the page knows the zone and the type.
function recordItems(text, {params, pathname}) {
    if (!params.zone || !params.type) return [];
    const query = new URLSearchParams(location.search);
    query.delete("new");
    query.set("open", text);
    return [{text: `Open record ${text}`, note: `zone ${params.zone}`, icon: "file", address: `${pathname}?${query}`}];
}
