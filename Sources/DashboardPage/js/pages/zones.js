/** @file Zones of a database. */

import {accountOf, accountsPage} from "../core/accounts.js";
import {path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {middleCut, plural} from "../core/format.js";
import {setQuery} from "../core/router.js";
import {mayDo} from "../core/state.js";
import {accountList, fullName} from "../parts/account-list.js";
import {badge} from "../parts/badge.js";
import {button, iconButton, linkButton} from "../parts/button.js";
import {commandPart, curlWords, scopeWords, setCommands} from "../parts/command.js";
import {copyButton} from "../parts/copy.js";
import {scopeAddress} from "../parts/frame.js";
import {growingTable} from "../parts/growing-table.js";
import {picker} from "../parts/picker.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {askDeleteZone, askNewZone} from "./zones-dialogs.js";
import {postZones, zonesTarget} from "./zones-request.js";

const pageSize = 200;
const defaultZone = "_defaultZone";

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const parts = context.parts = {scope: element("div", {class: "scope", role: "group", "aria-label": "Which zones"}),
        list: element("div", {class: "fill"}), note: element("span"), actions: element("div", {class: "actions"}),
        command: commandPart({})};
    fill(main, sheet({title: "Zones", note: parts.note, actions: parts.actions}, parts.scope, parts.list,
        parts.command));
    setTitle("Zones");
    await queryChanged(context);
}

/** Shows another database. */
export async function queryChanged(context) {
    const {params, query, signal, parts} = context;
    const place = {...params, database: query.get("database") === "public" ? "public" : "private",
        user: query.get("user")};
    const account = place.database === "private" && place.user
        ? await accountOf(params.container, place.user, signal).catch(() => null) : null;
    Object.assign(context, {place, account, reload: () => queryChanged(context)});
    if (signal.aborted) return undefined;
    fill(parts.scope, scopeParts(context));
    showCommands(context);
    const isChosen = place.database === "public" || place.user;
    const mayCreate = place.database === "private" && place.user && mayDo("change");
    fill(parts.actions, mayCreate
        ? button("New zone", {icon: "plus", className: "first", click: () => askNewZone(context)}) : null);
    fill(parts.note, isChosen ? "" : "Each account has its own private database.");
    if (!isChosen) return fill(parts.list, chooseAccount(context));
    return loadZones(context);
}

function scopeParts({place, account, params, signal}) {
    const database = picker({label: "Database", isBoxed: true,
        value: place.database === "public" ? "Public" : "Private",
        items: () => ["private", "public"].map((name) => ({text: name === "public" ? "Public" : "Private",
            isCurrent: name === place.database,
            click: () => setQuery({database: name === "public" ? name : null, user: null}, {push: true})}))});
    if (place.database === "public") return database;
    const name = account?.name ?? (place.user ? middleCut(place.user) : "Choose…");
    return [database, accountPicker(name, params.container, signal)];
}

function accountPicker(value, container, signal) {
    const content = (close) => accountsPart(container, signal, "account-menu", (account) => {
        close();
        choose(account);
    });
    return picker({label: "Account", isBoxed: true, value, menuLabel: "Accounts", content});
}

function chooseAccount({params, signal}) {
    return element("div", {class: "body narrow"}, element("div", {class: "section"},
        element("h2", null, "Choose an account"), accountsPart(params.container, signal, "elsewhere", choose)));
}

function accountsPart(container, signal, className, chosen) {
    return accountList({className, load: (query) => accountsPage(container, query, signal),
        entry: (account) => element("li", null,
        element("a", {href: `?user=${encodeURIComponent(account.userRecordName)}`, on: {click: (event) => {
            event.preventDefault();
            event.stopPropagation();
            chosen(account);
        }}}, element("span", null, account.name), element("small", {class: "quiet"}, fullName(account))))});
}

function choose({userRecordName}) {
    return setQuery({user: userRecordName}, {push: true});
}

function loadZones(context) {
    const {parts, signal} = context;
    const columns = columnsOf(context);
    const loadPage = (token) => postZones(context, "zones/list",
        {resultsLimit: pageSize, ...(token ? {syncToken: token} : {})});
    return loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Zones", columns, rowsCount: 4}),
        load: () => loadPage(null),
        show: (answer) => zonesPart(context, columns, answer, loadPage),
    });
}

function zonesPart({parts, place, account}, columns, answer, loadPage) {
    const whose = place.database === "public" ? "the public database" : account?.name ?? "this account";
    const {area, line} = growingTable({label: "Zones", columns, first: pageOf(answer),
        load: async (token) => pageOf(await loadPage(token)),
        end: ({count, next, more}) => {
            fill(parts.note, `${plural(count, "zone")}${next === null ? "" : " and more"} of ${whose}`);
            return next === null ? null : [element("p", {role: "status"}, `${plural(count, "zone")} shown`), more()];
        }});
    const onlyDefault = place.database === "private"
        && !answer.zones.some(({zoneID}) => zoneID?.zoneName !== defaultZone);
    return [area, onlyDefault ? empty("No zones beside the default one", element("p", {class: "quiet"},
        "An app makes its zones at its first save. Changes can be followed by token only in such a zone.")) : null,
        line];
}

function pageOf({zones, moreComing, syncToken}) {
    return {rows: zones, next: moreComing ? syncToken : null};
}

function columnsOf(context) {
    return [
        {head: "Zone", isName: true,
            cell: ({zoneID}) => element("a", {href: recordsAddress(context.place, zoneID.zoneName)},
            zoneID.zoneName)},
        {head: "Kind", word: "kind",
            cell: ({zoneID}) => (zoneID.zoneType === "REGULAR_CUSTOM_ZONE" ? "custom" : "default")},
        {head: "Saves", word: "saves",
            cell: ({atomic}) => (atomic ? badge("Atomic", {state: "good"}) : "each for itself")},
        {head: "Present token", word: "present token", className: "whole", cell: ({zoneID, syncToken}) => (syncToken
            ? element("span", {class: "with"}, element("code", null, middleCut(syncToken, 17)),
                copyButton(syncToken, `Copy the token of ${zoneID.zoneName}`)) : null)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (zone) => actions(zone, context)},
    ];
}

function actions({zoneID: {zoneName, zoneType}}, context) {
    const {place} = context;
    if (zoneType !== "REGULAR_CUSTOM_ZONE") return null;
    const changes = linkButton("Changes", changesAddress(place, zoneName), {label: `Changes in ${zoneName}`});
    if (!mayDo("change")) return changes;
    const remove = iconButton("bin", `Delete zone ${zoneName}`, {click: () => askDeleteZone(zoneName, context)});
    return element("div", {class: "row-actions"}, changes, remove);
}

function recordsAddress({container, environment, database, user}, zone) {
    return scopeAddress(container, environment, `data/${database}/${path(...(user ? [user, zone] : [zone]))}`);
}

function changesAddress({container, environment, user}, zone) {
    return scopeAddress(container, environment, `zones/${path(user, zone)}`);
}

function showCommands(context) {
    const {place, account, parts} = context;
    const words = ["yap", "zone", "list", ...scopeWords(place), ...(account ? ["--account", account.name] : [])];
    const isChosen = place.database === "public" || place.user;
    const request = curlWords(zonesTarget(context, "zones/list"), {query: {user: place.user}, body: {}});
    setCommands(parts.command, {commands: place.database === "private" ? [words] : [],
        requests: isChosen ? [request] : []});
}
