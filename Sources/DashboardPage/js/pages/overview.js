/** @file The overview: containers and their environments, or the first steps of a server without data. */

import {get, post} from "../core/api.js";
import {element, fill, svg} from "../core/dom.js";
import {bytes, exact, plural} from "../core/format.js";
import {loadContainers, mayDo, serverURL} from "../core/state.js";
import {environmentLabel} from "../parts/badge.js";
import {button, linkButton} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {control, setWrong} from "../parts/control.js";
import {formDialog} from "../parts/form-dialog.js";
import {scopeAddress} from "../parts/frame.js";
import {section, sheet} from "../parts/sheet.js";
import {loadInto, skeleton} from "../parts/states.js";
import {announce} from "../parts/status.js";
import {differenceLine} from "./overview-difference.js";
import {firstSteps} from "./overview-steps.js";

const pauseMilliseconds = 4_000;

/** Shows the page. */
export async function show({main, signal, setTitle}) {
    const page = {body: element("div", {class: "body"}), actions: element("div", {class: "actions"}), signal,
        isFirst: false};
    const note = serverURL().replace(/^https?:\/\//, "");
    fill(main, sheet({title: "Overview", note, actions: page.actions}, page.body,
        commandPart({commands: [["yap", "container", "list"], ["yap", "init", "--container", "ID"], ["yap", "stats"]],
            requests: [curlWords("containers")]})));
    setTitle("Overview");
    page.load = () => loadState(page);
    page.reload = () => reload(page);
    await loadInto(page.body, {load: page.load, signal, show: (state) => content(state, page),
        waiting: () => [skeleton(), skeleton(true)]});
    watchFirstSteps(page);
}

async function loadState({signal, isFirst}) {
    const containers = await loadContainers({fresh: true, signal});
    const isEmpty = !containers.some(({environments}) => environments.some(({isMade}) => isMade));
    if (!isEmpty && !isFirst) return {containers, isEmpty, account: null};
    const {accounts} = await get("accounts", null, {signal});
    return {containers, isEmpty, account: accounts[0]?.name ?? null};
}

// The steps stay after the first record, so that the person sees that it came.
function content(state, page) {
    page.shown = JSON.stringify(state);
    page.isFirst ||= state.isEmpty;
    fill(page.actions, mayDo("administer") && state.containers.length
        ? button("New container", {icon: "plus", click: () => addContainer(page)}) : null);
    if (page.isFirst) return firstSteps(state, page.reload);
    const largest = Math.max(1, ...state.containers.flatMap(({environments}) => environments.map((one) => one.bytes)));
    return section("containers", plural(state.containers.length, "container"), {},
        state.containers.map((container) => card(container, largest, page.signal)));
}

async function reload(page) {
    const state = await page.load();
    if (page.signal.aborted || JSON.stringify(state) === page.shown) return;
    const hadFocus = page.body.contains(document.activeElement);
    fill(page.body, content(state, page));
    const next = page.body.querySelector("[aria-current=step] :is(input, pre)") ?? page.body.querySelector("a");
    if (hadFocus) next?.focus();
}

async function addContainer(page) {
    const name = control("Identifier", {
        autocapitalize: "none", autocomplete: "off", spellcheck: "false", maxlength: 255,
    }, {hint: "As iCloud.com.example.todo. An app names its container by it."});
    const made = await formDialog({
        signal: page.signal, title: "New container", action: "Make the container", children: name,
        run: () => {
            setWrong(name.input, null);
            const identifier = name.input.value.trim();
            if (!identifier) return setWrong(name.input, "Type an identifier.");
            return post("containers/add", {identifier});
        },
    });
    if (!made) return;
    announce(`Container ${made.container.identifier} was made`);
    await page.reload();
}

function card(container, largest, signal) {
    const {identifier, tokensCount, createdMilliseconds, environments} = container;
    const order = [...environments].sort((one) => (one.environment === "production" ? -1 : 1));
    return element("article", {class: "container-card"}, element("header", null, element("h3", null, identifier),
        element("span", {class: "quiet"},
            `${plural(tokensCount, "API token")}, made ${exact(createdMilliseconds).split(",")[0]}`)),
    order.map((one) => environmentRow(identifier, one, largest)), differenceLine(container, signal));
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
function watchFirstSteps(page) {
    const timer = setInterval(() => {
        const isTyping = document.activeElement?.matches("input") && page.body.contains(document.activeElement);
        if (document.hidden || isTyping || !page.body.querySelector("[aria-current=step]")) return;
        page.reload().catch(() => {});
    }, pauseMilliseconds);
    page.signal.addEventListener("abort", () => clearInterval(timer), {once: true});
}
