/** @file The list of records: filters, table, pages, selection. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {plural} from "../../core/format.js";
import {whenReachable} from "../../core/reach.js";
import {setQuery} from "../../core/router.js";
import {mayDo} from "../../core/state.js";
import {button, linkButton, setButtonText} from "../../parts/button.js";
import {announce} from "../../parts/status.js";
import {loadingTable, safeRow, table} from "../../parts/table.js";
import {QueryBuilder} from "../../parts/query/builder.js";
import {FilterError, queryBody} from "../../parts/query/body.js";
import {ownFields, queryFields} from "../../parts/query/fields.js";
import {filtersText, sortText} from "../../parts/query/syntax.js";
import {errorMessage} from "../../parts/message.js";
import {transferButtons} from "../transfer/buttons.js";
import {queryAddress, readList, scopeWordsOf} from "./addresses.js";
import {columnsPicker} from "./columns.js";
import {counter} from "./counter.js";
import {commandPart, listCommands, setCommands} from "./commands.js";
import {rowAttributes, tableColumns} from "./rows.js";
import {scopePickers} from "./scope.js";
import {Selection, pageSize, showBulk, showCount, showLeft} from "./selection.js";
import {countRecords, loadPage} from "./source.js";
import {viewsPicker} from "./views.js";
import {emptyPage, emptyResult, emptyZone, failedQuery, unknownType, unreadableAddress, wrongFilter} from "./states.js";

const rowsMax = 500;
/** Enough for a cell: whole values are in the record's panel. */
const valueBytesMax = 256;
const skeletonMilliseconds = 150;

/** The left side of the page. */
export class RecordsList {
    /**
     * @param {{context: any, scope: import("./source.js").Scope, schema: any, remove: function(any[]): void}} options
     *     `remove` is called with the records that were selected for deletion.
     */
    constructor({context, scope, schema, remove}) {
        Object.assign(this, {context, scope, schema, remove});
        this.recordType = schema.recordTypes.find(({name}) => name === scope.type) ?? null;
        this.ownFields = ownFields(this.recordType);
        this.fields = queryFields(this.recordType);
        this.canSelect = mayDo("change");
        this.selected = new Selection({changed: () => this.showSelection()});
        this.setSort = (sort) => setQuery({sort: sortText(sort)});
        this.clear = () => setQuery({q: null, sort: null});
        this.rows = [];
        this.title = element("div");
        this.filterHolder = element("div", {class: "query-holder"});
        this.content = element("div", {class: "list-content"});
        this.after = element("div", {class: "list-after"});
        this.command = commandPart({});
        this.actions = element("div", {class: "actions"});
        const open = (name) => setQuery({open: name, new: null, view: null}, {push: true});
        this.node = element("div", {class: "sheet"}, element("div", {class: "head"}, this.title, this.actions),
            scopePickers(scope, {schema, signal: context.signal, open}), this.filterHolder, this.content, this.after,
                this.command);
    }

    /** Reads the address; returns whether what it asks for is another list than before. */
    readAddress() {
        const {query} = this.context;
        const signature = ["q", "sort", "cols"].map((name) => query.get(name) ?? "").join("\n");
        if (signature === this.signature) return false;
        this.signature = signature;
        Object.assign(this, readList(query, this.fields, this.ownFields));
        return true;
    }

    /** Draws head and filters. */
    drawHead() {
        const count = this.filters.length;
        this.filterButton ??= button("Filter", {icon: "filter", attributes: {"aria-expanded": "false"},
            click: () => this.showFilter(this.filterHolder.children.length === 0)});
        setButtonText(this.filterButton, count > 0 ? `Filter (${count})` : "Filter");
        this.columnsPicker ??= this.ownFields.length > 0 ? columnsPicker(this.ownFields, () => this.columns) : null;
        this.showActions();
        // What was typed and not applied stays while only columns change.
        const asked = `${this.context.query.get("q")}\n${this.context.query.get("sort")}`;
        const isOpen = this.filterHolder.children.length > 0;
        if (asked !== this.askedBefore && (count > 0 || isOpen)) this.showFilter(true, false);
        this.askedBefore = asked;
    }

    /** The link keeps the present filters; the nodes before it stay, with their focus and open menus. */
    showActions() {
        if (this.actions.children.length === 0) {
            fill(this.actions, viewsPicker(this.scope, this.context.signal), this.filterButton, this.columnsPicker,
                transferButtons(this));
        }
        this.newLink?.remove();
        this.newLink = mayDo("change") ? linkButton("New record", queryAddress({new: "1", open: null, view: null}),
            {icon: "plus", className: "first"}) : null;
        if (this.newLink) this.actions.append(this.newLink);
    }

    /** Sets the level of the title: with an open record its title is the page's first. */
    setTitleLevel(tag) {
        fill(this.title, element(tag, null, this.scope.type), element("p", null, scopeWordsOf(this.scope)));
    }

    showFilter(isShown, focuses = true) {
        this.filterButton.setAttribute("aria-expanded", String(isShown));
        if (!isShown) return fill(this.filterHolder);
        const builder = new QueryBuilder({
            recordType: this.scope.type, fields: this.fields, filters: this.filters,
                sort: this.chosenSort && {...this.chosenSort},
            apply: (filters, sort) => setQuery({q: filtersText(filters), sort: sortText(sort)}),
        });
        fill(this.filterHolder, builder.node);
        if (focuses) builder.node.querySelector("select")?.focus();
        return undefined;
    }

    page(marker) {
        // Without a name the service would send all fields.
        const names = this.columns.map(({name}) => name);
        return {
            query: queryBody(this.scope.type, this.filters, this.sort, this.fields), marker, limit: pageSize,
            desiredKeys: names.length > 0 ? names : ["recordName"], valueBytesMax,
        };
    }

    /** Loads the first page. Rows that are shown stay, dimmed, until it is there. */
    async load() {
        this.round = (this.round ?? 0) + 1;
        const mine = this.round;
        this.selected.replace([]);
        if (this.unreadable) return this.showInstead(unreadableAddress(this.unreadable, this.clear));
        this.content.querySelector("table")?.setAttribute("aria-busy", "true");
        const timer = setTimeout(() => this.showLoading(), skeletonMilliseconds);
        try {
            const page = this.page(null);
            setCommands(this.command, listCommands(this.scope, {...this, page}));
            this.counter = counter(() => countRecords(this.scope, page.query, this.context.signal),
                () => showLeft(this.after, this.countState()));
            const answer = await loadPage(this.scope, page, this.context.signal);
            if (mine !== this.round) return undefined;
            this.rows = answer.records;
            this.marker = answer.marker;
            this.droppedCount = 0;
            this.show();
        } catch (error) {
            if (isAbort(error) || mine !== this.round) return undefined;
            this.fail(error);
            if (error.code === "UNREACHABLE") this.loadWhenReachable(mine);
        } finally {
            clearTimeout(timer);
        }
        return undefined;
    }

    async loadWhenReachable(round) {
        await whenReachable(this.context.signal).catch(() => null);
        if (round === this.round && !this.context.signal.aborted) this.load();
    }

    fail(error) {
        this.rows = [];
        const openFilter = () => this.showFilter(true);
        if (error instanceof FilterError) return this.showInstead(wrongFilter(error, this.clear, openFilter));
        if (error.code === "NOT_FOUND" && !this.recordType) return this.showInstead(unknownType(this.scope));
        return this.showInstead(failedQuery(error, this.scope, this, {retry: () => this.load(), openFilter}));
    }

    showInstead(node) {
        fill(this.content, node);
        fill(this.after);
    }

    showLoading() {
        if (this.context.signal.aborted || this.content.querySelector("tbody tr")) return;
        fill(this.content, loadingTable({label: "Records", columns: tableColumns(this), rowsCount: 12}));
        fill(this.after, element("div", {class: "after"}, element("p", {role: "status"}, "Loading")));
    }

    show() {
        if (this.rows.length > 0) return this.showTable();
        if (this.marker) return this.showInstead(emptyPage(() => this.more()));
        return this.showInstead(this.filters.length > 0 ? emptyResult(this.filters, this.fields, this.clear)
            : emptyZone(this.scope, this.fields, this.context.signal));
    }

    showTable() {
        this.tableColumns = tableColumns(this);
        const node = table({label: "Records", columns: this.tableColumns, rows: this.rows,
            attributesOf: (row) => this.attributesOf(row)});
        this.body = node.querySelector("tbody");
        // A head that was clicked keeps the focus in the table that takes its place.
        const heads = [...this.content.querySelectorAll("thead th")];
        const focusedHead = heads.indexOf(document.activeElement?.closest("th"));
        fill(this.content, node);
        if (focusedHead >= 0) node.querySelectorAll("thead th")[focusedHead]?.querySelector("button, input")?.focus();
        this.showAfter();
    }

    attributesOf(record) {
        return rowAttributes(record, this.selected, this.context.query.get("open"));
    }

    /** Says how many are shown, or what is selected. */
    showAfter(note = null) {
        if (this.selected.size > 0) {
            return showBulk(this.after, this.selected.size, {
                remove: () => this.remove(this.selectedRecords()), clear: () => this.clearSelection(),
            });
        }
        return showCount(this.after, {...this.countState(), note, counted: this.counter, more: () => this.more(),
            first: () => this.load()});
    }

    countState() {
        return {shownCount: this.rows.length, droppedCount: this.droppedCount, hasMore: Boolean(this.marker),
            total: this.counter.total};
    }

    /** Loads the next page behind the rows that are shown. */
    async more() {
        const mine = this.round;
        try {
            const answer = await loadPage(this.scope, this.page(this.marker), this.context.signal);
            if (mine !== this.round) return undefined;
            this.marker = answer.marker;
            if (this.rows.length === 0) {
                this.rows = answer.records;
                return this.show();
            }
            this.append(answer.records);
        } catch (error) {
            if (isAbort(error) || mine !== this.round) return undefined;
            this.showAfter(errorMessage(error, {level: "h3"}));
        }
        return undefined;
    }

    append(records) {
        const rows = records.map((record) => safeRow(this.tableColumns, record, (row) => this.attributesOf(row)));
        this.rows.push(...records);
        this.body.append(...rows);
        while (this.rows.length > rowsMax) {
            this.selected.names.delete(this.rows.shift().recordName);
            this.body.firstElementChild.remove();
            this.droppedCount += 1;
        }
        this.showAfter();
        (rows[0]?.querySelector(".name a"))?.focus({preventScroll: true});
        announce(`${plural(records.length, "more record")} shown`);
    }

    showSelection() {
        this.selected.mark(this.content.querySelector("table"));
        if (this.rows.length > 0 && this.body?.isConnected) this.showAfter();
    }

    clearSelection() {
        this.selected.replace([]);
        this.content.querySelector("thead .pick input")?.focus();
    }

    selectedRecords() {
        return this.rows.filter(({recordName}) => this.selected.has(recordName));
    }

    /** Marks the row of the open record. */
    markOpen(name) {
        for (const row of this.body?.children ?? []) {
            if (row.dataset.record === name) row.setAttribute("aria-current", "true");
            else row.removeAttribute("aria-current");
        }
    }

    /** Shows a record as it was saved, if it has a row. */
    replace(record) {
        const index = this.rows.findIndex(({recordName}) => recordName === record.recordName);
        if (index < 0 || !this.body?.isConnected) return;
        this.rows[index] = record;
        this.body.children[index].replaceWith(safeRow(this.tableColumns, record, (row) => this.attributesOf(row)));
    }

    /** Takes rows of deleted records away. */
    drop(names) {
        const gone = new Set(names);
        for (const row of [...(this.body?.children ?? [])]) if (gone.has(row.dataset.record)) row.remove();
        this.rows = this.rows.filter(({recordName}) => !gone.has(recordName));
        for (const name of names) this.selected.names.delete(name);
        if (this.rows.length === 0) return this.load();
        return this.showSelection();
    }

    /** Gives the focus to a record's row, or to the title. */
    focusRow(name) {
        const row = [...(this.body?.children ?? [])].find(({dataset}) => dataset.record === name);
        const stop = row?.querySelector(".name a") ?? this.newLink ?? this.filterButton;
        stop.focus();
    }
}
