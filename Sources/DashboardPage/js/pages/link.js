/** @file The page of a one-time link. The secret is in the fragment, which no server and no log sees. */

import {post} from "../core/api.js";
import {element, fill, icon} from "../core/dom.js";
import {go} from "../core/router.js";
import {forget, setSession} from "../core/state.js";
import {linkButton} from "../parts/button.js";
import {reasonOf} from "../parts/message.js";
import {doorTop} from "./sign-in.js";

/** Shows the page, and signs in. */
export async function show({main, setTitle}) {
    const secret = decodeURIComponent(location.hash.slice(1));
    // The secret leaves the address and the history before anything else happens.
    history.replaceState(history.state, "", location.pathname);
    setTitle("One-time link");
    forget();
    if (!secret) return refused(main, "The link is incomplete", "The part after # is missing. Copy the whole link.");
    fill(main, doorTop(), element("form", {"aria-busy": "true"}, element("h1", null, "Signing in"),
        element("p", {class: "quiet", role: "status"}, "The link is being checked.")));
    try {
        setSession(await post("session", {link: secret}, null, {signsIn: false}));
    } catch (error) {
        if (error.code !== "AUTHENTICATION_FAILED") return refused(main, "Signing in failed", reasonOf(error));
        return refused(main, "This link doesn’t work",
            "It was used already, it is older than 10 minutes, or a newer one replaced it.");
    }
    return go("/dashboard/password", {replace: true});
}

function refused(main, title, text) {
    const heading = element("h1", {tabindex: "-1"}, title);
    fill(main, doorTop(), element("form", null, heading,
        element("div", {class: "message warn", role: "alert"}, icon("warn"), element("p", null, text)),
        element("p", {class: "quiet"}, "Another administrator can make a new link on the page Admins, or run ",
            element("code", null, "yap admin link NAME"), " on the server."),
        linkButton("Sign in with a password", "/dashboard/sign-in", {className: "wide"})));
    heading.focus();
}
