/** @file The page that asks for a password after a sign-in with a link. */

import {get} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {go} from "../core/router.js";
import {currentSession, setSession} from "../core/state.js";
import {linkButton} from "../parts/button.js";
import {passwordForm} from "../parts/password-form.js";
import {doorTop} from "./sign-in.js";

/** Shows the page. */
export async function show({main, setTitle, signal}) {
    setTitle("Choose a password");
    if (!currentSession() && !await loadSession(signal)) return go("/dashboard/sign-in", {replace: true});
    const {administrator, beganWithLink = true} = currentSession();
    const form = passwordForm({
        action: "Save the password", isWide: true, asksCurrent: administrator.hasPassword && !beganWithLink,
        before: element("div", {class: "section"}, element("h1", null, "Choose your password"),
            element("p", {class: "quiet"},
                `You are signed in with the role ${administrator.role}. The link is used up now.`)),
        saved: () => go("/dashboard", {replace: true}),
        extra: linkButton("Not now", "/dashboard", {className: "bare wide"}),
    });
    fill(main, doorTop(), form, element("p", null, "Without a password the next sign-in needs another link."));
    form.querySelector("[autocomplete=new-password]").focus();
    return undefined;
}

async function loadSession(signal) {
    try {
        setSession(await get("session", null, {signal, signsIn: false}));
        return true;
    } catch (error) {
        if (error.code === "AUTHENTICATION_REQUIRED") return false;
        throw error;
    }
}
