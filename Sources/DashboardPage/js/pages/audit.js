/** @file The audit log: newest first. */

import {get} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {plural} from "../core/format.js";
import {setQuery} from "../core/router.js";
import {loadContainers} from "../core/state.js";
import {badge, environmentLabel} from "../parts/badge.js";
import {button} from "../parts/button.js";
import {commandPart, curlWords, itemWords, setCommands} from "../parts/command.js";
import {selectControl} from "../parts/control.js";
import {copyButton} from "../parts/copy.js";
import {growingTable} from "../parts/growing-table.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {shortTime} from "../parts/time.js";
import {requestLink} from "./requests/addresses.js";
import {detailsOf, outcomes, wordsOf} from "./audit-words.js";

const pageSize = 50;
const shownMax = 500;
const filters = ["administrator", "container"];
// Stands for all changes by commands on the server's machine.
const byCommand = "yap admin";

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const list = element("div", {class: "fill"});
    const form = element("form", {class: "query", "aria-label": "Filters"});
    const command = commandPart({});
    context.parts = {list, form, command};
    fill(main, sheet({title: "Audit log",
        note: "What administrators did. Entries can’t be changed; the newest 100,000 are kept."},
        form, list, command));
    setTitle("Audit log");
    await Promise.all([fillForm(context), load(context)]);
}

/** Shows the lines for another query. */
export async function queryChanged(context) {
    await Promise.all([fillForm(context), load(context)]);
}

async function fillForm({parts, query, signal}) {
    const [{administrators}, containers] = await Promise.all([
        get("administrators", null, {signal}).catch(() => ({administrators: []})),
        loadContainers({signal}).catch(() => [])]);
    const selects = filters.map((name) => {
        const values = name === "administrator" ? [...administrators.map((one) => one.name), byCommand]
            : containers.map((one) => one.identifier);
        return filterSelect(name, values, query.get(name) ?? "");
    });
    const clear = filters.some((name) => query.get(name)) ? button("Clear", {className: "bare",
        click: () => setQuery({administrator: null, container: null, before: null}, {push: true})}) : null;
    fill(parts.form, element("div", {class: "actions bottom"}, selects,
        button("Apply", {type: "submit", className: "first"}), clear));
    parts.form.onsubmit = (event) => {
        event.preventDefault();
        const values = selects.map((select, index) => [filters[index], select.input.value || null]);
        setQuery({...Object.fromEntries(values), before: null}, {push: true});
    };
}

// A removed administrator may stand in the address.
function filterSelect(name, values, value) {
    const all = value && !values.includes(value) ? [...values, value] : values;
    const first = {value: "", text: name === "administrator" ? "Anyone" : "All"};
    return selectControl(name === "administrator" ? "Administrator" : "Container",
        [first, ...all.map((one) => ({value: one, text: one}))], value);
}

async function load(context) {
    const {parts, query, signal} = context;
    const wanted = {administrator: query.get("administrator") || null, container: query.get("container") || null,
        before: query.get("before") || null};
    setCommands(parts.command,
        {commands: [["yap", "admin", "audit", ...itemWords(wanted)]], requests: [curlWords("audit", {query: wanted})]});
    const fetchLines = (before) => get("audit", {...wanted, before, limit: pageSize}, {signal});
    await loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Audit log", columns, rowsCount: 8}),
        load: () => fetchLines(wanted.before),
        show: ({lines, before}) => (lines.length ? linesPart(lines, before, fetchLines)
            : empty("No entries", element("p", {class: "quiet"}, "Nothing in the log fits these filters."))),
    });
}

function linesPart(lines, before, fetchLines) {
    const status = element("p", {role: "status"});
    const {area, line} = growingTable({label: "Audit log", columns, first: {rows: lines, next: before},
        load: async (next) => {
            const answer = await fetchLines(next);
            return {rows: answer.lines, next: answer.before};
        },
        end: ({count, next, more}) => {
            const turn = () => setQuery({before: String(next)}, {push: true});
            const onwards = count >= shownMax ? () => button(`Show the next ${pageSize}`, {click: turn})
                : () => more(`Show ${pageSize} more`);
            status.textContent = `${next === null ? "All" : "The newest"} ${plural(count, "entry", "entries")} shown`;
            return [status, next === null ? null : onwards()];
        }});
    return [area, line];
}

function detailsCell(line) {
    const {what, where} = detailsOf(line);
    if (!what && !where) return null;
    const label = line.environment ? environmentLabel(line.environment) : null;
    return element("span", {class: "two-lines details"}, element("span", null, what, what && label ? " " : null, label),
        where ? element("small", {class: "quiet"}, where) : null);
}

const columns = [
    {head: "When, UTC", word: "when, UTC", cell: (line) => shortTime(line.timeMilliseconds)},
    {head: "Who", isName: true, cell: (line) => element("span", {class: line.administrator ? "cut" : "quiet"},
        line.administrator || "unknown")},
    {head: "What", word: "did", isHeadCell: true, cell: (line) => wordsOf(line)},
    {head: "Details", word: "details", className: "whole", cell: detailsCell},
    {head: "Result", word: "result", cell: (line) => badge(...outcomes[line.outcome] ?? [line.outcome, {}])},
    {head: "Address", word: "address", className: "mono", cell: (line) => line.address},
    {head: "Request", word: "request", cell: (line) => (line.requestID ? element("span", {class: "with"},
        requestLink(line.requestID, 9),
        copyButton(line.requestID, `Copy the request ID of entry ${line.number}`)) : null)},
];

