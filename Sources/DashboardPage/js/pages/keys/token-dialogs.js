/** @file Dialogs that make, change and revoke API tokens. */

import {path, post} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {curlCode, packageCode, swiftCode} from "../../parts/app-code.js";
import {environmentLabel} from "../../parts/badge.js";
import {codeListing} from "../../parts/code.js";
import {control, options, setWrong} from "../../parts/control.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {formDialog} from "../../parts/form-dialog.js";
import {showSecret} from "../../parts/secret-dialog.js";
import {announce} from "../../parts/status.js";

const plain = {autocapitalize: "none", autocomplete: "off", spellcheck: "false"};
const environments = [
    {value: "development", text: "Development", note: "For builds that you try out."},
    {value: "production", text: "Production", note: "For released apps: the token gives access to nothing else."},
    {value: "both", text: "Both", note: "For an app that changes between them."},
];

/** Asks for a new token, and shows it once with the code that uses it. */
export async function addToken(page) {
    const name = control("Name", {...plain, required: true, maxlength: 255}, {hint: "As the app’s: “todo app”."});
    const environment = options("Works in", environments, page.environment);
    const origins = control("Origins of web pages", {...plain, tag: "textarea", rows: 2},
        {hint: "One a line, as https://todo.example.com. Without one, users can’t sign in on a page with this token."});
    const callback = control("Callback", {...plain, inputmode: "url"},
        {hint: "The sign-in page leads to this address with the user’s token."});
    const notes = control("Notes", {autocomplete: "off", maxlength: 1000});
    const web = element("details", {class: "fold"}, element("summary", null, "For web pages, and notes"),
        origins, callback, notes);
    const made = await formDialog({
        signal: page.signal, title: "New API token", action: "Make the token", children: [name, environment, web],
        run: () => {
            setWrong(name.input, null);
            const text = name.input.value.trim();
            if (!text) return setWrong(name.input, "Type a name.");
            return post(`${path(page.container)}/tokens/add`, body(text, {environment, origins, callback, notes}));
        },
    });
    if (!made) return;
    announce(`Token ${made.entry.name} was made`);
    await page.reload();
    await showToken(made, page);
}

function body(name, {environment, origins, callback, notes}) {
    const list = origins.input.value.split(/\s+/).filter(Boolean);
    return {name, environment: environment.value, ...(list.length ? {origins: list} : {}),
        ...(callback.input.value.trim() ? {callback: callback.input.value.trim()} : {}),
        ...(notes.input.value.trim() ? {notes: notes.input.value.trim()} : {})};
}

function showToken({token, entry}, {container, signal}) {
    const environment = entry.environment === "production" ? "production" : "development";
    const app = {container, environment, token, account: "ann", password: "PASSWORD"};
    return showSecret({
        title: `Token of ${entry.name}`, signal, secret: token, label: "Copy the token", isWide: true,
        text: "It isn’t shown again: the server keeps only a digest of it.",
        more: [element("p", {class: "quiet"},
            "These lines save a first record. Replace ann and PASSWORD with an account of yours."),
        element("h3", null, "In Swift"), codeListing(swiftCode(app), "Copy the Swift code"),
        element("p", {class: "quiet"}, "The target’s dependencies in Package.swift:"),
        codeListing(packageCode, "Copy the dependencies"),
        element("h3", null, "With curl"), codeListing(curlCode(app), "Copy the curl commands")],
    });
}

/** Asks in which environments a token works from now on. */
export async function askEnvironment({name, environment}, page) {
    const choice = options("Works in", environments, environment);
    const done = await formDialog({
        signal: page.signal, title: `Environments of ${name}`, action: "Change the environments",
        children: [choice, element("p", {class: "hint"},
            "Apps that use the token in another environment are refused within a second.")],
        run: () => post(`${path(page.container)}/tokens/change`, {name, environment: choice.value}),
    });
    if (!done) return;
    announce(`Token ${name} was changed`);
    await page.reload();
}

/** Asks before a token is revoked. */
export async function askRevoke({name, environment}, page) {
    const isProduction = environment !== "development";
    const isDone = await confirmDestroy({
        title: `Revoke ${name}?`, action: `Revoke ${name}`, signal: page.signal,
        environment: isProduction ? "production" : "development",
        where: environment === "both" ? [environmentLabel("development"), " Apps with this token, in both."]
            : "Apps with this token.",
        children: element("p", null, "The server refuses them within a second, until they get another token. "
            + "This can’t be undone."),
        typed: isProduction ? {text: name, label: ["Type the token’s name to confirm: ", element("code", null, name)]}
            : undefined,
        run: () => post(`${path(page.container)}/tokens/revoke`, {name}),
    });
    if (!isDone) return;
    announce(`Token ${name} was revoked`);
    await page.reload();
}
