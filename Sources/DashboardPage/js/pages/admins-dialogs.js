/** @file Dialogs of the page of administrators. */

import {post} from "../core/api.js";
import {element} from "../core/dom.js";
import {relative} from "../core/format.js";
import {button} from "../parts/button.js";
import {plainCode} from "../parts/code.js";
import {control, options, setWrong} from "../parts/control.js";
import {confirmDestroy, openDialog} from "../parts/dialog.js";
import {formDialog} from "../parts/form-dialog.js";
import {announce} from "../parts/status.js";

/** The roles, in the order of what they may do. */
export const roles = [
    {value: "look", text: "Look", note: "Sees data, schemas, accounts’ names and the audit log. Changes nothing."},
    {value: "change", text: "Change", note: "Also creates, edits and deletes records and zones."},
    {value: "administer", text: "Administer",
        note: "Also adds and removes administrators, and ends sessions of others."},
];

/** Asks for a name and a role, and shows the new administrator's link. */
export async function addAdministrator(page) {
    const name = control("Name", {autocapitalize: "none", autocomplete: "off", spellcheck: "false", required: true},
        {hint: "Letters, digits and . _ - @ +. Shown in the audit log."});
    const role = options("Role", roles, "look");
    const made = await formDialog({
        signal: page.signal, title: "New administrator", action: "Make the link",
        children: [name, role, element("p", {class: "hint"},
            "A link is shown next. It works once, for 10 minutes, and lets the person choose a password.")],
        run: async () => {
            setWrong(name.input, null);
            const text = name.input.value.trim();
            if (!text) return setWrong(name.input, "Type a name.");
            return post("administrators/add", {name: text, role: role.value});
        },
    });
    if (!made) return;
    await page.reload();
    await showLink(made.administrator.name, made, page);
}

/** Makes a new link, which replaces an earlier one, and shows it. */
export async function makeLink({name}, page) {
    await showLink(name, await post("administrators/link", {name}), page);
}

/** Asks for another role. */
export async function askRole({name, role}, page) {
    const choice = options("Role", roles, role);
    const done = await formDialog({
        signal: page.signal, title: `Role of ${name}`, action: "Change the role", children: choice,
        run: () => post("administrators/role", {name, role: choice.value}),
    });
    if (!done) return;
    announce(`${name} has the role ${done.administrator.role}`);
    await page.reload();
}

/** Asks before an administrator is removed. */
export async function askRemove({name}, page) {
    const isDone = await confirmDestroy({
        title: `Remove ${name}?`, action: `Remove ${name}`, signal: page.signal,
        children: element("p", null,
            "All sessions and links of this administrator end at once. The audit log keeps what they did."),
        run: () => post("administrators/remove", {name}),
    });
    if (!isDone) return;
    announce(`${name} was removed`);
    await page.reload();
}

function showLink(name, {link, expiresMilliseconds}, {signal}) {
    const dialog = openDialog({
        title: `Send this link to ${name}`, signal,
        children: [element("p", {class: "quiet"},
            `It works once and expires ${relative(expiresMilliseconds)}. It isn’t shown again.`),
            plainCode(link, "Copy the link")],
        actions: button("Done", {className: "first", click: () => dialog.close()}),
    });
    return dialog.closed;
}
