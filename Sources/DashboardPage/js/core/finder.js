/** @file What the find box finds: actions of the page, saved views, pages, types, zones, containers, a record. */

import {get, path, post} from "./api.js";
import {nowGroup} from "../parts/rail-now.js";
import {loadContainers, mayDo} from "./state.js";
import {savedViews} from "./views.js";

const resultsMax = 10;
const keptMilliseconds = 30_000;
const kept = new Map();

/**
 * Returns what fits a text, the best first. Without a text: the actions of the page, and the pages.
 * @param {string} text
 * @param {Object} route
 * @returns {Promise<{text: string, note?: string, icon: string, address?: string, run?: function(): void}[]>}
 */
export async function findItems(text, route) {
    const pages = pageItems(route);
    const actions = actionItems().filter((action) => !pages.some((page) => page.text === action.text));
    if (!text) return [...actions, ...pages];
    const [containers, types, zones] = await Promise.all([containerItems(), typeItems(route), zoneItems(route)]);
    const wanted = text.toLowerCase();
    const fits = [...actions, ...viewItems(), ...pages, ...nowItems(route), ...types, ...zones, ...containers]
        .map((item) => ({item, place: item.text.toLowerCase().indexOf(wanted)}))
        .filter(({place}) => place >= 0)
        .sort((one, other) => Number(one.place > 0) - Number(other.place > 0))
        .map(({item}) => item);
    return [...requestItems(text), ...fits.slice(0, resultsMax), ...recordItems(text, route)];
}

// An ID from the error of an app, with whatever was copied around it.
function requestItems(text) {
    const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i.exec(text)?.[0];
    return id ? [{text: `Request ${id}`, icon: "requests", address: `/dashboard/requests/${path(id)}`}] : [];
}

// What the buttons at the page's title do, the main one first.
function actionItems() {
    const buttons = [...document.querySelectorAll("main :is(.head, .record-head) .button:not(:disabled)")];
    buttons.sort((one, other) => other.matches(".first") - one.matches(".first"));
    return buttons.filter((button) => button.offsetParent).map((button) => ({
        text: button.getAttribute("aria-label") ?? button.textContent.trim(), note: "action", icon: "command",
        run: () => {
            // A dialog returns the focus to where it was.
            button.focus();
            button.click();
        },
    }));
}

function pageItems({params}) {
    const {container, environment} = params;
    const page = (text, icon, rest) => ({text, icon, note: environment,
        address: `/dashboard/${path(container, environment)}/${rest}`});
    const own = container && environment ? [
        page("Records", "records", "data"), page("Zones", "zones", "zones"),
        page("Subscriptions", "bell", "subscriptions"), page("Schema", "schema", "schema"),
        page("Indexes", "schema", "schema/indexes"), page("Roles and grants", "schema", "schema/roles"),
        page("Schema language", "schema", "schema/language"), page("Keys", "key", "keys"),
        {text: "Deploy to production", note: "page", icon: "deploy",
            address: `/dashboard/${path(container, "production")}/schema/deploy`},
    ] : [];
    return [
        {text: "Overview", icon: "overview", address: "/dashboard"}, ...own,
        {text: "People", icon: "people", address: "/dashboard/people"},
        {text: "Admins", icon: "people", address: "/dashboard/admins"},
        {text: "Audit log", icon: "audit", address: "/dashboard/audit"},
        {text: "Account and sessions", icon: "account", address: "/dashboard/account"},
    ];
}

function nowItems({params}) {
    return nowGroup(params)[1].map(([, name, address, image]) => ({text: name, note: params.environment, icon: image,
        address}));
}

function viewItems() {
    return savedViews().map(({name, type, address}) => ({text: name, note: `view of ${type}`, icon: "list", address}));
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
    const {recordTypes = []} = await remembered(`${scope}/schema`, () => get(`${scope}/schema`));
    const place = params.database === "private" && params.user
        ? `private/${path(params.user, params.zone ?? "_defaultZone")}`
        : `public/${path(params.zone ?? "_defaultZone")}`;
    return recordTypes.flatMap(({name}) => [
        {text: name, note: "records", icon: "list", address: `/dashboard/${scope}/data/${place}/${path(name)}`},
        {text: name, note: "record type", icon: "schema", address: `/dashboard/${scope}/schema/types/${path(name)}`},
    ]);
}

// Zones of the user whose data the page shows.
async function zoneItems({params}) {
    const user = params.user ?? new URLSearchParams(location.search).get("user");
    if (!params.environment || !user) return [];
    const scope = path(params.container, params.environment);
    const {zones = []} = await remembered(`${scope}/zones/${user}`,
        () => post(`${scope}/private/zones/list`, {}, {user}));
    return zones.filter((zone) => zone?.zoneID?.zoneName).map(({zoneID: {zoneName}}) => ({text: zoneName, note: "zone",
        icon: "zones", address: `/dashboard/${scope}/data/private/${path(user, zoneName)}`}));
}

// A record can be opened where the page knows the zone and the type.
function recordItems(text, {params, pathname}) {
    if (!params.zone || !params.type) return [];
    const query = new URLSearchParams(location.search);
    query.delete("new");
    query.set("open", text);
    return [{text: `Open record ${text}`, note: `zone ${params.zone}`, icon: "file", address: `${pathname}?${query}`}];
}

// A failure finds nothing, and is tried again with the next letter.
async function remembered(key, load) {
    const now = performance.now();
    if (!(kept.get(key)?.until > now)) kept.set(key, {until: now + keptMilliseconds, value: load()});
    return kept.get(key).value.catch(() => { kept.delete(key); return {}; });
}
