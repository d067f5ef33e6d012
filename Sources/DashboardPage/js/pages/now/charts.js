/** @file The charts of the page. */

import {bytes, count} from "../../core/format.js";
import {chart} from "../../parts/chart/chart.js";

/**
 * Creates the charts.
 * @param {Object} group Of `chartGroup`.
 * @param {"hour"|"month"} name The range.
 */
export function makeCharts(group, name) {
    const unit = name === "hour" ? "a second" : "an hour";
    return {
        requests: chart({group, title: `Requests ${unit}`, kind: "area", format: rate, least: 2, series: [
            {key: "succeeded", name: "Succeeded", className: "c1"},
            {key: "failed", name: "Failed", className: "c-bad"}]}),
        latency: chart({group, title: "Time to respond", kind: "line", format: milliseconds, least: 10, series: [
            {key: "p99", name: "99 of 100 within", className: "c3"},
            {key: "p50", name: "Half within", className: "c1"}]}),
        errors: chart({group, title: "Failed requests", kind: "bars", format: whole, least: 4, series: [
            {key: "errors", name: "In each point", className: "c-bad"}]}),
        bytes: chart({group, title: `Bytes ${unit}`, kind: "area", format: bytes, least: 1000, series: [
            {key: "received", name: "Received", className: "c2"}, {key: "sent", name: "Sent", className: "c1"}]}),
    };
}

/** Returns a number a second with as many digits as it needs. */
export function rate(number) {
    if (number === 0) return "0";
    return number < 9.95 ? String(Number(number.toFixed(1))) : count(Math.round(number));
}

/** Returns "4 ms" or "2.3 s". */
export function milliseconds(number) {
    if (number < 1000) return `${number < 9.95 ? Number(number.toFixed(1)) : Math.round(number)} ms`;
    return `${Number((number / 1000).toFixed(number < 9950 ? 1 : 0))} s`;
}

function whole(number) {
    return Number.isInteger(number) ? count(number) : String(Number(number.toFixed(1)));
}
