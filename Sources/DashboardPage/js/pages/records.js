/** @file Records: the list of a type in a zone, and the panel of one record. */

import {element, fill} from "../core/dom.js";
import {go, reload, setQuery} from "../core/router.js";
import {choose} from "./records/choose.js";
import {RecordsList} from "./records/list.js";
import {removeRecords} from "./records/remove.js";
import {loadAccounts, loadSchema} from "./records/source.js";
import {scopePath} from "./records/addresses.js";
import {definitionsFor, titleOf} from "./record/fields.js";
import {RecordPanel, panelKey} from "./record/panel.js";
import {loadingTable} from "../parts/table.js";

const pages = new WeakMap();
const waitingMilliseconds = 150;
const waitingColumns = [{head: "Record name", isName: true}, {head: "Fields"}, {head: ""}, {head: "modified"}];

/** Returns the account's name of a user; undefined if it can't be found out. */
async function accountName(scope, signal) {
    const {accounts} = await loadAccounts(scope, {named: scope.user}, signal);
    return accounts.find(({userRecordName}) => userRecordName === scope.user)?.name;
}

/** List and panel, and what each tells the other. */
class RecordsPage {
    constructor(context, scope, schema) {
        Object.assign(this, {context, scope, schema});
        const {signal} = context;
        this.list = new RecordsList({context, scope, schema, remove: (records) => this.remove(records)});
        this.panel = new RecordPanel({context, scope, schema, remove: (record) => this.remove([record]),
            saved: (record, isNew) => this.saved(record, isNew)});
        signal.addEventListener("abort", () => document.body.classList.remove("with-panel"), {once: true});
    }

    saved(record, isNew) {
        const isKnown = definitionsFor(this.schema, record.recordType, record).every((field) => field.isKnown);
        // In development a save may have added fields or the type to the schema: read it anew.
        const hasType = this.schema.recordTypes.some(({name}) => name === record.recordType);
        if (this.scope.environment === "development" && !(isKnown && hasType)) return reload();
        return isNew ? this.list.load() : this.list.replace(record);
    }

    async remove(records) {
        const deleted = await removeRecords(this.scope, records, {
            titleOf: (record) => titleOf(this.schema, record), signal: this.context.signal,
        });
        if (deleted.length === 0) return;
        this.list.drop(deleted);
        if (deleted.includes(this.context.query.get("open"))) await setQuery({open: null, view: null});
    }

    /** Draws what the address says. */
    update() {
        const {context, list, panel} = this;
        const isOpen = panelKey(context.query) !== "";
        const wasOpen = panel.node.isConnected;
        const leftName = wasOpen && !isOpen ? panel.record?.recordName ?? "" : null;
        if (isOpen && !wasOpen) this.scrolled = scrollY;
        document.body.classList.toggle("with-panel", isOpen);
        list.setTitleLevel(isOpen ? "h2" : "h1");
        // Nodes that stay are not moved: they would lose the focus.
        if (!list.node.isConnected) fill(context.main, list.node);
        if (!isOpen) panel.node.remove();
        else if (!wasOpen) context.main.append(panel.node);
        if (list.readAddress()) {
            list.drawHead();
            list.load();
        } else {
            list.showActions();
        }
        list.markOpen(context.query.get("open"));
        if (!isOpen) {
            context.setTitle(this.scope.type);
            panel.leave();
        }
        if (leftName !== null) {
            scrollTo(0, this.scrolled ?? 0);
            list.focusRow(leftName);
        }
        return isOpen ? panel.show(context.query) : undefined;
    }
}

/** Shows the page. */
export async function show(context) {
    const {params, signal} = context;
    const scope = {...params};
    if (scope.database === "public" && !scope.zone) {
        return go(scopePath({...scope, zone: "_defaultZone"}), {replace: true});
    }
    const isWhole = Boolean(scope.database && scope.zone && scope.type);
    const timer = setTimeout(() => showWaiting(context, scope), waitingMilliseconds);
    try {
        const [schema, account] = await Promise.all([
            scope.environment ? loadSchema(scope, signal) : null,
            scope.user ? accountName(scope, signal) : undefined,
        ]);
        clearTimeout(timer);
        scope.account = account;
        if (!isWhole) return await choose(context, scope, schema);
        const page = new RecordsPage(context, scope, schema);
        pages.set(context, page);
        return await page.update();
    } finally {
        clearTimeout(timer);
    }
}

function showWaiting(context, scope) {
    if (context.signal.aborted) return;
    fill(context.main, element("div", {class: "sheet"},
        element("div", {class: "head"}, element("div", null, element("h1", null, scope.type ?? "Records"), element("p",
            null, "Loading"))),
        loadingTable({label: "Records", columns: waitingColumns, rowsCount: 12})));
}

/** Shows the page after a change of the query. */
export function queryChanged(context) {
    return pages.get(context)?.update();
}
