/** @file From filters and a sort to the query of `records/query`. */

import {canCompare, comparatorNamed, comparatorWord} from "./comparators.js";
import {fieldWithKey} from "./fields.js";
import {isList, itemType} from "../values/types.js";
import {readPlace, readValue} from "../values/parse.js";

/** What is wrong with one filter: its place in the list and a sentence. */
export class FilterError extends Error {
    constructor(index, message) {
        super(message);
        this.index = index;
    }
}

/** Splits "a, b, \"c, d\"" at its commas. */
export function splitValues(text) {
    const values = [];
    for (const match of text.matchAll(/\s*("(?:[^"\\]|\\.)*"|[^,]+)\s*(?:,|$)/g)) {
        const part = match[1].trim();
        values.push(/^".*"$/.test(part) ? unquoted(part) : part);
    }
    return values.filter((value) => value !== "");
}

function unquoted(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text.slice(1, -1);
    }
}

function oneValue(type, text, index) {
    const read = readValue(type, text);
    if (read.wrong) throw new FilterError(index, read.wrong);
    return read.value;
}

function nearValue(text, index) {
    const parts = text.split(/[,;]\s*/);
    const metres = Number(parts[2]?.replace(/\s*(m|metres)$/, ""));
    const place = parts.length === 3 ? readPlace(parts[0], parts[1]) : {wrong: "x"};
    if (place.wrong || !(metres >= 0)) {
        throw new FilterError(index, "Use latitude, longitude and metres: 52.5145, 13.3908, 1000");
    }
    return {fieldValue: {value: place.value, type: "LOCATION"}, distance: metres};
}

function filterValue(comparator, field, text, index) {
    const type = itemType(field.type);
    switch (comparator.value) {
    case "words": return {fieldValue: {value: text, type: "STRING"}};
    case "near": return nearValue(text, index);
    case "many": {
        const values = splitValues(text).map((part) => oneValue(type, part, index));
        if (values.length === 0) throw new FilterError(index, "Type one or more values with commas between them.");
        return {fieldValue: {value: values, type: `${type}_LIST`}};
    }
    default: return {fieldValue: {value: oneValue(type, text, index), type}};
    }
}

/** Names a field as the protocol wants it. */
function fieldName(field) {
    if (field.key === "*") return {};
    return field.isSystem ? {systemFieldName: field.name} : {fieldName: field.name};
}

/**
 * Returns one condition of the protocol.
 * @throws {FilterError}
 */
export function filterBody({key, comparator: name, value}, fields, index) {
    const field = fieldWithKey(fields, key);
    if (!field) throw new FilterError(index, `The schema has no field ${key}.`);
    const comparator = comparatorNamed(name);
    if (!canCompare(field, name) && comparator.value !== "words") {
        throw new FilterError(index, `${field.label} can’t be compared with “${comparator.word}”.`);
    }
    return {comparator: name, ...fieldName(field), ...filterValue(comparator, field, value, index)};
}

/**
 * Returns the query of a request.
 * @param {string} recordType
 * @param {import("./syntax.js").Filter[]} filters
 * @param {{key: string, ascending: boolean}|null} sort
 * @param {import("./fields.js").QueryField[]} fields
 * @throws {FilterError} with the first filter that can't be sent
 */
export function queryBody(recordType, filters, sort, fields) {
    const query = {recordType};
    if (filters.length > 0) query.filterBy = filters.map((filter, index) => filterBody(filter, fields, index));
    const field = sort && fieldWithKey(fields, sort.key);
    if (sort && !field) throw new FilterError(-1, `The schema has no field ${sort.key}.`);
    if (field) query.sortBy = [{...fieldName(field), ascending: sort.ascending}];
    return query;
}

/** Returns a filter in words, such as "due is after 2026-11-27". */
export function filterWords(filter, fields) {
    const field = fieldWithKey(fields, filter.key);
    const type = field ? (isList(field.type) ? itemType(field.type) : field.type) : "STRING";
    return `${field?.label ?? filter.key} ${comparatorWord(comparatorNamed(filter.comparator), type)} ${filter.value}`;
}
