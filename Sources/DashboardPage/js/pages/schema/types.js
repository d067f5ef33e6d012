/** @file Record types of an environment. */

import {element, fill} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {button, iconButton} from "../../parts/button.js";
import {commandCode} from "../../parts/code.js";
import {curlWords, scopeWords} from "../../parts/command.js";
import {empty, loadInto} from "../../parts/states.js";
import {loadingTable, table} from "../../parts/table.js";
import {askDeleteType, askNewType} from "./dialogs.js";
import {deployLink, mayChange, productionNote, schemaSheet} from "./frame.js";
import {loadSchema, schemaAddress, schemaTarget, systemTypes} from "./source.js";
import {indexesCount, permissionsText} from "./words.js";

/** Shows the page. */
export async function show(context) {
    const {params, setTitle, signal} = context;
    const parts = schemaSheet(context, {tab: "Types", commands: {
        commands: [["yap", "schema", "export", ...scopeWords(params)]], requests: [curlWords(schemaTarget(params))]}});
    const page = {...context, ...parts};
    page.reload = () => loadInto(parts.body, {
        signal, load: () => loadSchema(context), show: (schema) => content(page, schema),
        waiting: () => loadingTable({label: "Record types", columns: columnsOf(page), rowsCount: 4}),
    });
    fill(parts.note, productionNote(params) ?? "What records of this environment can hold.");
    fill(parts.actions, params.environment === "production" ? deployLink(params)
        : [deployLink(params), mayChange(params)
            ? button("New type", {icon: "plus", className: "first", click: () => askNewType(page)}) : null]);
    setTitle("Schema");
    await page.reload();
}

function content(page, {recordTypes}) {
    const {params} = page;
    const isDevelopment = params.environment === "development";
    const own = recordTypes.filter(({name}) => !systemTypes.includes(name));
    fill(page.note, productionNote(params)
        ?? `${plural(own.length, "record type")}. Saves in development add types and fields by themselves.`);
    if (own.length) return table({label: "Record types", columns: columnsOf(page), rows: recordTypes});
    return empty("The schema has no record types yet", element("p", {class: "quiet"}, isDevelopment
        ? "The first record of a type that an app saves adds the type. Or import a schema as text:"
        : "Deploy the schema of development, then save records."),
    isDevelopment ? commandCode(["yap", "schema", "import", "FILE", ...scopeWords(params)]) : null);
}

function columnsOf(page) {
    const {params} = page;
    return [
        {head: "Record type", isName: true,
            cell: ({name}) => element("a", {href: schemaAddress(params, "types", name)}, name)},
        {head: "Fields", word: "fields", className: "number", cell: ({fields}) => fields.length || "none"},
        {head: "Indexes", word: "indexes", className: "number", cell: (type) => indexesCount(type) || "none"},
        {head: "In the public database", word: "in the public database", className: "whole", cell: grantsText},
        {head: "Actions", isHiddenHead: true, className: "end corner", cell: ({name}) => actions(name, page)},
    ];
}

function actions(name, page) {
    if (systemTypes.includes(name)) return badge("System");
    return mayChange(page.params) ? iconButton("bin", `Delete type ${name}`, {click: () => askDeleteType(name, page)})
        : null;
}

// "_world reads, _icloud creates, _creator writes"
function grantsText({grants = []}) {
    const given = grants.filter(({permissions: list}) => list.length);
    if (!given.length) return "no grants";
    return element("span", {class: "tags"}, given.map((grant) => badge(`${grant.role}: ${
        permissionsText(grant.permissions)}`)));
}
