/** @file The program of a session, from its User-Agent header. */

const programs = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chromium/", "Chromium"],
    ["HeadlessChrome/", "Chrome"], ["Chrome/", "Chrome"], ["Safari/", "Safari"], ["curl/", "curl"]];
const systems = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"],
    ["Mac OS X", "macOS"], ["CrOS", "ChromeOS"], ["Linux", "Linux"]];

/** Returns "Firefox on Linux", or the beginning of a header that isn't known. */
export function clientName(header) {
    if (!header) return "Unknown program";
    const program = programs.find(([sign]) => header.includes(sign))?.[1];
    const system = systems.find(([sign]) => header.includes(sign))?.[1];
    if (!program) return header.slice(0, 40);
    return system ? `${program} on ${system}` : program;
}
