/** @file The fields of a record: those of its type in the schema's order, then those that the schema doesn't have. */

import {ownFields, titleField} from "../../parts/query/fields.js";
import {own} from "../../parts/values/own.js";

/**
 * Returns a definition for each field of the type and of the record.
 * @param {any} schema
 * @param {string} typeName
 * @param {any|null} record
 * @returns {{name: string, type: string, isEncrypted: boolean, isKnown: boolean}[]}
 */
export function definitionsFor(schema, typeName, record) {
    const type = schema.recordTypes.find(({name}) => name === typeName) ?? null;
    const known = ownFields(type).map(({name, type: wire, isEncrypted, isSearchable}) => (
        {name, type: wire, isEncrypted, isSearchable, isKnown: true}));
    const names = new Set(known.map(({name}) => name));
    const others = Object.entries(record?.fields ?? {}).filter(([name]) => !names.has(name)).map(([name, field]) => ({
        name, type: field?.type ?? "STRING", isEncrypted: Boolean(field?.isEncrypted), isKnown: false,
    }));
    return [...known, ...others];
}

/** Returns the text that people know a record by; empty if it has none. */
export function titleOf(schema, record) {
    const definitions = definitionsFor(schema, record.recordType, record);
    const set = definitions.filter(({name}) => typeof own(record.fields, name)?.value === "string"
        && own(record.fields, name).value.trim() !== "" && !own(record.fields, name).isEncrypted);
    const found = titleField(set);
    return found ? own(record.fields, found.name).value.trim().split("\n")[0].slice(0, 120) : "";
}
