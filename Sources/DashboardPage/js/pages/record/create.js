/** @file Making a record: an optional name, the fields of its type, and in development fields that are new. */

import {element, fill, icon, uniqueID} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {button, whileBusy} from "../../parts/button.js";
import {errorMessage} from "../../parts/message.js";
import {announce} from "../../parts/status.js";
import {wrongSentence} from "../../parts/values/editor.js";
import {own} from "../../parts/values/own.js";
import {nameWrong} from "../../parts/values/parse.js";
import {isSame} from "../../parts/values/text.js";
import {sendFiles} from "../records/files.js";
import {loadRecord, modify} from "../records/source.js";
import {definitionsFor} from "./fields.js";
import {FieldsForm, statusText} from "./form.js";

/** Returns a UUID in lower case, as the service makes them. `crypto.randomUUID` is missing without TLS. */
function newName() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The form of a record that doesn't exist yet. */
export class RecordCreate {
    /**
     * @param {{scope: any, schema: any, signal: AbortSignal, saved: function(any): void, discarded: function():
     *     void}} options
     */
    constructor(options) {
        Object.assign(this, options);
        // One name for all tries: when a response is lost, saving again doesn't make a second record.
        this.ownName = newName();
        this.status = element("p", {role: "status"});
        this.failure = element("div", {class: "form-failure"});
        this.form = new FieldsForm({
            definitions: definitionsFor(this.schema, this.scope.type, null).filter(({isEncrypted, type}) => !isEncrypted
                && !/^(ASSETID_LIST|ENCRYPTED)/.test(type)),
            fields: {}, canAdd: this.scope.environment === "development", before: this.nameRow(),
            changed: () => this.showStatus(),
        });
        this.form.node.id = "record-form";
        this.form.node.addEventListener("submit", (event) => {
            event.preventDefault();
            this.save();
        });
        this.form.node.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save();
        });
        this.saveButton = button("Create", {className: "first", type: "submit", attributes: {form: "record-form"}});
        this.showStatus();
        this.nodes = [this.form.node, this.failure, element("footer", {class: "foot-bar"}, this.status,
            button("Discard", {click: () => this.discarded()}), this.saveButton)];
    }

    nameRow() {
        const id = uniqueID("name");
        this.nameInput = element("input", {class: "input mono", id, placeholder: "A new UUID", spellcheck: "false",
            autocomplete: "off", autocapitalize: "none", on: {input: () => this.showNameWrong(null)}});
        this.nameNote = element("div");
        return element("div", {class: "field edit"}, element("label", {for: id}, icon("key"), "Record name"),
            element("div", null, this.nameInput, this.nameNote,
                element("p", {class: "hint"}, "Up to 255 characters. It can’t be changed later.")));
    }

    showNameWrong(text) {
        const id = `${this.nameInput.id}-wrong`;
        fill(this.nameNote, text ? wrongSentence(id, text) : null);
        for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", id]]) {
            if (text) this.nameInput.setAttribute(name, value);
            else this.nameInput.removeAttribute(name);
        }
        if (text) this.nameInput.focus();
    }

    showStatus() {
        // Editors report while the form is being built.
        const text = this.form ? statusText(this.form.read(), "set") : "";
        if (this.status.textContent !== text) this.status.textContent = text;
    }

    /** Whether leaving would lose something. */
    isDirty() {
        return this.nameInput.value !== "" || this.form.isDirty();
    }

    save() {
        return whileBusy(this.saveButton, async () => {
            fill(this.failure);
            const {changes, wrongCount} = this.form.read();
            const typed = this.nameInput.value.trim();
            const wrong = typed ? nameWrong(typed) : null;
            if (wrong) return this.showNameWrong(wrong);
            if (wrongCount > 0) return this.form.showWrong();
            return this.send(typed || this.ownName, changes);
        });
    }

    async send(recordName, typed) {
        const record = {recordName, recordType: this.scope.type};
        try {
            const fields = await sendFiles(this.scope, record, typed, this.signal);
            record.fields = fields;
            const [result] = await modify(this.scope, [{operationType: "create", record}], this.signal);
            if (result.error?.code === "CONFLICT") return await this.taken(recordName, fields, result.error);
            if (result.error) throw result.error;
            announce("The record was created");
            return this.saved(result.record);
        } catch (error) {
            if (!isAbort(error)) this.fail(error);
        }
        return undefined;
    }

    /** The name is taken: by an earlier try of this form whose response was lost, or by another record. */
    async taken(recordName, fields, error) {
        const found = await loadRecord(this.scope, recordName, this.signal).catch(() => null);
        const isMine = found?.recordType === this.scope.type
            && Object.keys(fields).every((name) => isSame(fields[name], own(found.fields, name)));
        if (isMine && this.wasLost) return this.saved(found);
        if (this.nameInput.value.trim()) {
            return this.showNameWrong("A record with this name exists. Choose another name.");
        }
        throw error;
    }

    fail(error) {
        if (error.code === "UNREACHABLE") this.wasLost = true;
        const said = errorMessage(error, {title: "The record was not created", retry: () => this.save()});
        said.append(element("p", null, "What you typed is kept in this form."));
        fill(this.failure, said);
        said.scrollIntoView({block: "nearest"});
    }
}
