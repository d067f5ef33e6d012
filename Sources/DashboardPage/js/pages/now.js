/** @file What happens now: requests, errors, times and bytes of the last hour or month. */

import {get, path, queryText} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {duration, plural} from "../core/format.js";
import {poll} from "../core/poll.js";
import {setQuery} from "../core/router.js";
import {linkButton, button} from "../parts/button.js";
import {chartGroup} from "../parts/chart/group.js";
import {bucketLength} from "../parts/chart/scale.js";
import {commandPart, curlWords} from "../parts/command.js";
import {liveControl} from "../parts/live.js";
import {errorMessage} from "../parts/message.js";
import {sheet} from "../parts/sheet.js";
import {loadInto, skeleton} from "../parts/states.js";
import {makeCharts} from "./now/charts.js";
import {gaugesPart, listsPart, summaryWords} from "./now/lists.js";
import {pointSeries} from "./now/series.js";
import {readSpan, spanItems, spanWords} from "./now/span.js";
import {logAddress} from "./requests/addresses.js";

const summaryMilliseconds = 10_000;
const backlogMilliseconds = 5000;
const ranges = {
    hour: {target: "live", name: "second", unitSeconds: 1, unitsMax: 3600, lengths: [5, 10, 15, 30, 60, 120],
        milliseconds: 2000},
    month: {target: "live/hours", name: "hour", unitSeconds: 3600, unitsMax: 31 * 24, lengths: [1, 2, 3, 6, 12, 24],
        milliseconds: 60_000},
};

/** Shows the page. */
export async function show(context) {
    const {main, setTitle, params} = context;
    const parts = context.parts = {note: element("span", {role: "status"}), tabs: element("nav", {class: "tabs",
        "aria-label": "How long"}), body: element("div", {class: "body"}),
    span: element("div", {class: "span-holder"})};
    parts.live = liveControl({changed: () => context.poll?.now()});
    const {container, environment} = params;
    parts.command = commandPart({commands: [["yap", "stats"]],
        requests: [curlWords("live", {query: scopeOf(params)}), curlWords("live/hours", {query: scopeOf(params)}),
            ...(container ? [curlWords(`${path(container, environment)}/backlog`)] : [])]});
    fill(main, sheet({title: params.container ? "Now" : "Now, all containers", note: parts.note, actions: parts.live},
        element("div", {class: "tabs-holder"}, parts.tabs), parts.span, parts.body, parts.command));
    setTitle("Now");
    await queryChanged(context);
}

/** Shows another range or span. */
export async function queryChanged(context) {
    const {query, parts} = context;
    const name = query.get("range") === "month" ? "month" : "hour";
    fill(parts.tabs, tab("Last hour", null, name === "hour"), tab("Last month", "month", name === "month"));
    const isNew = name !== context.name;
    context.name = name;
    if (isNew) await begin(context);
    context.group.show(readSpan(query));
    showSpan(context);
}

function tab(text, range, isCurrent) {
    const query = new URLSearchParams(location.search);
    query.delete("range");
    const items = {...Object.fromEntries(query), range, from: null, to: null};
    return element("a", {href: location.pathname + queryText(items), "aria-current": isCurrent ? "page" : undefined},
        text);
}

function scopeOf({container, environment}) {
    return container ? {container, environment} : {};
}

async function begin(context) {
    const {parts, params, signal, name} = context;
    context.stop?.abort();
    context.stop = new AbortController();
    const until = AbortSignal.any([signal, context.stop.signal]);
    const range = ranges[name];
    Object.assign(context, {range, answer: null, saidMilliseconds: 0});
    context.series = pointSeries(range);
    context.group = chartGroup((span) => setQuery(spanItems(span), {push: true}));
    context.charts = makeCharts(context.group, name);
    context.gauges = element("dl", {class: "facts gauges"});
    context.lists = element("div", {class: "lists"});
    context.failure = element("div");
    context.grid = element("div", {class: "charts"}, Object.values(context.charts));
    context.hint = element("p", {class: "hint"});
    const load = () => get(range.target, {...scopeOf(params), after: context.series.after}, {signal: until});
    await loadInto(parts.body, {signal: until, load, waiting: () => [skeleton(), skeleton(true)],
        show: (answer) => {
            take(context, answer);
            requestAnimationFrame(() => { if (!until.aborted) draw(context); });
            follow(context, load, until);
            return [context.failure, context.gauges, element("div", {class: "section"}, context.grid, context.hint),
                context.lists];
        }});
}

function follow(context, load, until) {
    const {range, parts} = context;
    const work = async () => {
        const answer = await load();
        take(context, answer);
        fill(context.failure);
        draw(context);
    };
    const options = {signal: until, isPaused: () => parts.live.isPaused,
        failed: (error) => fill(context.failure, errorMessage(error))};
    context.poll = poll(work, {...options, milliseconds: range.milliseconds});
    followBacklog(context, options);
    // Charts of another width need buckets of another length.
    const observer = new ResizeObserver(() => draw(context));
    observer.observe(context.grid);
    until.addEventListener("abort", () => observer.disconnect(), {once: true});
}

// What waits is of one environment.
function followBacklog(context, options) {
    const {container, environment} = context.params;
    if (!container) return;
    poll(async () => {
        context.backlog = await get(`${path(container, environment)}/backlog`, null, {signal: options.signal});
        gaugesPart(context.gauges, context.answer?.gauges, context.backlog);
    }, {...options, milliseconds: backlogMilliseconds, failed: () => { context.backlog = null; }}).now();
}

function take(context, answer) {
    const {range, series} = context;
    context.answer = answer;
    context.nowUnit = Math.floor((answer.nowSecond ?? Date.now() / 1000) / range.unitSeconds);
    series.add(context.nowUnit, answer.points ?? [], runsUntilNow(answer));
    if (Date.now() - (context.saidMilliseconds ?? 0) >= summaryMilliseconds) {
        context.saidMilliseconds = Date.now();
        context.parts.note.textContent = summaryWords(series.newest(context.nowUnit, context.name === "hour" ? 60 : 24),
            context.name);
    }
}

// The server writes the end of a run from time to time; that it has answered says that it runs.
function runsUntilNow({runs, nowSecond}) {
    if (!runs?.length) return null;
    return [...runs.slice(0, -1), {...runs.at(-1), end: Math.max(runs.at(-1).end, nowSecond ?? 0)}];
}

function draw(context) {
    const {charts, grid, range, series, params, answer, nowUnit} = context;
    if (!answer) return;
    const width = (grid.firstChild?.clientWidth || 480) - 54;
    const length = bucketLength(range.lengths, range.unitsMax, width, 2.4);
    const data = series.buckets(nowUnit, length);
    // The picture changes when a bucket is complete, not at each response.
    if (context.drawn !== `${data.to} ${length}` || context.drawnSeries !== series) {
        for (const one of Object.values(charts)) one.update(data);
        context.drawn = `${data.to} ${length}`;
        context.drawnSeries = series;
        fill(context.hint, `A point is ${duration(data.step / 1000)}; of times it shows the mean of the medians and `
            + "the highest 99th percentile. Times of day are UTC. Drag over a chart, or press Shift and an arrow key "
            + "in it and then Enter, to choose a span.");
    }
    gaugesPart(context.gauges, answer.gauges, context.backlog);
    listsPart(context.lists, answer, scopeOf(params));
    showSpan(context);
}

function showSpan({parts, query, params, series}) {
    const span = readSpan(query);
    const text = span ? spanWords(span) : "";
    if (parts.span.shown === text) return;
    parts.span.shown = text;
    if (!span) return void fill(parts.span);
    const {requests, errors} = series?.sum(span.from ?? 0, span.to ?? Infinity) ?? {};
    fill(parts.span, element("div", {class: "span-bar", role: "group", "aria-label": "Chosen span"},
        element("p", {role: "status"}, element("strong", null, text),
            requests === undefined ? "" : ` ${plural(requests, "request")}, ${plural(errors, "error")}`),
        linkButton("Open in the log", logAddress({...scopeOf(params), ...spanItems(span)}), {className: "first"}),
        button("Clear", {className: "bare", click: () => setQuery({from: null, to: null}, {push: true})})));
}
