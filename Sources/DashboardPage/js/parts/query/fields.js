/** @file The fields of a record type as filters, sorts and columns see them: the type's own and every record's. */

import {wireType} from "../values/types.js";

/**
 * A field that a query may name. `key` is its name in the page's address: a system field begins with `@`.
 * @typedef {{key: string, name: string, label: string, type: string, isSystem: boolean, isEncrypted: boolean,
 *     isQueryable: boolean, isSortable: boolean, isSearchable: boolean}} QueryField
 */

const systemFields = [
    {name: "recordName", schema: "___recordID", label: "Record name", type: "REFERENCE"},
    {name: "modifiedTimestamp", schema: "___modTime", label: "modified", type: "TIMESTAMP"},
    {name: "createdTimestamp", schema: "___createTime", label: "created", type: "TIMESTAMP"},
    {name: "modifiedUserRecordName", schema: "___modifiedBy", label: "modified by", type: "REFERENCE"},
    {name: "createdUserRecordName", schema: "___createdBy", label: "created by", type: "REFERENCE"},
    {name: "parent", schema: "___parent", label: "parent", type: "REFERENCE", isAlwaysQueryable: true},
];

/** The field that stands for all searchable ones. */
const anyText = {
    key: "*", name: "", label: "any text", type: "STRING", isSystem: false, isEncrypted: false,
    isQueryable: false, isSortable: false, isSearchable: true,
};

function ownField({name, type, isEncrypted, isQueryable, isSortable, isSearchable}) {
    return {
        key: name, name, label: name, type: wireType(type), isSystem: false, isEncrypted: Boolean(isEncrypted),
        isQueryable: Boolean(isQueryable && !isEncrypted), isSortable: Boolean(isSortable && !isEncrypted),
        isSearchable: Boolean(isSearchable && !isEncrypted),
    };
}

function systemField(system, listed) {
    const found = listed?.find(({name}) => name === system.schema || name === system.name
        || (name === "___recordId" && system.name === "recordName"));
    return {
        key: `@${system.name}`, name: system.name, label: system.label, type: system.type, isSystem: true,
        isEncrypted: false, isQueryable: Boolean(system.isAlwaysQueryable || found?.isQueryable),
        isSortable: Boolean(found?.isSortable), isSearchable: false,
    };
}

/**
 * Returns the type's own fields, in the schema's order.
 * @param {Object|null} recordType of the schema
 * @returns {QueryField[]}
 */
export function ownFields(recordType) {
    return (recordType?.fields ?? []).map(ownField);
}

/** Returns all fields that a filter or a sort of this type may name. */
export function queryFields(recordType) {
    const own = ownFields(recordType);
    const any = own.some((field) => field.isSearchable) ? [anyText] : [];
    return [...own, ...systemFields.map((system) => systemField(system, recordType?.systemFields)), ...any];
}

/** Returns the field with a key of the address, or undefined. */
export function fieldWithKey(fields, key) {
    return fields.find((field) => field.key === key);
}

/**
 * Returns the columns that are shown when the address names none: the title first, no bytes, and 12 at most.
 * @param {QueryField[]} fields own fields
 */
export function defaultColumns(fields) {
    const title = titleField(fields);
    const others = fields.filter((field) => field !== title && !/BYTES/.test(field.type));
    return [...(title ? [title] : []), ...others].slice(0, 12);
}

/**
 * Returns the sort that is used when the address names none. A query without a filter and a sort needs an index on
 * the record name; where it is missing, the best field that has an index for sorting takes its place.
 * @param {QueryField[]} fields of `queryFields`
 * @returns {{key: string, ascending: boolean}|null}
 */
export function defaultSort(fields) {
    if (fieldWithKey(fields, "@recordName")?.isQueryable) return null;
    const system = fields.find(({isSystem, isSortable, type}) => isSystem && isSortable && type === "TIMESTAMP");
    const own = fields.find(({isSystem, isSortable, type}) => !isSystem && isSortable && hasPlainOrder(type));
    const chosen = system ?? own;
    return chosen ? {key: chosen.key, ascending: !system} : null;
}

/** Whether a sort by the type needs nothing but the field. */
export function hasPlainOrder(type) {
    return ["STRING", "INT64", "DOUBLE", "TIMESTAMP", "REFERENCE", "BYTES"].includes(type);
}

const titleNames = ["title", "name", "subject", "caption", "label", "summary", "headline", "text"];

/**
 * Returns the field that people know a record by: a text with a telling name, else one that is searched, else the
 *     first.
 * @param {{name: string, type: string, isEncrypted: boolean, isSearchable?: boolean}[]} fields
 */
export function titleField(fields) {
    const texts = fields.filter(({type, isEncrypted}) => type === "STRING" && !isEncrypted);
    for (const title of titleNames) {
        const found = texts.find(({name}) => name.toLowerCase() === title);
        if (found) return found;
    }
    return texts.find(({isSearchable}) => isSearchable) ?? texts[0];
}
