/** @file Accounts of the server, which are good for every container: 50 a page, by the beginning of a name. */

import {get, path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {plural} from "../core/format.js";
import {setQuery} from "../core/router.js";
import {mayDo} from "../core/state.js";
import {fullName} from "../parts/account-list.js";
import {badge} from "../parts/badge.js";
import {button} from "../parts/button.js";
import {commandCode} from "../parts/code.js";
import {commandPart, curlWords, setCommands} from "../parts/command.js";
import {keepFocus} from "../parts/focus.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable, table} from "../parts/table.js";
import {exactTime} from "../parts/time.js";
import {addAccount} from "./people-dialogs.js";

const pauseMilliseconds = 250;

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const parts = context.parts = {list: element("div", {class: "fill"}), command: commandPart({}),
        input: searchInput(context)};
    context.reload = () => keepFocus(main, () => load(context));
    const add = button("New account", {icon: "plus", className: "first", click: () => addAccount(context)});
    fill(main, sheet({title: "People", actions: mayDo("administer") ? add : null,
        note: "Accounts of the users of your apps. An account is good for every container."},
    element("search", {class: "query"}, element("div", {class: "control by-beginning"},
        element("label", {for: parts.input.id}, "Find by the beginning of the name"), parts.input)),
    parts.list, parts.command));
    setTitle("People");
    await load(context);
}

/** Shows another page of accounts. */
export async function queryChanged(context) {
    const named = context.query.get("named") ?? "";
    if (document.activeElement !== context.parts.input) context.parts.input.value = named;
    await load(context);
}

function searchInput({query, signal}) {
    let timer = null;
    const find = (value) => setQuery({named: value.trim() || null, after: null});
    const input = element("input", {class: "input", id: "people-search", type: "search", autocomplete: "off",
        autocapitalize: "none", spellcheck: "false", maxlength: 255, value: query.get("named") ?? "", on: {
            input: () => {
                clearTimeout(timer);
                timer = setTimeout(() => find(input.value), pauseMilliseconds);
            },
        }});
    signal.addEventListener("abort", () => clearTimeout(timer), {once: true});
    return input;
}

async function load({parts, query, signal}) {
    const wanted = {named: query.get("named") || null, after: query.get("after") || null};
    setCommands(parts.command, {commands: [["yap", "account", "list"], ["yap", "account", "create", "NAME"]],
        requests: [curlWords("accounts", {query: wanted})]});
    await loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Accounts", columns, rowsCount: 8}),
        load: () => get("accounts", wanted, {signal}),
        show: (answer) => (answer.accounts.length ? accountsPart(answer, wanted) : nothing(wanted)),
    });
}

function accountsPart({accounts, after}, wanted) {
    const next = after ? button("Next 50", {click: () => setQuery({after}, {push: true})}) : null;
    const first = wanted.after ? button("First page", {click: () => setQuery({after: null}, {push: true})}) : null;
    const place = wanted.after ? ` after ${wanted.after}` : "";
    const isAll = !after && !wanted.after;
    return [table({label: "Accounts", columns, rows: accounts}),
        element("div", {class: "after"}, element("p", {class: "cut", role: "status"},
            `${isAll ? "All " : ""}${plural(accounts.length, "account")}${place} shown`),
        first || next ? element("div", {class: "actions"}, first, next) : null)];
}

function nothing({named, after}) {
    if (named || after) {
        return empty("No account found", element("p", {class: "quiet"}, "No account’s name begins with ",
            element("code", null, named ?? ""), after ? ` and comes after ${after}` : "", "."),
        button("Show all accounts", {click: () => setQuery({named: null, after: null}, {push: true})}));
    }
    return empty("No accounts yet", element("p", {class: "quiet"},
        "Users of your apps sign in with an account. There is no sign-up: an administrator makes each account, " +
        "here or on the server’s machine."), commandCode(["yap", "account", "create", "ann"]));
}

/** Returns the badges of an account: developer, disabled. */
export function accountBadges({isDeveloper, isDisabled}) {
    return [isDeveloper ? badge("Developer", {state: "info"}) : null,
        isDisabled ? badge("Disabled", {state: "bad"}) : null].filter(Boolean);
}

const columns = [
    {head: "Name", isName: true,
        cell: ({name}) => element("a", {class: "cut", href: `/dashboard/people/${path(name)}`}, name)},
    {head: "Person", word: "person", cell: (row) => shortened(fullName(row))},
    {head: "Email", word: "email", cell: ({email}) => shortened(email)},
    {head: "State", word: "state", cell: (row) => {
        const badges = accountBadges(row);
        return badges.length ? element("span", {class: "tags"}, badges) : null;
    }},
    {head: "Sessions", word: "sessions", className: "number", cell: ({sessionsCount}) => sessionsCount},
    {head: "Made, UTC", word: "made, UTC", cell: (row) => exactTime(row.createdMilliseconds)},
];

function shortened(text) {
    return text ? element("span", {class: "cut", title: text}, text) : null;
}
