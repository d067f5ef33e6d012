/** @file The sign-in page. */

import {post} from "../core/api.js";
import {element, fill, fileAddress, icon, svg} from "../core/dom.js";
import {go, isOurs} from "../core/router.js";
import {forget, setSession} from "../core/state.js";
import {control} from "../parts/control.js";
import {signInForm} from "../parts/sign-in-form.js";

/** Shows the page. */
export async function show({main, query, setTitle}) {
    setTitle("Sign in");
    forget();
    const nameControl = control("Name", {name: "name", autocomplete: "username", autocapitalize: "none",
        spellcheck: "false", required: true});
    const parts = signInForm({nameControl, isWide: true,
        signIn: (body) => post("session", body, null, {signsIn: false})});
    const form = element("form", {novalidate: true, "aria-labelledby": "title"},
        element("h1", {id: "title"}, "Sign in"),
        parts.notice, nameControl, parts.passwordControl, parts.actions);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        parts.submit((session) => signedIn(session, query.get("to")));
    });
    fill(main, doorTop(), form, element("p", null, "Administrators of ", element("strong", null, location.host),
        " sign in here. An app’s account can’t sign in here. Forgotten password: run ",
        element("code", null, "yap admin link NAME"), " on the server."));
    nameControl.input.focus();
}

// Goes to the address that was asked for first.
async function signedIn(session, to) {
    setSession(session);
    await go(safeAddress(to), {replace: true});
}

/** Creates the drawing and the name above the forms outside the frame. */
export function doorTop() {
    return [svg("svg", {class: "voice", "aria-hidden": "true"},
        svg("use", {href: `${fileAddress("icons.svg")}#voice`})),
        element("p", {class: "brand"}, icon("mark", "mark"), "Yap")];
}

// Returns an address of the dashboard, whatever came in the query.
function safeAddress(to) {
    if (!to) return "/dashboard";
    try {
        const url = new URL(to, location.origin);
        const isUsable = url.origin === location.origin && isOurs(url.pathname)
            && !url.pathname.startsWith("/dashboard/sign-in");
        return isUsable ? url.pathname + url.search : "/dashboard";
    } catch {
        return "/dashboard";
    }
}
