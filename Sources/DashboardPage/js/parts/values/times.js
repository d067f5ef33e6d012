// Times of fields: milliseconds since 1970 as text, shown and typed in UTC.

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const pattern = new RegExp(
    "^(\\d{4})-(\\d{1,2})-(\\d{1,2})"
    + "(?:[T ]+(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:\\.(\\d{1,3}))?)?)?\\s*(?:Z|UTC)?$", "i");

function two(number) {
    return String(number).padStart(2, "0");
}

/**
 * Returns a `Date`, or null if the milliseconds lie outside of what a date can hold.
 * @param {string|number} milliseconds
 */
export function dateOf(milliseconds) {
    const date = new Date(Number(milliseconds));
    return Number.isNaN(date.getTime()) ? null : date;
}

/** Returns a time such as "27 Nov 2026, 08:30", without "UTC"; with seconds if wanted. */
export function timeText(milliseconds, hasSeconds = false) {
    const date = dateOf(milliseconds);
    if (!date) return `${milliseconds} ms`;
    const day = `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
    const minutes = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    if (!hasSeconds) return `${day}, ${minutes}`;
    const fraction = date.getUTCMilliseconds();
    const rest = fraction ? `.${String(fraction).padStart(3, "0")}` : "";
    return `${day}, ${minutes}:${two(date.getUTCSeconds())}${rest}`;
}

/** Returns the text that an input shows: "2026-11-27 08:30:00", with milliseconds where there are some. */
export function timeInput(milliseconds) {
    const date = dateOf(milliseconds);
    if (!date || date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return String(milliseconds);
    return date.toISOString().replace("T", " ").replace("Z", "").replace(/\.000$/, "");
}

/** Returns the time of day of the reader's own time zone. */
export function localTime(milliseconds) {
    const date = dateOf(milliseconds);
    if (!date) return "";
    const sameDay = date.getDate() === date.getUTCDate();
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    return sameDay ? clock : `${date.getDate()} ${months[date.getMonth()]}, ${clock}`;
}

/**
 * Reads a typed time: "2026-11-27", "2026-11-27 08:30", with seconds, or milliseconds since 1970.
 * @param {string} text
 * @returns {string|null} milliseconds as text, or null if it is no time
 */
export function readTime(text) {
    const trimmed = text.trim();
    if (/^-?\d{5,17}$/.test(trimmed)) return String(BigInt(trimmed));
    const match = pattern.exec(trimmed);
    if (!match) return null;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
    const fraction = Number((match[7] ?? "0").padEnd(3, "0"));
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute, second, fraction);
    const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour
        && date.getUTCMinutes() === minute && date.getUTCSeconds() === second;
    return isReal ? String(date.getTime()) : null;
}
