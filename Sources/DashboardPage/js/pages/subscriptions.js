/** @file Subscriptions of a user: what is watched, and what is sent when it changes. */

import {accountOf, accountsPage} from "../core/accounts.js";
import {path, post} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {middleCut, plural} from "../core/format.js";
import {accountList, fullName} from "../parts/account-list.js";
import {badge} from "../parts/badge.js";
import {commandPart, curlWords} from "../parts/command.js";
import {scopeAddress} from "../parts/frame.js";
import {growingTable} from "../parts/growing-table.js";
import {picker} from "../parts/picker.js";
import {sheet} from "../parts/sheet.js";
import {elsewhere, empty, loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {sentWords, watchedWords} from "./subscription-words.js";

/** Shows the page. */
export async function show(context) {
    const {main, params, signal, setTitle} = context;
    const isPublic = params.database === "public";
    const parts = {scope: element("div", {class: "scope", role: "group", "aria-label": "Owner of the subscriptions"}),
        list: element("div", {class: "fill"}), note: element("span")};
    const target = `${path(params.container, params.environment, params.database)}/subscriptions/list`;
    fill(main, sheet({title: "Subscriptions", note: parts.note}, parts.scope, parts.list,
        commandPart({requests: params.user ? [curlWords(target, {query: {user: params.user}, body: {}})] : []})));
    fill(parts.note, isPublic ? "In the public database each user has their own." : "Each user has their own.");
    setTitle("Subscriptions");
    const account = params.user ? await accountOf(params.container, params.user, signal).catch(() => null) : null;
    if (signal.aborted) return undefined;
    const page = {...context, ...parts, target, account};
    fill(parts.scope, databasePicker(params), accountPicker(page));
    return params.user ? load(page) : fill(parts.list, chooseAccount(page));
}

function address({container, environment, database, user}, changes = {}) {
    const place = {database, user, ...changes};
    return scopeAddress(container, environment, path("subscriptions", place.database,
        ...(place.user ? [place.user] : [])));
}

function databasePicker(params) {
    return picker({label: "Database", isBoxed: true, value: params.database === "public" ? "Public" : "Private",
        items: () => [["Private", "private"], ["Public", "public"]].map(([text, database]) => ({text,
            address: address(params, {database}), isCurrent: database === params.database}))});
}

function accountPicker(page) {
    const {account, params} = page;
    const value = account?.name ?? (params.user ? middleCut(params.user) : "Choose…");
    return picker({label: "Account", isBoxed: true, value, menuLabel: "Accounts",
        content: () => accounts(page, "account-menu")});
}

function chooseAccount(page) {
    return element("div", {class: "body narrow"}, element("div", {class: "section"},
        element("h2", null, "Choose an account"), accounts(page, "elsewhere")));
}

function accounts({params, signal}, className) {
    return accountList({className, load: (query) => accountsPage(params.container, query, signal),
        entry: (account) => element("li", null, element("a", {href: address(params, {user: account.userRecordName})},
            element("span", null, account.name), element("small", {class: "quiet"}, fullName(account))))});
}

function load(page) {
    const {list, params, signal, target} = page;
    const loadPage = (syncToken) => post(target, syncToken ? {syncToken} : {}, {user: params.user}, {signal});
    return loadInto(list, {
        signal, load: () => loadPage(null), show: (answer) => content(page, answer, loadPage),
        waiting: () => loadingTable({label: "Subscriptions", columns, rowsCount: 4}),
    });
}

function content(page, answer, loadPage) {
    const {subscriptions} = answer;
    const whose = page.account?.name ?? middleCut(page.params.user);
    const say = (count, isMore) => fill(page.note, `${plural(count, "subscription")}${isMore ? " and more" : ""} of ${
        whose}, in the ${page.params.database} database`);
    if (!subscriptions.length && !answer.moreComing) {
        say(0, false);
        return none(page, whose);
    }
    const {area, line} = growingTable({label: "Subscriptions", columns, first: pageOf(answer),
        load: async (token) => pageOf(await loadPage(token)),
        end: ({count, next, more}) => {
            say(count, next !== null);
            return next === null ? null : more();
        }});
    return [area, line];
}

function pageOf({subscriptions, moreComing, syncToken}) {
    return {rows: subscriptions, next: moreComing ? syncToken : null};
}

function none({params}, whose) {
    const isPublic = params.database === "public";
    const other = isPublic ? "private" : "public";
    const environment = params.environment === "production" ? "development" : "production";
    return empty(`No subscriptions of ${whose}`, element("p", {class: "quiet"}, isPublic
        ? "An app subscribes to a query in the public database. The user’s devices get a push when a record matches."
        : "An app subscribes to a database, a zone or a query, and the user’s devices get a push when it changes."),
    elsewhere([{address: address(params, {database: other}), icon: "bell", text: `In the ${other} database`},
        {address: address({...params, environment}), icon: "bell", text: `In ${environment}`}]));
}

const lines = (texts) => element("span", {class: "two-lines"}, texts.map((text) => element("span", null, text)));

const columns = [
    {head: "Subscription", isName: true, cell: ({subscriptionID, reason}) => element("code", null,
        subscriptionID ?? reason ?? "")},
    {head: "Kind", word: "kind", cell: ({subscriptionType}) => (subscriptionType ? badge(subscriptionType) : null)},
    {head: "Watches", word: "watches", className: "whole", cell: (one) => lines(watchedWords(one))},
    {head: "Sends", word: "sends", className: "whole", cell: (one) => lines(sentWords(one))},
];
