/** @file Change tags and sync tokens. Both are opaque to apps; this page comes from the server that writes them. */

import {fromBase64, toBase64} from "../../parts/values/bytes.js";

const version = 1;
const descentVersion = 2;
const zoneSubject = 1;
const epochBytes = 8;
const checksumBytes = 4;

/**
 * Returns the number of the change that made a change tag: a tag is counter and epoch in base 36, "1s2k.3w5e1".
 * @returns {number|null}
 */
export function changeOf(tag) {
    const number = parseInt(/^([0-9a-z]+)\.[0-9a-z]+$/.exec(tag ?? "")?.[1] ?? "", 36);
    return Number.isSafeInteger(number) ? number : null;
}

/**
 * A sync token of a zone. `head` is what its zone's tokens have in common: database, owner, zone and epoch. A
 * descending one is of a fetch from the newest change downwards that isn't done.
 * @typedef {{head: Uint8Array, change: number, isDescending: boolean}} Token
 */

/**
 * Reads a sync token.
 * @returns {Token|null} null for a text that is no token of a zone
 */
export function readToken(text) {
    const bytes = fromBase64(text);
    const content = bytes?.subarray(0, -checksumBytes) ?? [];
    if (!content.length || !areEqual(checksum(content), bytes.subarray(-checksumBytes))) return null;
    if (![version, descentVersion].includes(content[0]) || content[2] !== zoneSubject) return null;
    const textEnd = (start) => {
        const length = readNumber(content, start);
        return length.end + length.value;
    };
    // Behind the owner and the name of the zone.
    const place = textEnd(textEnd(3)) + epochBytes;
    // A sign is the last bit; no token of the server is negative.
    const change = readNumber(content, place).value / 2;
    return Number.isSafeInteger(change)
        ? {head: content.slice(1, place), change, isDescending: content[0] === descentVersion} : null;
}

/** Whether two tokens are of the same life of the same zone. */
export function isSameZone(one, other) {
    return areEqual(one.head, other.head);
}

/**
 * Writes a sync token.
 * @param {Token} token One of the zone.
 * @param {{change: number, liveUntil?: number, descent?: {newest: number, below: number}}} place The last change that
 *     is known; up to which change deletions aren't wanted; where a walk downwards stands.
 */
export function tokenText({head}, {change, liveUntil = 0, descent = null}) {
    const numbers = [change, liveUntil, ...(descent ? [descent.newest, descent.below] : [])];
    const content = [descent ? descentVersion : version, ...head,
        ...numbers.flatMap((number) => numberBytes(2 * number))];
    return toBase64(Uint8Array.from([...content, ...checksum(content)]));
}

// LEB128: 7 bits a byte, the lowest first. Divided, since numbers of changes may have more than 32 bits.
function numberBytes(number) {
    const bytes = [];
    let rest = number;
    while (rest >= 128) {
        bytes.push(rest % 128 + 128);
        rest = Math.floor(rest / 128);
    }
    return [...bytes, rest];
}

function readNumber(bytes, start) {
    let [value, factor, end] = [0, 1, start];
    do {
        value += (bytes[end] % 128) * factor;
        factor *= 128;
        end += 1;
    } while (bytes[end - 1] >= 128);
    return {value, end};
}

// CRC-32 as in zlib, the lowest byte first.
function checksum(bytes) {
    let sum = 0xffffffff;
    for (const byte of bytes) {
        sum ^= byte;
        for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return [0, 8, 16, 24].map((shift) => (~sum >>> shift) & 0xff);
}

function areEqual(one, other) {
    return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
