/** @file A field's value as the content of a table's cell: one line, never the whole of a long value. */

import {element, icon} from "../../core/dom.js";
import {count} from "../../core/format.js";
import {badge} from "../badge.js";
import {exactTime} from "../time.js";
import {sizeText} from "./bytes.js";
import {dateOf, timeText} from "./times.js";
import {isUnset, shortName, valueText} from "./text.js";
import {isList, itemType} from "./types.js";

const lettersMax = 160;
const itemsMax = 3;

function line(text, cut = null) {
    const short = cut || text.length > lettersMax ? `${text.slice(0, lettersMax)}…` : text;
    // The direction of the text is its own, so that it doesn't turn the cells beside it.
    const part = element("span", {class: "cut", dir: "auto"}, short);
    return cut ? element("span", {class: "with cut-value"}, part, element("small", {class: "quiet"},
        sizeText(cut.bytes))) : part;
}

function quiet(text, name = null) {
    return element("span", {class: "with quiet"}, name ? icon(name) : null, text);
}

function items(values, type, all) {
    if (all === 0) return quiet("empty list");
    const shown = values.slice(0, itemsMax).map((value) => {
        const text = type === "TIMESTAMP" ? timeText(value) : valueText(value, type);
        return element("bdi", {class: "badge"}, text.length > 24 ? `${text.slice(0, 24)}…` : text);
    });
    return element("span", {class: "tags"}, shown,
        all > shown.length ? badge(`+${count(all - shown.length)}`) : null);
}

/**
 * Returns the content of a cell, or null if the field has no value.
 * @param {import("./text.js").Field|undefined} field
 * @param {function(string): string} address of the record with a name
 * @param {{bytes?: number, count?: number}} [cut] How large a value is of which the server sent the beginning only: a
 *     list has `count` elements, anything else has `bytes`.
 */
export function cellContent(field, address, cut = null) {
    if (isUnset(field)) return null;
    const {value} = field;
    const type = field.type ?? "STRING";
    if (field.isEncrypted || type.startsWith("ENCRYPTED")) return quiet("encrypted", "lock");
    if (isList(type)) {
        return Array.isArray(value) ? items(value, itemType(type), cut?.count ?? value.length)
            : line(valueText(value, type));
    }
    if (type === "BYTES" && cut) return line(`${count(cut.bytes)} bytes`);
    switch (type) {
    case "STRING": return value === "" ? quiet("empty text") : line(String(value), cut);
    case "TIMESTAMP": return dateOf(value) ? exactTime(Number(value)) : line(`${value} ms`);
    case "REFERENCE": {
        const name = String(value?.recordName ?? "");
        return element("a", {href: address(name)}, shortName(name));
    }
    case "ASSETID": return element("span", {class: "with"}, icon("file"), valueText(value, type).replace(/^File, /,
        ""));
    case "LOCATION": return element("span", {class: "mono"}, valueText(value, type));
    default: return line(valueText(value, type));
    }
}
