/** @file Badges, and the environment's label. */

import {element, icon} from "../core/dom.js";

/**
 * Creates a badge.
 * @param {string} text
 * @param {{state?: "good"|"warn"|"bad"|"info", icon?: string|null}} [options] A state brings its icon.
 */
export function badge(text, {state, icon: name = state} = {}) {
    return element("span", {class: state ? `badge ${state}` : "badge"}, name ? icon(name) : null, text);
}

/** Creates the label of an environment, with the word. */
export function environmentLabel(environment) {
    const isProduction = environment === "production";
    return element("span", {class: isProduction ? "label production" : "label"},
        isProduction ? "Production" : "Development");
}
