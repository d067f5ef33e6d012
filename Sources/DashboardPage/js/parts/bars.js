/** @file The bar at the top while the server doesn't respond. */

import {element, fill, icon} from "../core/dom.js";
import {plural} from "../core/format.js";
import {probeNow, watchReach} from "../core/reach.js";
import {button, whileBusy} from "./button.js";

const bars = element("div", {class: "bars"});
const countdown = element("span");
let timer = null;

watchReach(({isGone, nextMilliseconds}) => {
    clearInterval(timer);
    if (!isGone) return fill(bars);
    if (!bars.firstChild) fill(bars, goneBar());
    const update = () => {
        const seconds = Math.max(0, Math.round((nextMilliseconds - Date.now()) / 1000));
        fill(countdown, seconds ? `Next try in ${plural(seconds, "second")}.` : "Trying now.");
    };
    update();
    timer = setInterval(update, 1000);
    return undefined;
});

/** Returns the element of the bars. There is one in the page. */
export function barsElement() {
    return bars;
}

function goneBar() {
    const retry = button("Try now", {icon: "retry", click: () => whileBusy(retry, probeNow)});
    // The countdown isn't in the alert, which would be spoken each second.
    const words = element("span", {role: "alert"}, element("strong", null, "The server doesn’t respond."),
        " What you typed is kept. ");
    return element("div", {class: "bar", role: "region", "aria-label": "Connection"}, icon("gone"),
        element("p", null, words, countdown), retry);
}
