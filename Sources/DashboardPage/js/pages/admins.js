/** @file Administrators: who they are, their roles and links. */

import {get} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {plural} from "../core/format.js";
import {mayDo} from "../core/state.js";
import {badge} from "../parts/badge.js";
import {button, iconButton, whileBusy} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {newestFirst, sessionsTable} from "../parts/sessions-table.js";
import {section, sheet} from "../parts/sheet.js";
import {guarded, loadInto} from "../parts/states.js";
import {loadingTable, table} from "../parts/table.js";
import {bothTimes} from "../parts/time.js";
import {addAdministrator, askRemove, askRole, makeLink, roles} from "./admins-dialogs.js";

const separate = "They are separate from the accounts of apps.";

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const page = {...context, list: element("div"), note: element("span"), failure: element("div", {hidden: true}),
        sessions: mayDo("administer") ? element("div", {class: "section"}) : null};
    page.reload = () => Promise.all([loadList(page), page.sessions ? loadSessions(page) : null]);
    const add = button("New admin", {icon: "plus", className: "first", click: () => addAdministrator(page)});
    fill(main, sheet({title: "Administrators", note: page.note, actions: mayDo("administer") ? add : null},
        element("div", {class: "body"}, page.failure, page.list, roleList(),
            page.sessions ? section("sessions", "Sessions", {}, page.sessions) : null),
        commandPart({commands: [["yap", "admin", "list"], ["yap", "admin", "add", "NAME", "--role", "look"]],
            requests: [curlWords("administrators")]})));
    fill(page.note, separate);
    setTitle("Administrators");
    await page.reload();
}

function loadList(page) {
    const columns = columnsOf(page);
    return loadInto(page.list, {
        signal: page.signal,
        waiting: () => loadingTable({label: "Administrators", columns, isPlain: true, rowsCount: 3}),
        load: () => get("administrators", null, {signal: page.signal}),
        show: ({administrators}) => {
            fill(page.note, `${plural(administrators.length, "administrator")}. ${separate}`);
            return table({label: "Administrators", columns, rows: administrators, isPlain: true});
        },
    });
}

function loadSessions(page) {
    return loadInto(page.sessions, {
        signal: page.signal, load: () => get("sessions", null, {signal: page.signal}),
        show: ({sessions}) => sessionsTable(newestFirst(sessions),
            {label: "Sessions", showsNames: true, ended: page.reload}),
    });
}

function columnsOf(page) {
    return [
        {head: "Name", isName: true, cell: (row) => row.name},
        {head: "Role", word: "role", cell: (row) => row.role},
        {head: "Last seen", word: "last seen",
            cell: (row) => (row.lastMilliseconds ? bothTimes(row.lastMilliseconds) : "never")},
        {head: "Sessions", word: "sessions",
            cell: (row) => (row.sessionsCount ? plural(row.sessionsCount, "session") : "none")},
        {head: "Password", word: "password", cell: (row) => (row.hasPassword ? badge("Set", {state: "good"})
            : badge("Not chosen yet", {state: "info"}))},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => actions(row, page)},
    ];
}

function actions(row, page) {
    if (row.isSelf) return badge("You");
    if (!mayDo("administer")) return null;
    const link = button("One-time link", {icon: "key", label: `One-time link for ${row.name}`,
        click: () => whileBusy(link, () => guarded(page, () => makeLink(row, page)))});
    return element("div", {class: "row-actions"}, link,
        iconButton("edit", `Change the role of ${row.name}`, {click: () => askRole(row, page)}),
        iconButton("bin", `Remove ${row.name}`, {click: () => askRemove(row, page)}));
}

function roleList() {
    return section("roles", "Roles", {}, element("dl", {class: "reason"}, roles.map(({text, note}) =>
        element("div", null, element("dt", null, text), element("dd", null, note)))));
}
