/** @file Records as lines of JSON and as comma-separated values, and back. */

import {bare, own} from "../../parts/values/own.js";
import {readValue} from "../../parts/values/parse.js";
import {doubleText, isUnset, placeText} from "../../parts/values/text.js";
import {isList, itemType} from "../../parts/values/types.js";
import {timeInput} from "../../parts/values/times.js";
import {csvLine, plainText, readCSV, safeText} from "./csv.js";

const nameHead = "recordName";

/** A file's address is a key to it, and ends after some hours: it stays out of what is saved. */
function withoutAddresses(value) {
    if (Array.isArray(value)) return value.map(withoutAddresses);
    if (!value || typeof value !== "object" || !("downloadURL" in value)) return value;
    const {downloadURL, ...rest} = value;
    return rest;
}

/**
 * Returns a record as a line of JSON, in the form of the web protocol.
 * @param {any} record
 */
export function jsonLine(record) {
    const fields = bare();
    for (const [name, field] of Object.entries(record.fields ?? {})) {
        fields[name] = {...field, value: withoutAddresses(field?.value)};
    }
    return `${JSON.stringify({...record, fields})}\n`;
}

function cellText(value, type) {
    switch (type) {
    case "INT64": return String(value);
    case "DOUBLE": return doubleText(value);
    case "TIMESTAMP": return timeInput(value);
    case "REFERENCE": return safeText(String(value?.recordName ?? ""));
    case "LOCATION": return placeText(value);
    case "ASSETID": return `${value?.size ?? 0} bytes`;
    case "STRING": return safeText(String(value));
    default: return safeText(typeof value === "object" ? JSON.stringify(value) : String(value));
    }
}

function cell(field) {
    if (isUnset(field)) return "";
    if (field.isEncrypted) return "encrypted";
    const type = field.type ?? "STRING";
    if (!isList(type)) return cellText(field.value, type);
    return JSON.stringify(withoutAddresses(field.value));
}

/** Returns the first line of a table. */
export function csvHead(fields) {
    return csvLine([nameHead, ...fields.map(({name}) => safeText(name)), "created", "modified"]);
}

/**
 * Returns a record as a line of a table.
 * @param {any} record
 * @param {{name: string}[]} fields the columns
 */
export function csvRow(record, fields) {
    const time = (stamp) => (stamp?.timestamp ? timeInput(stamp.timestamp) : "");
    return csvLine([safeText(record.recordName), ...fields.map(({name}) => cell(own(record.fields, name))),
        time(record.created), time(record.modified)]);
}

/**
 * A record that was read from a file.
 * @typedef {{line: number, recordName?: string, fields: Object, filesCount: number}} ReadRecord
 */

/** What is wrong with a file, and in which line. */
export class ImportError extends Error {
    constructor(line, message) {
        super(`Line ${line}: ${message}`);
    }
}

function fieldOfJSON(line, name, field) {
    if (!field || typeof field !== "object" || !("value" in field)) {
        throw new ImportError(line, `the field ${name} has no value, such as {"value": 1, "type": "INT64"}.`);
    }
    const {value, type} = field;
    if ([value].flat().some((item) => Number.isInteger(item) && !Number.isSafeInteger(item))) {
        throw new ImportError(line, `${name}: a whole number beyond 2^53 is written as text: "9007199254740993".`);
    }
    return type === undefined ? {value} : {value, type};
}

function recordOfJSON(text, line, type) {
    let record;
    try {
        record = JSON.parse(text);
    } catch {
        throw new ImportError(line, "this is no JSON.");
    }
    if (!record || typeof record !== "object" || Array.isArray(record)) throw new ImportError(line, "no record.");
    if (record.recordType !== undefined && record.recordType !== type) {
        throw new ImportError(line, `the record is of type ${record.recordType}, and this list is of ${type}.`);
    }
    const fields = bare();
    let filesCount = 0;
    for (const [name, field] of Object.entries(record.fields ?? {})) {
        if (/^ASSETID/.test(field?.type ?? "") || field?.isEncrypted) filesCount += 1;
        else fields[name] = fieldOfJSON(line, name, field);
    }
    return {line, recordName: record.recordName, fields, filesCount};
}

function readLines(text, type) {
    const records = [];
    text.replace(/^\uFEFF/, "").split("\n").forEach((part, index) => {
        if (part.trim() !== "") records.push(recordOfJSON(part, index + 1, type));
    });
    return records;
}

function listOf(text, line, name) {
    try {
        const list = JSON.parse(text);
        if (Array.isArray(list)) return list;
    } catch {
        // Said below.
    }
    throw new ImportError(line, `${name}: a list is written as JSON, such as ["a", "b"].`);
}

function fieldOfCell(text, {name, type}, line) {
    if (isList(type)) return {type, value: listOf(text, line, name)};
    const read = readValue(type, ["STRING", "REFERENCE"].includes(type) ? plainText(text) : text);
    if (read.wrong) throw new ImportError(line, `${name}: ${read.wrong}`);
    return {type, value: read.value};
}

function recordOfRow({line, cells}, columns) {
    const record = {line, recordName: undefined, fields: bare(), filesCount: 0};
    if (cells.length > columns.length) throw new ImportError(line, "more cells than the first line has names.");
    cells.forEach((text, index) => {
        const column = columns[index];
        if (text === "" || column === null) return;
        if (column === nameHead) record.recordName = plainText(text);
        else if (/^ASSETID/.test(itemType(column.type)) || column.isEncrypted) record.filesCount += 1;
        else record.fields[column.name] = fieldOfCell(text, column, line);
    });
    return record;
}

function readTable(text, fields) {
    const [head, ...rows] = readCSV(text);
    if (!head) return [];
    const columns = head.cells.map((cellOfHead) => {
        const name = plainText(cellOfHead);
        if (name === nameHead) return nameHead;
        const field = fields.find((known) => known.name === name);
        if (field) return field;
        if (name === "created" || name === "modified") return null;
        throw new ImportError(head.line, `the type has no field ${name}. Its fields: ${
            fields.map((known) => known.name).join(", ")}.`);
    });
    return rows.map((row) => recordOfRow(row, columns));
}

/**
 * Reads the records of a file.
 * @param {string} text lines of JSON, or comma-separated values
 * @param {{type: string, fields: any[]}} kind the record type and its fields
 * @returns {ReadRecord[]}
 * @throws {Error} with the line that is wrong
 */
export function readRecords(text, {type, fields}) {
    const records = /^\uFEFF?\s*\{/.test(text) ? readLines(text, type) : readTable(text, fields);
    const names = new Set();
    for (const {recordName, line} of records) {
        if (recordName === undefined) continue;
        if (typeof recordName !== "string" || !/^[\x20-\x7e]{1,255}$/.test(recordName)) {
            throw new ImportError(line, "a record name has 1 to 255 ASCII characters.");
        }
        if (names.has(recordName)) throw new ImportError(line, `${recordName} occurs twice.`);
        names.add(recordName);
    }
    return records;
}
