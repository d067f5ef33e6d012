/** @file Numbers, sizes, times and names as text. */

const locale = "en-GB";
const exactFormat = new Intl.DateTimeFormat(locale, {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});
const secondsFormat = new Intl.DateTimeFormat(locale, {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
    timeZone: "UTC",
});
const numberFormat = new Intl.NumberFormat("en-US", {maximumFractionDigits: 20});
const units = [["year", 31_557_600_000], ["month", 2_629_800_000], ["day", 86_400_000], ["h", 3_600_000],
    ["min", 60_000]];
const abbreviations = ["h", "min"];

/** Returns a number with thousands separators: "1,204". */
export function count(number) {
    return numberFormat.format(number);
}

/** Returns a number with its noun: "1 record", "1,204 records". */
export function plural(number, one, many = `${one}s`) {
    return `${count(number)} ${number === 1 ? one : many}`;
}

/** Returns a size: "0 B", "312 B", "48 KB", "1.3 GB". */
export function bytes(size) {
    const names = ["B", "KB", "MB", "GB", "TB"];
    let value = size;
    let index = 0;
    while (value >= 999.5 && index < names.length - 1) {
        value /= 1000;
        index += 1;
    }
    return `${value < 99.95 && index > 0 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${names[index]}`;
}

/** Returns a UTC time: "27 Nov 2026, 08:30", with `seconds` "27 Nov 2026, 08:30:12". */
export function exact(milliseconds, {seconds = false} = {}) {
    const date = new Date(milliseconds);
    return Number.isNaN(date.getTime()) ? String(milliseconds) : (seconds ? secondsFormat : exactFormat).format(date);
}

/** Returns a UTC time as short as it can be: "09:46:02" today, "26 Nov, 17:31" this year, else with the year. */
export function short(milliseconds, now = Date.now()) {
    const text = exact(milliseconds, {seconds: true});
    const [day, time] = text.split(", ");
    if (!time) return text;
    if (day === exact(now).split(", ")[0]) return time;
    const year = ` ${new Date(now).getUTCFullYear()}`;
    return day.endsWith(year) ? `${day.slice(0, -year.length)}, ${time.slice(0, 5)}` : exact(milliseconds);
}

/** Returns the distance to now: "just now", "4 min ago", "in 3 days". */
export function relative(milliseconds, now = Date.now()) {
    const distance = milliseconds - now;
    for (const [name, length] of units) {
        const number = Math.floor(Math.abs(distance) / length);
        if (number < 1) continue;
        const word = number === 1 || abbreviations.includes(name) ? name : `${name}s`;
        return distance > 0 ? `in ${number} ${word}` : `${number} ${word} ago`;
    }
    return distance > 0 ? "in less than a minute" : "just now";
}

/** Returns a duration: "24 seconds", "3 minutes". */
export function duration(seconds) {
    if (seconds < 100) return plural(Math.ceil(seconds), "second");
    return seconds < 5400 ? plural(Math.ceil(seconds / 60), "minute") : plural(Math.ceil(seconds / 3600), "hour");
}

/** Cuts the middle out of a long identifier: "8F2C61A0…9C41". */
export function middleCut(text, length = 17) {
    const letters = [...text];
    if (letters.length <= length) return text;
    const tail = Math.max(4, Math.floor(length / 4));
    return `${letters.slice(0, length - tail - 1).join("")}…${letters.slice(-tail).join("")}`;
}

/** Quotes a word for a POSIX shell where it needs it. */
export function shellWord(word) {
    const text = String(word);
    return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
