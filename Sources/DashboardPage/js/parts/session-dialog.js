/** @file The dialog over the page when the session has ended. What was typed in the page stays. */

import {post} from "../core/api.js";
import {element} from "../core/dom.js";
import {currentSession, forget, setSession} from "../core/state.js";
import {button} from "./button.js";
import {control} from "./control.js";
import {openDialog} from "./dialog.js";
import {signInForm} from "./sign-in-form.js";

/** Opens the dialog, and resolves once the same administrator has signed in again. */
export async function openSessionDialog() {
    const name = currentSession()?.administrator?.name ?? "";
    const leave = button("Leave the page", {className: "bare", click: () => leavePage()});
    const nameControl = control("Name", {name: "name", autocomplete: "username", autocapitalize: "none",
        spellcheck: "false", value: name, readonly: Boolean(name), required: true});
    const form = signInForm({nameControl, signIn: (body) => post("session", body, null, {signsIn: false}),
        before: [leave]});
    const dialog = openDialog({
        title: "Your session has ended", canCancel: false, submit: () => form.submit((session) => {
            setSession(session);
            dialog.close(session);
        }),
        children: [element("p", {class: "quiet"}, "Sign in again to go on. What you typed is kept in the page behind."),
            form.notice, nameControl, form.passwordControl],
        actions: form.actions,
    });
    form.passwordControl.input.focus();
    await dialog.closed;
}

// The session has ended on the server already. Loading anew forgets all that is shown.
function leavePage() {
    forget();
    location.assign("/dashboard/sign-in");
}
