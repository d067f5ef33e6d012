/** @file Dialogs that make an account, and give it a password. */

import {post} from "../core/api.js";
import {element} from "../core/dom.js";
import {control, options, setWrong, tick} from "../parts/control.js";
import {formDialog} from "../parts/form-dialog.js";
import {showSecret} from "../parts/secret-dialog.js";
import {announce} from "../parts/status.js";

const plain = {autocapitalize: "none", autocomplete: "off", spellcheck: "false"};
const charactersMin = 8;
const developerHint = "Lets the account use the development environment of a server that reserves it for developers.";

/** Asks for a new account, makes it, and shows its password where one was made up. */
export async function addAccount(page) {
    const name = control("Name", {...plain, required: true, maxlength: 255},
        {hint: "For signing in. Letters, digits and . _ - @ +; upper and lower case are the same."});
    const person = personControls({});
    const password = passwordChoice();
    const made = await formDialog({
        signal: page.signal, title: "New account", action: "Make the account",
        children: [name, person.parts, password.parts],
        run: () => {
            setWrong(name.input, null);
            const text = name.input.value.trim();
            if (!text) return setWrong(name.input, "Type a name.");
            if (!password.isRight()) return undefined;
            return post("accounts/add", {name: text, ...withoutEmpty(person.values()), ...password.values()});
        },
    });
    if (!made) return;
    announce(`Account ${made.account.name} was made`);
    await page.reload();
    await showPassword(made.account.name, made.password, page);
}

/** Asks for a new password, sets it, and shows it where it was made up. */
export async function askPassword({name}, page) {
    const password = passwordChoice();
    const done = await formDialog({
        signal: page.signal, title: `New password for ${name}`, action: "Set the password",
        children: [element("p", {class: "quiet"},
            "All sessions of the account end, and its devices have to sign in again."), password.parts],
        run: () => (password.isRight() ? post("accounts/password", {name, ...password.values()}) : undefined),
    });
    if (!done) return;
    announce(`The password of ${name} was changed`);
    await page.reload();
    await showPassword(name, done.password, page);
}

/** Asks for the names, address and rights of an account. */
export async function askPerson(account, page) {
    const person = personControls(account);
    const done = await formDialog({
        signal: page.signal, title: `Edit ${account.name}`, action: "Save", children: person.parts,
        run: () => post("accounts/change", {name: account.name, ...person.values()}),
    });
    if (!done) return;
    announce(`Account ${account.name} was changed`);
    await page.reload();
}

async function showPassword(name, password, {signal}) {
    if (!password) return;
    await showSecret({title: `Password of ${name}`, signal, secret: password, label: "Copy the password",
        text: "Give it to the person. It isn’t shown again: the server keeps only a digest of it."});
}

function personControls({givenName, familyName, email, isDeveloper}) {
    const given = control("Given name", {autocomplete: "off", value: givenName ?? ""});
    const family = control("Family name", {autocomplete: "off", value: familyName ?? ""});
    const address = control("Email", {...plain, inputmode: "email", value: email ?? ""},
        {hint: "Other users find the person by it, if the person lets them."});
    const developer = tick("Developer", {isChecked: isDeveloper, hint: developerHint});
    const values = () => ({givenName: given.input.value.trim(), familyName: family.input.value.trim(),
        email: address.input.value.trim(), isDeveloper: developer.input.checked});
    return {parts: [element("div", {class: "two"}, given, family), address, developer], values};
}

function passwordChoice() {
    // No password input: the browser would offer to keep it in place of the administrator's own.
    const own = control("Password", {...plain, class: "mono"}, {hint: `At least ${charactersMin} characters.`});
    own.hidden = true;
    const choice = options("Password", [
        {value: "made", text: "Make one up", note: "It is shown once, next."},
        {value: "own", text: "Type one", note: "You give it to the person yourself."},
    ], "made", {change: (value) => {
        own.hidden = value !== "own";
        if (!own.hidden) own.input.focus();
    }});
    const isRight = () => {
        setWrong(own.input, null);
        if (choice.value !== "own" || [...own.input.value].length >= charactersMin) return true;
        setWrong(own.input, `A password has ${charactersMin} characters at least.`);
        return false;
    };
    return {parts: [choice, own], isRight, values: () => (choice.value === "own" ? {password: own.input.value} : {})};
}

function withoutEmpty(values) {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}
