/** @file The panel of one record: reading, editing, making. It guards what was typed. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {whenReachable} from "../../core/reach.js";
import {mayDo} from "../../core/state.js";
import {protectEdits, setQuery} from "../../core/router.js";
import {button, iconButton, iconLink} from "../../parts/button.js";
import {copyButton} from "../../parts/copy.js";
import {openDialog} from "../../parts/dialog.js";
import {errorMessage} from "../../parts/message.js";
import {skeleton} from "../../parts/states.js";
import {shortName} from "../../parts/values/text.js";
import {listAddress, queryAddress, scopeWordsOf} from "../records/addresses.js";
import {commandPart, historyCommands, recordCommands} from "../records/commands.js";
import {loadRecord} from "../records/source.js";
import {RecordCreate} from "./create.js";
import {RecordEdit} from "./edit.js";
import {titleOf} from "./fields.js";
import {fieldsList, jsonView, systemValues} from "./read.js";
import {historyView} from "./history.js";
import {referencesView} from "./references.js";

/** Returns what a query shows in the panel: "new", a name behind "open:", or an empty text. */
export function panelKey(query) {
    if (query.get("open")) return `open:${query.get("open")}`;
    return query.get("new") ? "new" : "";
}

async function asksToLeave(signal) {
    const dialog = openDialog({
        title: "Leave without saving?", signal, children: element("p", null,
            "What you changed in this record is not saved yet."),
        actions: [button("Stay", {className: "first", click: () => dialog.close(false)}),
            button("Discard the edits", {click: () => dialog.close(true)})],
    });
    return await dialog.closed === true;
}

/** The right side of the page. */
export class RecordPanel {
    /**
     * @param {{context: any, scope: any, schema: any, saved: function(any, boolean): void, remove: function(any):
     *     void}} options
     *     `saved` gets each saved record, and whether it is new.
     */
    constructor(options) {
        Object.assign(this, options);
        this.node = element("section", {class: "panel", "aria-label": "Record",
            on: {keydown: (event) => this.key(event)}});
        this.form = null;
    }

    /** Guards a new form. A guard ends when the edits that it guarded were discarded. */
    protect() {
        protectEdits({
            isDirty: (url) => Boolean(this.form?.isDirty()) && (url === null || this.leaves(url)),
            confirm: () => asksToLeave(this.context.signal), signal: this.context.signal,
        });
    }

    leaves(url) {
        return url.pathname !== location.pathname || panelKey(url.searchParams) !== this.shownKey;
    }

    /** Shows what the query names; an open form stays as it is. */
    async show(query) {
        const key = panelKey(query);
        const view = query.get("view") ?? "";
        if (key === this.shownKey && (this.form || view === this.shownView)) return;
        const isSameRecord = key === this.shownKey && this.record;
        [this.shownKey, this.shownView, this.form] = [key, view, null];
        if (isSameRecord) return this.read(this.record, {focuses: false});
        this.controller?.abort();
        this.controller = new AbortController();
        this.record = null;
        if (key === "new") return this.create();
        if (key) await this.load(query.get("open"));
    }

    get signal() {
        return AbortSignal.any([this.controller.signal, this.context.signal]);
    }

    /** Forgets what was shown, once the panel is closed. */
    leave() {
        this.controller?.abort();
        [this.shownKey, this.shownView, this.form, this.record] = ["", "", null, null];
        fill(this.node);
    }

    close() {
        setQuery({open: null, new: null, view: null});
    }

    key(event) {
        if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        this.close();
    }

    head(title, name, ...actions) {
        const heading = element("h1", {tabindex: "-1", dir: "auto"}, title);
        return element("header", {class: "record-head"},
            element("div", null, heading, ...actions, iconLink("cross", "Close", listAddress())),
            name ? element("p", {class: "named"}, element("code", null, name), copyButton(name,
                "Copy the record name")) : null);
    }

    fill(focuses, ...nodes) {
        fill(this.node, ...nodes);
        this.node.scrollTop = 0;
        const title = this.node.querySelector("h1");
        this.context.setTitle(`${title.textContent} · ${this.scope.type}`);
        if (focuses && !document.querySelector("dialog[open]")) title.focus();
    }

    async load(name) {
        const {signal} = this;
        const waiting = () => this.fill(false, this.head(shortName(name), name),
            element("div", {class: "body record-body", role: "status", "aria-label": "Loading"}, skeleton(),
                skeleton(true), skeleton()));
        const timer = setTimeout(waiting, this.node.children.length > 0 ? 150 : 0);
        try {
            const record = await loadRecord(this.scope, name, signal);
            clearTimeout(timer);
            this.read(record);
        } catch (error) {
            clearTimeout(timer);
            if (isAbort(error) || signal.aborted) return;
            if (error.code === "UNREACHABLE") whenReachable(signal).then(() => this.load(name), () => null);
            const isMissing = error.code === "NOT_FOUND";
            this.fill(true, this.head(shortName(name), name), element("div", {class: "body record-body"},
                errorMessage(error, {retry: () => this.load(name),
                    title: isMissing ? "No record with this name in this zone" : undefined})),
            // It may have been deleted, and the log says by whom.
            isMissing ? historyView({scope: this.scope, name, title: "History", signal}) : null);
        }
    }

    tabs() {
        const tab = (text, view) => element("a", {href: queryAddress({view: view || null}),
            "aria-current": view === this.shownView ? "page" : null}, text);
        return element("nav", {class: "tabs", "aria-label": "Parts of the record"}, tab("Fields", ""),
            tab("Referred to by", "references"), tab("History", "history"), tab("JSON", "json"));
    }

    /** Shows a record for reading. */
    read(record, {focuses = true} = {}) {
        [this.record, this.form] = [record, null];
        const {schema} = this;
        const mayChange = mayDo("change");
        const head = this.head(titleOf(schema, record) || shortName(record.recordName), record.recordName,
            mayChange ? button("Edit", {icon: "edit", click: () => this.edit()}) : null,
            mayChange ? iconButton("bin", "Delete", {click: () => this.remove(record)}) : null);
        head.append(this.tabs());
        this.fill(focuses, head, this.content(record), this.commands(record.recordName));
    }

    commands(name) {
        const isHistory = this.shownView === "history";
        return commandPart((isHistory ? historyCommands : recordCommands)(this.scope, name));
    }

    content(record) {
        const {schema, scope, signal} = this;
        switch (this.shownView) {
        case "json": return jsonView(record);
        case "history": return historyView({scope, signal, name: record.recordName,
            created: Number(record.created?.timestamp)});
        case "references": return referencesView({schema, scope, record, signal});
        default: return [fieldsList({schema, scope, record, signal}), systemValues({record, scope})];
        }
    }

    edit() {
        const {scope, schema, record, signal} = this;
        this.form = new RecordEdit({
            scope, schema, record, signal,
            saved: (next) => {
                this.read(next);
                this.saved(next, false);
            },
            discarded: (next) => {
                this.read(next);
                if (next !== record) this.saved(next, false);
            },
        });
        this.protect();
        this.fill(true, this.head("Edit the record", record.recordName), this.form.nodes);
    }

    create() {
        const {scope, schema, signal} = this;
        const leave = (open) => {
            this.form = null;
            return setQuery({open, new: null, view: null});
        };
        this.form = new RecordCreate({
            scope, schema, signal, discarded: () => leave(null),
            saved: async (record) => {
                await leave(record.recordName);
                this.saved(record, true);
            },
        });
        this.protect();
        const head = this.head(`New ${scope.type}`, null);
        head.append(element("p", {class: "named quiet"}, scopeWordsOf(scope)));
        this.fill(true, head, this.form.nodes);
    }
}
