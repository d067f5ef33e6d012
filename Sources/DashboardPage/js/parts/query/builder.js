/** @file The form above a list of records: filters, sort, and the index that each of them uses. */

import {element, fill, icon, uniqueID} from "../../core/dom.js";
import {badge} from "../badge.js";
import {button, iconButton} from "../button.js";
import {FilterError, queryBody} from "./body.js";
import {comparatorNamed, comparatorWord, comparatorsFor} from "./comparators.js";
import {fieldWithKey, hasPlainOrder} from "./fields.js";
import {filterIndex, sortIndex} from "./indexes.js";
import {itemType} from "../values/types.js";

const placeholders = {TIMESTAMP: "2026-11-27 08:30", REFERENCE: "Record name", BYTES: "Base64", INT64: "0",
    DOUBLE: "1.5"};
const directions = {
    STRING: ["A to Z", "Z to A"], TIMESTAMP: ["earliest first", "latest first"], INT64: ["smallest first",
        "largest first"],
    DOUBLE: ["smallest first", "largest first"],
};

function select(label, options, value, change) {
    const input = element("select", {class: "input", "aria-label": label, on: {change}},
        options.map(([key, text]) => element("option", {value: key, selected: key === value}, text)));
    return element("span", {class: "select"}, input, icon("down"));
}

function indexBadge({isServed, text}) {
    return badge(text, {state: isServed ? "good" : "warn"});
}

function placeholderOf(comparator, field) {
    if (comparator.value === "near") return "52.5145, 13.3908, 1000";
    if (comparator.value === "many") return "Values with commas between";
    return comparator.value === "words" ? "Words" : placeholders[itemType(field?.type ?? "STRING")] ?? "";
}

/** Filters and sort while they are edited: nothing is asked before Apply. */
export class QueryBuilder {
    /**
     * @param {{recordType: string, fields: import("./fields.js").QueryField[], filters: import("./syntax.js").Filter[],
     *     sort: {key: string, ascending: boolean}|null, apply: function(any[], any): void}} options
     */
    constructor(options) {
        Object.assign(this, options);
        this.filters = options.filters.map((filter) => ({...filter}));
        this.choices = this.fields.filter((field) => comparatorsFor(field).length > 0 && !field.isEncrypted);
        this.list = element("ol");
        this.node = element("form", {class: "query", "aria-label": "Filters", novalidate: true,
            on: {submit: (event) => {
            event.preventDefault();
            this.submit();
        }}}, this.list, element("div", {class: "actions"}, button("Apply", {className: "first", type: "submit"}),
            this.addButton = button("Add a filter", {icon: "plus", className: "bare", click: () => this.add()}),
            button("Clear", {className: "bare", click: () => this.apply([], null)})));
        if (this.filters.length === 0 && !this.sort) this.push();
        this.draw();
    }

    push() {
        const field = this.choices.find(({isQueryable, isSystem}) => isQueryable && !isSystem) ?? this.choices[0];
        if (field) this.filters.push({key: field.key, comparator: comparatorsFor(field)[0].name, value: "",
            isNew: true});
    }

    add() {
        this.push();
        this.draw();
        this.list.children[this.filters.length - 1]?.querySelector("select")?.focus();
    }

    remove(index) {
        this.filters.splice(index, 1);
        this.draw();
        const next = this.list.children[Math.min(index, this.filters.length - 1)];
        (this.filters.length > 0 ? next.querySelector("select") : this.addButton).focus();
    }

    draw() {
        fill(this.list, this.filters.map((filter, index) => this.row(filter, index)), this.sortRow());
    }

    /** One filter. The select that changes stays, so that its focus and its typed letters are kept. */
    row(filter, index) {
        const number = index + 1;
        const fields = this.choices.map(({key, label}) => [key, label]);
        if (!fieldWithKey(this.choices, filter.key)) {
            fields.unshift([filter.key, fieldWithKey(this.fields, filter.key)?.label ?? filter.key]);
        }
        const input = element("input", {class: "input", value: filter.value, "aria-label": `Value of filter ${number}`,
            autocomplete: "off", spellcheck: "false", dir: "auto", id: uniqueID("filter"),
            on: {input: () => { filter.value = input.value; }}});
        let [comparison, said] = [element("span"), element("span")];
        const sayIndex = () => {
            const field = fieldWithKey(this.fields, filter.key);
            const next = indexBadge(filterIndex(field, filter.comparator));
            said.replaceWith(next);
            said = next;
            input.placeholder = placeholderOf(comparatorNamed(filter.comparator), field);
            input.inputMode = {INT64: "numeric", DOUBLE: "decimal"}[itemType(field?.type ?? "STRING")] ?? "";
        };
        const setComparator = (event) => {
            filter.comparator = event.target.value;
            sayIndex();
        };
        const drawComparison = () => {
            const next = this.comparison(filter, number, setComparator);
            comparison.replaceWith(next);
            comparison = next;
            sayIndex();
        };
        const setField = (event) => {
            filter.key = event.target.value;
            const ways = comparatorsFor(fieldWithKey(this.fields, filter.key));
            if (!ways.some(({name}) => name === filter.comparator)) filter.comparator = ways[0].name;
            drawComparison();
        };
        const node = element("li", null, element("span", {class: "word"}, index === 0 ? "Where" : "and"),
            select(`Field of filter ${number}`, fields, filter.key, setField), comparison,
            element("span", {class: "control-value"}, input), said,
            iconButton("cross", `Remove filter ${number}`, {click: () => this.remove(index)}));
        drawComparison();
        return node;
    }

    comparison(filter, number, change) {
        const field = fieldWithKey(this.fields, filter.key);
        const ways = field ? comparatorsFor(field) : [];
        const comparator = comparatorNamed(filter.comparator);
        const known = ways.includes(comparator) ? ways : [comparator, ...ways];
        const type = itemType(field?.type ?? "STRING");
        return select(`Comparison of filter ${number}`, known.map((way) => [way.name, comparatorWord(way, type)]),
            comparator.name, change);
    }

    sortRow() {
        const sortable = this.fields.filter(({isSortable, type}) => isSortable && hasPlainOrder(type));
        const options = [["", "no field"], ...sortable.map(({key, label}) => [key, label])];
        if (this.sort && !fieldWithKey(sortable, this.sort.key)) {
            options.push([this.sort.key, fieldWithKey(this.fields, this.sort.key)?.label ?? this.sort.key]);
        }
        const setSort = (event) => {
            this.sort = event.target.value ? {key: event.target.value, ascending: this.sort?.ascending ?? true} : null;
            draw();
        };
        const node = element("li", {class: "last"}, element("span", {class: "word"}, "Sort by"),
            select("Sort field", options, this.sort?.key ?? "", setSort));
        let rest = [];
        const draw = () => {
            for (const part of rest) part.remove();
            rest = this.sort ? this.sortParts() : [];
            node.append(...rest);
        };
        draw();
        return node;
    }

    sortParts() {
        const field = fieldWithKey(this.fields, this.sort.key);
        const words = directions[field?.type] ?? ["ascending", "descending"];
        return [
            select("Direction", [["up", words[0]], ["down", words[1]]], this.sort.ascending ? "up" : "down",
                (event) => { this.sort.ascending = event.target.value === "up"; }),
            indexBadge(sortIndex(field)),
        ];
    }

    submit() {
        // A row that was offered and not used is no filter.
        const filters = this.filters.filter(({value, isNew}) => !(isNew && value.trim() === ""));
        this.list.querySelectorAll(".wrong").forEach((sentence) => sentence.remove());
        try {
            queryBody(this.recordType, filters, this.sort, this.fields);
        } catch (error) {
            if (!(error instanceof FilterError)) throw error;
            return this.showWrong(this.filters.indexOf(filters[error.index]), error.message);
        }
        return this.apply(filters.map(({key, comparator, value}) => ({key, comparator, value})), this.sort);
    }

    showWrong(index, text) {
        const row = this.list.children[Math.max(index, 0)];
        const input = row.querySelector("input");
        const id = `${input?.id ?? uniqueID("sort")}-wrong`;
        row.append(element("p", {class: "wrong", id, role: "alert"}, icon("bad"), element("span", null, text)));
        input?.setAttribute("aria-invalid", "true");
        input?.setAttribute("aria-describedby", id);
        input?.focus();
    }
}
