/** @file Records from a file: read and counted first, then saved in batches, each record for itself. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {bytes, plural} from "../../core/format.js";
import {button} from "../../parts/button.js";
import {environmentLabel} from "../../parts/badge.js";
import {control, options, setWrong} from "../../parts/control.js";
import {openDialog} from "../../parts/dialog.js";
import {errorMessage} from "../../parts/message.js";
import {announce} from "../../parts/status.js";
import {scopeWordsOf} from "../records/addresses.js";
import {modify, operationsMax} from "../records/source.js";
import {readRecords} from "./formats.js";
import {patiently} from "./patience.js";

const fileBytesMax = 20_000_000;
const batchBytesMax = 1_000_000;
const failuresShown = 20;

const kinds = [
    {value: "create", text: "Add new records only", note: "Existing records are left unchanged."},
    {value: "forceReplace", text: "Replace records of the same name", note: "Their current values are overwritten."},
];

/** Returns the operations in batches that fit into a request. */
function batches(records, type, operationType) {
    const all = [];
    let [batch, size] = [[], 0];
    for (const {recordName, fields} of records) {
        const operation = {operationType, record: {...(recordName ? {recordName} : {}), recordType: type, fields}};
        const bytesCount = JSON.stringify(operation).length;
        if (batch.length === operationsMax || (batch.length > 0 && size + bytesCount > batchBytesMax)) {
            all.push(batch);
            [batch, size] = [[], 0];
        }
        batch.push(operation);
        size += bytesCount;
    }
    return batch.length > 0 ? [...all, batch] : all;
}

/** Saves all, and collects what was refused. */
async function saveAll(scope, records, kind, {progress, signal}) {
    const failures = [];
    let done = 0;
    for (const batch of batches(records, scope.type, kind)) {
        const results = await patiently(() => modify(scope, batch, signal), signal);
        results.forEach(({error}, index) => {
            if (error) failures.push({record: records[done + index], error});
        });
        done += batch.length;
        progress(done);
    }
    return failures;
}

function failuresList(failures) {
    const items = failures.slice(0, failuresShown).map(({record, error}) => element("li", null,
        `Line ${record.line}`, record.recordName ? [", ", element("code", null, record.recordName)] : null,
        `: ${error.code === "CONFLICT" ? "a record of this name exists" : error.reason ?? error.code}`));
    const more = failures.length - items.length;
    return [element("p", null, `${plural(failures.length, "record")} could not be saved:`), element("ul", null, items),
        more > 0 ? element("p", {class: "quiet"}, `and ${more} more.`) : null];
}

/** The dialog's state: the file that was read. */
class ImportDialog {
    constructor(scope, {fields, signal}) {
        Object.assign(this, {scope, fields, records: [], savedCount: 0});
        this.stop = new AbortController();
        this.signal = AbortSignal.any([signal, this.stop.signal]);
        this.file = control("File", {type: "file", accept: ".jsonl,.json,.ndjson,.csv,.txt",
            on: {change: () => this.read()}}, {hint: "JSON lines or CSV, as an export makes them. 20 MB at most."});
        this.kind = options("Existing records", kinds, "create");
        this.status = element("p", {role: "status"});
        this.result = element("div");
        this.typed = element("div");
        this.saveButton = button("Import", {className: "first", type: "submit", attributes: {disabled: true}});
        const isProduction = scope.environment === "production";
        this.dialog = openDialog({
            title: `Import into ${scope.type}`, isProduction, signal, submit: () => this.save(),
            children: [element("p", null, environmentLabel(scope.environment), ` ${scopeWordsOf(scope)}`), this.file,
                this.kind, this.status, this.result, this.typed],
            actions: [button("Close", {click: () => this.dialog.close()}), this.saveButton],
        });
    }

    async read() {
        const file = this.file.input.files[0];
        this.show([]);
        setWrong(this.file.input, null);
        if (!file) return;
        try {
            if (file.size > fileBytesMax) {
                throw new Error(`The file has ${bytes(file.size)}. For more than 20 MB use yap import.`);
            }
            const records = readRecords(await file.text(), {type: this.scope.type, fields: this.fields});
            if (records.length === 0) throw new Error("The file has no records.");
            this.show(records);
        } catch (error) {
            setWrong(this.file.input, error.message);
        }
    }

    show(records) {
        this.records = records;
        fill(this.result);
        const filesCount = records.reduce((sum, record) => sum + record.filesCount, 0);
        const unnamed = records.filter(({recordName}) => !recordName).length;
        this.status.textContent = records.length === 0 ? "" : [`${plural(records.length, "record")} in the file.`,
            unnamed > 0 ? `${plural(unnamed, "record")} without a name: each import makes new ones.` : "",
            filesCount > 0 ? `${plural(filesCount, "file or encrypted value", "files and encrypted values")} left out.`
                : ""].filter(Boolean).join(" ");
        this.saveButton.disabled = records.length === 0;
        fill(this.typed);
        if (records.length > 0 && this.scope.environment === "production") this.demandNumber(String(records.length));
    }

    demandNumber(number) {
        this.saveButton.disabled = true;
        fill(this.typed, control(`Type ${number} to import this number of records into production`, {
            inputmode: "numeric", autocomplete: "off",
            on: {input: (event) => { this.saveButton.disabled = event.target.value.trim() !== number; }},
        }));
    }

    async save() {
        if (this.saveButton.disabled) return;
        this.saveButton.disabled = true;
        const total = this.records.length;
        let doneCount = 0;
        try {
            const failures = await saveAll(this.scope, this.records, this.kind.value, {signal: this.signal,
                progress: (done) => {
                    doneCount = done;
                    this.status.textContent = `${done} of ${plural(total, "record")}`;
                }});
            this.savedCount = total - failures.length;
            const text = `${plural(this.savedCount, "record")} imported`;
            announce(text);
            if (failures.length === 0) {
                this.dialog.close();
                return;
            }
            this.status.textContent = text;
            fill(this.result, failuresList(failures));
        } catch (error) {
            this.savedCount = doneCount;
            if (isAbort(error)) return;
            this.status.textContent = `${doneCount} of ${plural(total, "record")} were sent before this:`;
            fill(this.result, errorMessage(error, {level: "h3"}));
        }
        fill(this.typed);
    }
}

/**
 * Opens the dialog.
 * @param {import("../records/source.js").Scope} scope
 * @param {{fields: any[], signal: AbortSignal}} options `fields` are those of the type
 * @returns {Promise<boolean>} whether records may have been saved
 */
export async function importRecords(scope, {fields, signal}) {
    const state = new ImportDialog(scope, {fields, signal});
    await state.dialog.closed;
    state.stop.abort();
    return state.savedCount > 0;
}
