/** @file A record as it is read: fields, JSON, system values. */

import {element, icon} from "../../core/dom.js";
import {codeListing} from "../../parts/code.js";
import {copyButton} from "../../parts/copy.js";
import {relativeTime} from "../../parts/time.js";
import {own} from "../../parts/values/own.js";
import {timeText} from "../../parts/values/times.js";
import {typeIcon} from "../../parts/values/types.js";
import {fieldView} from "../../parts/values/view.js";
import {recordAddress} from "../records/addresses.js";
import {definitionsFor} from "./fields.js";

function row(name, image, ...content) {
    return element("div", {class: "field"}, element("dt", null, icon(image), name), element("dd", null, ...content));
}

function safeName(text) {
    return text.replace(/[^\w.-]+/g, "_").slice(0, 60) || "file";
}

/** Creates the list of all fields; a value that can't be shown doesn't take the others with it. */
export function fieldsList({schema, scope, record, signal}) {
    const owner = scope.database === "private" ? scope.account ?? "the account" : "the record’s creator";
    return element("dl", {class: "fields"}, definitionsFor(schema, record.recordType, record).map((definition) => {
        const tools = {address: recordAddress, signal, owner, zone: scope.zone,
            fileName: `${safeName(record.recordName)}-${safeName(definition.name)}`};
        return row(definition.name, typeIcon(definition.type, definition.isEncrypted),
            fieldView(own(record.fields, definition.name), tools));
    }));
}

function stamp(word, value, scope) {
    if (!value?.timestamp) return row(word, "date", element("span", {class: "quiet"}, "unknown"));
    const time = Number(value.timestamp);
    const user = value.userRecordName ?? "unknown";
    const name = user === scope.user && scope.account ? scope.account : element("code", null, user);
    const device = value.deviceID && value.deviceID !== "1" ? [" on ", element("code", null, value.deviceID)] : null;
    return row(word, "date", element("span", {class: "with"}, relativeTime(time),
        element("span", {class: "quiet"}, `${timeText(time, true)} UTC`)),
    element("span", {class: "quiet"}, "by ", name, device));
}

/** Creates the values that the service keeps of each record, apart from the fields of the app. */
export function systemValues({record, scope}) {
    const parent = record.parent?.recordName;
    return element("section", {class: "system", "aria-labelledby": "system-values"},
        element("h2", {id: "system-values"}, "System values"),
        element("dl", {class: "fields"}, row("record type", "records", record.recordType),
            stamp("created", record.created, scope), stamp("modified", record.modified, scope),
            row("change tag", "key", element("span", {class: "with"}, element("code", null,
                record.recordChangeTag ?? ""),
                copyButton(record.recordChangeTag ?? "", "Copy the change tag"))),
            row("parent", "reference", parent ? element("a", {href: recordAddress(parent)}, parent)
                : element("span", {class: "quiet"}, "not set")),
            row("zone", "zones", element("code", null, record.zoneID?.zoneName ?? scope.zone))));
}

/** Creates the record as JSON, as the service sends it. Numbers stand as text, since JavaScript would round them. */
export function jsonView(record) {
    return element("div", {class: "body record-body"},
        element("p", {class: "quiet"}, "As the service sends it, with numbers as text (", element("code", null,
            "numbersAsStrings"), ")."),
        codeListing(JSON.stringify(record, null, 2), "Copy the record as JSON"));
}
