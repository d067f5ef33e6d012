/** @file The sync inspector's first page: the users who were active lately. */

import {get, path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {count, plural} from "../core/format.js";
import {badge} from "../parts/badge.js";
import {accountList, fullName} from "../parts/account-list.js";
import {accountsPage} from "../core/accounts.js";
import {go} from "../core/router.js";
import {commandPart, curlWords, scopeWords} from "../parts/command.js";
import {growingTable} from "../parts/growing-table.js";
import {picker} from "../parts/picker.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {bothTimes} from "../parts/time.js";
import {requestLink, syncAddress} from "./requests/addresses.js";
import {userNames} from "./requests/names.js";

/** Shows the page. */
export async function show(context) {
    const {main, params, signal, setTitle} = context;
    const list = element("div", {class: "fill"});
    const target = `${path(params.container, params.environment)}/sync`;
    fill(main, sheet({title: "Sync", note: "How far each device is, as the server sees it. Choose a user.",
        actions: otherUser(context)}, list, commandPart({requests: [curlWords(target)],
        commands: [["yap", "sync", "status", ...scopeWords(params)]]})));
    setTitle("Sync");
    const columns = columnsOf(params, userNames(signal));
    const load = (after) => get(target, {after}, {signal});
    await loadInto(list, {signal, waiting: () => loadingTable({label: "Users", columns, rowsCount: 6}),
        load: () => load(null), show: (answer) => usersPart(answer, columns, load)});
}

// A user who wasn't active lately.
function otherUser({params, signal}) {
    const content = (close) => accountList({className: "account-menu",
        load: (query) => accountsPage(params.container, query, signal),
        entry: (account) => element("li", null, element("a", {href: syncAddress(params, account.userRecordName),
            on: {click: (event) => {
                event.preventDefault();
                event.stopPropagation();
                close();
                go(syncAddress(params, account.userRecordName));
            }}}, element("span", {class: "cut"}, account.name),
        element("small", {class: "quiet"}, fullName(account))))});
    return picker({label: "Account", isBoxed: true, value: "Choose…", menuLabel: "Accounts", content,
        className: "other-user"});
}

function usersPart(answer, columns, load) {
    const users = answer.users ?? [];
    if (!users.length) {
        return empty("No user has synced lately", element("p", {class: "quiet"},
            "A user appears here when a device of theirs fetches or saves."));
    }
    // What the server doesn't count has no column.
    const shown = columns.filter(({key}) => !key || users.some((user) => user[key] !== undefined));
    const {area, line} = growingTable({label: "Users", columns: shown, first: pageOf(answer),
        load: async (after) => pageOf(await load(after)),
        end: ({count: shownCount, next, more}) => [
            element("p", {role: "status"}, `${plural(shownCount, "user")} shown, the last active first`),
            next === null ? null : more()]});
    return [area, line];
}

function pageOf({users = [], after = null}) {
    return {rows: users, next: after};
}

function columnsOf(params, nameOf) {
    return [
        {head: "User", isName: true, cell: ({userRecordName}) => element("a",
            {href: syncAddress(params, userRecordName), title: userRecordName},
            nameOf(params.container, userRecordName))},
        {head: "Last request", word: "last request",
            cell: ({lastMilliseconds}) => (lastMilliseconds ? bothTimes(lastMilliseconds) : null)},
        {head: "Devices", key: "devicesCount", word: "devices", className: "number",
            cell: ({devicesCount}) => (typeof devicesCount === "number" ? count(devicesCount) : null)},
        {head: "State", key: "behindCount", word: "state", isHeadCell: true, cell: stateOf},
        {head: "Last error", key: "lastError", word: "last error",
            cell: ({lastError}) => (lastError ? element("span", {class: "with"},
                badge(lastError.code, {state: "bad"}), requestLink(lastError.requestID, 9)) : null)},
    ];
}

function stateOf({behindCount}) {
    if (typeof behindCount !== "number") return null;
    return behindCount ? badge(`${plural(behindCount, "device")} behind`, {state: "warn"})
        : badge("Up to date", {state: "good"});
}
