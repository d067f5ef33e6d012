/** @file A new password, typed twice. */

import {post} from "../core/api.js";
import {element, fill, svg, uniqueID} from "../core/dom.js";
import {duration, plural} from "../core/format.js";
import {currentSession, setSession} from "../core/state.js";
import {button, whileBusy} from "./button.js";
import {control, setWrong} from "./control.js";
import {errorMessage} from "./message.js";

const charactersMin = 10;
const bytesMax = 1024;

/**
 * Creates the form.
 * @param {{action: string, saved: function(): any, asksCurrent?: boolean, before?: any, isWide?: boolean,
 *     extra?: any}} options
 *     `action` is the button's text, `before` stands above the inputs, `extra` below the button.
 */
export function passwordForm({action, saved, asksCurrent, before, isWide, extra}) {
    const name = nameControl(isWide);
    const current = asksCurrent ? control("Present password", {type: "password", autocomplete: "current-password"})
        : null;
    const meter = meterPart();
    const fresh = control("New password", {type: "password", autocomplete: "new-password", on: {
        input: () => meter.update(fresh.input.value),
    }});
    fresh.input.setAttribute("aria-describedby", meter.id);
    const again = control("New password again", {type: "password", autocomplete: "new-password"});
    const failure = element("div", {hidden: true});
    const send = button(action, {type: "submit", className: isWide ? "first wide" : "first"});
    const form = element("form", {class: "section", novalidate: true}, before, name, current, fresh, meter.part,
        again, failure, isWide ? send : element("div", null, send), extra);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        whileBusy(send, () => submit({current, fresh, again, failure, saved}));
    });
    return form;
}

// Password managers need the name in the form, also where the page shows it already.
function nameControl(isShown) {
    const value = currentSession().administrator.name;
    if (isShown) return control("Name", {autocomplete: "username", readonly: true, value});
    return element("input", {class: "hidden", autocomplete: "username", readonly: true, value, tabindex: "-1",
        "aria-hidden": "true"});
}

async function submit({current, fresh, again, failure, saved}) {
    failure.hidden = true;
    const inputs = [current, fresh, again].filter(Boolean).map((part) => part.input);
    for (const input of inputs) setWrong(input, null);
    const password = fresh.input.value;
    const short = problem(password);
    if (short) return setWrong(fresh.input, short);
    if (again.input.value !== password) return setWrong(again.input, "The two passwords differ.");
    try {
        const body = current?.input.value ? {password, current: current.input.value} : {password};
        setSession(await post("session/password", body));
        for (const input of inputs) input.value = "";
        return await saved();
    } catch (error) {
        const wrong = current ? currentProblem(error) : null;
        if (wrong) return setWrong(current.input, wrong);
        failure.hidden = false;
        fill(failure, errorMessage(error, {level: "h3"}));
    }
    return undefined;
}

function currentProblem({code, retryAfterSeconds}) {
    if (code === "AUTHENTICATION_FAILED") return "The present password is wrong.";
    return code === "THROTTLED" ? `Too many failed attempts. Try again in ${duration(retryAfterSeconds ?? 30)}.` : null;
}

function problem(password) {
    const length = [...password].length;
    if (length < charactersMin) return `A password has ${charactersMin} characters at least; this one has ${length}.`;
    if (new TextEncoder().encode(password).length > bytesMax) return "This password is too long.";
    return null;
}

function meterPart() {
    const id = uniqueID("strength");
    const filled = svg("rect", {class: "fill", width: 0, height: 2, rx: 1});
    const hint = element("p", {class: "hint", id}, `At least ${charactersMin} characters. A long sentence is fine.`);
    const part = element("div", {class: "control"}, svg("svg", {class: "strength", viewBox: "0 0 100 2",
        preserveAspectRatio: "none", "aria-hidden": "true"},
    svg("rect", {class: "back", width: 100, height: 2, rx: 1}), filled), hint);
    const update = (password) => {
        const length = [...password].length;
        filled.setAttribute("width", Math.min(100, length * 4));
        part.classList.toggle("short", length < charactersMin);
        hint.textContent = length < charactersMin
            ? `Too short: ${plural(length, "character")} of at least ${charactersMin}.`
            : `Long enough: ${plural(length, "character")}. The minimum is ${charactersMin}.`;
    };
    return {id, part, update};
}
