/** @file The page while its address doesn't say yet which records: a list of what can be chosen next. */

import {element, fill, icon} from "../../core/dom.js";
import {path} from "../../core/api.js";
import {loadContainers, mayDo} from "../../core/state.js";
import {accountList, fullName} from "../../parts/account-list.js";
import {environmentLabel} from "../../parts/badge.js";
import {commandCode} from "../../parts/code.js";
import {commandPart, curlWords, scopeWords} from "../../parts/command.js";
import {elsewhere, empty, loadInto, skeleton} from "../../parts/states.js";
import {scopePath} from "./addresses.js";
import {newTypeForm, scopePickers, typeNames} from "./scope.js";
import {loadAccounts, loadSchema, loadZones, owner, target} from "./source.js";

function waiting() {
    return element("div", {class: "section"}, skeleton(), skeleton(true), skeleton());
}

function environments(scope) {
    return {
        title: "Choose an environment", command: curlWords("containers"),
        load: () => loadContainers(),
        show: () => elsewhere(["development", "production"].map((environment) => ({
            address: scopePath({...scope, environment}), icon: "records", text: environmentLabel(environment),
        }))),
    };
}

function databases(scope) {
    return {
        title: "Choose a database", load: async () => null, command: curlWords("containers"),
        show: () => elsewhere([
            {address: scopePath({...scope, database: "public", zone: "_defaultZone"}), icon: "records",
                text: "Public database, which all users share"},
            {address: scopePath({...scope, database: "private"}), icon: "account",
                text: "Private database of an account"},
        ]),
    };
}

function accounts(scope, signal) {
    const entry = (account) => element("li", null, element("a", {href: scopePath({...scope,
        user: account.userRecordName})},
        icon("account"), element("span", null, account.name, " ", element("span", {class: "quiet"}, fullName(account))),
        icon("right")));
    return {
        title: "Choose an account", load: async () => null, command: curlWords(`${path(scope.container)}/accounts`),
        yap: ["yap", "account", "list"],
        show: () => accountList({className: "elsewhere", entry, load: (query) => loadAccounts(scope, query, signal)}),
    };
}

function zones(scope, signal) {
    return {
        title: "Choose a zone", load: () => loadZones(scope, signal),
        yap: ["yap", "zone", "list", ...scopeWords(scope), ...(scope.account ? ["--account", scope.account] : [])],
        command: curlWords(target(scope, "zones/list"), {query: owner(scope), body: {}}),
        show: (names) => elsewhere(names.map((zone) => ({address: scopePath({...scope, zone}), icon: "zones",
            text: zone}))),
    };
}

function noTypes(scope) {
    const command = scope.account || scope.database === "public"
        ? ["yap", "record", "save", "Todo", "first", ...scopeWords(scope),
            ...(scope.database === "public" ? ["--account", "NAME", "--public"] : ["--account", scope.account]),
            ...(scope.zone === "_defaultZone" ? [] : ["--zone", scope.zone]), "--set", "title=Plums"] : null;
    const isDevelopment = scope.environment === "development";
    return empty("The schema has no record types yet", element("p", {class: "quiet"}, isDevelopment
        ? "In development, the first record of a type adds the type to the schema."
        : "Deploy development’s schema with “yap schema deploy”, then save records."),
    command && isDevelopment ? commandCode(command) : null);
}

function types(scope, schema, signal) {
    const isExtensible = scope.environment === "development" && mayDo("change");
    return {
        title: "Choose a record type", yap: ["yap", "schema", "export", ...scopeWords(scope)],
        command: curlWords(`${path(scope.container, scope.environment)}/schema`),
        load: async () => schema ?? loadSchema(scope, signal),
        show: (loaded) => [
            typeNames(loaded).length === 0 ? noTypes(scope) : elsewhere(typeNames(loaded).map((type) => ({
                address: scopePath({...scope, type}), icon: "records", text: type,
            }))),
            isExtensible ? element("section", {class: "section"}, element("h2", null, "Or a new type"),
                newTypeForm(scope)) : null,
        ],
    };
}

function stepFor(scope, schema, signal) {
    if (!scope.environment) return environments(scope);
    if (!scope.database) return databases(scope);
    if (scope.database === "private" && !scope.user) return accounts(scope, signal);
    return scope.zone ? types(scope, schema, signal) : zones(scope, signal);
}

/**
 * Shows what can be chosen next.
 * @param {import("../../core/router.js").Context} context
 * @param {import("./source.js").Scope} scope
 * @param {any} schema
 */
export async function choose(context, scope, schema) {
    const {signal} = context;
    const step = stepFor(scope, schema, signal);
    const body = element("div", {class: "body narrow"});
    fill(context.main, element("div", {class: "sheet"},
        element("div", {class: "head"}, element("div", null, element("h1", null, "Records"), element("p", null,
            step.title))),
        scope.environment ? scopePickers(scope, {schema: schema ?? {recordTypes: []}, signal}) : null, body,
        commandPart({commands: step.yap ? [step.yap] : [], requests: [step.command]})));
    context.setTitle("Records");
    await loadInto(body, {load: step.load, show: step.show, waiting, signal});
}
