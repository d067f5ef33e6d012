/** @file The line of a container in the overview: what development has and production doesn't. */

import {element, fill, icon} from "../core/dom.js";
import {differenceText} from "../parts/change-list.js";
import {deployAddress, loadDifference} from "./schema/source.js";

/**
 * Creates the line. It asks the server once it is on the screen, and stays empty when nothing is to be deployed.
 * @param {{identifier: string, environments: any[]}} container
 * @param {AbortSignal} signal
 */
export function differenceLine({identifier, environments}, signal) {
    const line = element("div", {class: "container-note"});
    if (!environments.some(({environment, isMade}) => environment === "development" && isMade)) return line;
    const observer = new IntersectionObserver((entries) => {
        if (!entries.some(({isIntersecting}) => isIntersecting)) return;
        observer.disconnect();
        loadDifference(identifier, {signal}).then((difference) => fill(line, content(identifier, difference)))
            .catch(() => {});
    });
    observer.observe(line);
    signal.addEventListener("abort", () => observer.disconnect(), {once: true});
    return line;
}

function content(identifier, {changes, refusals}) {
    if (!changes.length && !refusals.length) return [];
    const text = changes.length ? `${differenceText(changes)}.`
        : "Development’s schema lacks something that production has.";
    return element("p", null, icon("deploy"), element("span", null, text, " ", element("a",
        {href: deployAddress(identifier), "aria-label": `Review the deploy of ${identifier}`}, "Review the deploy")));
}
