// Facts about the field types of CloudKit's wire protocol.

const scalars = {
    STRING: {icon: "text", word: "text", many: "texts"},
    INT64: {icon: "whole", word: "whole number", many: "whole numbers"},
    DOUBLE: {icon: "double", word: "number", many: "numbers"},
    TIMESTAMP: {icon: "date", word: "date and time", many: "dates"},
    BYTES: {icon: "bytes", word: "bytes", many: "byte strings"},
    ENCRYPTED_BYTES: {icon: "lock", word: "encrypted bytes", many: "encrypted byte strings"},
    REFERENCE: {icon: "reference", word: "reference", many: "references"},
    LOCATION: {icon: "place", word: "place", many: "places"},
    ASSETID: {icon: "file", word: "file", many: "files"},
};

/** Types that a new field can have, in the order of a menu. Lists of files are missing: they are made by apps. */
export const newFieldTypes = [
    "STRING", "INT64", "DOUBLE", "TIMESTAMP", "REFERENCE", "LOCATION", "BYTES", "ASSETID",
    "STRING_LIST", "INT64_LIST", "DOUBLE_LIST", "TIMESTAMP_LIST", "REFERENCE_LIST", "LOCATION_LIST", "BYTES_LIST",
];

/**
 * Returns the wire name of a type. Also takes the words of Apple's schema language, such as `LIST<STRING>`.
 * @param {string} type
 * @returns {string}
 */
export function wireType(type) {
    const text = String(type ?? "").trim();
    const list = /^LIST<(.+)>$/.exec(text);
    if (list) return `${wireType(list[1])}_LIST`;
    const preferred = /^NUMBER PREFERRED AS (\w+)$/.exec(text);
    if (preferred) return preferred[1];
    return text === "ASSET" ? "ASSETID" : text;
}

/** Whether values of the type are lists. */
export function isList(type) {
    return type.endsWith("_LIST");
}

/** Returns the type of a list's items, or the type itself if it is no list. */
export function itemType(type) {
    return isList(type) ? type.slice(0, -"_LIST".length) : type;
}

/** Whether the type can be sorted by and compared with less and greater. */
export function hasOrder(type) {
    return ["STRING", "INT64", "DOUBLE", "TIMESTAMP"].includes(type);
}

/**
 * Returns the name of the icon for a field.
 * @param {string} type
 * @param {boolean} [isEncrypted]
 */
export function typeIcon(type, isEncrypted = false) {
    if (isEncrypted) return "lock";
    if (isList(type)) return "list";
    return scalars[type]?.icon ?? "bytes";
}

/**
 * Returns a type in words, such as "text" or "list of whole numbers".
 * @param {string} type
 */
export function typeWord(type) {
    const scalar = scalars[itemType(type)];
    if (!scalar) return type.toLowerCase();
    return isList(type) ? `list of ${scalar.many}` : scalar.word;
}

/**
 * Returns a count with the type's word, such as "2 texts".
 * @param {number} count
 * @param {string} type of the items
 */
export function countOf(count, type) {
    const scalar = Object.hasOwn(scalars, type) ? scalars[type] : null;
    if (!scalar) return `${count} ${count === 1 ? "item" : "items"}`;
    return `${count} ${count === 1 ? scalar.word : scalar.many}`;
}
