/** @file The frame of every page: top bar, rail, main. */

import {path} from "../core/api.js";
import {element, fill, icon} from "../core/dom.js";
import {currentSession, loadContainers} from "../core/state.js";
import {environmentLabel} from "./badge.js";
import {barsElement} from "./bars.js";
import {button, iconLink} from "./button.js";
import {findForm, openFind} from "./find.js";
import {picker} from "./picker.js";

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
    setEnvironment(route.params.environment);
    fill(top, topContent(route));
    fill(rail, railContent(route));
    if (!main.isConnected) fill(document.body, skip, top, barsElement(), rail, main);
    return fill(main);
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
function environmentItems({params, pathname}) {
    const rest = pathname.split("/").slice(4).join("/") || "data";
    return ["production", "development"].map((environment) => ({
        text: environmentLabel(environment), isCurrent: environment === params.environment,
        address: `/dashboard/${path(params.container, environment)}/${rest}`,
    }));
}

function railContent({params, section}) {
    const {container, environment} = params;
    const entry = (name, text, address, image) => element("a", {href: address,
        "aria-current": section === name ? "page" : undefined}, icon(image), element("span", null, text));
    const version = currentSession()?.version;
    return [
        entry("overview", "Overview", "/dashboard", "overview"),
        container && environment ? [element("h2", null, "Data"),
            entry("records", "Records", scopeAddress(container, environment), "records"),
            entry("zones", "Zones", scopeAddress(container, environment, "zones"), "zones")] : null,
        element("h2", null, "Server"),
        entry("admins", "Admins", "/dashboard/admins", "people"),
        entry("audit", "Audit", "/dashboard/audit", "audit"),
        version ? element("p", {class: "foot"}, `yap ${version}`) : null,
    ];
}

function toContent(event) {
    event.preventDefault();
    main.focus();
}
