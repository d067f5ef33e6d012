/** @file What stands in place of the table: nothing found, refused, an address that can't be read. */

import {element} from "../../core/dom.js";
import {environmentLabel} from "../../parts/badge.js";
import {button} from "../../parts/button.js";
import {commandCode} from "../../parts/code.js";
import {errorMessage, message} from "../../parts/message.js";
import {elsewhere, empty} from "../../parts/states.js";
import {filterWords} from "../../parts/query/body.js";
import {filterIndex, listIndex, sortIndex} from "../../parts/query/indexes.js";
import {fieldWithKey} from "../../parts/query/fields.js";
import {deployAddress, schemaAddress} from "../schema/source.js";
import {scopePath} from "./addresses.js";
import {whereWords} from "./commands.js";
import {countedPlaces} from "./elsewhere.js";

function quiet(...children) {
    return element("p", {class: "quiet"}, ...children);
}

// The same place in the other environment, then where the rest of the data is.
function otherPlaces(scope) {
    const other = scope.environment === "production" ? "development" : "production";
    const same = {address: scopePath({...scope, environment: other}), icon: "records",
        text: ["The same place in ", environmentLabel(other)]};
    if (scope.database === "public") {
        return [same, {address: scopePath({...scope, database: "private"}), icon: "account",
            text: "The private database of an account"}];
    }
    return [same, {address: scopePath({...scope, zone: undefined, type: undefined}), icon: "zones",
        text: `Other zones of ${scope.account ?? scope.user}`},
    {address: scopePath({...scope, database: "public", zone: "_defaultZone"}), icon: "records",
        text: "The public database"}];
}

function whereOf({database, user, account, zone}) {
    return database === "public" ? "The public database" : `Zone ${zone} in the private database of ${account ?? user}`;
}

/** No record of the type is in the zone. */
export function emptyZone(scope, fields, signal) {
    const field = fields.find(({isSystem, key, type}) => !isSystem && key !== "*" && type === "STRING");
    const account = scope.database === "public" ? ["--account", "NAME"] : [];
    const set = field ? ["--set", `${field.name}=Plums`] : [];
    return empty(`No records of type ${scope.type} here`,
        quiet(`${whereOf(scope)} has none in ${scope.environment}. Records may be elsewhere:`),
        countedPlaces(scope, otherPlaces(scope), signal),
        quiet("Or save the first one:"),
        commandCode(["yap", "record", "save", scope.type, "first", ...account, ...whereWords(scope), ...set]));
}

/** Records exist, or may exist, but the filters find none. */
export function emptyResult(filters, fields, clear) {
    return empty("No record matches the filters", element("ul", {class: "filters-said"},
        filters.map((filter) => element("li", {class: "quiet"}, filterWords(filter, fields)))),
    quiet("A record that has no value in a field is found only by “doesn’t …” and “is none of”. ",
        "Text is compared letter by letter."),
    button("Clear the filters", {click: clear}));
}

/** The service has looked at many rows and found nothing so far. */
export function emptyPage(goOn) {
    return empty("Nothing found so far",
        quiet("The service looks at up to 20,000 rows for a page, and there are more."),
        button("Search on", {click: goOn}));
}

/** A type that the schema doesn't have. */
export function unknownType(scope) {
    const isDevelopment = scope.environment === "development";
    return empty(`The schema has no record type ${scope.type}`, quiet(isDevelopment
        ? "In development, saving the first record of a type adds it to the schema."
        : "Production takes only types of its schema. Records of this type may be in development:"),
    isDevelopment ? null : elsewhere(otherPlaces(scope)));
}

function missingIndexes({filters, sort, fields}) {
    const said = filters.map(({key, comparator}) => filterIndex(fieldWithKey(fields, key), comparator));
    if (sort) said.push(sortIndex(fieldWithKey(fields, sort.key)));
    if (said.length === 0) said.push(listIndex(fields));
    return said.filter(({isServed}) => !isServed).map(({text}) => text);
}

function advice(error, scope, list) {
    if (error.code === "ZONE_NOT_FOUND") {
        return [quiet(`${scope.account ?? scope.user} has no zone ${scope.zone}.`),
            elsewhere(otherPlaces(scope))];
    }
    const missing = error.code === "BAD_REQUEST" ? missingIndexes(list) : [];
    if (missing.length === 0) return null;
    return [...missing.map((text) => element("p", null, `${text}.`)),
        quiet(scope.environment === "development"
            ? ["Switch the index on at ", element("a", {href: schemaAddress(scope, "types", scope.type)},
                `the fields of ${scope.type}`), "."]
            : ["Switch the index on in development, then ", element("a", {href: deployAddress(scope.container)},
                "deploy the schema to production"), "."])];
}

/** The service refused the query, or something failed. */
export function failedQuery(error, scope, list, {retry, openFilter}) {
    const said = errorMessage(error, {retry,
        title: error.code === "BAD_REQUEST" ? "The service can’t answer this query" : undefined});
    const actions = said.querySelector(".actions");
    if (list.filters.length > 0 || list.sort) actions?.append(button("Change the filter", {icon: "filter",
        click: openFilter}));
    const more = advice(error, scope, list);
    if (more) actions?.before(...more.flat());
    return element("div", {class: "body"}, said);
}

/** A filter's value can't be compared with its field. */
export function wrongFilter(error, clear, openFilter) {
    return element("div", {class: "body"}, message("warn", "A filter has a value that can’t be compared",
        {role: "alert"},
        element("p", null, error.index >= 0 ? `Filter ${error.index + 1}: ` : null, error.message,
            " Nothing was requested."),
        element("div", {class: "actions"}, button("Change the filter", {icon: "filter", click: openFilter}),
            button("Clear the filters", {className: "bare", click: clear}))));
}

/** The address has filters that can't be read; nothing is asked, since all records would look like the result. */
export function unreadableAddress(error, clear) {
    return element("div", {class: "body"}, message("warn", "The address has a filter that can’t be read",
        {role: "alert"},
        element("p", null, `${error.message[0].toUpperCase()}${error.message.slice(1)}. Nothing was requested.`),
        element("div", {class: "actions"}, button("Clear the filters", {click: clear}))));
}
