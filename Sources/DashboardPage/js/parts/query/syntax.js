/** @file Filters, sort and columns as they stand in the page's address, such as `q=due>2026-11-27,done=0`. */

import {comparatorNamed, comparators} from "./comparators.js";

/**
 * A filter as it is typed. The value stays text, so that the address says what the person wrote.
 * @typedef {{key: string, comparator: string, value: string}} Filter
 */

const plainKey = /^(@[A-Za-z]+|\*|[A-Za-z_][A-Za-z0-9_]*)/;

function keyText(key, isOwn = true) {
    // A field's name that looks like a system field's key, or like a sign, stands in quotes.
    const isPlain = isOwn ? /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) : true;
    return isPlain ? key : JSON.stringify(key);
}

function isOwnKey(key) {
    return !/^@[A-Za-z]+$/.test(key) && key !== "*";
}

function valueText(value) {
    return /^[^",\s][^",]*$/.test(value) && !/\s$/.test(value) ? value : JSON.stringify(value);
}

/**
 * Writes filters for the address; null for none.
 * @param {Filter[]} filters
 */
export function filtersText(filters) {
    if (filters.length === 0) return null;
    return filters.map(({key, comparator, value}) => {
        return keyText(key, isOwnKey(key)) + comparatorNamed(comparator).sign + valueText(value);
    }).join(",");
}

/** Reads one text after another from the front. */
class Scanner {
    constructor(text) {
        this.rest = text;
    }

    take(pattern) {
        const match = pattern.exec(this.rest);
        if (!match || match.index !== 0) return null;
        this.rest = this.rest.slice(match[0].length);
        return match[0];
    }

    quoted() {
        const text = this.take(/^"(?:[^"\\]|\\.)*"/);
        return text === null ? null : JSON.parse(text);
    }

    key() {
        const text = this.quoted() ?? this.take(plainKey);
        if (text === null) throw new SyntaxError(`a field’s name is missing before “${this.rest.slice(0, 20)}”`);
        return text;
    }
}

/**
 * Reads the filters of an address.
 * @param {string|null} text
 * @returns {Filter[]}
 * @throws {SyntaxError}
 */
export function readFilters(text) {
    const filters = [];
    const scanner = new Scanner(text ?? "");
    while (scanner.rest) {
        const key = scanner.key();
        const comparator = comparators.find(({sign}) => scanner.rest.startsWith(sign));
        if (!comparator) throw new SyntaxError(`a comparison is missing after “${key}”`);
        scanner.rest = scanner.rest.slice(comparator.sign.length);
        const value = scanner.quoted() ?? scanner.take(/^[^,]*/);
        filters.push({key, comparator: comparator.name, value});
        if (scanner.rest && scanner.take(/^,/) === null) {
            throw new SyntaxError("a comma is missing between two filters");
        }
    }
    return filters;
}

/** Writes a sort for the address: `due`, or `-due` for the largest first; null for none. */
export function sortText(sort) {
    return sort ? (sort.ascending ? "" : "-") + keyText(sort.key, isOwnKey(sort.key)) : null;
}

/**
 * Reads the sort of an address.
 * @returns {{key: string, ascending: boolean}|null}
 * @throws {SyntaxError}
 */
export function readSort(text) {
    if (!text) return null;
    const scanner = new Scanner(text);
    const ascending = scanner.take(/^-/) === null;
    return {key: scanner.key(), ascending};
}

/** Writes columns for the address: names with commas, or `-` for none. */
export function columnsText(names) {
    return names.length === 0 ? "-" : names.map((name) => keyText(name)).join(",");
}

/**
 * Reads the columns of an address.
 * @returns {string[]|null} null if the address names none, or can't be read
 */
export function readColumns(text) {
    if (!text) return null;
    if (text === "-") return [];
    const scanner = new Scanner(text);
    const names = [];
    try {
        while (scanner.rest) {
            names.push(scanner.key());
            scanner.take(/^,/);
        }
    } catch {
        return null;
    }
    return names;
}
