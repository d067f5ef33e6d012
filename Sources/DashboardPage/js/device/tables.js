/** @file The tables of the device's page: zones, records of unknown types, errors, the merge log. */

import {element} from "../core/dom.js";
import {count, middleCut} from "../core/format.js";
import {badge} from "../parts/badge.js";
import {copyButton} from "../parts/copy.js";
import {table} from "../parts/table.js";
import {exactTime} from "../parts/time.js";
import {longText} from "./changes.js";

const kinds = {lost: "bad", combined: "good", superseded: "info", restored: "warn"};

/** Creates the table of a database's zones. */
export function zonesTable(rows) {
    return table({label: "Zones", rows, isPlain: true, columns: [
        {head: "Zone", isName: true, cell: ({zoneName, ownerName}) => [element("code", null, zoneName),
            ownerName && ownerName !== "__defaultOwner__" ? element("small", {class: "quiet"}, " of ", ownerName)
                : null]},
        {head: "State", word: "state", isHeadCell: true, cell: zoneState},
        {head: "Records", word: "records", className: "number", cell: ({recordsCount}) => count(recordsCount)},
        {head: "On the server", word: "on the server", className: "number",
            cell: ({recordsWithTag}) => count(recordsWithTag)},
        {head: "Change token", word: "change token", cell: ({token, zoneName}) => code(token,
            `Copy the change token of ${zoneName}`)},
        {head: "Checksum", word: "checksum", cell: ({checksum, zoneName}) => code(checksum,
            `Copy the checksum of ${zoneName}`)},
    ]});
}

function zoneState({differs, differences, fullFetch, token}) {
    if (differs) return badge("Differs from the server", {state: "bad"});
    if (fullFetch) return badge(`Fetching again: ${fullFetch}`, {state: "info", icon: "download"});
    if (!token) return badge("Never fetched", {state: "info"});
    return differences ? badge(`Differed ${count(differences)} times`, {state: "warn"})
        : badge("Fetched", {state: "good"});
}

function code(text, label) {
    return text ? element("span", {class: "with"}, element("code", {title: text}, middleCut(text, 17)),
        copyButton(text, label)) : null;
}

/** Creates the table of records whose types the app doesn't know. */
export function unknownTable(rows) {
    return table({label: "Records of unknown types", rows, isPlain: true, columns: [
        {head: "Record", isName: true, cell: ({recordName}) => element("code", null, recordName)},
        {head: "Type", word: "type", cell: ({recordType}) => recordType},
        {head: "Zone", word: "zone", cell: ({zoneName}) => element("code", null, zoneName)},
        {head: "Change tag", word: "change tag", cell: ({changeTag}) => code(changeTag, "Copy the change tag")},
    ]});
}

/** Creates the table of the errors that were kept. One that came again and again is one row, with its last time. */
export function errorsTable(errors) {
    const rows = [];
    for (const error of errors) {
        const last = rows.at(-1);
        if (last?.name === error.name && last.message === error.message) last.times += 1;
        else rows.push({...error, times: 1});
    }
    return table({label: "Last errors", rows, isPlain: true, columns: [
        {head: "Time (UTC)", isName: true, cell: ({atMilliseconds}) => exactTime(atMilliseconds, {seconds: true})},
        {head: "Error", word: "error", cell: ({name, times}) => element("span", {class: "tags"},
            badge(name, {state: "bad"}), times > 1 ? badge(`${count(times)} times`) : null)},
        {head: "Message", word: "message", className: "message-cell", cell: ({message}) => longText(message)},
    ]});
}

/** Creates the table of the merge log. */
export function mergesTable(rows) {
    return table({label: "Merge log", rows, isPlain: true, columns: [
        {head: "Record", isName: true, cell: ({recordName, field}) => element("span", {class: "lines"},
            element("code", null, recordName), field ? element("small", {class: "quiet"}, field) : null)},
        {head: "Result", word: "result", isHeadCell: true, cell: ({kind, rule}) => element("span", {class: "tags"},
            badge(kind ?? "unknown", {state: kinds[kind]}), kind === rule ? null : badge(rule))},
        {head: "Overwritten", word: "overwritten", className: "message-cell",
            cell: ({replaced}) => (replaced === null ? null : longText(replaced))},
        {head: "Kept", word: "kept", className: "message-cell",
            cell: ({kept}) => (kept === null ? null : longText(kept))},
    ]});
}
