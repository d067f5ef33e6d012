/** @file The overview: containers and their environments, or the first steps of a server without data. */

import {get, path} from "../core/api.js";
import {element, fill, svg} from "../core/dom.js";
import {bytes, exact, plural} from "../core/format.js";
import {loadContainers, serverURL} from "../core/state.js";
import {environmentLabel} from "../parts/badge.js";
import {linkButton} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {scopeAddress} from "../parts/frame.js";
import {section, sheet} from "../parts/sheet.js";
import {loadInto, skeleton} from "../parts/states.js";
import {firstSteps} from "./overview-steps.js";

const pauseMilliseconds = 10_000;

/** Shows the page. */
export async function show({main, signal, setTitle}) {
    const body = element("div", {class: "body"});
    fill(main, sheet({title: "Overview", note: serverURL().replace(/^https?:\/\//, "")}, body,
        commandPart({commands: [["yap", "container", "list"], ["yap", "stats"]],
            requests: [curlWords("containers")]})));
    setTitle("Overview");
    const load = () => loadState(signal);
    await loadInto(body, {load, signal, show: content, waiting: () => [skeleton(), skeleton(true)]});
    watchFirstSteps(body, load, signal);
}

async function loadState(signal) {
    const containers = await loadContainers({fresh: true, signal});
    const isEmpty = !containers.some(({environments}) => environments.some(({isMade}) => isMade));
    if (!isEmpty || !containers.length) return {containers, isEmpty, hasAccount: false};
    const {accounts} = await get(`${path(containers[0].identifier)}/accounts`, null, {signal});
    return {containers, isEmpty, hasAccount: accounts.length > 0};
}

function content(state) {
    if (state.isEmpty) return firstSteps(state);
    const largest = Math.max(1, ...state.containers.flatMap(({environments}) => environments.map((one) => one.bytes)));
    return section("containers", plural(state.containers.length, "container"), {},
        state.containers.map((container) => card(container, largest)));
}

function card({identifier, tokensCount, createdMilliseconds, environments}, largest) {
    const order = [...environments].sort((one) => (one.environment === "production" ? -1 : 1));
    return element("article", {class: "container-card"}, element("header", null, element("h3", null, identifier),
        element("span", {class: "quiet"},
            `${plural(tokensCount, "API token")}, made ${exact(createdMilliseconds).split(",")[0]}`)),
    order.map((one) => environmentRow(identifier, one, largest)));
}

function environmentRow(identifier, {environment, isMade, bytes: size}, largest) {
    const label = element("div", null, environmentLabel(environment));
    if (!isMade) {
        return element("div", {class: "environment-row unmade"}, label,
            element("p", {class: "quiet"}, "Nothing stored yet. The first request of an app makes the store."));
    }
    const address = scopeAddress(identifier, environment);
    return element("div", {class: "environment-row"}, label,
        element("div", null, element("strong", {class: "number"}, bytes(size)), element("small", null, "store file")),
        bar(size, largest),
        element("div", {class: "actions"},
            linkButton("Zones", scopeAddress(identifier, environment, "zones"),
                {label: `Zones of ${identifier}, ${environment}`}),
            linkButton("Browse", address, {label: `Browse ${identifier}, ${environment}`})));
}

// Compared with the largest store of this server.
function bar(size, largest) {
    return element("div", {class: "stored"},
        svg("svg", {viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true"},
        svg("rect", {class: "part-1", width: Math.max(0.6, 100 * size / largest), height: 2})));
}

// While the first steps are shown, a step that is done in a terminal appears here. Hidden pages don't ask.
function watchFirstSteps(body, load, signal) {
    let shown = "";
    const timer = setInterval(async () => {
        if (document.hidden || !body.querySelector(".steps")) return;
        const state = await load().catch(() => null);
        if (!state || signal.aborted) return;
        const text = JSON.stringify(state);
        if (shown && text !== shown) fill(body, content(state));
        shown = text;
    }, pauseMilliseconds);
    signal.addEventListener("abort", () => clearInterval(timer), {once: true});
}
