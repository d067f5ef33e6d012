/** @file The first steps: from an empty server to the first saved record. */

import {path, post} from "../core/api.js";
import {element, fill, uniqueID} from "../core/dom.js";
import {mayDo} from "../core/state.js";
import {curlCode, packageCode, swiftCode} from "../parts/app-code.js";
import {badge} from "../parts/badge.js";
import {button, linkButton, whileBusy} from "../parts/button.js";
import {codeListing, commandCode, plainCode} from "../parts/code.js";
import {scopeAddress} from "../parts/frame.js";
import {errorMessage} from "../parts/message.js";
import {announce} from "../parts/status.js";

// Secrets that were made here: the server doesn't tell them again. Leaving the dashboard forgets them.
const made = {token: null, tokenContainer: null, account: null, password: null};

/**
 * Creates the list of steps. Those that are done are folded; the current one has a form.
 * @param {{containers: any[], account: string|null, isEmpty: boolean}} state `account` is the name of one account.
 * @param {function(): Promise<any>} reload
 */
export function firstSteps(state, reload) {
    const steps = [containerStep(state), tokenStep(state), accountStep(state), codeStep(state)];
    const current = steps.findIndex((step) => !step.isDone);
    const [title, note] = current < 0 ? ["The first record is saved", "Your app can use the server now."]
        : ["Your server is running", "Four steps lead to the first saved record. This page notices each one."];
    return element("div", {class: "section narrow"},
        element("header", null, element("h2", null, title), element("span", {class: "quiet"}, note)),
        element("ol", {class: "steps"}, steps.map((step, index) => stepPart(step, index === current, reload))));
}

function containerStep({containers}) {
    return {title: "Make a container", isDone: containers.length > 0,
        text: "A container holds the data of one app, or of several apps that share it.",
        fact: containers[0] ? element("code", null, containers[0].identifier) : null,
        label: "Identifier", value: "iCloud.com.example.todo", action: "Make the container",
        command: ["yap", "init", "--container", "iCloud.com.example.todo"],
        run: (identifier) => post("containers/add", {identifier})};
}

function tokenStep({containers}) {
    const container = containers[0]?.identifier;
    const isKnown = made.token && made.tokenContainer === container;
    return {title: "Make an API token", isDone: (containers[0]?.tokensCount ?? 0) > 0,
        text: "The token identifies your app to the server. It is valid in development, and shown once.",
        fact: isKnown ? plainCode(made.token, "Copy the token") : null,
        label: "Name of the app", value: "my app", action: "Make the token",
        command: ["yap", "token", "create", "--container", container ?? "iCloud.com.example.todo", "--name", "my app"],
        run: async (name) => {
            const {token} = await post(`${path(container)}/tokens/add`, {name, environment: "development"});
            Object.assign(made, {token, tokenContainer: container});
        }};
}

function accountStep({account}) {
    const isKnown = made.password && account;
    return {title: "Make an account", isDone: Boolean(account),
        text: "A user of your app. A password is made up, and shown once.",
        fact: isKnown ? [element("p", null, "Password of ", element("strong", null, made.account)),
            plainCode(made.password, "Copy the password")] : null,
        label: "Name", value: "ann", action: "Make the account",
        command: ["yap", "account", "create", "ann", "--developer"],
        run: async (name) => {
            const answer = await post("accounts/add", {name, isDeveloper: true});
            Object.assign(made, {account: answer.account.name, password: answer.password});
        }};
}

function codeStep({containers, account, isEmpty}) {
    const container = containers[0]?.identifier ?? "iCloud.com.example.todo";
    const isTokenKnown = made.token && made.tokenContainer === container;
    const app = {container, token: isTokenKnown ? made.token : "TOKEN", account: made.account ?? account ?? "ann",
        password: made.password ?? "PASSWORD"};
    // The lines are shown when the steps before are done.
    const isNext = containers[0]?.tokensCount > 0 && Boolean(account);
    return {title: "Save a record from your app", isDone: !isEmpty,
        text: isNext ? "Paste these lines into an app, or into a terminal. Both sign in and save one record."
            : "Lines for an app and for a terminal follow here. Both sign in and save one record.",
        fact: isEmpty ? null : element("div", {class: "actions"}, linkButton("Browse the data",
            scopeAddress(container, "development"), {icon: "records", className: "first"})),
        content: () => [replacements(app), element("h3", null, "With curl"),
            codeListing(curlCode(app), "Copy the curl commands"), element("h3", null, "In Swift, in main.swift"),
            codeListing(swiftCode(app), "Copy the Swift code"),
            element("p", {class: "quiet"}, "The target’s dependencies in Package.swift:"),
            codeListing(packageCode, "Copy the dependencies")]};
}

// Secrets that were made elsewhere aren't known here.
function replacements({container, token, account, password}) {
    if (token !== "TOKEN" && password !== "PASSWORD") return null;
    const words = [
        token === "TOKEN" ? element("li", null, element("code", null, "TOKEN"), " with the token of your app; ",
            element("a", {href: scopeAddress(container, "development", "keys")}, "make another one"), ".") : null,
        password === "PASSWORD" ? element("li", null, element("code", null, "PASSWORD"), " with the password of ",
            element("a", {href: `/dashboard/people/${path(account)}`}, account), ".") : null];
    return [element("p", null, "Replace"), element("ul", {class: "bullets"}, words)];
}

function stepPart(step, isCurrent, reload) {
    const {title, isDone, text, fact, content, command} = step;
    const work = () => content?.() ?? (mayDo("administer") ? stepForm(step, reload) : commandCode(command));
    return element("li", {class: isDone ? "step done" : "step", "aria-current": isCurrent ? "step" : undefined},
        element("h3", null, title, isDone ? badge("Done", {state: "good"}) : null),
        isDone ? fact : element("p", {class: "quiet"}, text),
        isCurrent ? work() : null);
}

function stepForm({title, label, value, action, run}, reload) {
    const id = uniqueID("step");
    const failure = element("div", {hidden: true});
    const input = element("input", {class: "input", id, value, required: true, maxlength: 255, autocapitalize: "none",
        autocomplete: "off", spellcheck: "false"});
    const send = button(action, {className: "first", type: "submit"});
    const form = element("form", {class: "step-form", "aria-label": title, novalidate: true},
        element("div", {class: "control"}, element("label", {for: id}, label), input), send);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        whileBusy(send, async () => {
            failure.hidden = true;
            try {
                if (!input.value.trim()) return input.focus();
                await run(input.value.trim());
                announce(`Done: ${title}`);
                return await reload();
            } catch (error) {
                failure.hidden = false;
                return fill(failure, errorMessage(error, {level: "h4"}));
            }
        });
    });
    return [form, failure];
}
