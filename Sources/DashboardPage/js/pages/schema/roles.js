/** @file Roles, and what each may do with the records of each type in the public database. */

import {element, fill} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {button, iconButton} from "../../parts/button.js";
import {curlWords, scopeWords} from "../../parts/command.js";
import {section} from "../../parts/sheet.js";
import {empty, loadInto} from "../../parts/states.js";
import {announce} from "../../parts/status.js";
import {loadingTable, table} from "../../parts/table.js";
import {askDeleteRole, askNewRole} from "./dialogs.js";
import {deployLink, mayChange, productionNote, schemaSheet, tryChange} from "./frame.js";
import {changeSchema, loadSchema, schemaAddress, schemaTarget} from "./source.js";
import {grantOf, permissions, permissionsText, systemRoles} from "./words.js";

const isSystem = (name) => systemRoles.some((role) => role.name === name);

/** Shows the page. */
export async function show(context) {
    const {params, setTitle, signal} = context;
    const page = {...context, ...schemaSheet(context, {tab: "Roles", commands: {
        commands: [["yap", "schema", "export", ...scopeWords(params)],
            ["yap", "role", "assign", "ROLE", "--account", "NAME", ...scopeWords(params)]],
        requests: [curlWords(schemaTarget(params))]}})};
    page.reload = () => loadInto(page.body, {
        signal, load: () => loadSchema(context), show: (schema) => content(page, schema),
        waiting: () => element("div", {class: "body"},
            loadingTable({label: "Grants", columns: grantColumns(page, []), isPlain: true, rowsCount: 4})),
    });
    fill(page.note, productionNote(params) ?? "Grants hold in the public database.");
    const add = button("New role", {icon: "plus", className: "first", click: () => askNewRole(page)});
    fill(page.actions, params.environment === "production" ? deployLink(params) : mayChange(params) ? add : null);
    setTitle("Roles");
    await page.reload();
}

function content(page, {recordTypes, roles}) {
    const custom = roles.filter((name) => !isSystem(name));
    if (!recordTypes.length) {
        return empty("The schema has no record types yet", element("p", {class: "quiet"},
            "Each record type has grants, which say what a role may do with its records."));
    }
    return element("div", {class: "body"},
        section("grants", "Grants", {note: "In a private database its owner may do everything."},
            table({label: "Grants", columns: grantColumns(page, custom), rows: recordTypes, isPlain: true})),
        section("roles", "Roles", {note: custom.length ? plural(custom.length, "custom role") : "No custom roles"},
            table({label: "Roles", columns: roleColumns(page), isPlain: true,
                rows: [...systemRoles, ...custom.map((name) => ({name}))]})));
}

function grantColumns(page, custom) {
    const names = [...systemRoles.map(({name}) => name), ...custom];
    return [
        {head: "Record type", isName: true,
            cell: ({name}) => element("a", {href: schemaAddress(page.params, "types", name)}, name)},
        ...names.map((role) => ({head: role, word: role, className: "wide-cell",
            cell: (type) => grantCell(type, role, page)})),
    ];
}

function grantCell(type, role, page) {
    const given = new Set(grantOf(type, role));
    if (!mayChange(page.params)) return given.size ? permissionsText([...given]) : null;
    return element("span", {class: "grants", role: "group", "aria-label": `${type.name}, ${role}`},
        permissions.map(({permission, text}) => grantBox(type.name, role, given, {permission, text}, page)));
}

function grantBox(recordType, role, given, {permission, text}, page) {
    const input = element("input", {type: "checkbox", checked: given.has(permission)});
    const apply = () => {
        const wanted = new Set(given);
        if (input.checked) wanted.add(permission);
        else wanted.delete(permission);
        return changeSchema(page, [{op: "setGrant", recordType, role, permissions: [...wanted]}]);
    };
    input.addEventListener("change", () => {
        // One change after the other: each one sends all permissions of the cell.
        page.queue = Promise.resolve(page.queue).then(async () => {
            if (!await tryChange(page, apply)) {
                input.checked = given.has(permission);
                return;
            }
            if (input.checked) given.add(permission);
            else given.delete(permission);
            announce(`${role} may ${input.checked ? "" : "no longer "}${text.toLowerCase()} ${recordType}`);
        });
    });
    return element("label", {class: "tick"}, input, text);
}

function roleColumns(page) {
    return [
        {head: "Role", isName: true, cell: ({name}) => element("code", null, name)},
        {head: "Users with the role", word: "users with the role",
            cell: ({note}) => note ?? "users that “yap role assign” gave it to"},
        {head: "Actions", isHiddenHead: true, className: "end corner", cell: ({name}) => roleActions(name, page)},
    ];
}

function roleActions(name, page) {
    if (isSystem(name)) return badge("System");
    return mayChange(page.params)
        ? iconButton("bin", `Delete role ${name}`, {click: () => askDeleteRole(name, page)}) : null;
}
