// Values of fields as one line of text: for cells, for "was", for conflicts, for comparing.

import {base64Size, countText, sizeText} from "./bytes.js";
import {timeInput, timeText} from "./times.js";
import {isList, itemType} from "./types.js";

/**
 * A field as it comes over the wire. Numbers are text because every request asks with `numbersAsStrings`.
 * @typedef {{value: any, type?: string, isEncrypted?: boolean}} Field
 */

/** Returns a number's text without the point and zero that a whole DOUBLE comes with. */
export function doubleText(value) {
    return String(value).replace(/^(-?\d+)\.0$/, "$1");
}

/** Returns a place such as "52.5145, 13.3908". */
export function placeText(value) {
    return `${doubleText(value?.latitude)}, ${doubleText(value?.longitude)}`;
}

/**
 * Returns one value that is no list as one line of text.
 * @param {any} value
 * @param {string} type
 */
export function valueText(value, type) {
    switch (type) {
    case "DOUBLE": return doubleText(value);
    case "TIMESTAMP": return `${timeText(value, true)} UTC`;
    case "BYTES": case "ENCRYPTED_BYTES": return `${countText(base64Size(value))} bytes`;
    case "LOCATION": return placeText(value);
    case "REFERENCE": return String(value?.recordName ?? "");
    case "ASSETID": return `File, ${sizeText(value?.size ?? 0)}`;
    default: return typeof value === "object" ? JSON.stringify(value) : String(value);
   }
}

/** Whether the field has no value. */
export function isUnset(field) {
    return field === undefined || field === null || field.value === null || field.value === undefined;
}

/**
 * Returns a field as one line of text; "not set" without a value.
 * @param {Field|undefined} field
 */
export function fieldText(field) {
    if (isUnset(field)) return "not set";
    if (field.isEncrypted) return "encrypted";
    const type = field.type ?? "STRING";
    if (!isList(type) || !Array.isArray(field.value)) {
        return field.value === "" ? "empty text" : valueText(field.value, type);
   }
    if (field.value.length === 0) return "empty list";
    return field.value.map((item) => valueText(item, itemType(type))).join(", ");
}

/** Returns the text with which an input begins to edit a value that is no list. */
export function inputText(value, type) {
    switch (type) {
    case "TIMESTAMP": return timeInput(value);
    case "DOUBLE": return doubleText(value);
    case "REFERENCE": return String(value?.recordName ?? "");
    case "LOCATION": return placeText(value);
    default: return String(value ?? "");
   }
}

function canonical(value, type) {
    switch (type) {
    case "DOUBLE": return Number(value);
    case "INT64": case "TIMESTAMP": return String(value);
    case "REFERENCE": return [value?.recordName, value?.action ?? "NONE"];
    case "ASSETID": return [value?.fileChecksum, String(value?.size)];
    case "LOCATION": return Object.entries(value ?? {}).sort().map(([name, part]) => [name, Number(part)]);
    default: return value;
   }
}

/**
 * Whether two fields hold the same value. The address of a file doesn't count: it is another one in each answer.
 * @param {Field|undefined} one
 * @param {Field|undefined} other
 */
export function isSame(one, other) {
    if (isUnset(one) || isUnset(other)) return isUnset(one) && isUnset(other);
    const form = (field) => {
        const type = field.type ?? "STRING";
        const value = isList(type) && Array.isArray(field.value)
            ? field.value.map((item) => canonical(item, itemType(type))) : canonical(field.value, type);
        return JSON.stringify([type, Boolean(field.isEncrypted), value]);
   };
    return form(one) === form(other);
}

/** Returns an identifier with its middle left out, such as "8F2C61A0…9C41", if it is longer than 18 characters. */
export function shortName(name) {
    const text = String(name);
    return text.length > 18 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}
