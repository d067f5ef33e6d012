/** @file The sections of the device's page, each with a key, a value and what makes it. */

import {element, fill} from "../core/dom.js";
import {count, plural} from "../core/format.js";
import {button} from "../parts/button.js";
import {commandCode} from "../parts/code.js";
import {updateKeyed} from "../parts/keyed.js";
import {message} from "../parts/message.js";
import {section} from "../parts/sheet.js";
import {changeCard, changeSetCard} from "./changes.js";
import {errorsTable, mergesTable, unknownTable, zonesTable} from "./tables.js";
import {databaseName, stateBadges, waitingWords} from "./words.js";

/** Returns the sections of all databases of a state. `more` is called with the next limit. */
export function sections(state, more) {
    return state.syncs.flatMap((sync) => [...databasesOf(sync).flatMap((one) => databaseSections(one, state, more)),
        ...mergeSections(sync, state, more)]);
}

/** Returns the state in a sentence. */
export function headline(state) {
    const all = state.syncs.flatMap(databasesOf).map(({database}) => database.pending);
    const sum = (name) => all.reduce((total, pending) => total + pending[name], 0);
    const waiting = sum("changes");
    const parts = [waiting ? `${plural(waiting, "change")} ${waiting === 1 ? "waits" : "wait"}` : "No changes wait",
        sum("inFlight") ? `${plural(sum("inFlight"), "change-set")} in flight` : null,
        sum("putAside") ? `${count(sum("putAside"))} quarantined` : null];
    return `${parts.filter(Boolean).join(", ")}; commit ${count(state.snapshot)}`;
}

function databasesOf(sync) {
    const accounts = sync.accounts ?? [];
    return accounts.flatMap((account) => account.databases.map((database) => ({sync, account, database})));
}

function databaseSections({sync, account, database}, state, more) {
    const key = JSON.stringify([sync.name, account.account, database.identifier]);
    const {pending} = database;
    const entry = (name, value, make) => ({key: `${key} ${name}`, value, make});
    const isOneOfMany = {sync: state.syncs.length > 1, account: (sync.accounts ?? []).length > 1};
    return [
        entry("head", {sync: sync.name, number: account.account, current: account.current, isOneOfMany, pending,
            ...summaryOf(database)}, databaseHead),
        pending.putAside ? entry("aside", {list: database.putAside, total: pending.putAside, state: limits(state)},
            (value) => listSection("Quarantined", asideNote, asideEntries, value, more)) : null,
        entry("queue", {list: database.changeSets, total: pending.changeSets, state: limits(state)},
            (value) => listSection("Queue", queueNote, queueEntries, value, more)),
        entry("zones", {list: database.zones.map(({unknown, records, ...zone}) => zone), total: database.zonesCount},
            zonesSection),
        database.unknownCount ? entry("unknown", {total: database.unknownCount, state: limits(state),
            list: database.zones.flatMap(({unknown, zoneName}) => unknown.map((one) => ({...one, zoneName})))},
            (value) => unknownSection(value, more)) : null,
        database.errors.length ? entry("errors", database.errors.slice(0, state.limit), errorsSection) : null,
    ].filter(Boolean);
}

function mergeSections(sync, state, more) {
    if (!sync.untoldMerges) return [];
    const value = {list: sync.merges ?? [], total: sync.untoldMerges, state: limits(state)};
    return [{key: `merges ${sync.name}`, value, make: ({list, total}) => plainSection("Merge log",
        "decisions of merges that the app hasn’t read, newest first", mergesTable(list),
        moreLine(list.length, total, "decision", limits(state), more))}];
}

function limits({limit, limitMax, file}) {
    return {limit, limitMax, file};
}

function summaryOf({identifier, userRecordName, subscription, errors, zones}) {
    return {identifier, userRecordName, subscription, lastError: errors[0] ?? null,
        records: zones.reduce((total, zone) => total + zone.recordsCount, 0),
        differs: zones.some(({differs}) => differs), fetchesAgain: zones.some(({fullFetch}) => fullFetch),
        isFetched: zones.some(({token}) => token)};
}

// MARK: One database

function databaseHead(value) {
    const {pending, userRecordName, subscription, isOneOfMany} = value;
    const facts = [
        ["Waiting", `${plural(pending.changes, "change")} in ${plural(pending.changeSets, "change-set")}`],
        ["In flight", plural(pending.inFlight, "change-set")], ["Quarantined", count(pending.putAside)],
        ["Records", count(value.records)],
        ["Subscription", subscription ? element("code", null, subscription) : "none"],
        ["User", userRecordName ? element("code", null, userRecordName) : "not known yet"],
        isOneOfMany.sync ? ["Registered as", element("code", null, value.sync)] : null,
        isOneOfMany.account ? ["Account", `${value.number}${value.current ? ", the current one" : ""}`] : null,
    ].filter(Boolean);
    const words = waitingWords(value);
    return element("section", {class: "database-head", "aria-label": databaseName(value)},
        element("header", null, element("h2", null, databaseName(value)), stateBadges(value)),
        element("dl", {class: "facts"}, facts.map(([word, fact]) => element("div", null, element("dt", null, word),
            element("dd", null, fact)))),
        words ? message("warn", words.title, {level: "h3"}, words.lines.map((line) => element("p", null, line))) : null);
}

// A section whose list changes in place.
function listSection(title, noteOf, entriesOf, value, more) {
    const id = idOf(title);
    const note = element("span", {class: "quiet"});
    const list = element("ol", {class: "change-sets"});
    const end = element("div", {class: "list-end"});
    const part = element("section", {class: "section", "aria-labelledby": id},
        element("header", null, element("h2", {id}, title), note), list, end);
    part.update = (present) => {
        note.textContent = noteOf(present);
        updateKeyed(list, entriesOf(present.list));
        fill(end, moreLine(present.list.length, present.total, title === "Queue" ? "change-set" : "change",
            present.state, more));
    };
    part.update(value);
    return part;
}

function queueNote({total}) {
    return total ? "in the order in which it is sent" : "Everything that the app changed was sent.";
}

function asideNote() {
    return "each waits for the app; other changes continue";
}

function queueEntries(list) {
    return list.map((set) => ({key: `${set.sequence} ${set.uuid}`, value: set, make: changeSetCard}));
}

function asideEntries(list) {
    return list.map((change, index) => ({key: JSON.stringify([change.recordName, change.zoneName, change.ownerName,
        index]), value: change, make: (value) => element("li", {class: "change-set"}, changeCard(value))}));
}

function zonesSection({list, total}) {
    if (!list.length) return plainSection("Zones", "none was fetched yet");
    return plainSection("Zones", null, zonesTable(list), total > list.length
        ? element("p", {class: "quiet"}, `${count(list.length)} of ${plural(total, "zone")} are shown.`) : null);
}

function unknownSection({list, total, state}, more) {
    return plainSection("Records of types that the app doesn’t know yet", null, unknownTable(list),
        moreLine(list.length, total, "record", state, more));
}

function errorsSection(list) {
    return plainSection("Last errors", "kept also after all was sent; the newest first", errorsTable(list));
}

function plainSection(title, note, ...children) {
    return section(idOf(title), title, {note}, ...children);
}

let lastID = 0;

function idOf(title) {
    lastID += 1;
    return `${title.toLowerCase().replace(/[^a-z]+/g, "-")}-${lastID}`;
}

function moreLine(shown, total, noun, {limit, limitMax, file}, more) {
    if (total <= shown) return null;
    const words = element("p", {class: "quiet"}, `${count(shown)} of ${plural(total, noun)} are shown.`);
    if (limit < limitMax) return [words, button("Show more", {click: () => more(Math.min(limit * 2, limitMax))})];
    return [words, commandCode(["yap", "sync", "inspect", file, "--values", "--limit", String(limitMax * 10)])];
}

