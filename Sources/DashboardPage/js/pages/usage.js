/** @file Storage: users by bytes, zones of a user, the public database. */

import {accountOf} from "../core/accounts.js";
import {get, path, queryText} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {bytes, count, middleCut, plural} from "../core/format.js";
import {badge} from "../parts/badge.js";
import {commandPart, curlWords, setCommands} from "../parts/command.js";
import {scopeAddress} from "../parts/frame.js";
import {growingTable} from "../parts/growing-table.js";
import {shareBar} from "../parts/share-bar.js";
import {section, sheet} from "../parts/sheet.js";
import {empty, loadInto, skeleton} from "../parts/states.js";
import {table} from "../parts/table.js";
import {userNames} from "./requests/names.js";

const fullShare = 0.95;
const highShare = 0.8;

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const parts = context.parts = {title: element("span"), note: element("span"), above: element("span"),
        body: element("div", {class: "body"}), command: commandPart({})};
    fill(main, sheet({title: parts.title, note: parts.note, above: parts.above}, parts.body, parts.command));
    setTitle("Usage");
    await queryChanged(context);
}

/** Shows all users, or the zones of one. */
export async function queryChanged(context) {
    const {query} = context;
    const user = query.get("user") || null;
    return user ? showZones(context, user) : showUsers(context);
}

function targetOf({container, environment}, rest = "") {
    return `${path(container, environment)}/usage${rest}`;
}

async function showUsers(context) {
    const {params, parts, signal} = context;
    fill(parts.title, "Usage");
    fill(parts.above);
    fill(parts.note, "What users store, the largest first");
    setCommands(parts.command, {commands: [["yap", "stats"]],
        requests: [curlWords(targetOf(params))]});
    const load = (after) => get(targetOf(params), {after}, {signal});
    await loadInto(parts.body, {signal, waiting: () => [skeleton(), skeleton(true), skeleton()],
        load: () => load(null),
        show: (answer) => [publicPart(answer.public, params), usersPart(answer, params, load, userNames(signal))]});
}

function publicPart(values, params) {
    if (!values) return null;
    const address = scopeAddress(params.container, params.environment, "data/public/_defaultZone");
    return section("public", "Public database", {}, element("dl", {class: "facts"}, [
        ["Bytes", bytes(values.bytes ?? 0)], ["Records", count(values.records ?? 0)],
        values.bytesMax ? ["Quota", bytes(values.bytesMax)] : null,
    ].filter(Boolean).map(([word, value]) => element("div", null, element("dt", null, word),
        element("dd", {class: "number"}, value))),
    values.bytesMax ? element("div", {class: "wide-bar"}, element("dt", null, "Part of the quota"),
        element("dd", null, shareBar(values.bytes, values.bytesMax, stateOf(values)), percent(values))) : null),
    element("p", null, element("a", {href: address}, "Records of the public database")));
}

function usersPart(answer, params, load, nameOf) {
    const users = answer.users ?? [];
    if (!users.length) {
        return empty("No user has stored anything", element("p", {class: "quiet"},
            `Nothing is stored in private databases of ${params.environment}.`));
    }
    const {area, line} = growingTable({label: "Users by bytes", columns: userColumns(params, nameOf), isPlain: true,
        first: pageOf(answer), load: async (after) => pageOf(await load(after)), endClass: "row between",
        end: ({count: shownCount, next, more}) => [
            element("p", {class: "quiet", role: "status"}, `${plural(shownCount, "user")} shown`),
            next === null ? null : more()]});
    return section("users", "Users", {}, area, line);
}

function pageOf({users = [], after = null}) {
    return {rows: users, next: after};
}

function userColumns(params, nameOf) {
    return [
        {head: "User", isName: true, cell: ({userRecordName}) => element("a",
            {href: queryText({user: userRecordName}), title: userRecordName},
            nameOf(params.container, userRecordName))},
        {head: "Bytes", word: "bytes", className: "number", cell: (one) => bytes(one.bytes ?? 0)},
        {head: "Part of the quota", word: "part of the quota", className: "bar-cell", cell: quotaCell},
        {head: "Records", word: "records", className: "number", cell: (one) => count(one.records ?? 0)},
        {head: "Zones", word: "zones", className: "number",
            cell: (one) => (typeof one.zones === "number" ? count(one.zones) : null)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: ({userRecordName}) => element("a", {
            class: "button", href: scopeAddress(params.container, params.environment, `sync/${path(userRecordName)}`),
            "aria-label": `Sync of ${userRecordName}`}, "Sync")},
    ];
}

function quotaCell(one) {
    if (!one.bytesMax) return element("span", {class: "quiet"}, "no limit");
    const state = stateOf(one);
    return element("span", {class: "quota"}, shareBar(one.bytes, one.bytesMax, state),
        state ? badge(percent(one), {state}) : element("span", {class: "number quiet"}, percent(one)));
}

function stateOf({bytes: size, bytesMax}) {
    if (size >= fullShare * bytesMax) return "bad";
    return size >= highShare * bytesMax ? "warn" : "";
}

function percent({bytes: size, bytesMax}) {
    const share = 100 * size / bytesMax;
    return share > 0 && share < 1 ? "under 1%" : `${Math.floor(share)}%`;
}

async function showZones(context, user) {
    const {params, parts, signal} = context;
    fill(parts.title, `Usage of ${middleCut(user, 17)}`);
    fill(parts.above, element("a", {href: scopeAddress(params.container, params.environment, "usage")}, "Usage"));
    fill(parts.note, "By zone");
    setCommands(parts.command, {requests: [curlWords(targetOf(params, "/zones"), {query: {user}})]});
    accountOf(params.container, user, signal).then((account) => {
        if (account && context.query.get("user") === user) fill(parts.title, `Usage of ${account.name}`);
    }).catch(() => {});
    await loadInto(parts.body, {signal, waiting: () => [skeleton(), skeleton(true)],
        load: () => get(targetOf(params, "/zones"), {user}, {signal}),
        show: ({zones = []}) => (zones.length ? zonesTable(zones, params, user) : empty("Nothing is stored",
            element("p", {class: "quiet"}, "This user’s private database has no zones.")))});
}

function zonesTable(zones, params, user) {
    const most = Math.max(1, ...zones.map((one) => one.bytes ?? 0));
    const columns = [
        {head: "Zone", isName: true, cell: ({zone}) => element("a", {href: scopeAddress(params.container,
            params.environment, `data/private/${path(user, zone)}`)}, zone)},
        {head: "Bytes", word: "bytes", className: "number", cell: (one) => bytes(one.bytes ?? 0)},
        {head: "Compared with the largest", className: "bar-cell", cell: (one) => shareBar(one.bytes ?? 0, most)},
        {head: "Records", word: "records", className: "number", cell: (one) => count(one.records ?? 0)},
    ];
    return table({label: "Zones", columns, rows: zones, isPlain: true});
}
