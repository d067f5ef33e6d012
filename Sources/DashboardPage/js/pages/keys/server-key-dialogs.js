/** @file Dialogs that make and revoke server-to-server keys. */

import {path, post} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {saveFile} from "../../core/save-file.js";
import {serverKeyCode} from "../../parts/app-code.js";
import {environmentLabel} from "../../parts/badge.js";
import {button} from "../../parts/button.js";
import {codeListing, plainCode} from "../../parts/code.js";
import {control, options, setWrong} from "../../parts/control.js";
import {confirmDestroy, openDialog} from "../../parts/dialog.js";
import {formDialog} from "../../parts/form-dialog.js";
import {canMakePairs, makePair} from "../../parts/key-pair.js";
import {announce} from "../../parts/status.js";

const plain = {autocapitalize: "none", autocomplete: "off", spellcheck: "false"};

/** Asks for a name and a public key, or makes the pair in the browser. */
export async function addKey(page) {
    const name = control("Name", {...plain, required: true, maxlength: 255},
        {hint: "Name of the program that signs with the key: “jobs”."});
    const source = keySource(name.input);
    const made = await formDialog({
        signal: page.signal, title: "New server key", action: "Make the key",
        isProduction: page.environment === "production",
        children: [element("p", null, environmentLabel(page.environment), " Public database."), name, source.parts],
        run: async () => {
            setWrong(name.input, null);
            const text = name.input.value.trim();
            if (!text) return setWrong(name.input, "Type a name.");
            const pair = await source.pair();
            if (!pair) return undefined;
            const {key} = await post(`${path(page.container)}/keys/add`,
                {environment: page.environment, name: text, publicKey: pair.publicPEM});
            return {key, privatePEM: pair.privatePEM};
        },
    });
    if (!made) return;
    announce(`Key ${made.key.name} was made`);
    await page.reload();
    await showKey(made, page);
}

// Where the public half comes from. `pair` returns null when what was pasted is wrong.
function keySource(nameInput) {
    const command = element("div", {class: "section"});
    const show = () => command.replaceChildren(element("p", {class: "hint"},
        "These commands make the pair on your machine, and print the public half:"),
    codeListing(opensslCode(nameInput.value.trim()), "Copy the openssl commands"));
    show();
    nameInput.addEventListener("input", show);
    const text = control("Public key", {...plain, tag: "textarea", rows: 5, class: "mono",
        placeholder: "-----BEGIN PUBLIC KEY-----"});
    const pasted = element("div", {class: "section"}, command, text);
    const canMake = canMakePairs();
    const choice = canMake ? options("Pair of keys", [
        {value: "make", text: "Make it in this browser",
            note: "You save the private half as a file. It never reaches the server."},
        {value: "paste", text: "Paste a public key", note: "On the curve P-256, as PEM."},
    ], "make", {change: (value) => { pasted.hidden = value !== "paste"; }}) : null;
    pasted.hidden = canMake;
    const pair = async () => {
        setWrong(text.input, null);
        if (choice?.value === "make") return makePair();
        const publicPEM = text.input.value.trim();
        if (/-----BEGIN PUBLIC KEY-----/.test(publicPEM)) return {publicPEM: `${publicPEM}\n`, privatePEM: null};
        setWrong(text.input, /PRIVATE KEY/.test(publicPEM) ? "This is a private key. Paste the public half only."
            : "Paste the text that begins with -----BEGIN PUBLIC KEY-----.");
        return null;
    };
    return {parts: [choice, pasted], pair};
}

function opensslCode(name) {
    const file = fileName(name);
    return `openssl ecparam -name prime256v1 -genkey -noout -out ${file}\nopenssl ec -in ${file} -pubout`;
}

// A name may have any letters; a file's name gets plain ones.
function fileName(name) {
    return `${name.replace(/[^\w.-]+/g, "-").replace(/^[-.]+/, "") || "key"}.pem`;
}

async function showKey({key, privatePEM}, {container, signal}) {
    const keyFile = fileName(key.name);
    const save = privatePEM ? saveButton(privatePEM, keyFile) : null;
    const dialog = openDialog({
        title: `Key ${key.name}`, signal, isWide: true, canCancel: !privatePEM,
        children: [
            save ? element("p", null, "Save the private key now: only this page has it. Anyone with the file can read "
                + "and change all public records.") : null,
            save ? element("div", null, save) : null,
            element("h3", null, "Key ID"), plainCode(key.keyID, "Copy the key ID"),
            element("h3", null, "In a Swift program"),
            codeListing(serverKeyCode({container, environment: key.environment, keyID: key.keyID, keyFile}),
                "Copy the Swift code")],
        actions: button("Done", {className: save ? "" : "first", click: () => dialog.close()}),
    });
    await dialog.closed;
}

function saveButton(text, name) {
    return button(`Save ${name}`, {icon: "download", className: "first", click: () => {
        saveFile([text], name);
        announce(`${name} was handed to the browser`);
    }});
}

/** Asks before a key is revoked. */
export async function askRevoke({name, environment}, page) {
    const isDone = await confirmDestroy({
        title: `Revoke ${name}?`, action: `Revoke ${name}`, environment, signal: page.signal,
        where: "Programs that sign with this key.",
        children: element("p", null, "The server refuses them within a second. This can’t be undone."),
        typed: environment === "production"
            ? {text: name, label: ["Type the key’s name to confirm: ", element("code", null, name)]} : undefined,
        run: () => post(`${path(page.container)}/keys/revoke`, {environment, name}),
    });
    if (!isDone) return;
    announce(`Key ${name} was revoked`);
    await page.reload();
}
