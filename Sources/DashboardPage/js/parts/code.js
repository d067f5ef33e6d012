/** @file Commands and lines of code with a copy button. */

import {element, uniqueID} from "../core/dom.js";
import {shellWord} from "../core/format.js";
import {copyButton} from "./copy.js";

/**
 * Creates one command. Lines break between words only.
 * @param {string[]} words The command's words, not quoted yet.
 * @param {string} [label] Label of the copy button.
 */
export function commandCode(words, label = "Copy the command") {
    const quoted = words.map(shellWord);
    const nodes = quoted.flatMap((word, index) => (index ? [" ", wordSpan(word)] : [wordSpan(word)]));
    return codeOf(nodes, quoted.join(" "), label);
}

/** Creates a text in monospace, as it is, for example a link. */
export function plainCode(text, label) {
    return codeOf(element("span", {class: "plain"}, text), text, label);
}

/**
 * Creates several lines of code, which scroll sideways.
 * @param {string} text
 * @param {string} [label] Label of the copy button, "Copy the ...". The area is named after it.
 */
export function codeListing(text, label = "Copy the code") {
    const name = label.replace(/^Copy the (.)/, (_, first) => first.toUpperCase());
    return element("div", {class: "code listing"},
        element("pre", {tabindex: "0", role: "region", "aria-label": name, id: uniqueID("code")}, text),
        copyButton(text, label));
}

function wordSpan(word) {
    return element("span", null, word);
}

function codeOf(nodes, text, label) {
    return element("div", {class: "code"}, element("pre", null, nodes), copyButton(text, label));
}
