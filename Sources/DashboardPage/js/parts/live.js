/** @file The state of a live page, and the button that pauses it. */

import {element, fill, icon} from "../core/dom.js";
import {badge} from "./badge.js";
import {button} from "./button.js";
import {announce} from "./status.js";

/**
 * Creates the badge "Live" or "Paused" with its button.
 * @param {{changed: function(boolean): void}} options `changed` is called with whether the page is paused.
 * @returns {HTMLElement} `isPaused` is its state.
 */
export function liveControl({changed}) {
    const part = element("div", {class: "live"});
    part.isPaused = false;
    const toggle = button("Pause", {icon: "pause", className: "shrink", click: () => {
        part.isPaused = !part.isPaused;
        draw();
        announce(part.isPaused ? "Paused" : "Live again");
        changed(part.isPaused);
    }});
    const state = element("span");
    const draw = () => {
        fill(state, part.isPaused ? badge("Paused", {state: "warn", icon: "pause"})
            : badge("Live", {state: "good", icon: "now"}));
        fill(toggle, icon(part.isPaused ? "play" : "pause"),
            element("span", null, part.isPaused ? "Go on" : "Pause"));
    };
    draw();
    fill(part, state, toggle);
    return part;
}
