/** @file Changes of a zone since a token: the same answer that a device gets. */

import {accountOf} from "../core/accounts.js";
import {ApiError, path, post} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {plural, middleCut} from "../core/format.js";
import {setQuery} from "../core/router.js";
import {badge} from "../parts/badge.js";
import {button} from "../parts/button.js";
import {commandPart, curlWords, setCommands} from "../parts/command.js";
import {control} from "../parts/control.js";
import {copyButton} from "../parts/copy.js";
import {scopeAddress} from "../parts/frame.js";
import {growingTable} from "../parts/growing-table.js";
import {errorMessage, message} from "../parts/message.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {bothTimes} from "../parts/time.js";

const pageSize = 50;
const shownMax = 500;

/** Shows the page. */
export async function show(context) {
    const {main, setTitle, params, signal} = context;
    const parts = context.parts = {list: element("div", {class: "fill"}), note: element("span"),
        form: element("form", {class: "query", "aria-label": "Since which token"}), command: commandPart({})};
    const back = element("a", {href: `${scopeAddress(params.container, params.environment, "zones")}?user=`
        + encodeURIComponent(params.user)}, "Zones of this account");
    fill(main, sheet({title: `Changes in ${params.zone}`, note: parts.note, above: back}, parts.form, parts.list,
        parts.command));
    setTitle(`Changes in ${params.zone}`);
    accountOf(params.container, params.user, signal).then((account) => {
        if (account) fill(back, `Zones of ${account.name}`);
    }).catch(() => {});
    await queryChanged(context);
}

/** Shows the changes since another token. */
export async function queryChanged(context) {
    const {parts, query, signal} = context;
    const since = query.get("since") || null;
    fillForm(parts.form, since);
    setCommands(parts.command, {requests: [curlWords(target(context.params),
        {query: {user: context.params.user}, body: bodyFor(context.params, since)})]});
    const columns = columnsOf(context.params);
    await loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Changes", columns, rowsCount: 6}),
        load: () => fetchPage(context, since).catch((error) => ({error})),
        show: (answer) => (answer.error ? failedPart(answer.error) : changesPart(context, columns, answer, since)),
    });
}

function fillForm(form, since) {
    const token = control("Since token", {value: since ?? "", class: "mono", spellcheck: "false", autocomplete: "off",
        autocapitalize: "none"}, {hint: "Empty: all live records. Deletions come with a token only."});
    const clear = since ? button("From the beginning",
        {className: "bare", click: () => setQuery({since: null}, {push: true})}) : null;
    fill(form, token, element("div", {class: "actions"}, button("Show changes", {type: "submit", className: "first"}),
        clear));
    form.onsubmit = (event) => {
        event.preventDefault();
        setQuery({since: token.input.value.trim() || null}, {push: true});
    };
}

function target({container, environment}) {
    return `${path(container, environment)}/private/changes/zone`;
}

function bodyFor({zone}, token) {
    return {zones: [{zoneID: {zoneName: zone}, ...(token ? {syncToken: token} : {}), resultsLimit: pageSize}]};
}

async function fetchPage({params, signal}, token) {
    const answer = await post(target(params), bodyFor(params, token), {user: params.user}, {signal});
    const zone = answer.zones?.[0];
    if (!zone || zone.serverErrorCode) {
        throw new ApiError({code: zone?.serverErrorCode ?? "INTERNAL_ERROR",
            reason: zone?.reason ?? "The answer has no zone.", body: zone});
    }
    return zone;
}

const refusals = {
    expired: ["The token has expired", "Deletions that this token needs were discarded. A device with it fetches the "
        + "zone anew, and removes what is absent."],
    reset: ["The token isn’t of this zone", "The zone was made anew or restored since, or the token is damaged or of "
        + "another user. A device with it fetches the zone anew."],
};

function failedPart(error) {
    const refusal = refusals[error.body?.tokenRefusal];
    if (!refusal) return element("div", {class: "failed"}, errorMessage(error));
    const beginning = button("From the beginning",
        {className: "first", click: () => setQuery({since: null}, {push: true})});
    return element("div", {class: "failed"}, message("warn", refusal[0], {}, element("p", null, refusal[1]),
        element("div", {class: "actions"}, beginning)));
}

function changesPart(context, columns, answer, since) {
    const {parts} = context;
    if (!answer.records.length && !answer.moreComing) {
        fill(parts.note, since ? "Nothing changed since the token" : "The zone has no records");
        return empty(since ? "No changes since this token" : "No records in this zone", tokenLine(answer.syncToken));
    }
    // The newest token is worth showing also where nothing follows.
    let token = answer.syncToken;
    const goOn = (text, options = {}) => button(text, {...options,
        click: () => setQuery({since: token}, {push: true})});
    const pageOf = ({records, moreComing, syncToken}) => {
        token = syncToken;
        return {rows: records, next: moreComing ? syncToken : null};
    };
    const {area, line} = growingTable({label: "Changes", columns, first: pageOf(answer),
        load: async (from) => pageOf(await fetchPage(context, from)),
        end: ({count, next, more}) => {
            const what = since ? plural(count, "change") : plural(count, "record");
            const isMore = next !== null;
            fill(parts.note, `${what}${isMore ? " and more" : ""} ${since ? "since the token" : "from the beginning"}`);
            const onwards = count >= shownMax ? () => goOn("Go on from here") : () => more(`Show ${pageSize} more`);
            return [element("p", {role: "status"}, isMore ? `${what} shown, more follow. ` : `All ${what} shown. `),
                tokenLine(token), isMore ? onwards() : goOn("Use as the next token", {icon: "right"})];
        }});
    return [area, line];
}

function tokenLine(token) {
    return element("span", {class: "row"}, "Token ", element("code", {title: token}, middleCut(token, 21)),
        copyButton(token, "Copy the token"));
}

function columnsOf(params) {
    return [
        {head: "What", word: "what", isHeadCell: true, cell: kindBadge},
        {head: "Record name", isName: true, className: "mono", cell: (record) => nameCell(record, params)},
        {head: "Type", word: "type", cell: (record) => record.recordType},
        {head: "Fields", word: "fields", cell: (record) => (record.deleted ? null : fieldNames(record.fields))},
        {head: "From", word: "from", cell: (record) => record.modified?.deviceID},
        {head: "When", word: "when",
            cell: (record) => (record.modified ? bothTimes(record.modified.timestamp) : null)},
    ];
}

function kindBadge({deleted, created, modified}) {
    if (deleted) return badge("Deleted", {state: "bad", icon: "bin"});
    return created?.timestamp === modified?.timestamp ? badge("Created", {state: "good", icon: "plus"})
        : badge("Changed", {state: "info", icon: "edit"});
}

function nameCell({recordName, recordType, deleted}, {container, environment, user, zone}) {
    const text = middleCut(recordName, 24);
    if (deleted || !recordType) return element("span", {title: recordName}, text);
    const address = scopeAddress(container, environment, `data/private/${path(user, zone, recordType)}`);
    return element("a", {href: `${address}?open=${encodeURIComponent(recordName)}`, title: recordName}, text);
}

function fieldNames(fields) {
    const names = Object.keys(fields ?? {});
    const text = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
    return element("span", {class: "cut", title: names.join(", ")}, text);
}
