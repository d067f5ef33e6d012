/** @file Changes of a schema as a list, by record type. */

import {element, uniqueID} from "../core/dom.js";
import {plural} from "../core/format.js";
import {badge} from "./badge.js";

const actions = {add: ["Added", {state: "good", icon: "plus"}], remove: ["Removed", {state: "bad", icon: "bin"}],
    change: ["Changed", {state: "warn", icon: "edit"}]};
const kinds = {role: "role", recordType: "record type", field: "field", index: "index", grant: "grant to"};
const shownMax = 500;

/**
 * Creates the list.
 * @param {{action: string, kind: string, recordType?: string, name: string, before?: string, after?: string}[]} changes
 * @param {{isKept?: boolean}} [options] With `isKept` the changes are those that are not made.
 */
export function changeList(changes, {isKept = false} = {}) {
    return element("div", {class: "changes"}, [...grouped(changes.slice(0, shownMax))].map(([name, list]) => {
        const id = uniqueID("changes");
        return [element("p", {id}, name === "" ? "Roles" : element("code", null, name)),
            element("ul", {"aria-labelledby": id}, list.map((change) => changeItem(change, isKept)))];
    }),
    changes.length > shownMax ? element("p", {class: "quiet"}, `${plural(changes.length - shownMax, "more change")}`)
        : null);
}

/** Creates an area of a limited height that scrolls, for lists in a dialog or above a text. */
export function scrollPart(label, ...children) {
    return element("div", {class: "scroll-part", tabindex: "0", role: "region", "aria-label": label}, ...children);
}

/** Returns a summary: "2 fields, 1 index". */
export function changesText(changes) {
    const nouns = {role: ["role"], recordType: ["record type"], field: ["field"], index: ["index", "indexes"],
        grant: ["grant"]};
    return Object.keys(nouns).map((kind) => [changes.filter((change) => change.kind === kind).length, nouns[kind]])
        .filter(([number]) => number > 0).map(([number, noun]) => plural(number, ...noun)).join(", ");
}

/** Returns what a change takes away: indexes and permissions word by word, so a changed index may lose one. */
export function takenWords({before, after}) {
    const words = (text) => (text ?? "").split(/[ ,]+/).filter(Boolean);
    return words(before).filter((word) => !words(after).includes(word));
}

/** Returns whether a change takes something away. */
export function isRemoval(change) {
    return change.action === "remove" || takenWords(change).length > 0;
}

/** Returns "2 changes in development aren’t in production". */
export function differenceText({length}) {
    if (!length) return "Nothing to deploy";
    return `${plural(length, "change")} in development ${length === 1 ? "isn’t" : "aren’t"} in production`;
}

function groupOf({kind, recordType, name}) {
    return kind === "role" ? "" : kind === "recordType" ? name : recordType ?? "";
}

function grouped(changes) {
    const groups = new Map();
    for (const change of changes) groups.set(groupOf(change), [...(groups.get(groupOf(change)) ?? []), change]);
    return groups;
}

function changeItem({action, kind, name, before, after}, isKept) {
    const value = isKept ? takenWords({before, after}).join(" ") : [before, after].filter(Boolean).join(" → ");
    return element("li", null, isKept ? badge("Kept", {icon: "lock"}) : badge(...(actions[action] ?? [action])),
        element("span", {class: "what"}, element("span", {class: "quiet"}, kinds[kind] ?? kind, " "),
            element("code", null, name)),
        value ? element("code", {class: "quiet value"}, value) : null);
}
