/** @file A zone's changes: since a token, between two changes, and the zone as it was at one. */

import {accountOf} from "../core/accounts.js";
import {element, fill} from "../core/dom.js";
import {count} from "../core/format.js";
import {setQuery} from "../core/router.js";
import {button} from "../parts/button.js";
import {commandPart, curlWords, setCommands} from "../parts/command.js";
import {control} from "../parts/control.js";
import {scopeAddress} from "../parts/frame.js";
import {errorMessage, message} from "../parts/message.js";
import {sheet} from "../parts/sheet.js";
import {loadInto} from "../parts/states.js";
import {loadingTable} from "../parts/table.js";
import {atPart, loadAt} from "./zone-changes/at.js";
import {betweenPart, loadBetween} from "./zone-changes/between.js";
import {columnsOf, kindBadge} from "./zone-changes/columns.js";
import {feedPart, loadFeed} from "./zone-changes/feed.js";
import {PlaceError, bodyFor, isNumber, target} from "./zone-changes/source.js";

/** Shows the page. */
export async function show(context) {
    const {main, setTitle, params, signal} = context;
    const parts = context.parts = {list: element("div", {class: "fill"}), note: element("span"),
        tabs: element("nav", {class: "tabs", "aria-label": "Which state"}),
        form: element("form", {class: "query", "aria-label": "Which changes"}), command: commandPart({})};
    const back = element("a", {href: `${scopeAddress(params.container, params.environment, "zones")}?user=`
        + encodeURIComponent(params.user)}, "Zones of this account");
    fill(main, sheet({title: `Changes in ${params.zone}`, note: parts.note, above: back},
        element("div", {class: "tabs-holder"}, parts.tabs), parts.form, parts.list, parts.command));
    setTitle(`Changes in ${params.zone}`);
    accountOf(params.container, params.user, signal).then((account) => {
        if (account) fill(back, `Zones of ${account.name}`);
    }).catch(() => {});
    await queryChanged(context);
}

/** Shows what the address says. */
export async function queryChanged(context) {
    const {parts, query, signal, params} = context;
    const [at, since, until] = ["at", "since", "until"].map((name) => query.get(name) || null);
    const tab = (text, address, isCurrent) => element("a", {href: address,
        "aria-current": isCurrent ? "page" : undefined}, text);
    fill(parts.tabs, tab("Changes", location.pathname, !at), tab("As it was", "?at=newest", Boolean(at)));
    fill(parts.note);
    fillForm(parts.form, at ? {at} : {since, until});
    setCommands(parts.command, {requests: [curlWords(target(params), {query: {user: params.user},
        body: bodyFor(params, since && !isNumber(since) ? since : null)})]});
    const work = workFor(context, {at, since, until});
    await loadInto(parts.list, {
        signal, load: () => work.load().catch((error) => ({error})),
        waiting: () => loadingTable({label: "Changes", columns: columnsOf(params, {kind: kindBadge}), rowsCount: 6}),
        show: (answer) => (answer.error ? failedPart(answer.error) : work.show(answer)),
    });
}

function workFor(context, {at, since, until}) {
    const {form, note} = context.parts;
    if (at) {
        return {load: () => loadAt(context, at), show: (answer) => {
            fill(note, `As it was at change ${count(answer.change)} of ${count(answer.present.change)}`);
            if (at === "newest") form.querySelector("input").value = answer.change;
            return atPart(context, answer);
        }};
    }
    if (until) {
        return {load: () => loadBetween(context, since, until), show: (answer) => betweenPart(context, answer)};
    }
    return {load: () => loadFeed(context, since), show: (answer) => feedPart(context, answer, since)};
}

const fields = {
    at: ["At change", "Number of a change, or a sync token"],
    since: ["Since", "Token or number. Empty: all live records, no deletions"],
    until: ["Until", "Token or number. Empty: until now"],
};

function fillForm(form, values) {
    const controls = Object.entries(values).map(([name, value]) => [name, control(fields[name][0],
        {value: value === "newest" ? "" : value ?? "", class: "mono", spellcheck: "false", autocomplete: "off",
            autocapitalize: "none"}, {hint: fields[name][1]})]);
    const clear = values.since || values.until ? button("From the beginning",
        {className: "bare", click: () => setQuery({since: null, until: null}, {push: true})}) : null;
    fill(form, element("div", {class: "places"}, controls.map(([, part]) => part), element("div", {class: "actions"},
        button("at" in values ? "Show the zone" : "Show changes", {type: "submit", className: "first"}), clear)));
    form.onsubmit = (event) => {
        event.preventDefault();
        const items = Object.fromEntries(controls.map(([name, {input}]) => [name, input.value.trim() || null]));
        setQuery("at" in items ? {at: items.at ?? "newest"} : items, {push: true});
    };
}

const refusals = {
    expired: ["The token has expired", "Deletions that this token needs were discarded. A device with it fetches the "
        + "zone again, and removes missing records."],
    reset: ["The token isn’t of this zone", "The zone was recreated or restored since, or the token is damaged or of "
        + "another user. A device with it fetches the whole zone again."],
};

function failedPart(error) {
    const refusal = error instanceof PlaceError ? ["This can’t be shown", error.message]
        : refusals[error.body?.tokenRefusal];
    if (!refusal) return element("div", {class: "failed"}, errorMessage(error));
    const beginning = button("From the beginning", {className: "first",
        click: () => setQuery({since: null, until: null, at: null}, {push: true})});
    return element("div", {class: "failed"}, message("warn", refusal[0], {}, element("p", null, refusal[1]),
        element("div", {class: "actions"}, beginning)));
}
