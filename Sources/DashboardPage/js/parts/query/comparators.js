/** @file How a filter compares: names on the wire, words on the page, signs in the address. */

import {isList, itemType} from "../values/types.js";

/**
 * One way to compare. `value` says what is typed: one value, several with commas, words, or a place and a distance.
 * @typedef {{name: string, sign: string, word: string, value: "one"|"many"|"words"|"near", command?: string}}
 *     Comparator
 */

/** @type {Comparator[]} */
export const comparators = [
    {name: "EQUALS", sign: "=", word: "equals", value: "one", command: "="},
    {name: "NOT_EQUALS", sign: "!=", word: "doesn’t equal", value: "one", command: "!="},
    {name: "LESS_THAN_OR_EQUALS", sign: "<=", word: "is at most", value: "one", command: "<="},
    {name: "GREATER_THAN_OR_EQUALS", sign: ">=", word: "is at least", value: "one", command: ">="},
    {name: "LESS_THAN", sign: "<", word: "is less than", value: "one", command: "<"},
    {name: "GREATER_THAN", sign: ">", word: "is greater than", value: "one", command: ">"},
    {name: "BEGINS_WITH", sign: ":begins:", word: "begins with", value: "one"},
    {name: "NOT_BEGINS_WITH", sign: ":!begins:", word: "doesn’t begin with", value: "one"},
    {name: "CONTAINS_ALL_TOKENS", sign: ":words:", word: "has all words", value: "words"},
    {name: "CONTAINS_ANY_TOKENS", sign: ":anyword:", word: "has any word", value: "words"},
    {name: "IN", sign: ":in:", word: "is one of", value: "many"},
    {name: "NOT_IN", sign: ":!in:", word: "is none of", value: "many"},
    {name: "LIST_CONTAINS", sign: ":has:", word: "contains", value: "one", command: "="},
    {name: "NOT_LIST_CONTAINS", sign: ":!has:", word: "doesn’t contain", value: "one"},
    {name: "LIST_CONTAINS_ANY", sign: ":any:", word: "contains any of", value: "many"},
    {name: "LIST_CONTAINS_ALL", sign: ":all:", word: "contains all of", value: "many"},
    {name: "LIST_MEMBER_BEGINS_WITH", sign: ":member:", word: "has an item that begins with", value: "one"},
    {name: "NEAR", sign: ":near:", word: "is near", value: "near"},
];

const timeWords = {
    LESS_THAN: "is before", GREATER_THAN: "is after", LESS_THAN_OR_EQUALS: "is at or before",
    GREATER_THAN_OR_EQUALS: "is at or after",
};
const equality = ["EQUALS", "NOT_EQUALS", "IN", "NOT_IN"];
const order = ["LESS_THAN", "GREATER_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN_OR_EQUALS"];
const words = ["CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS"];

/** Returns the comparator with a wire name, or undefined. */
export function comparatorNamed(name) {
    return comparators.find((comparator) => comparator.name === name);
}

/** Returns the words of a comparator for values of a type: "is after" for a time. */
export function comparatorWord(comparator, type) {
    return (type === "TIMESTAMP" && timeWords[comparator.name]) || comparator.word;
}

function namesFor({key, type, isSearchable}) {
    if (key === "*") return words;
    const searches = isSearchable ? words : [];
    if (isList(type)) {
        const item = itemType(type);
        if (item === "LOCATION" || item === "ASSETID") return [];
        const begins = item === "STRING" ? ["LIST_MEMBER_BEGINS_WITH"] : [];
        return ["LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ANY", "LIST_CONTAINS_ALL", ...begins, ...searches];
    }
    switch (type) {
    case "STRING": return ["EQUALS", "BEGINS_WITH", ...searches, "NOT_EQUALS", "NOT_BEGINS_WITH", "IN", "NOT_IN",
        ...order];
    case "INT64": case "DOUBLE": return ["EQUALS", "NOT_EQUALS", ...order, "IN", "NOT_IN"];
    case "TIMESTAMP": return ["GREATER_THAN", "LESS_THAN", ...order.slice(2), "EQUALS", "NOT_EQUALS"];
    case "REFERENCE": case "BYTES": return equality;
    case "LOCATION": return ["NEAR"];
    default: return [];
    }
}

/**
 * Returns the ways to compare a field that the service knows for its type.
 * @param {import("./fields.js").QueryField} field
 * @returns {Comparator[]}
 */
export function comparatorsFor(field) {
    return namesFor(field).map(comparatorNamed);
}

/** Whether the service can compare a field so. */
export function canCompare(field, name) {
    return namesFor(field).includes(name);
}
