/** @file The frame of every page: top bar, rail, main. */

import {path} from "../core/api.js";
import {element, fill, icon} from "../core/dom.js";
import {currentSession, loadContainers} from "../core/state.js";
import {environmentLabel} from "./badge.js";
import {barsElement} from "./bars.js";
import {button, iconLink} from "./button.js";
import {findForm, openFind} from "./find.js";
import {attachMenu, picker} from "./picker.js";
import {logOf, nowGroup, withScope} from "./rail-now.js";

const railMax = 5;
const phoneFirst = ["overview", "now", "requests", "records"];
const main = element("main", {class: "main", id: "main", tabindex: "-1"});
const top = element("header", {class: "top"});
const rail = element("nav", {class: "rail", "aria-label": "Pages"});
const skip = element("a", {class: "skip", href: "#main", on: {click: toContent}}, "Skip to the content");

/**
 * Shows the frame for a route, and returns its empty main element.
 * @param {Object} route
 * @returns {HTMLElement}
 */
export function showFrame(route) {
    document.body.className = "app";
    drawFrame(route);
    if (!main.isConnected) fill(document.body, skip, top, barsElement(), rail, main);
    return fill(main);
}

/** Draws the top bar and the rail for a route, when the scope in the address's query has changed. */
export function drawFrame(route) {
    const scoped = withScope(route);
    setEnvironment(scoped.params.environment);
    fill(top, topContent(scoped));
    fill(rail, railContent(scoped));
}

/**
 * Shows the narrow page outside the frame, and returns its main element.
 * @returns {HTMLElement}
 */
export function showDoor() {
    document.body.className = "";
    setEnvironment(null);
    const inner = element("main", {id: "main"});
    fill(document.body, barsElement(), element("div", {class: "door"}, inner));
    return inner;
}

/** Returns the first address of an environment. */
export function scopeAddress(container, environment, rest = "data") {
    return `/dashboard/${path(container, environment)}/${rest}`;
}

// The common beginning of identifiers is quiet, and left out on a phone.
function containerName(identifier) {
    const end = identifier.lastIndexOf(".") + 1;
    return [element("span", {class: "prefix"}, identifier.slice(0, end)), identifier.slice(end)];
}

function setEnvironment(environment) {
    if (environment) document.documentElement.dataset.environment = environment;
    else delete document.documentElement.dataset.environment;
}

function topContent(route) {
    const {container, environment} = route.params;
    const name = currentSession()?.administrator?.name ?? "";
    return [
        element("a", {class: "brand", href: "/dashboard", "aria-label": "Yap: overview"}, icon("mark", "mark"),
            element("span", null, "Yap")),
        picker({label: "Container", value: container ? containerName(container) : "All containers",
            valueText: container ?? "all", items: () => containerItems(route)}),
        environment ? picker({label: "Environment", value: environmentLabel(environment), valueText: environment,
            className: "environment", items: () => environmentItems(route)}) : null,
        findForm(route),
        button("", {className: "bare only find-open", icon: "search", label: "Find",
            attributes: {title: "Find"}, click: () => openFind(route)}),
        iconLink("account", `Account: ${name}`, "/dashboard/account",
            {attributes: {"aria-current": route.section === "account" ? "page" : undefined}}),
    ];
}

async function containerItems({params}) {
    const all = {text: "All containers", address: "/dashboard", isCurrent: !params.container};
    const containers = await loadContainers();
    return [all, ...containers.map(({identifier, environments = []}) => {
        const made = environments.filter((one) => one.isMade).map((one) => one.environment);
        const environment = made.includes(params.environment) || !made.length ? params.environment : made[0];
        return {text: identifier, address: scopeAddress(identifier, environment ?? "development"),
            isCurrent: identifier === params.container};
    })];
}

// The same place in the other environment: names of users and zones may exist in both.
function environmentItems({params, pathname, section}) {
    const rest = pathname.split("/").slice(4).join("/") || "data";
    return ["production", "development"].map((environment) => ({
        text: environmentLabel(environment), isCurrent: environment === params.environment,
        address: section === "requests" ? logOf(params.container, environment)
            : `/dashboard/${path(params.container, environment)}/${rest}`,
    }));
}

// The groups of the rail, each with its heading: section, text, address and icon of each page.
function railGroups(params) {
    const {container, environment} = params;
    const scope = (rest) => scopeAddress(container, environment, rest);
    return [
        [null, [["overview", "Overview", "/dashboard", "overview"]]],
        nowGroup(params),
        container && environment ? ["Data", [
            ["records", "Records", scope("data"), "records"],
            ["zones", "Zones", scope("zones"), "zones"],
            ["schema", "Schema", scope("schema"), "schema"],
            ["subscriptions", "Subscriptions", scope("subscriptions"), "bell"],
            ["keys", "Keys", scope("keys"), "key"],
        ]] : null,
        ["Server", [
            ["people", "People", "/dashboard/people", "people"],
            ["admins", "Admins", "/dashboard/admins", "shield"],
            ["audit", "Audit", "/dashboard/audit", "audit"],
        ]],
    ].filter(Boolean);
}

// Beyond five entries a phone's bar has the rest in "More".
function railContent({params, section}) {
    const version = currentSession()?.version;
    const all = railGroups(params);
    const more = restOfPhone(all.flatMap(([, list]) => list));
    const entry = (one) => {
        const [name, text, address, image] = one;
        return element("a", {href: address, class: more.includes(one) ? "rest" : undefined,
            "aria-current": section === name ? "page" : undefined}, icon(image), element("span", null, text));
    };
    return [
        all.map(([title, list]) => [title ? element("h2", null, title) : null, list.map(entry)]),
        more.length ? moreMenu(more, section) : null,
        version ? element("p", {class: "foot"}, `yap ${version}`) : null,
    ];
}

function restOfPhone(entries) {
    if (entries.length <= railMax) return [];
    const first = entries.filter(([name]) => phoneFirst.includes(name));
    const others = entries.filter((one) => !first.includes(one));
    return others.slice(Math.max(0, railMax - 1 - first.length));
}

function moreMenu(entries, section) {
    const isCurrent = entries.some(([name]) => name === section);
    const opener = element("button", {type: "button", class: isCurrent ? "current" : undefined}, icon("more"),
        element("span", null, "More"));
    const holder = element("div", {class: "picker rail-more"}, opener);
    attachMenu(opener, holder, {isRight: true, items: () => entries.map(([name, text, address]) => (
        {text, address, isCurrent: name === section}))});
    return holder;
}

function toContent(event) {
    event.preventDefault();
    main.focus();
}
