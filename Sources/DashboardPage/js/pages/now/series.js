/** @file The points of the charts: kept for as long as they are shown, and put together into buckets that fit. */

/**
 * Creates an empty series.
 * @param {{unitSeconds: number, unitsMax: number, name: "second"|"hour"}} options How long a point is, how many are
 *     kept, and the key of its time.
 */
export function pointSeries({unitSeconds, unitsMax, name}) {
    const points = new Map();
    let end = 0;
    let runs = null;
    const inGap = (unit) => runs !== null
        && !runs.some((run) => run.start < (unit + 1) * unitSeconds && run.end > unit * unitSeconds);
    const between = (from, to) => {
        const inside = [];
        let length = 0;
        for (let unit = from; unit < to; unit += 1) {
            if (points.has(unit)) inside.push(points.get(unit));
            if (points.has(unit) || !inGap(unit)) length += 1;
        }
        return bucket(from * unitSeconds * 1000, inside, length);
    };
    return {
        /** The time after which points are requested: the newest few may have grown since. */
        get after() { return end ? end - 5 : null; },
        /** Takes new points. `newRuns` are the spans in which the server ran: outside of them is a gap. */
        add(nowUnit, list, newRuns = null) {
            runs = newRuns;
            for (const point of list) {
                const unit = name === "hour" && point.hour > 10_000_000 ? Math.floor(point.hour / 3600) : point[name];
                points.set(unit, point);
                end = Math.max(end, unit);
            }
            for (const key of points.keys()) if (key < nowUnit - unitsMax - 60) points.delete(key);
        },
        /** Returns the buckets of `length` units that are complete, as charts take them. */
        buckets(nowUnit, length) {
            const to = Math.floor(nowUnit / length) * length;
            const from = to - Math.floor(unitsMax / length) * length;
            const rows = [];
            for (let unit = from; unit < to; unit += length) rows.push(between(unit, unit + length));
            return {from: from * unitSeconds * 1000, to: to * unitSeconds * 1000, step: length * unitSeconds * 1000,
                rows};
        },
        /** Returns one bucket of the newest `length` units before `nowUnit`. */
        newest: (nowUnit, length) => between(nowUnit - length, nowUnit),
        /** Returns what happened in a span of milliseconds: `{requests, errors}`. */
        sum(from, to) {
            const inside = [...points].filter(([unit]) => unit * unitSeconds * 1000 >= from
                && unit * unitSeconds * 1000 < to).map(([, point]) => point);
            return {requests: total(inside, "requests"), errors: total(inside, "errors")};
        },
    };
}

// A unit without a point is an idle one, unless the server didn't run then: `length` units did run.
function bucket(at, inside, length) {
    if (!length) {
        return {at, requests: null, errors: null, succeeded: null, failed: null, p50: null, p99: null, received: null,
            sent: null};
    }
    const requests = total(inside, "requests");
    const errors = total(inside, "errors");
    const timed = inside.filter((one) => one.requests > 0 && typeof one.milliseconds50 === "number");
    const weight = total(timed, "requests");
    return {
        at, requests, errors,
        succeeded: Math.max(0, requests - errors) / length, failed: errors / length,
        p50: weight ? timed.reduce((sum, one) => sum + one.milliseconds50 * one.requests, 0) / weight : null,
        p99: weight ? Math.max(...timed.map((one) => one.milliseconds99 ?? one.milliseconds50)) : null,
        received: total(inside, "bytesIn") / length, sent: total(inside, "bytesOut") / length,
    };
}

function total(points, key) {
    return points.reduce((sum, one) => sum + (one[key] ?? 0), 0);
}
