/** @file What the pages of a schema share: head, tabs, the notice of production. */

import {element, fill} from "../../core/dom.js";
import {mayDo} from "../../core/state.js";
import {linkButton} from "../../parts/button.js";
import {commandPart} from "../../parts/command.js";
import {sheet} from "../../parts/sheet.js";
import {guarded} from "../../parts/states.js";
import {deployAddress, schemaAddress} from "./source.js";

const tabs = [["Types", []], ["Indexes", ["indexes"]], ["Roles", ["roles"]], ["Language", ["language"]]];

/**
 * Shows the sheet of a page of the schema, and returns its parts.
 * @param {Object} context
 * @param {{tab: string, title?: any, above?: any, actions?: any, commands?: Object}} options
 * @returns {{note: HTMLElement, actions: HTMLElement, failure: HTMLElement, body: HTMLElement}}
 */
export function schemaSheet(context, {tab, title = "Schema", above, commands = {}}) {
    const {main, params} = context;
    const parts = {note: element("span"), actions: element("div", {class: "actions"}),
        failure: element("div", {class: "failed", hidden: true}), body: element("div", {class: "fill"})};
    fill(main, sheet({title, above, note: parts.note, actions: parts.actions}, schemaTabs(params, tab), parts.failure,
        parts.body, commandPart(commands)));
    return parts;
}

/** Returns whether this administrator may change this environment's schema here. */
export function mayChange({environment}) {
    return environment === "development" && mayDo("change");
}

/** Creates the note of production, which changes by a deploy only; null in development. */
export function productionNote({environment}) {
    return environment === "production" ? "Read only: production’s schema changes by a deploy from development."
        : null;
}

/** Creates the link to the deploy. */
export function deployLink({container}, options = {}) {
    return linkButton("Deploy to production", deployAddress(container), {icon: "deploy", ...options});
}

/** Loads the page's body anew. If that removes what has the focus, the page's first action gets it. */
export async function reloadFocused(page) {
    await page.reload();
    if (document.activeElement && document.activeElement !== document.body) return;
    const stop = page.actions.querySelector(".first") ?? page.main.querySelector("h1");
    if (stop && stop.tagName === "H1") stop.tabIndex = -1;
    stop?.focus();
}

/** Does a change of the schema; shows its error above the page's body. Returns whether it was done. */
export function tryChange(page, work) {
    return guarded(page, work, {title: "The schema was not changed"});
}

function schemaTabs(params, current) {
    const shown = params.environment === "production" ? [...tabs, ["Deploy", ["deploy"]]] : tabs;
    return element("nav", {class: "tabs", "aria-label": "Parts of the schema"}, shown.map(([text, rest]) =>
        element("a", {href: schemaAddress(params, ...rest), "aria-current": text === current ? "page" : undefined},
            text)));
}
