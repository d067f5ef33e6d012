/** @file "The same as a command": the last part of each sheet. */

import {queryText} from "../core/api.js";
import {element, fill, icon} from "../core/dom.js";
import {serverURL} from "../core/state.js";
import {commandCode} from "./code.js";

/**
 * Creates the closed list of commands.
 * @param {{commands?: string[][], requests?: string[][]}} content `commands` are the words of yap commands, `requests`
 *     those of curl, as `curlWords` makes them.
 */
export function commandPart(content) {
    const list = element("div");
    const part = element("details", {class: "command"},
        element("summary", null, icon("command"), "The same as a command", icon("down", "icon turn")), list);
    setCommands(part, content);
    return part;
}

/** Replaces the commands of a part, for example after a filter has changed. */
export function setCommands(part, {commands = [], requests = []}) {
    fill(part.querySelector("div"), commands.map((words) => commandCode(words)),
        requests.map((words) => commandCode(words, "Copy the request")));
}

/**
 * Returns the words of a curl request to the operator API. The session's cookie comes from a variable of the shell.
 * @param {string} target Path below /operator/1/.
 * @param {{query?: Object, body?: Object}} [options]
 */
export function curlWords(target, {query, body} = {}) {
    const words = ["curl", "--cookie", "cookies.txt"];
    if (body !== undefined) words.push("--json", JSON.stringify(body));
    return [...words, `${serverURL()}/operator/1/${target}${queryText(query)}`];
}

/** Returns the words `--name value` of the items that have a value. */
export function itemWords(items) {
    return Object.entries(items).filter(([, value]) => value).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Returns the words `--container ID --environment NAME`; development is yap's default and is left out. */
export function scopeWords({container, environment}) {
    const words = ["--container", container];
    return environment === "production" ? [...words, "--environment", "production"] : words;
}


