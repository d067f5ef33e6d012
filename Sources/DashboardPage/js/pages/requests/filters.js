/** @file The filters of the log: a form above the table, and the address. */

import {get} from "../../core/api.js";
import {element, fill, icon} from "../../core/dom.js";
import {setQuery} from "../../core/router.js";
import {loadContainers} from "../../core/state.js";
import {button} from "../../parts/button.js";
import {control, selectControl} from "../../parts/control.js";
import {readSpan, spanWords} from "../now/span.js";
import {filterNames} from "./addresses.js";
import {codes, operations, tookText} from "./words.js";

const slowChoices = [100, 500, 1000, 5000];
const words = {container: "Container", environment: "Environment", database: "Database", operation: "Operation",
    code: "Result", slow: "Slower than", administrator: "Administrator", user: "User", session: "Device", zone: "Zone",
    record: "Record", id: "Request ID"};
const hints = {user: "Name of the user’s record", session: "As a request shows it", record: "Name of a changed record"};
const textNames = ["user", "session", "zone", "record", "id"];
const moreNames = ["database", "administrator", ...textNames];

/** Returns the filters of an address, as the API takes them. */
export function readFilters(query) {
    const values = Object.fromEntries(Object.keys(words).map((name) => [name, query.get(name) || null]));
    const span = readSpan(query);
    return {...values, slow: /^\d+$/.test(values.slow ?? "") ? values.slow : null, from: span?.from ?? null,
        to: span?.to ?? null};
}

/** Fills the form for an address. */
export async function fillFilters(form, query, signal) {
    const [containers, {administrators}] = await Promise.all([loadContainers({signal}).catch(() => []),
        get("administrators", null, {signal}).catch(() => ({administrators: []}))]);
    if (signal.aborted) return;
    const value = (name) => query.get(name) ?? "";
    const selects = {
        container: select("container", containers.map((one) => one.identifier), value("container"), "All"),
        environment: select("environment", ["production", "development"], value("environment"), "Both"),
        operation: select("operation", operations, value("operation"), "All"),
        code: select("code", codes, value("code"), "All"),
        slow: select("slow", slowChoices.map(String), value("slow"), "Any time", (one) => tookText(Number(one))),
    };
    const more = {
        database: select("database", ["private", "public"], value("database"), "Both"),
        administrator: select("administrator", ["*", ...administrators.map((one) => one.name)], value("administrator"),
            "Apps and administrators", (one) => (one === "*" ? "Any administrator" : one)),
        ...Object.fromEntries(textNames.map((name) => [name, control(words[name], {value: value(name), class: "mono",
            autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: "255"},
        {hint: hints[name]})])),
    };
    const span = readSpan(query);
    const set = filterNames.filter((name) => query.get(name));
    const isMore = moreNames.some((name) => query.get(name));
    const clear = set.length
        ? button("Clear", {className: "bare", click: () => setQuery(empty(), {push: true})}) : null;
    const isOpen = form.querySelector("details")?.open ?? (innerWidth > 720);
    fill(form, element("details", {class: "filters", open: isOpen},
        element("summary", null, icon("filter"), said(set, query), icon("down", "icon turn")),
        element("div", {class: "filters-in"}, Object.values(selects)),
        span ? element("p", {class: "row"}, icon("date"), element("span", null, spanWords(span)),
            button("At any time", {className: "bare",
                click: () => setQuery({from: null, to: null, before: null}, {push: true})})) : null,
        element("div", {class: "filters-end"},
            element("details", {class: "filters-more", open: isMore}, element("summary", null, icon("right"),
                "Who, device, zone, record, request ID"), element("div", {class: "filters-in"}, Object.values(more))),
            element("div", {class: "actions"}, clear, button("Apply", {type: "submit", className: "first"})))));
    form.onsubmit = (event) => {
        event.preventDefault();
        const all = {...selects, ...more};
        const values = Object.entries(all).map(([name, part]) => [name, part.input.value.trim() || null]);
        setQuery({...Object.fromEntries(values), before: null}, {push: true});
    };
}

function said(set, query) {
    if (!set.length) return element("span", null, "Filters");
    const named = set.filter((name) => words[name]);
    const shown = named.slice(0, 3).map((name) => (query.get(name) === "*" ? "administrators" : query.get(name)));
    if (named.length < set.length) shown.push("a span of time");
    return element("span", {class: "cut"}, `Filters: ${shown.join(", ")}${named.length > 3 ? ", …" : ""}`);
}

function empty() {
    return {...Object.fromEntries(filterNames.map((name) => [name, null])), before: null};
}

// A value of the address may be one that the list doesn't have.
function select(name, values, value, none, text = (one) => one) {
    const all = value && !values.includes(value) ? [...values, value] : values;
    return selectControl(words[name], [{value: "", text: none}, ...all.map((one) => ({value: one, text: text(one)}))],
        value);
}
