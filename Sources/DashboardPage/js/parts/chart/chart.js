/** @file A chart over time: head with the values, plot, axis, and the same numbers as a table. */

import {element, fill, svg, uniqueID} from "../../core/dom.js";
import {exact} from "../../core/format.js";
import {button, setButtonText} from "../button.js";
import {table} from "../table.js";
import {attachPointing} from "./pointing.js";
import {areaPath, barsPath, linePath} from "./paths.js";
import {timeAxis, valueAxis} from "./scale.js";

const height = 156;
const edges = {right: 8, top: 8, bottom: 22};
const tableRowsMax = 200;

/**
 * Creates a chart.
 * @param {{title: string, kind: "line"|"area"|"bars", series: Series[], format: function(number): string,
 *     least?: number, group: Object}} options A series is `{key, name, className}`. The series of an area or
 *     of bars stand on each other, the last one on the axis. `least` is the smallest top of the axis.
 * @returns {HTMLElement} With `update({from, to, step, rows})`: rows are `{at, key: number|null}`, one for each `step`
 *     milliseconds.
 */
export function chart(options) {
    const id = uniqueID("chart");
    const self = {...options, data: null, width: 0};
    self.when = element("small", {class: "quiet number"});
    self.legend = element("dl", {class: "legend"});
    self.plot = svg("svg", {class: "plot", height, "aria-hidden": "true"});
    self.holder = element("div", {class: "plot-holder", tabindex: "0", role: "slider",
        "aria-label": `${options.title}: point in time`, "aria-valuemin": "0", "aria-valuemax": "0",
        "aria-valuenow": "0", "aria-valuetext": "No data yet"}, self.plot);
    self.tableHolder = element("div", {class: "chart-table", hidden: true});
    const toggle = button("As table", {className: "bare small", label: `${options.title} as a table`,
        attributes: {"aria-expanded": "false"}, click: () => toggleTable(self, toggle)});
    const part = element("figure", {class: `chart of-${options.kind}`, "aria-labelledby": id},
        element("figcaption", null, element("h2", {id}, options.title), self.when, toggle),
        self.legend, self.holder, self.tableHolder);
    attachPointing(self);
    self.group.listen(() => drawState(self));
    const observer = new ResizeObserver(([entry]) => {
        const width = Math.floor(entry.contentRect.width);
        if (!width || width === self.width) return;
        self.width = width;
        draw(self);
    });
    observer.observe(self.holder);
    return Object.assign(part, {update(data) {
        self.data = data;
        draw(self);
    }});
}

function draw(self) {
    const {data, width, series, kind} = self;
    if (!data) return;
    if (!self.tableHolder.hidden) fillTable(self);
    if (!width) return;
    const stacked = stack(self);
    const highest = Math.max(0, ...stacked.flatMap(({upper}) => upper.filter((value) => value !== null)));
    const axis = valueAxis(highest, self.least);
    // Room for the longest number of the axis.
    self.left = 14 + 6.2 * Math.max(...axis.lines.map((value) => self.format(value).length));
    const inner = {width: width - self.left - edges.right, height: height - edges.top - edges.bottom};
    self.step = inner.width / Math.max(1, data.rows.length);
    self.x = (index) => self.left + (index + 0.5) * self.step;
    self.y = (value) => edges.top + inner.height * (1 - value / axis.top);
    self.timeX = (at) => self.left + inner.width * (at - data.from) / (data.to - data.from);
    self.marks = svg("g");
    const shapes = stacked.map(({lower, upper}, index) => shape(self, kind, lower, upper, series[index].className));
    self.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    fill(self.plot, gridOf(self, axis), shapes, timesOf(self, inner), self.marks);
    self.holder.setAttribute("aria-valuemax", Math.max(0, data.rows.length - 1));
    drawState(self);
}

// Lower and upper edge of each series. The last one stands on the axis.
function stack({data, series, kind}) {
    const base = data.rows.map(() => 0);
    return series.toReversed().map(({key}) => {
        const values = data.rows.map((row) => row[key] ?? null);
        if (kind === "line") return {lower: base, upper: values};
        const lower = [...base];
        values.forEach((value, index) => { base[index] += value ?? 0; });
        return {lower, upper: values.map((value, index) => (value === null ? null : base[index]))};
    }).toReversed();
}

function shape(self, kind, lower, upper, className) {
    const {x, y, step} = self;
    if (kind === "bars") return svg("path", {class: `fill ${className}`, d: barsPath(lower, upper, x, y, step)});
    return [kind === "area" ? svg("path", {class: `wash ${className}`, d: areaPath(lower, upper, x, y)}) : null,
        svg("path", {class: `line ${className}`, d: linePath(upper, x, y)})];
}

function gridOf(self, {lines}) {
    return lines.map((value) => svg("g", null,
        svg("path", {class: value ? "grid" : "grid zero",
            d: `M${self.left} ${self.y(value)}H${self.width - edges.right}`}),
        svg("text", {class: "end", x: self.left - 8, y: self.y(value) + 4}, self.format(value))));
}

function timesOf(self, inner) {
    return timeAxis(self.data.from, self.data.to, inner.width).map(({at, text}) => {
        const x = Math.min(Math.max(self.timeX(at), self.left + 14), self.width - 18);
        return svg("text", {class: "middle", x, y: height - 5}, text);
    });
}

// Crosshair, span and the numbers of the legend.
function drawState(self) {
    const {data, group: {state}, series, format, marks} = self;
    if (!data || !marks) return;
    const index = state.at === null ? data.rows.length - 1
        : Math.min(Math.max(Math.floor((state.at - data.from) / data.step), 0), data.rows.length - 1);
    const row = data.rows[index] ?? {};
    const span = state.draft ?? state.span;
    const area = span ? [clamp(self, span.from), clamp(self, span.to)] : null;
    fill(marks,
        area && area[1] > area[0] ? svg("rect", {class: "span", x: area[0], y: edges.top, width: area[1] - area[0],
            height: height - edges.top - edges.bottom}) : null,
        state.at === null ? null : svg("path", {class: "cross",
            d: `M${self.x(index)} ${edges.top}V${height - edges.bottom}`}));
    fill(self.legend, series.map(({key, name, className}) => element("div", null,
        element("dt", null, svg("svg", {class: `key ${className}`, viewBox: "0 0 12 4", "aria-hidden": "true"},
            svg("path", {d: "M0 2h12"})), name),
        element("dd", {class: "number"}, row[key] === null || row[key] === undefined ? "—" : format(row[key])))));
    self.when.textContent = state.at === null || row.at === undefined ? "" : timeOf(row.at, data.step);
    self.holder.setAttribute("aria-valuenow", Math.max(0, index));
    self.holder.setAttribute("aria-valuetext", row.at === undefined ? "No data" : `${timeOf(row.at, data.step)}: `
        + series.map(({key, name}) => `${name} ${row[key] === null ? "no data" : format(row[key] ?? 0)}`).join(", "));
}

function timeOf(at, step) {
    return `${exact(at, {seconds: step < 60_000})} UTC`;
}

function clamp(self, at) {
    return Math.min(Math.max(self.timeX(at), self.left), self.width - edges.right);
}

function toggleTable(self, toggle) {
    const isTable = self.tableHolder.hidden;
    self.tableHolder.hidden = !isTable;
    self.holder.hidden = isTable;
    toggle.setAttribute("aria-expanded", String(isTable));
    toggle.setAttribute("aria-label", isTable ? `${self.title} as a chart` : `${self.title} as a table`);
    setButtonText(toggle, isTable ? "As chart" : "As table");
    if (isTable) fillTable(self, {isNew: true});
}

// A table that is being read isn't replaced.
function fillTable(self, {isNew = false} = {}) {
    const {tableHolder, data, title, series, format} = self;
    if (!data || (!isNew && tableHolder.contains(document.activeElement))) return;
    const columns = [
        {head: "From, UTC", isName: true, cell: ({at}) => exact(at, {seconds: data.step < 60_000})},
        ...series.map(({key, name}) => ({head: name, word: name.toLowerCase(), className: "number",
            cell: (row) => (row[key] === null ? "no data" : format(row[key] ?? 0))}))];
    const place = tableHolder.firstChild?.scrollTop ?? 0;
    fill(tableHolder, table({label: title, columns, isPlain: true,
        rows: data.rows.slice(-tableRowsMax).reverse()}));
    tableHolder.firstChild.scrollTop = place;
}
