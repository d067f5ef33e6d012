/** @file One record type: its fields with their indexes, and who may do what with its records. */

import {element, fill, icon} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {button, iconButton} from "../../parts/button.js";
import {curlWords, scopeWords} from "../../parts/command.js";
import {section} from "../../parts/sheet.js";
import {elsewhere, empty, loadInto} from "../../parts/states.js";
import {announce} from "../../parts/status.js";
import {loadingTable, table} from "../../parts/table.js";
import {toggle} from "../../parts/toggle.js";
import {typeIcon} from "../../parts/values/types.js";
import {askDeleteField, askNewField} from "./dialogs.js";
import {deployLink, mayChange, productionNote, schemaSheet, tryChange} from "./frame.js";
import {changeSchema, loadSchema, schemaAddress, schemaTarget, systemTypes} from "./source.js";
import {indexKinds, permissionsText, possibleIndexes, systemFields, typeName} from "./words.js";

/** Shows the page. */
export async function show(context) {
    const {params, setTitle, signal} = context;
    const operation = {op: "addField", recordType: params.type, field: "title", type: "STRING"};
    const parts = schemaSheet(context, {tab: "Types", title: params.type,
        above: element("a", {href: schemaAddress(params)}, "Record types"),
        commands: {commands: [["yap", "schema", "export", ...scopeWords(params)]],
            requests: [curlWords(schemaTarget(params)), ...(mayChange(params)
                ? [curlWords(schemaTarget(params, "change"), {body: {operations: [operation]}})] : [])]}});
    const page = {...context, ...parts};
    page.reload = () => loadInto(parts.body, {
        signal, load: () => loadSchema(context), show: (schema) => content(page, schema),
        waiting: () => element("div", {class: "body"},
            loadingTable({label: "Fields", columns: fieldColumns(page), isPlain: true, rowsCount: 8})),
    });
    setTitle(`${params.type} · Schema`);
    await page.reload();
}

function content(page, {recordTypes}) {
    const {params, actions, note} = page;
    const type = recordTypes.find(({name}) => name === params.type);
    const add = button("New field", {icon: "plus", className: "first", click: () => askNewField(params.type, page)});
    fill(actions, params.environment === "production" ? deployLink(params) : type && mayChange(params) ? add : null);
    if (!type) {
        fill(note, "");
        return missing(params);
    }
    fill(note, productionNote(params) ?? plural(type.fields.length, "field"));
    const rows = systemFields.map((field) => ({...field, isSystem: true,
        ...type.systemFields?.find(({name}) => name === field.name), type: field.type}));
    return element("div", {class: "body"},
        section("fields", "Fields", {}, type.fields.length
            ? table({label: "Fields", columns: fieldColumns(page), rows: type.fields, isPlain: true})
            : element("p", {class: "quiet"}, "No fields yet.")),
        section("system-fields", "System fields", {note: "Every record has them."},
            table({label: "System fields", columns: fieldColumns(page), rows, isPlain: true})),
        section("kinds", "What the indexes are for", {}, element("dl", {class: "reason"},
            indexKinds.map(({text, note: why}) => element("div", null, element("dt", null, text),
                element("dd", null, why))))),
        section("grants", "In the public database", {}, grants(type, params)));
}

function missing(params) {
    const other = params.environment === "production" ? "development" : "production";
    return empty(`The schema has no record type ${params.type}`, elsewhere([
        {address: schemaAddress(params), icon: "schema", text: "Record types of this environment"},
        {address: schemaAddress({...params, environment: other}, "types", params.type), icon: "schema",
            text: `${params.type} in ${other}`}]));
}

function fieldColumns(page) {
    return [
        {head: "Field", isName: true, cell: (field) => element("span", {class: "with"},
            icon(typeIcon(field.type, field.isEncrypted)), element("code", null, field.name))},
        {head: "Type", word: "type", className: "whole", cell: (field) => element("span", {class: "with"},
            element("code", null, typeName(field)), field.note ? element("span", {class: "quiet"}, field.note) : null)},
        ...indexKinds.map((index) => ({head: index.text, word: index.text.toLowerCase(), className: "mid",
            cell: (field) => indexCell(field, index, page)})),
        {head: "Actions", isHiddenHead: true, className: "end corner", cell: (field) => actionCell(field, page)},
    ];
}

function indexCell(field, {kind, key, text}, page) {
    const {params} = page;
    if (!possibleIndexes(typeName(field)).includes(kind) && !field[key]) return null;
    if (!mayChange(params)) return field[key] ? badge("Yes", {state: "good"}) : "no";
    return toggle(`${text}: ${field.name}`, Boolean(field[key]), (isOn) => tryChange(page, async () => {
        await changeSchema(page, [{op: "setIndex", recordType: params.type, field: field.name, kind, isOn}]);
        announce(`${field.name} is ${isOn ? "" : "no longer "}${text.toLowerCase()}`);
    }));
}

function actionCell({name, isSystem}, page) {
    const {params} = page;
    if (isSystem || !mayChange(params) || systemTypes.includes(params.type)) return null;
    return iconButton("bin", `Delete field ${name}`, {click: () => askDeleteField(params.type, name, page)});
}

function grants({grants: list = []}, params) {
    const given = list.filter((grant) => grant.permissions.length);
    return [given.length ? element("dl", {class: "reason"}, given.map((grant) => element("div", null,
        element("dt", null, element("code", null, grant.role)),
        element("dd", null, permissionsText(grant.permissions)))))
        : element("p", {class: "quiet"}, "No role has a permission."),
    element("p", null, element("a", {href: schemaAddress(params, "roles")}, "Roles and grants"))];
}
