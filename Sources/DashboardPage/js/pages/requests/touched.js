/** @file What a request touched: records, a query, a fetch of changes. */

import {path} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {linkButton} from "../../parts/button.js";
import {message} from "../../parts/message.js";
import {section} from "../../parts/sheet.js";
import {table} from "../../parts/table.js";
import {changesAddress, recordOf} from "./addresses.js";

/** The operations on records, in words. */
export const kinds = {create: "Create", update: "Update", forceUpdate: "Update, forced", replace: "Replace",
    forceReplace: "Replace, forced", delete: "Delete", forceDelete: "Delete, forced", lookup: "Look up"};

/** Creates the table of the records that were named, or null. */
export function recordsPart(request) {
    const records = request.records ?? [];
    if (!records.length) return null;
    const columns = [
        {head: "Record", isName: true, className: "mono", cell: (one) => recordCell(request, one)},
        {head: "Result", word: "result", isHeadCell: true, cell: (one) => outcomeOf(one)},
        {head: "Operation", word: "operation", cell: ({operation}) => kinds[operation] ?? operation},
        {head: "Type", word: "type", cell: ({recordType}) => recordType},
        {head: "Zone", word: "zone", cell: ({zone}) => element("span", {class: "cut"}, zone)},
        {head: "Reason", word: "reason",
            cell: ({reason}) => (reason ? element("span", {class: "two-lines"}, reason) : null)},
    ];
    const all = Math.max(request.recordsCount ?? 0, records.length);
    return section("records", "Records", {note: all > records.length
        ? `the first ${count(records.length)} of ${count(all)}` : plural(records.length, "record")},
    table({label: "Records of the request", columns, rows: records, isPlain: true}));
}

function recordCell(request, one) {
    const address = recordOf(request, one);
    const isDeleted = /elete/.test(one.operation ?? "") && one.outcome === "done";
    if (!address || isDeleted) return element("span", {class: "cut", title: one.name}, one.name || "—");
    return element("a", {href: address, class: "cut-link", title: one.name}, element("span", {class: "cut"}, one.name));
}

/** Creates the badge of an outcome: "done" or an error code. */
export function outcomeOf({outcome}) {
    return outcome === "done" || !outcome ? badge("Done", {icon: "check"}) : badge(outcome, {state: "bad"});
}

/** Creates the query's shape with the index that would help, or null. No values are in it. */
export function queryPart({query, container, environment}) {
    if (!query) return null;
    const {recordType, filters = [], sorts = [], rowsExamined, missingIndex} = query;
    const note = typeof rowsExamined === "number" ? `${plural(rowsExamined, "row")} read` : null;
    return section("query", "Query", {note}, queryShape({recordType, filters, sorts}),
        missingIndex ? missing(withType(missingIndex, recordType), {recordType, container, environment}) : null);
}

/** Creates the shape of a query: type, filters and order, without values. */
export function queryShape({recordType, filters = [], sorts = []}) {
    return element("p", {class: "shape"}, element("code", null, recordType || "any type"),
        filters.length ? [" where ", joined(filters, " and ")] : " without a filter",
        sorts.length ? [", by ", joined(sorts, ", ")] : null);
}

function joined(texts, word) {
    return texts.flatMap((text, index) => [index ? word : null, element("code", null, text)]);
}

function missing(index, {recordType, container, environment}) {
    const text = indexWords(index);
    return message("warn", `An index is missing: ${text}`, {level: "h3"}, element("p", null,
        "Without it the service reads each record of the type. "
        + (environment === "production" ? "Add it in development, then deploy the schema." : "Add it to the schema.")),
    container && recordType ? element("div", {class: "actions"}, linkButton("Open the type in the schema",
        schemaAddress(container, index.recordType ?? recordType), {icon: "right"})) : null);
}

function withType(index, recordType) {
    return typeof index === "string" ? index : {recordType, ...index};
}

/** Creates what production's schema lacks for this request, or null. */
export function lackPart({missing: lack, container, environment}) {
    if (!lack) return null;
    const where = environment === "production" ? "Production’s schema" : "The schema";
    const what = lack.field ? `no field ${lack.field} in type ${lack.recordType}` : `no type ${lack.recordType}`;
    return message("warn", `${where} has ${what}`, {}, element("p", null, environment === "production"
        ? "Add it in development, then deploy the schema." : "Add it to the schema."),
    container ? element("div", {class: "actions"}, linkButton("Open the schema",
        schemaAddress(container, lack.recordType), {icon: "right"})) : null);
}

/** Returns an index as words: "Todo.due QUERYABLE", or the text that the server gave. */
export function indexWords(index) {
    if (typeof index === "string") return index;
    return [[index.recordType, index.field].filter(Boolean).join("."), index.kind].filter(Boolean).join(" ");
}

/** Returns the address of a type in development's schema. */
export function schemaAddress(container, type) {
    return `/dashboard/${path(container)}/development/schema?type=${encodeURIComponent(type)}`;
}

function linked(text, address) {
    return address ? element("a", {href: address, title: "What changed"}, text) : text;
}

/** Creates the table of the zones that were fetched, with their positions, or null. */
export function fetchPart({fetches = [], ...request}) {
    if (!fetches.length) return null;
    const columns = [
        {head: "Zone", isName: true, cell: ({zone}) => zone || "—"},
        {head: "Result", word: "result", isHeadCell: true, cell: ({code}) => outcomeOf({outcome: code})},
        {head: "From change", word: "from change", className: "number",
            cell: ({sinceChange}) => (typeof sinceChange === "number" ? count(sinceChange) : "the beginning")},
        {head: "To change", word: "to change", className: "number",
            cell: ({zone, sinceChange, toChange: until}) => (typeof until === "number"
                ? linked(count(until), changesAddress(request, zone, {since: sinceChange, until})) : null)},
        {head: "Records", word: "records", className: "number", cell: ({recordsCount}) => count(recordsCount ?? 0)},
        {head: "More to fetch", word: "more to fetch", cell: ({moreComing}) => (moreComing ? "yes" : "no")},
    ];
    return section("fetches", "Fetched changes", {}, table({label: "Fetched changes", columns, rows: fetches,
        isPlain: true}));
}
