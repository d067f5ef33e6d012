/** @file Which index serves a filter or a sort. The service refuses a query that needs an index that isn't there. */

import {comparatorNamed} from "./comparators.js";

/**
 * The index that a filter needs.
 * @param {import("./fields.js").QueryField|undefined} field
 * @param {string} comparator
 * @returns {{isServed: boolean, index: string, text: string}}
 */
export function filterIndex(field, comparator) {
    if (!field) return {isServed: false, index: "", text: "The schema doesn’t have this field"};
    if (field.isEncrypted) return {isServed: false, index: "", text: "Encrypted: the service can’t compare it"};
    const usesWords = comparatorNamed(comparator)?.value === "words";
    if (field.key === "*") return {isServed: true, index: "SEARCHABLE", text: "Index: all SEARCHABLE fields"};
    const index = usesWords ? "SEARCHABLE" : "QUERYABLE";
    return sentence(field, index, usesWords ? field.isSearchable : field.isQueryable);
}

/** The index that a sort needs. */
export function sortIndex(field) {
    if (!field) return {isServed: false, index: "", text: "The schema doesn’t have this field"};
    return sentence(field, "SORTABLE", field.isSortable);
}

function sentence(field, index, isServed) {
    const text = isServed ? `Index: ${field.label}, ${index}`
        : `No ${index} index on ${field.label}: the service refuses it`;
    return {isServed, index, text};
}

/**
 * Returns what a schema lacks for a query with neither a filter nor a sort.
 * @param {import("./fields.js").QueryField[]} fields
 */
export function listIndex(fields) {
    const field = fields.find(({key}) => key === "@recordName");
    return sentence(field ?? {label: "Record name"}, "QUERYABLE", Boolean(field?.isQueryable));
}
