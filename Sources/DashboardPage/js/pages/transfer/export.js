/** @file Saving the records of a list as a file: all that the filters find, not only the rows that are shown. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {count, plural} from "../../core/format.js";
import {saveFile} from "../../core/save-file.js";
import {button} from "../../parts/button.js";
import {options} from "../../parts/control.js";
import {openDialog} from "../../parts/dialog.js";
import {errorMessage} from "../../parts/message.js";
import {announce} from "../../parts/status.js";
import {loadPage} from "../records/source.js";
import {csvHead, csvRow, jsonLine} from "./formats.js";
import {patiently} from "./patience.js";

/** More are a matter for `yap record query --json`, which needs no browser's memory. */
const recordsMax = 100_000;
const pageRecords = 200;

const formats = [
    {value: "jsonl", text: "JSON lines", note: "One record a line, with all that it holds. It can be imported."},
    {value: "csv", text: "CSV", note: "A table for spreadsheets. Files and encrypted values are left out."},
];

/** Loads all pages, and gives the number of records to `progress` after each. */
async function collect(scope, query, {format, fields, progress, signal}) {
    const parts = format === "csv" ? [csvHead(fields)] : [];
    const line = format === "csv" ? (record) => csvRow(record, fields) : jsonLine;
    let [marker, found] = [null, 0];
    do {
        const page = await patiently(() => loadPage(scope, {query, marker, limit: pageRecords}, signal), signal);
        parts.push(page.records.map(line).join(""));
        found += page.records.length;
        marker = page.marker;
        progress(found);
    } while (marker && found < recordsMax);
    return {parts, found, isCut: Boolean(marker)};
}

function fileName({type, zone}, format) {
    return `${type}-${zone}.${format}`.replaceAll(/[^\w.-]+/g, "_");
}

/**
 * Opens the dialog.
 * @param {import("../records/source.js").Scope} scope
 * @param {{query: Object, fields: any[], filtersCount: number, signal: AbortSignal}} list `query` is what the list
 *     asks, `fields` are those of the type
 */
export async function exportRecords(scope, {query, fields, filtersCount, signal}) {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const format = options("Format", formats, "jsonl");
    const status = element("p", {role: "status", class: "quiet"});
    const failure = element("div");
    const save = button("Export", {className: "first", type: "submit"});
    const run = async () => {
        save.disabled = true;
        fill(failure);
        try {
            const result = await collect(scope, query, {format: format.value, fields, signal: either,
                progress: (found) => { status.textContent = `${plural(found, "record")} loaded`; }});
            saveFile(result.parts, fileName(scope, format.value));
            announce(`${plural(result.found, "record")} exported`);
            if (!result.isCut) return dialog.close();
            status.textContent = `The first ${count(result.found)} were exported, and there are more. Use a filter, or `
                + "the command below the list without --limit.";
        } catch (error) {
            if (!isAbort(error)) fill(failure, errorMessage(error, {level: "h3"}));
        }
        save.disabled = false;
        return undefined;
    };
    const dialog = openDialog({
        title: `Export ${scope.type}`, submit: run, signal,
        children: [element("p", null,
            filtersCount > 0 ? "All records that the filters find." : "All records of the list.", ` At most ${count(recordsMax)}.`), format, status, failure],
        actions: [button("Close", {click: () => dialog.close()}), save],
    });
    await dialog.closed;
    stop.abort();
}
