/** @file Name and password: the same on the sign-in page and in the dialog over a page. */

import {element, fill} from "../core/dom.js";
import {duration} from "../core/format.js";
import {button, setButtonText, whileBusy} from "./button.js";
import {control, setWrong} from "./control.js";
import {message, reasonOf} from "./message.js";

/**
 * Creates the parts of the form.
 * @param {{nameControl: HTMLElement, signIn: function(Object): Promise<Object>, before?: any[],
 *     isWide?: boolean}} options
 * @returns {{notice: HTMLElement, passwordControl: HTMLElement, actions: any[],
 *     submit: function(function(Object): any): any}}
 *     `submit(done)` sends the form, and calls `done` with the new session.
 */
export function signInForm({nameControl, signIn, before = [], isWide}) {
    const notice = element("div", {class: "notice", hidden: true});
    const passwordControl = control("Password", {name: "password", type: "password", autocomplete: "current-password",
        required: true});
    const send = button("Sign in", {className: isWide ? "first wide" : "first", type: "submit"});
    const form = {notice, send, nameControl, passwordControl, signIn, timer: null};
    return {notice, passwordControl, actions: [...before, send], submit: (done) => submit(form, done)};
}

async function submit(form, done) {
    const {nameControl, passwordControl, send, notice} = form;
    if (send.disabled) return;
    setWrong(nameControl.input, null);
    setWrong(passwordControl.input, null);
    const name = nameControl.input.value.trim();
    const password = passwordControl.input.value;
    if (!name) return void setWrong(nameControl.input, "Type your name.");
    if (!password) return void setWrong(passwordControl.input, "Type your password.");
    await whileBusy(send, async () => {
        try {
            const session = await form.signIn({name, password});
            notice.hidden = true;
            await done(session);
        } catch (error) {
            failed(form, error);
        }
    });
}

function failed(form, error) {
    const {passwordControl, notice} = form;
    passwordControl.input.value = "";
    if (error.code === "AUTHENTICATION_FAILED") {
        setWrong(passwordControl.input, "The name or the password is wrong.");
    } else if (error.code === "THROTTLED") {
        waitFor(form, error.retryAfterSeconds ?? 30);
    } else {
        notice.hidden = false;
        fill(notice, message("bad", "Signing in failed", {role: "alert"}, element("p", null, reasonOf(error))));
    }
}

function waitFor(form, seconds) {
    const {send, notice, passwordControl} = form;
    const end = Date.now() + seconds * 1000;
    const title = element("span");
    const box = message("warn", title, {}, element("p", null,
        "There were too many failed attempts for this name or from this address. Each further one has to wait longer. ",
        "No account is locked."));
    const tick = () => {
        const left = Math.ceil((end - Date.now()) / 1000);
        if (left > 0) {
            fill(title, `Try again in ${duration(left)}`);
            setButtonText(send, `Sign in (${duration(left)})`);
            return;
        }
        clearInterval(form.timer);
        notice.hidden = true;
        send.disabled = false;
        send.classList.add("first");
        setButtonText(send, "Sign in");
        passwordControl.input.focus();
    };
    clearInterval(form.timer);
    fill(notice, box);
    notice.hidden = false;
    send.disabled = true;
    send.classList.remove("first");
    form.timer = setInterval(tick, 500);
    tick();
}
