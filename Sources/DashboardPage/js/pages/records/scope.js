/** @file The pickers that say which records are shown: database, account, zone, type. */

import {element, icon} from "../../core/dom.js";
import {go} from "../../core/router.js";
import {accountList, fullName} from "../../parts/account-list.js";
import {attachMenu, picker} from "../../parts/picker.js";
import {scopePath} from "./addresses.js";
import {loadAccounts, loadZones} from "./source.js";

/** The record type of users, which the service doesn't query. */
const usersType = "Users";

/** Returns the names of the types that can be listed. */
export function typeNames(schema) {
    return schema.recordTypes.map(({name}) => name).filter((name) => name !== usersType);
}

function databasePicker(scope) {
    const value = {public: "Public", private: "Private"}[scope.database];
    return picker({label: "Database", value: value ?? "Choose", isBoxed: true, items: () => [
        {text: "Public", address: scopePath({...scope, database: "public", zone: "_defaultZone"}),
            isCurrent: scope.database === "public"},
        {text: "Private", address: scopePath({...scope, database: "private"}), isCurrent: scope.database === "private"},
    ]});
}

function accountEntry(scope, account) {
    const address = scopePath({...scope, user: account.userRecordName});
    const name = fullName(account);
    return element("li", null, element("a", {
        href: address, "aria-current": account.userRecordName === scope.user ? "true" : null,
    }, element("span", {class: "cut"}, account.name), name ? element("small", {class: "quiet cut"}, name) : null));
}

function accountPicker(scope, signal) {
    const value = scope.account ?? scope.user ?? "Choose";
    const opener = element("button", {type: "button", "aria-label": `Account: ${value}`},
        element("span", {class: "cut"}, element("small", null, "Account"), value), icon("down"));
    const holder = element("div", {class: "picker boxed"}, opener);
    attachMenu(opener, holder, {label: "Accounts", content: () => {
        const list = accountList({className: "", entry: (account) => accountEntry(scope, account),
            load: (query) => loadAccounts(scope, query, signal)});
        requestAnimationFrame(() => list.input.focus());
        return list;
    }});
    return holder;
}

function zonePicker(scope, signal) {
    const names = async () => (scope.database === "public" ? ["_defaultZone"] : loadZones(scope, signal));
    return picker({label: "Zone", value: scope.zone ?? "Choose", isBoxed: true,
        items: async () => (await names()).map((zone) => ({
        text: zone, address: scopePath({...scope, zone}), isCurrent: zone === scope.zone,
    }))});
}

function typePicker(scope, schema) {
    return picker({label: "Record type", value: scope.type ?? "Choose", isBoxed: true,
        items: () => typeNames(schema).map((type) => ({
            text: type, address: scopePath({...scope, type}), isCurrent: type === scope.type,
        }))});
}

/** The form that opens a record by its name. */
function nameForm(open) {
    const input = element("input", {class: "input mono", "aria-label": "Open a record by its name",
        placeholder: "Record name",
        autocomplete: "off", autocapitalize: "none", spellcheck: "false"});
    const submit = (event) => {
        event.preventDefault();
        const name = input.value.trim();
        if (name) open(name);
    };
    return element("form", {class: "by-name", role: "search", on: {submit}}, input,
        element("button", {class: "button only", type: "submit", "aria-label": "Open the record",
            title: "Open the record"},
            icon("right")));
}

/**
 * Creates the row of pickers. What can't be chosen yet has none.
 * @param {import("./source.js").Scope} scope
 * @param {{schema: any, signal: AbortSignal, open?: function(string): void}} options
 */
export function scopePickers(scope, {schema, signal, open}) {
    const hasDatabase = scope.database === "public" || scope.user;
    return element("div", {class: "scope", role: "group", "aria-label": "Which records"}, databasePicker(scope),
        scope.database === "private" ? accountPicker(scope, signal) : null,
        hasDatabase ? zonePicker(scope, signal) : null, hasDatabase && scope.zone ? typePicker(scope, schema) : null,
        open && scope.type ? nameForm(open) : null);
}

/** The form that goes to a type which the schema doesn't have yet, in development only. */
export function newTypeForm(scope) {
    const input = element("input", {class: "input", "aria-label": "Name of a new record type", placeholder: "Todo",
        autocomplete: "off", spellcheck: "false", pattern: "[\\x20-\\x7e]{1,255}"});
    const submit = (event) => {
        event.preventDefault();
        const type = input.value.trim();
        if (type && input.checkValidity()) go(`${scopePath({...scope, type})}?new=1`);
    };
    return element("form", {class: "row", on: {submit}}, input,
        element("button", {class: "button", type: "submit"}, icon("plus"), "New record of this type"));
}
