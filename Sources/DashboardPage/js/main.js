/** @file The start of the page. */

import {get, queryText, whenSessionExpired} from "./core/api.js";
import {element, fill} from "./core/dom.js";
import {go, reload, start} from "./core/router.js";
import {currentSession, setSession} from "./core/state.js";
import {barsElement} from "./parts/bars.js";
import {showDoor, showFrame} from "./parts/frame.js";
import {errorMessage} from "./parts/message.js";
import {openSessionDialog} from "./parts/session-dialog.js";

whenSessionExpired(openSessionDialog);
document.body.append(barsElement());
start({prepare, failed});

async function prepare(route) {
    if (route.kind === "door") return {main: showDoor(), session: currentSession()};
    if (!currentSession() && !await loadSession()) {
        const to = route.pathname === "/dashboard" && !location.search ? null : route.pathname + location.search;
        await go(`/dashboard/sign-in${queryText({to})}`, {replace: true});
        return null;
    }
    return {main: showFrame(route), session: currentSession()};
}

async function loadSession() {
    try {
        setSession(await get("session", null, {signsIn: false}));
        return true;
    } catch (error) {
        if (error.code === "AUTHENTICATION_REQUIRED") return false;
        throw error;
    }
}

// A page that fails leaves the frame and the other pages usable.
function failed(error, route) {
    console.error(error);
    const main = document.getElementById("main") ?? (route.kind === "door" ? showDoor() : showFrame(route));
    const title = element("h1", {tabindex: "-1"}, "This page can’t be shown");
    fill(main, element("div", {class: "sheet"}, element("div", {class: "head"}, element("div", null, title)),
        element("div", {class: "body narrow"}, errorMessage(error, {retry: reload}))));
    document.title = "Error · Yap";
    title.focus();
}
