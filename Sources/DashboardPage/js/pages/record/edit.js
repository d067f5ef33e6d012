/** @file Editing a record: save with its change tag, so that nobody else's change is overwritten unseen. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {button, whileBusy} from "../../parts/button.js";
import {errorMessage} from "../../parts/message.js";
import {announce} from "../../parts/status.js";
import {own} from "../../parts/values/own.js";
import {isSame} from "../../parts/values/text.js";
import {sendFiles} from "../records/files.js";
import {loadRecord, modify} from "../records/source.js";
import {compare, resolveConflict} from "./conflict.js";
import {definitionsFor} from "./fields.js";
import {FieldsForm, statusText} from "./form.js";
import {systemValues} from "./read.js";

/** Whether no whole number of a record was rounded by reading it as JSON. */
function isExact(record) {
    return Object.values(record.fields ?? {}).every(({type, value}) => !/^(INT64|TIMESTAMP)/.test(type ?? "")
        || [value].flat().every((number) => typeof number !== "number" || Number.isSafeInteger(number)));
}

/** The form over a record that exists. */
export class RecordEdit {
    /**
     * @param {{scope: any, schema: any, record: any, signal: AbortSignal, saved: function(any): void,
     *     discarded: function(any): void}} options `saved` gets the record as it is now, `discarded` the one to show.
     */
    constructor(options) {
        Object.assign(this, options);
        this.status = element("p", {role: "status"});
        this.failure = element("div", {class: "form-failure"});
        this.form = new FieldsForm({
            definitions: definitionsFor(this.schema, this.record.recordType, this.record), fields: this.record.fields,
            canAdd: this.scope.environment === "development", changed: () => this.showStatus(),
        });
        this.saveButton = button("Save", {className: "first", type: "submit", attributes: {form: "record-form"}});
        this.form.node.id = "record-form";
        this.form.node.addEventListener("submit", (event) => {
            event.preventDefault();
            this.save();
        });
        this.form.node.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save();
        });
        this.showStatus();
        this.nodes = [this.form.node, systemValues({record: this.record, scope: this.scope}), this.failure,
            element("footer", {class: "foot-bar"}, this.status,
                button("Discard", {click: () => this.discarded(this.record)}), this.saveButton)];
    }

    showStatus() {
        const text = statusText(this.form.read());
        if (this.status.textContent !== text) this.status.textContent = text;
    }

    /** Whether leaving would lose something. */
    isDirty() {
        return this.form.isDirty();
    }

    save() {
        return whileBusy(this.saveButton, async () => {
            const {changes, changedCount, wrongCount} = this.form.read();
            fill(this.failure);
            if (wrongCount > 0) return this.form.showWrong();
            if (changedCount === 0) return this.discarded(this.record);
            return this.send(changes, this.record.recordChangeTag);
        });
    }

    async send(typed, tag) {
        const {recordName, recordType} = this.record;
        try {
            const changes = await sendFiles(this.scope, {recordName, recordType}, typed, this.signal);
            const record = {recordName, recordType, recordChangeTag: tag, fields: changes};
            const [result] = await modify(this.scope, [{operationType: "update", record}], this.signal);
            if (!result.error) return await this.finish(result.record);
            if (result.error.code === "CONFLICT") return await this.resolve(result.error, changes);
            throw result.error;
        } catch (error) {
            if (!isAbort(error)) this.fail(error);
        }
        return undefined;
    }

    async finish(record) {
        // A response of many records may leave fields out.
        const whole = record.fields ? record : await loadRecord(this.scope, record.recordName, this.signal);
        announce("The record was saved");
        this.saved(whole);
    }

    async resolve(error, changes) {
        const sent = error.body?.serverRecord;
        const server = sent?.fields && isExact(sent) ? sent
            : await loadRecord(this.scope, this.record.recordName, this.signal);
        const {differences} = compare(this.record, changes, server);
        // The response of an earlier try was lost, and the record was saved by it; or somebody typed the same.
        const isDone = Object.keys(changes).every((name) => isSame(changes[name], own(server.fields, name)));
        if (isDone || differences.length === 0) return this.finish(server);
        const choice = await resolveConflict({
            base: this.record, changes, server, isProduction: this.scope.environment === "production",
                signal: this.signal,
            who: this.whoSaved(server),
        });
        if (choice.does === "discard") return this.discarded(server);
        if (choice.does === "back") return this.saveButton.focus();
        if (Object.keys(choice.changes).length === 0) return this.finish(server);
        return this.send(choice.changes, server.recordChangeTag);
    }

    whoSaved({modified}) {
        const {user, account} = this.scope;
        const name = modified?.userRecordName === user ? account : modified?.userRecordName;
        const device = modified?.deviceID && modified.deviceID !== "1" ? ` on ${modified.deviceID}` : "";
        return name ? `${name}${device}` : "Another user";
    }

    fail(error) {
        const isGone = error.code === "NOT_FOUND";
        const said = errorMessage(error, {
            level: "h2", title: isGone ? "The record was deleted while you edited it" : "The record was not saved",
            retry: isGone ? undefined : () => this.save(),
        });
        said.append(element("p", null, "Your edits are kept in this form."));
        fill(this.failure, said);
        said.scrollIntoView({block: "nearest"});
    }
}
