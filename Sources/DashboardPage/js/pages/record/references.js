/** @file The records of the zone that refer to one, as far as an index finds them. */

import {element, icon} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {badge} from "../../parts/badge.js";
import {elsewhere, skeleton} from "../../parts/states.js";
import {errorMessage} from "../../parts/message.js";
import {ownFields} from "../../parts/query/fields.js";
import {filterIndex} from "../../parts/query/indexes.js";
import {own} from "../../parts/values/own.js";
import {shortName} from "../../parts/values/text.js";
import {recordAddress} from "../records/addresses.js";
import {loadPage} from "../records/source.js";
import {titleOf} from "./fields.js";

const shownMax = 20;

/** Returns all fields of the schema that can refer to records. */
function referringFields(schema) {
    return schema.recordTypes.flatMap((type) => ownFields(type)
        .filter((field) => /^REFERENCE(_LIST)?$/.test(field.type) && !field.isEncrypted)
        .map((field) => ({typeName: type.name, field})));
}

function actionOf(record, field, name) {
    const reference = [own(record.fields, field.name)?.value].flat().find((value) => value?.recordName === name);
    return reference?.action && reference.action !== "NONE" ? badge(reference.action) : null;
}

function found(answer, {schema, field, name}) {
    if (answer.records.length === 0) return element("p", {class: "quiet"}, "None.");
    const places = answer.records.map((record) => ({
        address: recordAddress(record.recordName), icon: "records", note: actionOf(record, field, name),
        text: [element("bdi", null, titleOf(schema, record) || "No title"), element("br"),
            element("code", null, shortName(record.recordName))],
    }));
    return [elsewhere(places), answer.marker ? element("p", {class: "quiet"},
        `The first ${shownMax}; more exist.`) : null];
}

async function fillSection(body, {scope, schema, name, typeName, field, signal}) {
    const isListed = field.type.endsWith("_LIST");
    const query = {recordType: typeName, filterBy: [{
        comparator: isListed ? "LIST_CONTAINS" : "EQUALS", fieldName: field.name,
        fieldValue: {type: "REFERENCE", value: {recordName: name}},
    }]};
    try {
        const answer = await loadPage(scope, {query, limit: shownMax}, signal);
        body.replaceChildren(...[found(answer, {schema, field, name})].flat().filter(Boolean));
    } catch (error) {
        if (!isAbort(error)) body.replaceChildren(errorMessage(error, {level: "h3"}));
    }
}

function section(options) {
    const {typeName, field} = options;
    const index = filterIndex(field, "EQUALS");
    const body = element("div", {class: "section"});
    const heading = element("h2", null, `${typeName}, by the field ${field.name}`);
    if (index.isServed) {
        body.append(skeleton());
        fillSection(body, options);
    } else {
        body.append(element("p", {class: "quiet"},
            "The service can’t find these. In development, add a QUERYABLE index to the field."));
    }
    return element("section", {class: "section"}, element("header", null, heading,
        badge(index.isServed ? index.text : `No QUERYABLE index on ${field.name}`,
            {state: index.isServed ? "good" : "warn"})), body);
}

/**
 * Creates the view of what refers to a record.
 * @param {{scope: any, schema: any, record: any, signal: AbortSignal}} options
 */
export function referencesView({scope, schema, record, signal}) {
    const fields = referringFields(schema);
    return element("div", {class: "body record-body"}, fields.length === 0
        ? element("p", {class: "quiet row"}, icon("info"), "No record type of the schema has a field for references.")
        : fields.map(({typeName, field}) => section({scope, schema, name: record.recordName, typeName, field,
            signal})));
}
