/** @file What is slow or refused: queries without an index, throttled clients, what production's schema lacks. */

import {get, path} from "../core/api.js";
import {element, fill, icon} from "../core/dom.js";
import {count, plural} from "../core/format.js";
import {badge} from "../parts/badge.js";
import {linkButton} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {section, sheet} from "../parts/sheet.js";
import {loadInto, skeleton} from "../parts/states.js";
import {table} from "../parts/table.js";
import {bothTimes} from "../parts/time.js";
import {logAddress, requestLink, syncAddress} from "./requests/addresses.js";
import {userNames} from "./requests/names.js";
import {indexWords, queryShape, schemaAddress} from "./requests/touched.js";
import {deviceName, tookText} from "./requests/words.js";

/** Shows the page. */
export async function show({main, params, signal, setTitle}) {
    const body = element("div", {class: "body"});
    const target = `${path(params.container, params.environment)}/slow`;
    const note = "Slow queries, throttled clients, and what production refused, of the last 7 days";
    fill(main, sheet({title: "Slow", note}, body, commandPart({requests: [curlWords(target)]})));
    setTitle("Slow");
    const nameOf = userNames(signal);
    await loadInto(body, {signal, waiting: () => [skeleton(), skeleton(true), skeleton()],
        load: () => get(target, null, {signal}),
        show: ({queries = [], throttled = [], missingInProduction = []}) => [
            params.environment === "production" || missingInProduction.length
                ? missingPart(missingInProduction, params) : null,
            queriesPart(queries, params), throttledPart(throttled, params, nameOf)]});
}

function fine(text) {
    return element("p", {class: "with-icon good"}, icon("good"), element("span", null, text));
}

function queriesPart(queries, params) {
    const columns = [
        {head: "Query", isName: true, className: "shape-cell", cell: (one) => queryShape(one)},
        {head: "Index that would help", word: "index that would help", isHeadCell: true,
            cell: (one) => indexCell(one, params)},
        {head: "Times", word: "times", className: "number", cell: (one) => count(one.count)},
        {head: "Half within", word: "half within", className: "number", cell: (one) => timeOf(one.milliseconds50)},
        {head: "Longest", word: "longest", className: "number", cell: (one) => timeOf(one.millisecondsMax)},
        {head: "Rows read, most", word: "rows read, most", className: "number",
            cell: (one) => (typeof one.rowsExaminedMax === "number" ? count(one.rowsExaminedMax) : null)},
        {head: "Last request", word: "last request",
            cell: ({lastRequestID}) => (lastRequestID ? requestLink(lastRequestID, 11) : null)},
    ];
    return section("queries", "Slow queries", {note: queries.length ? plural(queries.length, "shape") : null},
        queries.length ? table({label: "Slow queries", columns, rows: queries, isPlain: true})
            : fine("No query was slow."));
}

function timeOf(milliseconds) {
    return typeof milliseconds === "number" ? tookText(milliseconds) : null;
}

function indexCell({missingIndexes = [], recordType}, {container}) {
    if (!missingIndexes.length) return element("span", {class: "quiet"}, "has its indexes");
    return element("span", {class: "lines"}, missingIndexes.map((index) => element("a",
        {href: schemaAddress(container, index.recordType ?? recordType)}, indexWords(index))));
}

function throttledPart(throttled, params, nameOf) {
    const columns = [
        {head: "Client", isName: true, cell: ({user, address}) => (user ? element("a",
            {href: syncAddress(params, user)}, nameOf(params.container, user)) : element("code", null, address))},
        {head: "Address", word: "address", className: "mono", cell: ({address}) => address},
        {head: "Refused requests", word: "refused requests", className: "number", cell: (one) => count(one.count)},
        {head: "Last", word: "last", cell: (one) => (one.lastMilliseconds ? bothTimes(one.lastMilliseconds) : null)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: ({user, address}) => (user
            ? linkButton("Requests", logAddress({...params, user, code: "THROTTLED"}),
                {label: `Throttled requests of ${user ?? address}`}) : null)},
    ];
    return section("throttled", "Throttled clients", {}, throttled.length
        ? table({label: "Throttled clients", columns, rows: throttled, isPlain: true})
        : fine("No client was throttled."));
}

function missingPart(missing, {container}) {
    const columns = [
        {head: "Missing", isName: true, className: "mono", cell: ({recordType, field}) => element("a",
            {href: schemaAddress(container, recordType)}, field ? `${recordType}.${field}` : recordType)},
        {head: "Kind", word: "kind", isHeadCell: true, cell: ({field}) => badge(field ? "Field" : "Record type",
            {state: "bad"})},
        {head: "Refused requests", word: "refused requests", className: "number", cell: (one) => count(one.count)},
        {head: "App", word: "app", cell: ({client}) => (client ? element("span", {class: "cut", title: client},
            deviceName(client)) : null)},
        {head: "Last", word: "last", cell: (one) => (one.lastMilliseconds ? bothTimes(one.lastMilliseconds) : null)},
        {head: "Request", word: "request", cell: ({requestID}) => (requestID ? requestLink(requestID, 11) : null)},
    ];
    return section("missing", "Missing in production", {}, missing.length
        ? [element("p", {class: "narrow"}, "Apps sent types or fields that production’s schema doesn’t have, and "
            + "the service refused the records. Deploy development’s schema, or change the app."),
        table({label: "Missing in production", columns, rows: missing, isPlain: true})]
        : fine("Production’s schema had all that apps sent."));
}
