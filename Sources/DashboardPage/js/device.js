/** @file The start of the page of a device's file, which `yap sync inspect --open` serves. */

import {element, fill, icon} from "./core/dom.js";
import {poll} from "./core/poll.js";
import {loadState, takeSecret} from "./device/source.js";
import {headline, sections} from "./device/sections.js";
import {commandPart, setCommands} from "./parts/command.js";
import {updateKeyed} from "./parts/keyed.js";
import {liveControl} from "./parts/live.js";
import {errorMessage} from "./parts/message.js";
import {sheet} from "./parts/sheet.js";
import {skeleton} from "./parts/states.js";

const pollMilliseconds = 1500;
const limitDefault = 20;
const signal = new AbortController().signal;
const parts = {
    path: element("span", {class: "path mono"}), title: element("span", null, "A device’s file"),
    note: element("span", {role: "status"}, "Reading the file"), failure: element("div", {class: "failure"}),
    content: element("div", {class: "databases", "aria-busy": "true"}, skeleton(), skeleton(true)),
    commands: commandPart({commands: [["yap", "sync", "inspect", "FILE"]]}),
};
const live = liveControl({changed: () => polling.now()});
let secret = takeSecret();
let version = null;

document.body.className = "device";
fill(document.body, element("a", {class: "skip", href: "#main", on: {click: toContent}}, "Skip to the content"),
    element("header", {class: "top"}, element("span", {class: "brand"}, icon("mark", "mark"),
        element("span", null, "Yap")), parts.path),
    element("main", {class: "main", id: "main", tabindex: "-1"}, sheet({title: parts.title, note: parts.note,
        actions: live}, element("div", {class: "body"}, parts.failure, parts.content), parts.commands)));
const polling = poll(follow, {signal, milliseconds: pollMilliseconds, isPaused: () => live.isPaused, failed});
// Another link in the same tab changes the fragment only.
addEventListener("hashchange", () => {
    secret = takeSecret();
    version = null;
    polling.now();
});
polling.now();

async function follow() {
    const state = await loadState(secret, {limit: limit(), after: version}, signal);
    fill(parts.failure);
    if (state.version === version) return;
    version = state.version;
    draw(state);
}

function draw(state) {
    const name = state.file.split("/").at(-1);
    parts.title.textContent = name;
    parts.path.textContent = state.file;
    parts.path.title = state.file;
    document.title = `${name} · Yap`;
    const words = headline(state);
    // The same words again would be spoken again.
    if (parts.note.textContent !== words) parts.note.textContent = words;
    endLoading();
    updateKeyed(parts.content, sections(state, more));
    const command = ["yap", "sync", "inspect", state.file, "--values",
        ...state.only ? ["--name", state.only] : [], ...limit() > limitDefault ? ["--limit", String(limit())] : []];
    setCommands(parts.commands, {commands: [command, [...command, "--json"]]});
}

function failed(error) {
    endLoading();
    const titles = {UNREACHABLE: "The command doesn’t respond", AUTHENTICATION_REQUIRED: "The address isn’t complete"};
    const isRefused = error.code === "AUTHENTICATION_REQUIRED";
    fill(parts.failure, errorMessage(error, {title: titles[error.code] ?? "The file can’t be read",
        retry: isRefused ? undefined : () => polling.now()}));
    parts.note.textContent = version ? "What is shown was read before." : "Nothing is shown.";
    version &&= "none";
}

function endLoading() {
    if (!parts.content.hasAttribute("aria-busy")) return;
    parts.content.removeAttribute("aria-busy");
    fill(parts.content);
}

// How many change-sets, and changes of each, are listed: it stands in the address.
function limit() {
    return Number(new URLSearchParams(location.search).get("limit")) || limitDefault;
}

function more(number) {
    history.replaceState(null, "", `${location.pathname}?limit=${number}`);
    version = "none";
    polling.now();
}

function toContent(event) {
    event.preventDefault();
    document.getElementById("main").focus();
}
