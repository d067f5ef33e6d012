/** @file Indexes of an environment: how large each one is, and whether it is ready. */

import {get} from "../../core/api.js";
import {element, fill, svg} from "../../core/dom.js";
import {bytes, count, plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {curlWords, scopeWords} from "../../parts/command.js";
import {empty, loadInto} from "../../parts/states.js";
import {announce} from "../../parts/status.js";
import {loadingTable, table} from "../../parts/table.js";
import {schemaSheet} from "./frame.js";
import {schemaAddress, schemaTarget} from "./source.js";

const pauseMilliseconds = 3_000;

/** Shows the page. */
export async function show(context) {
    const {params, setTitle, signal} = context;
    const page = {...context, ...schemaSheet(context, {tab: "Indexes", commands: {
        commands: [["yap", "schema", "export", ...scopeWords(params)]],
        requests: [curlWords(schemaTarget(params, "indexes"))]}})};
    fill(page.note, "A save writes an entry into each index of its fields.");
    setTitle("Indexes");
    const load = () => get(schemaTarget(params, "indexes"), null, {signal});
    await loadInto(page.body, {
        signal, load, show: ({indexes}) => content(page, indexes),
        waiting: () => loadingTable({label: "Indexes", columns: columnsOf(params, []), rowsCount: 8}),
    });
    watch(page, load);
}

function content({params, note}, indexes) {
    if (!indexes.length) {
        return empty("No indexes yet", element("p", {class: "quiet"},
            "A query needs an index on each field that it names. Switch them on at a record type’s fields."));
    }
    const building = indexes.filter(({isBeingBuilt}) => isBeingBuilt).length;
    fill(note, `${plural(indexes.length, "index", "indexes")}${building ? `, ${building} being built` : ""}. `,
        "A save writes an entry into each index of its fields.");
    return table({label: "Indexes", columns: columnsOf(params, indexes), rows: indexes});
}

function columnsOf(params, indexes) {
    const hasBytes = indexes.some((index) => index.bytes !== undefined);
    return [
        {head: "Field", isName: true, cell: ({recordType, field}) => element("span", {class: "with"},
            element("a", {href: schemaAddress(params, "types", recordType)}, recordType),
            element("code", null, field))},
        {head: "Index", word: "index", cell: ({kind}) => kind},
        {head: "Entries", word: "entries", className: "number",
            cell: ({entriesCount, isCapped}) => `${count(entriesCount)}${isCapped ? " and more" : ""}`},
        hasBytes ? {head: "Size", word: "size", className: "number",
            cell: (index) => (index.bytes === undefined ? null : bytes(index.bytes))} : null,
        {head: "State", word: "state", cell: state},
    ].filter(Boolean);
}

function state({isBeingBuilt, builtShare}) {
    if (!isBeingBuilt) return badge("Ready", {state: "good"});
    const percent = Math.floor(100 * (builtShare ?? 0));
    const text = builtShare === undefined ? "Being built" : `Being built, ${percent} %`;
    return element("span", {class: "with"}, badge(text, {state: "info"}),
    builtShare === undefined ? null : svg("svg", {class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none",
        "aria-hidden": "true"}, svg("rect", {class: "part-1", width: percent, height: 8})));
}

// While an index is being built the list is loaded anew. Hidden pages don't ask.
function watch(page, load) {
    const isBuilding = () => page.body.querySelector(".badge.info");
    const timer = setInterval(async () => {
        if (document.hidden || !isBuilding()) return;
        const answer = await load().catch(() => null);
        if (!answer || page.signal.aborted) return;
        fill(page.body, content(page, answer.indexes));
        if (!isBuilding()) announce("All indexes are ready");
    }, pauseMilliseconds);
    page.signal.addEventListener("abort", () => clearInterval(timer), {once: true});
}
