// From what a person types to the value that goes over the wire. Numbers stay text, so that no digit is lost.

import {fromBase64, fromHex, toBase64} from "./bytes.js";
import {readTime} from "./times.js";

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/**
 * The result of reading an input: a value for the wire, or what is wrong with the text.
 * @typedef {{value?: any, wrong?: string}} Read
 */

/** @returns {Read} */
function readWhole(text) {
    if (!/^[+-]?\d+$/.test(text)) return {wrong: "Not a whole number. Use digits only: 1500"};
    const number = BigInt(text);
    if (number < least || number > most) return {wrong: `Out of range. The largest is ${most}.`};
    return {value: String(number)};
}

/** @returns {Read} */
function readDouble(text) {
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
        return Number.isFinite(Number(text)) ? {value: text} : {wrong: "Too large for a number."};
   }
    const withPoint = text.replace(",", ".");
    const hint = /^[+-]?\d+\.\d+$/.test(withPoint) ? withPoint : "1.5";
    return {wrong: `Not a number. Use a point: ${hint}`};
}

/** @returns {Read} */
function readDate(text) {
    const value = readTime(text);
    return value === null ? {wrong: "Not a date. Use 2026-11-27 08:30:00, in UTC."} : {value};
}

/**
 * Reads bytes.
 * @param {string} text
 * @param {"hex"|"base64"} form
 * @returns {Read}
 */
export function readBytes(text, form) {
    const bytes = form === "hex" ? fromHex(text) : fromBase64(text);
    if (bytes) return {value: toBase64(bytes)};
    return {wrong: form === "hex" ? "Not hexadecimal: two digits for each byte." : "Not base64."};
}

/** @returns {Read} */
function readReference(text) {
    // The service takes ASCII without control characters, 255 bytes.
    if (!/^[\x20-\x7e]{1,255}$/.test(text)) return {wrong: "Not a record name: 1 to 255 ASCII characters."};
    return {value: {recordName: text }};
}

/**
 * Reads a place from two texts.
 * @returns {Read}
 */
export function readPlace(latitude, longitude) {
    const [first, second] = [readDouble(latitude.trim()), readDouble(longitude.trim())];
    if (first.wrong || second.wrong) return {wrong: first.wrong ?? second.wrong};
    const [north, east] = [Number(first.value), Number(second.value)];
    if (Math.abs(north) > 90) return {wrong: "A latitude is between −90 and 90."};
    if (Math.abs(east) > 180) return {wrong: "A longitude is between −180 and 180."};
    return {value: {latitude: north, longitude: east }};
}

/**
 * Reads one typed value that is no list.
 * @param {string} type a wire type
 * @param {string} text
 * @returns {Read}
 */
export function readValue(type, text) {
    switch (type) {
    case "STRING": return {value: text};
    case "INT64": return readWhole(text.trim());
    case "DOUBLE": return readDouble(text.trim());
    case "TIMESTAMP": return readDate(text);
    case "REFERENCE": return readReference(text.trim());
    case "BYTES": return readBytes(text, "base64");
    case "LOCATION": {
        const parts = text.split(/[,;]\s*/);
        return parts.length === 2 ? readPlace(parts[0], parts[1])
            : {wrong: "Not a place. Use latitude and longitude: 52.5145, 13.3908"};
   }
    default: return {wrong: `A value of type ${type} can’t be typed.`};
   }
}

/**
 * Says what is wrong with a name of a record, a field or a type; null if nothing is.
 * @param {string} name
 */
export function nameWrong(name) {
    return /^[\x20-\x7e]{1,255}$/.test(name) ? null : "Use 1 to 255 ASCII characters.";
}
