// Bytes of fields: base64 on the wire, hexadecimal on the page.

/**
 * Decodes base64.
 * @param {string} text
 * @returns {Uint8Array|null} null if it isn't base64
 */
export function fromBase64(text) {
    const dense = text.replace(/\s+/g, "");
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(dense) || dense.length % 4 === 1) return null;
    try {
        return Uint8Array.from(atob(dense), (character) => character.charCodeAt(0));
    } catch {
        return null;
   }
}

/** Encodes bytes as base64. */
export function toBase64(bytes) {
    let text = "";
    for (let start = 0; start < bytes.length; start += 8192) {
        text += String.fromCharCode(...bytes.subarray(start, start + 8192));
   }
    return btoa(text);
}

/** Returns bytes in hexadecimal, two digits each, with spaces between them. */
export function toHex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/**
 * Decodes hexadecimal digits, with or without spaces and `0x`.
 * @returns {Uint8Array|null}
 */
export function fromHex(text) {
    const dense = text.replace(/^\s*0x/i, "").replace(/\s+/g, "");
    if (!/^[0-9a-f]*$/i.test(dense) || dense.length % 2 === 1) return null;
    return Uint8Array.from(dense.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Returns the number of bytes that a base64 text stands for, without decoding it. */
export function base64Size(text) {
    const dense = String(text).replace(/[\s=]+/g, "");
    return Math.floor(dense.length * 3 / 4);
}

/** Returns a size such as "412 bytes", "3.4 KB", "2.1 MB". */
export function sizeText(bytes) {
    const number = Number(bytes);
    if (!Number.isFinite(number)) return `${bytes} bytes`;
    if (number < 1000) return `${number} ${number === 1 ? "byte" : "bytes"}`;
    const units = ["KB", "MB", "GB", "TB"];
    let [value, unit] = [number, -1];
    while (value >= 999.5 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
   }
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns a whole number with thousands separated: "1,204". */
export function countText(number) {
    return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

const signatures = [
    {type: "image/png", word: "PNG", bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]},
    {type: "image/jpeg", word: "JPEG", bytes: [0xff, 0xd8, 0xff]},
    {type: "image/gif", word: "GIF", bytes: [0x47, 0x49, 0x46, 0x38]},
];

/**
 * Tells a picture by its first bytes. A name or a declared type isn't trusted: the file is a stranger's.
 * @param {Uint8Array} bytes
 * @returns {{type: string, word: string}|null} null for all but PNG, JPEG, GIF and WebP
 */
export function pictureType(bytes) {
    const starts = (expected, at = 0) => expected.every((byte, index) => bytes[at + index] === byte);
    const found = signatures.find((signature) => starts(signature.bytes));
    if (found) return {type: found.type, word: found.word};
    const isWebP = starts([0x52, 0x49, 0x46, 0x46]) && starts([0x57, 0x45, 0x42, 0x50], 8);
    return isWebP ? {type: "image/webp", word: "WebP"} : null;
}
