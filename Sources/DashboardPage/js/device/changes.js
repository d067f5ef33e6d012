/** @file Change-sets, and each change field by field. */

import {element} from "../core/dom.js";
import {plural} from "../core/format.js";
import {badge} from "../parts/badge.js";

const shownMax = 240;
const missing = {
    "of the object": "requested from the app’s object", unknown: "not kept", "left out": "left out: too large",
};

/** Creates the entry of a change-set. */
export function changeSetCard({sequence, uuid, inFlight, changes, changesCount}) {
    const unlisted = changesCount - changes.length;
    return element("li", {class: inFlight ? "change-set in-flight" : "change-set"},
        element("header", null, element("h3", null, `Change-set ${sequence}`),
            inFlight ? badge("In flight", {state: "info", icon: "upload"}) : null,
            element("span", {class: "quiet"}, plural(changesCount, "change")),
            element("code", {class: "quiet uuid", title: uuid}, uuid)),
        changes.map((change) => (change.problem ? changeHead(change) : changeCard(change))),
        unlisted > 0 ? element("p", {class: "quiet unlisted"}, `and ${plural(unlisted, "more change")}`) : null);
}

/** Creates one change: which record, what becomes of it, and each field before and after. */
export function changeCard(change) {
    const {kind, recordName, values = [], problem, remedy} = change;
    return element("article", {class: "change"}, headerOf(change, null),
        problem ? element("p", {class: "problem bad"}, problem) : null,
        problem && remedy ? element("p", {class: "quiet problem"}, withCode(remedy)) : null,
        values.length ? valuesTable(values, `Fields of ${recordName}`, kind === "delete") : null);
}

// In the queue, of a change that is listed under "Quarantined" with all that there is to it.
function changeHead(change) {
    return element("article", {class: "change"}, headerOf(change, badge("Quarantined", {state: "bad"})));
}

function headerOf({kind, recordName, recordType, zoneName, ownerName, changeTag}, state) {
    const place = ownerName && ownerName !== "__defaultOwner__" ? `${zoneName} of ${ownerName}` : zoneName;
    return element("header", null,
        kind === "delete" ? badge("Delete", {state: "bad", icon: "bin"}) : badge("Save", {icon: "edit"}),
        element("strong", null, recordType), element("code", null, recordName),
        element("span", {class: "quiet"}, "in ", element("code", null, place), ", tag ",
            changeTag ? element("code", null, changeTag) : "none"), state);
}

// Words in backticks are code.
function withCode(text) {
    return text.split("`").map((part, index) => (index % 2 ? element("code", null, part) : part));
}

// A deletion has what was there, and a new record what there will be: then one column says it.
function valuesTable(values, label, isDeletion) {
    const isEmpty = ({before, after, beforeIs, afterIs}) => before === null && after === null && !beforeIs && !afterIs;
    const isNew = !isDeletion && values.every(({before, beforeIs}) => before === null && !beforeIs);
    const columns = [isNew ? null : [isDeletion ? "Was" : "Before", "before"],
        isDeletion ? null : [isNew ? "Value" : "After", "after"]].filter(Boolean);
    const shown = values.filter((one) => !isEmpty(one));
    const others = values.filter(isEmpty).map(({key}) => key);
    return [shown.length ? element("table", {class: columns.length === 1 ? "values single" : "values", role: "table",
        "aria-label": label},
    element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ["Field", ...columns.map(([head]) => head)]
        .map((head) => element("th", {role: "columnheader", scope: "col"}, head)))),
    element("tbody", {role: "rowgroup"}, shown.map((one) => element("tr", {role: "row"},
        element("th", {role: "rowheader", scope: "row"}, one.key),
        columns.map(([head, key]) => valueCell(head, one[key], one[`${key}Is`])))))) : null,
    others.length ? element("p", {class: "quiet others"}, `Without a value: ${others.join(", ")}`) : null];
}

function valueCell(word, value, why) {
    return element("td", {role: "cell", "data-word": word}, why ? element("em", {class: "quiet"}, missing[why] ?? why)
        : value === null ? element("span", {class: "quiet"}, "—", element("span", {class: "hidden"}, "no value"))
            : longText(value));
}

/** Creates a text, of which a long one is closed at first. */
export function longText(text) {
    const letters = [...text];
    if (letters.length <= shownMax) return element("span", {class: "words"}, text || "“”");
    return element("details", {class: "long"}, element("summary", null,
        element("span", {class: "words"}, `${letters.slice(0, shownMax - 40).join("")}…`)),
    element("span", {class: "words"}, text));
}
