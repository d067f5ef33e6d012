/** @file A field's value as the record panel shows it: all of it, long ones on request. */

import {element, fill, icon} from "../../core/dom.js";
import {badge} from "../badge.js";
import {button} from "../button.js";
import {copyButton} from "../copy.js";
import {map} from "../map.js";
import {relativeTime} from "../time.js";
import {assetView} from "./asset.js";
import {base64Size, countText, fromBase64, toHex} from "./bytes.js";
import {dateOf, localTime, timeText} from "./times.js";
import {doubleText, isUnset, placeText, valueText} from "./text.js";
import {countOf, isList, itemType} from "./types.js";

const lettersShown = 400;
const bytesShown = 16;
const itemsShown = 50;

/**
 * What a view needs of the page around it.
 * @typedef {{address: function(string): string, signal: AbortSignal, owner: string, fileName: string}} Tools
 */

function quiet(...children) {
    return element("span", {class: "quiet"}, ...children);
}

function withParts(...children) {
    return element("span", {class: "with"}, ...children);
}

/** Shows `short` with a button that puts `full()` in its place. */
function expandable(short, note, label, full) {
    const holder = element("div", {class: "more"});
    const expand = button(label, {className: "bare", click: () => {
        const whole = full();
        whole.tabIndex = -1;
        fill(holder, whole);
        whole.focus();
    }});
    return fill(holder, short, withParts(note ? quiet(note) : null, expand));
}

function textView(value) {
    const text = String(value);
    if (text === "") return quiet("empty text");
    const whole = (content) => element("div", {class: "words", dir: "auto"}, content);
    const lines = text.split("\n");
    if (text.length <= lettersShown && lines.length <= 8) {
        return text.length > 40 ? element("div", {class: "row top"}, whole(text), copyButton(text, "Copy the text"))
            : whole(text);
    }
    const short = lines.slice(0, 8).join("\n").slice(0, lettersShown);
    return expandable(whole(`${short}…`), `${countText(text.length)} characters`, "Show all",
        () => element("div", null, whole(text), copyButton(text, "Copy the text")));
}

function timeView(value) {
    if (!dateOf(value)) return quiet(`${value} ms since 1970, no date`);
    return [
        withParts(relativeTime(Number(value)), quiet(`${timeText(value, true)} UTC`)),
        quiet(`${localTime(value)} in your time zone`),
    ];
}

function bytesView(value) {
    const bytes = fromBase64(String(value));
    if (!bytes) return quiet("bytes that can’t be read");
    if (bytes.length === 0) return quiet("0 bytes");
    const pre = (content) => element("pre", null, content);
    const size = `${countText(bytes.length)} ${bytes.length === 1 ? "byte" : "bytes"}`;
    const copy = copyButton(String(value), "Copy as base64");
    if (bytes.length <= bytesShown) return [pre(toHex(bytes)), withParts(quiet(size), copy)];
    const part = pre(toHex(bytes.subarray(0, bytesShown)));
    return expandable(part, `First ${bytesShown} of ${size}`, "Show all", () => element("div", null,
        element("p", {class: "quiet"}, "Hexadecimal"), pre(toHex(bytes)), withParts(quiet(size)),
        element("p", {class: "quiet"}, "Base64"), pre(String(value)), copy));
}

function placeView(value) {
    const [latitude, longitude] = [Number(value?.latitude), Number(value?.longitude)];
    const facts = [
        [value?.altitude, (metres) => `${doubleText(metres)} m high`], [value?.speed,
            (speed) => `${doubleText(speed)} m/s`],
        [value?.course, (course) => `course ${doubleText(course)}°`],
        [value?.timestamp, (time) => `measured ${timeText(time, true)} UTC`],
    ].filter(([fact]) => fact !== undefined && fact !== null).map(([fact, words]) => words(fact));
    const accuracy = value?.horizontalAccuracy;
    return [
        map(latitude, longitude, Number(accuracy ?? 0)),
        withParts(element("code", null, placeText(value)),
            accuracy === undefined || accuracy === null ? null : quiet(`± ${doubleText(accuracy)} m`),
            copyButton(placeText(value), "Copy the place")),
        facts.length ? quiet(facts.join(", ")) : null,
    ];
}

function referenceView(value, tools) {
    const name = String(value?.recordName ?? "");
    const zone = value?.zoneID?.zoneName;
    const action = value?.action && value.action !== "NONE" ? badge(value.action) : null;
    return withParts(element("a", {href: tools.address(name)}, name), action, copyButton(name, "Copy the record name"),
        zone && zone !== tools.zone ? quiet(`in zone ${zone}`) : null);
}

function oneView(value, type, tools) {
    switch (type) {
    case "STRING": return textView(value);
    case "INT64": case "DOUBLE": return element("span", {class: "number"}, valueText(value, type));
    case "TIMESTAMP": return timeView(value);
    case "BYTES": return bytesView(value);
    case "LOCATION": return placeView(value);
    case "REFERENCE": return referenceView(value, tools);
    case "ASSETID": return assetView(value, {name: tools.fileName, signal: tools.signal});
    default: return element("code", null, valueText(value, type));
    }
}

function isShortText(value) {
    return typeof value === "string" && value.length <= 30 && !value.includes("\n");
}

function listView(values, type, tools) {
    if (values.length === 0) return quiet("empty list");
    const count = quiet(countOf(values.length, type));
    if (["STRING", "INT64", "DOUBLE"].includes(type) && values.length <= 12 && values.every(isShortText)) {
        return withParts(values.map((value) => element("bdi", {class: "badge"}, valueText(value,
            type) || "empty text")), count);
    }
    const list = (part) => element("ol", {class: "items"},
        part.map((value, index) => element("li", null, oneView(value, type, {...tools,
            fileName: `${tools.fileName}-${index + 1}`}))));
    if (values.length <= itemsShown) return [list(values), count];
    return expandable(list(values.slice(0, itemsShown)), `First ${itemsShown} of ${countOf(values.length, type)}`,
        "Show all", () => list(values));
}

function encryptedView(field, tools) {
    const isBytes = typeof field.value === "string" && /BYTES$/.test(field.type ?? "");
    const size = isBytes ? `${countText(base64Size(field.value))} bytes. ` : "";
    return withParts(badge("Encrypted", {state: "info", icon: "lock"}),
        quiet(`${size}Only the apps of ${tools.owner} can read it.`));
}

/**
 * Returns the nodes that show a field. A value that can't be shown says so, and leaves the others alone.
 * @param {import("./text.js").Field|undefined} field
 * @param {Tools} tools
 */
export function fieldView(field, tools) {
    try {
        if (isUnset(field)) return quiet("not set");
        const type = field.type ?? "STRING";
        if (field.isEncrypted || type.startsWith("ENCRYPTED")) return encryptedView(field, tools);
        if (isList(type) && Array.isArray(field.value)) return listView(field.value, itemType(type), tools);
        return oneView(field.value, type, tools);
    } catch {
        return withParts(icon("bad"), quiet("This value can’t be shown. See it in the JSON view."));
    }
}
