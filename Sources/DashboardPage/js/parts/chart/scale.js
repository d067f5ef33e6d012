/** @file Scales of charts: round numbers on the axis, times below it. */

const timeSteps = [60, 300, 600, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 2 * 86_400, 7 * 86_400]
    .map((seconds) => seconds * 1000);
const day = 86_400_000;
const clock = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", timeZone: "UTC"});
const date = new Intl.DateTimeFormat("en-GB", {day: "numeric", month: "short", timeZone: "UTC"});

/**
 * Returns the top of an axis that begins at zero, and its lines.
 * @param {number} max The largest value.
 * @param {number} [least] The smallest top, for example 1 for counts.
 * @returns {{top: number, lines: number[]}}
 */
export function valueAxis(max, least = 1) {
    const wanted = Math.max(max * 1.05, least);
    const power = 10 ** Math.floor(Math.log10(wanted / 2));
    const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => wanted / one <= 3) ?? 10 * power;
    const count = Math.ceil(wanted / step);
    return {top: count * step, lines: Array.from({length: count + 1}, (_, index) => index * step)};
}

/**
 * Returns the times that are written below an axis.
 * @param {number} from Milliseconds.
 * @param {number} to
 * @param {number} width Room in px.
 * @returns {{at: number, text: string}[]}
 */
export function timeAxis(from, to, width) {
    const most = Math.max(2, Math.floor(width / 72));
    const step = timeSteps.find((one) => (to - from) / one <= most) ?? 14 * day;
    const marks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        marks.push({at, text: (step >= day ? date : clock).format(at)});
    }
    return marks;
}

/** Returns the smallest of some bucket lengths whose buckets get at least `least` px each. */
export function bucketLength(lengths, span, width, least = 3) {
    return lengths.find((length) => width / (span / length) >= least) ?? lengths.at(-1);
}
