/** @file One value that is typed: the inputs of each type, without label, undo or list. */

import {element, icon} from "../../core/dom.js";
import {readBytes, readPlace, readValue} from "./parse.js";
import {doubleText, inputText} from "./text.js";
import {localTime, readTime} from "./times.js";

const actions = ["NONE", "DELETE_SELF", "VALIDATE"];

/**
 * The inputs of one value. `read` returns `{}` when nothing is typed.
 * @typedef {{nodes: Node[], inputs: HTMLElement[], read: function(): import("./parse.js").Read, set: function(any):
 *     void}} ValueInput
 */

/** @returns {HTMLElement} */
function line(label, attributes) {
    return element("input", {class: "input", autocomplete: "off", spellcheck: "false", "aria-label": label,
        ...attributes});
}

function textInput(label, options) {
    const area = element("textarea", {
        class: "input words", rows: "1", dir: "auto", "aria-label": label, placeholder: options.placeholder,
    });
    return {
        nodes: [area], inputs: [area],
        read: () => ({value: area.value}),
        set: (value) => { area.value = value ?? ""; },
    };
}

function plainInput(label, type, options) {
    const mode = {INT64: "numeric", DOUBLE: "decimal"}[type];
    const input = line(label, {inputmode: mode, placeholder: options.placeholder});
    let initial = null;
    const read = () => {
        if (input.value.trim() === "") return {};
        // What was not touched goes back digit for digit.
        if (initial && input.value === initial.text) return {value: initial.value};
        return readValue(type, input.value);
    };
    return {
        nodes: [input], inputs: [input], read,
        set: (value) => {
            input.value = value === undefined || value === null ? "" : inputText(value, type);
            initial = value === undefined || value === null ? null : {text: input.value, value};
        },
    };
}

function timeInput(label, options) {
    const input = plainInput(label, "TIMESTAMP", options);
    const hint = element("p", {class: "hint"});
    const describe = () => {
        const value = readTime(input.inputs[0].value);
        hint.textContent = value === null ? "UTC, such as 2026-11-27 08:30:00"
            : `UTC. ${localTime(value)} in your time zone.`;
    };
    input.inputs[0].addEventListener("input", describe);
    const set = (value) => {
        input.set(value);
        describe();
    };
    return {...input, nodes: [...input.nodes, ...(options.isItem ? [] : [hint])], set};
}

function referenceInput(label, options) {
    const input = line(label, {placeholder: options.placeholder === "Not set" ? "Record name" : options.placeholder});
    const select = element("select", {class: "input", "aria-label": `Action of ${label}`},
        actions.map((action) => element("option", {value: action}, action)));
    let initial = null;
    const read = () => {
        if (input.value.trim() === "") return {};
        const result = readValue("REFERENCE", input.value);
        if (result.wrong) return result;
        // A zone that came with the reference belongs to the name that came with it.
        const isOld = initial && initial.recordName === result.value.recordName;
        const action = select.value === "NONE" && !initial?.action ? {} : {action: select.value};
        return {value: {...(isOld ? initial : result.value), ...action}};
    };
    return {
        nodes: [input, element("div", {class: "row"}, element("span", {class: "select"}, select, icon("down")))],
        inputs: [input, select], read,
        set: (value) => {
            initial = value ?? null;
            input.value = value?.recordName ?? "";
            select.value = actions.includes(value?.action) ? value.action : "NONE";
        },
    };
}

function placeInput(label, options) {
    const latitude = line(`Latitude of ${label}`, {inputmode: "decimal", placeholder: "Latitude"});
    const longitude = line(`Longitude of ${label}`, {inputmode: "decimal", placeholder: "Longitude"});
    let initial = null;
    const read = () => {
        if (latitude.value.trim() === "" && longitude.value.trim() === "") return {};
        const result = readPlace(latitude.value, longitude.value);
        return result.wrong ? result : {value: {...initial, ...result.value}};
    };
    const hint = element("p", {class: "hint"}, "Latitude and longitude in degrees.");
    return {
        nodes: [element("div", {class: "row"}, latitude, longitude), options.isItem ? null : hint].filter(Boolean),
        inputs: [latitude, longitude], read,
        set: (value) => {
            initial = value ?? null;
            latitude.value = value ? doubleText(value.latitude) : "";
            longitude.value = value ? doubleText(value.longitude) : "";
        },
    };
}

function bytesInput(label) {
    const area = element("textarea", {class: "input mono", rows: "2", spellcheck: "false", "aria-label": label,
        placeholder: "Not set"});
    const form = element("select", {class: "input", "aria-label": `Notation of ${label}`},
        element("option", {value: "base64"}, "Base64"), element("option", {value: "hex"}, "Hexadecimal"));
    return {
        nodes: [area, element("div", {class: "row"}, element("span", {class: "select"}, form, icon("down")))],
        inputs: [area, form],
        read: () => (area.value.trim() === "" ? {} : readBytes(area.value, form.value)),
        set: (value) => {
            area.value = value ?? "";
            form.value = "base64";
        },
    };
}

/**
 * Creates the inputs of one value.
 * @param {string} type a wire type that is no list
 * @param {string} label
 * @param {{placeholder?: string, isItem?: boolean}} [options] `isItem`: inside a list, without hints
 * @returns {ValueInput}
 */
export function valueInput(type, label, options = {}) {
    switch (type) {
    case "STRING": return textInput(label, options);
    case "TIMESTAMP": return timeInput(label, options);
    case "REFERENCE": return referenceInput(label, options);
    case "LOCATION": return placeInput(label, options);
    case "BYTES": return bytesInput(label);
    default: return plainInput(label, type, options);
    }
}

/** Whether values of the type can be typed into a page. */
export function isTyped(type) {
    return ["STRING", "INT64", "DOUBLE", "TIMESTAMP", "REFERENCE", "LOCATION", "BYTES"].includes(type);
}
