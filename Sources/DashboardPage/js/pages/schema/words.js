/** @file Types, indexes, roles and permissions of schemas, in the words of the schema language and in plain ones. */

const plainTypes = ["STRING", "INT64", "DOUBLE", "TIMESTAMP", "REFERENCE", "ASSET", "LOCATION", "BYTES"];
const typesNeverEncrypted = ["REFERENCE", "ASSET"];

/** Types that a new field can have. */
export const fieldTypes = [...plainTypes, ...plainTypes.map((type) => `LIST<${type}>`)];

/** The fields that every record has, with what each holds. */
export const systemFields = [
    {name: "___recordID", type: "REFERENCE", note: "the record’s name"},
    {name: "___createTime", type: "TIMESTAMP", note: "when it was created"},
    {name: "___createdBy", type: "REFERENCE", note: "the user who created it"},
    {name: "___modTime", type: "TIMESTAMP", note: "when it was changed last"},
    {name: "___modifiedBy", type: "REFERENCE", note: "the user who changed it last"},
    {name: "___etag", type: "STRING", note: "the change tag"},
];

/** The kinds of indexes, in the order in which they are shown, with the key that a field of the API has. */
export const indexKinds = [
    {kind: "QUERYABLE", key: "isQueryable", text: "Queryable", note: "A query can filter by the field’s value."},
    {kind: "SORTABLE", key: "isSortable", text: "Sortable",
        note: "A query can sort by the field and filter by a range."},
    {kind: "SEARCHABLE", key: "isSearchable", text: "Searchable", note: "A query can search the words of the text."},
];

/** The permissions of a grant. */
export const permissions = [{permission: "READ", text: "Read"}, {permission: "CREATE", text: "Create"},
    {permission: "WRITE", text: "Write"}];

/** Returns permissions in words: "read, write". */
export function permissionsText(given) {
    return permissions.filter(({permission}) => given.includes(permission)).map(({text}) => text.toLowerCase())
        .join(", ");
}

/** The roles that every schema has. */
export const systemRoles = [
    {name: "_world", note: "everyone, also without an account"},
    {name: "_icloud", note: "everyone who is signed in"},
    {name: "_creator", note: "the user who created the record"},
];

/** Returns the type of a field in the schema language: "LIST<ENCRYPTED STRING>". */
export function typeName({type, isEncrypted}) {
    const isList = type.endsWith("_LIST");
    const item = isList ? type.slice(0, -"_LIST".length) : type;
    const isBytes = item === "ENCRYPTED_BYTES";
    const plain = item === "ASSETID" ? "ASSET" : isBytes ? "BYTES" : item;
    const name = isEncrypted || isBytes ? `ENCRYPTED ${plain}` : plain;
    return isList ? `LIST<${name}>` : name;
}

/** Returns whether values of a type, in the schema language, can be encrypted. */
export function canBeEncrypted(type) {
    return !typesNeverEncrypted.includes(type.replace(/^LIST<|>$/g, ""));
}

/** Returns the kinds of indexes that a field can have. The type is one of the schema language. */
export function possibleIndexes(type) {
    const isList = type.startsWith("LIST<");
    if (type.includes("ENCRYPTED") || type.includes("ASSET")) return [];
    const kinds = isList ? ["QUERYABLE"] : ["QUERYABLE", "SORTABLE"];
    return type.includes("STRING") ? [...kinds, "SEARCHABLE"] : kinds;
}

/** Returns the kinds of indexes that a field has. */
export function indexesOf(field) {
    return indexKinds.filter(({key}) => field[key]).map(({kind}) => kind);
}

/** Returns the number of indexes of a record type. */
export function indexesCount({fields = [], systemFields: own = []}) {
    return [...fields, ...own].reduce((count, field) => count + indexesOf(field).length, 0);
}

/** Returns the permissions of a role for a record type. */
export function grantOf({grants = []}, role) {
    return grants.find((grant) => grant.role === role)?.permissions ?? [];
}
