/** @file The log of requests: newest first, live. */

import {get} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {plural, relative} from "../core/format.js";
import {poll} from "../core/poll.js";
import {route, setQuery} from "../core/router.js";
import {loadContainers} from "../core/state.js";
import {button, linkButton, whileBusy} from "../parts/button.js";
import {commandPart, curlWords, itemWords, setCommands} from "../parts/command.js";
import {drawFrame} from "../parts/frame.js";
import {liveControl} from "../parts/live.js";
import {errorMessage} from "../parts/message.js";
import {sheet} from "../parts/sheet.js";
import {empty, loadInto} from "../parts/states.js";
import {loadingTable, safeRow, table} from "../parts/table.js";
import {spanItems} from "./now/span.js";
import {logAddress} from "./requests/addresses.js";
import {logColumns} from "./requests/columns.js";
import {fillFilters, readFilters} from "./requests/filters.js";
import {liveRows} from "./requests/live-rows.js";
import {userNames} from "./requests/names.js";

const pageSize = 50;
const liveMax = 200;
const shownMax = 500;

/** Shows the page. */
export async function show(context) {
    const {main, setTitle, signal} = context;
    const parts = context.parts = {list: element("div", {class: "fill log", "aria-busy": "true"}),
        note: element("span"), form: element("form", {class: "query log-filters", "aria-label": "Filters"}),
        actions: element("div", {class: "actions"}), pill: element("div", {class: "new-holder"}),
        command: commandPart({})};
    parts.live = liveControl({changed: () => context.poll?.now()});
    context.nameOf = userNames(signal);
    fill(main, sheet({title: "Requests", note: parts.note, actions: parts.actions}, parts.form, parts.pill, parts.list,
        parts.command));
    setTitle("Requests");
    await queryChanged(context, {isFirst: true});
}

/** Shows the log with other filters. */
export async function queryChanged(context, {isFirst = false} = {}) {
    if (!isFirst) drawFrame(route());
    await Promise.all([fillFilters(context.parts.form, context.query, context.signal), load(context)]);
}

async function load(context) {
    const {parts, query, signal} = context;
    context.stop?.abort();
    context.stop = new AbortController();
    const until = AbortSignal.any([signal, context.stop.signal]);
    const filters = readFilters(query);
    const before = query.get("before") || null;
    // What ended in the past has no new rows.
    const isLive = !before && !(filters.to !== null && filters.to < Date.now());
    const containers = await loadContainers({signal: until}).catch(() => []);
    if (until.aborted) return;
    const state = Object.assign(context, {filters, isLive, newest: 0, until, skipped: false,
        columns: logColumns({nameOf: context.nameOf, filters, hasOneContainer: containers.length === 1})});
    fill(parts.actions, isLive ? parts.live
        : linkButton("To the newest", logAddress({...filters, from: null, to: null}), {icon: "rising"}));
    fill(parts.pill);
    showCommands(parts.command, {...filters, before});
    await loadInto(parts.list, {
        signal: until, waiting: () => loadingTable({label: "Requests", columns: state.columns, rowsCount: 12}),
        load: () => fetchPage(state, {before}),
        show: (answer) => listPart(state, answer),
    });
}

function fetchPage({filters, until}, {before = null, after = null, limit = pageSize}) {
    return get("requests", {...filters, before, after, limit}, {signal: until});
}

function showCommands(part, wanted) {
    setCommands(part, {commands: [["yap", "requests", ...itemWords({...wanted, ...spanItems(wanted)})]],
        requests: [curlWords("requests", {query: wanted})]});
}

function listPart(state, answer) {
    const {parts, columns} = state;
    state.newest = Math.max(answer.newest ?? 0, answer.requests[0]?.number ?? 0);
    state.answer = answer;
    state.before = answer.before;
    const area = table({label: "Requests", columns, rows: answer.requests});
    const isEmpty = !answer.requests.length;
    state.area = area;
    state.body = area.querySelector("tbody");
    state.rows = liveRows({area, makeRow: (entry) => safeRow(columns, entry), reload: () => load(state)});
    fill(parts.pill, state.rows.pill);
    state.after = {status: element("p", {role: "status"}), more: element("span"), failure: element("div")};
    sayNote(state);
    update(state);
    if (state.isLive) {
        state.poll = poll(() => follow(state), {signal: state.until, isPaused: () => parts.live.isPaused,
            failed: (error) => fill(state.after.failure, errorMessage(error))});
    }
    return [isEmpty ? nothing(state) : area, state.after.failure,
        element("div", {class: "after"}, state.after.status, state.after.more)];
}

function nothing({isLive, before}) {
    if (before) {
        return empty("Nothing found so far", element("p", {class: "quiet"},
            "The server looks at up to 20,000 requests for a page, and there are older ones."));
    }
    return empty("No requests", element("p", {class: "quiet"}, isLive
        ? "No request in the log fits these filters. New ones appear here."
        : "No request in the log fits these filters."));
}

// "14 days".
function sinceWords(milliseconds) {
    const text = relative(milliseconds);
    return text.endsWith(" ago") ? text.slice(0, -" ago".length) : "less than a minute";
}

function sayNote({parts, answer: {oldestMilliseconds, droppedCount}}) {
    fill(parts.note, oldestMilliseconds ? `The log reaches back ${sinceWords(oldestMilliseconds)}. ` : "",
        droppedCount ? element("strong", {class: "warn"}, `${plural(droppedCount, "entry was", "entries were")} `
            + "dropped because too many came at once.") : "");
}

function update(state) {
    const {after, before, body} = state;
    const shown = body.rows.length;
    after.status.textContent = `${before === null || before === undefined ? "All " : ""}`
        + `${plural(shown, "request")} shown${before ? ", newest first" : ""}`
        + (state.skipped ? ". Some were skipped to keep up: reload the page to see them" : "");
    if (before === null || before === undefined) return fill(after.more);
    const isFull = shown >= shownMax;
    const turn = () => setQuery({before: String(state.before)}, {push: true});
    const text = shown ? `Show ${pageSize} more` : "Search on";
    const next = isFull ? button(`Show the next ${pageSize}`, {click: turn})
        : button(text, {click: () => whileBusy(next, () => grow(state))});
    return fill(after.more, next);
}

async function grow(state) {
    try {
        const answer = await fetchPage(state, {before: state.before});
        state.body.append(...answer.requests.map((entry) => safeRow(state.columns, entry)));
        if (answer.requests.length) state.parts.list.querySelector(".empty")?.replaceWith(state.area);
        state.before = answer.before;
        fill(state.after.failure);
        update(state);
    } catch (error) {
        fill(state.after.failure, errorMessage(error, {retry: () => grow(state)}));
    }
}

// What came since the last response. When more comes than can be shown, the log goes on from the newest.
async function follow(state) {
    const answer = await fetchPage(state, {after: state.newest, limit: liveMax});
    fill(state.after.failure);
    state.answer = answer;
    state.newest = Math.max(state.newest, answer.requests.at(-1)?.number ?? answer.newest ?? 0);
    state.fullCount = answer.requests.length < liveMax ? 0 : (state.fullCount ?? 0) + 1;
    if (state.fullCount > 3) {
        state.newest = (await fetchPage(state, {limit: 1})).newest ?? state.newest;
        Object.assign(state, {skipped: true, fullCount: 0});
    }
    if (answer.requests.length) state.parts.list.querySelector(".empty")?.replaceWith(state.area);
    state.rows.add(answer.requests);
    sayNote(state);
    update(state);
}
