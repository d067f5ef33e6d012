/** @file One's own account: sessions, appearance, password. */

import {get, post} from "../core/api.js";
import {element, fill, uniqueID} from "../core/dom.js";
import {currentSession, forget} from "../core/state.js";
import {setTheme, theme} from "../core/theme.js";
import {button, whileBusy} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {errorMessage} from "../parts/message.js";
import {passwordForm} from "../parts/password-form.js";
import {newestFirst, sessionsTable} from "../parts/sessions-table.js";
import {section, sheet} from "../parts/sheet.js";
import {loadInto, skeleton} from "../parts/states.js";
import {announce} from "../parts/status.js";

/** Shows the page. */
export async function show(context) {
    const {main, setTitle} = context;
    const {administrator} = currentSession();
    const failure = element("div", {hidden: true});
    const out = button("Sign out", {icon: "out", click: () => whileBusy(out, () => signOut(failure))});
    const list = element("div", {class: "section"});
    fill(main, sheet({title: administrator.name, note: `Role: ${administrator.role}`, actions: out},
        element("div", {class: "body narrow"}, failure,
            section("sessions", "Sessions",
                {note: "A session ends after 12 hours without a request, or after 30 days."}, list),
            section("look", "Appearance", {}, themeChoice()),
            passwordSection(context, list)),
        commandPart({commands: [["yap", "admin", "password", administrator.name]],
            requests: [curlWords("sessions")]})));
    setTitle("Account");
    await loadSessions(context, list);
}

function loadSessions(context, list) {
    const {signal} = context;
    return loadInto(list, {
        signal, waiting: () => [skeleton(), skeleton(true)],
        load: () => get("sessions", null, {signal}),
        show: ({sessions}) => {
            const name = currentSession().administrator.name;
            const own = newestFirst(sessions.filter((one) => one.administrator === name));
            const others = own.filter((one) => !one.isCurrent);
            const reload = () => loadSessions(context, list);
            const all = button("End all other sessions", {click: () => whileBusy(all, () => endAll(others, reload))});
            return [sessionsTable(own, {label: "Sessions", ended: reload}),
                others.length ? element("div", null, all) : null];
        },
    });
}

async function endAll(sessions, reload) {
    for (const {session} of sessions) {
        await post("sessions/end", {session}).catch((error) => { if (error.code !== "NOT_FOUND") throw error; });
    }
    announce("The other sessions were ended");
    await reload();
}

function themeChoice() {
    const name = uniqueID("theme");
    const choices = [["auto", "As the system"], ["light", "Light"], ["dark", "Dark"]];
    return element("fieldset", {class: "control"}, element("legend", null, "Theme"), element("div", {class: "actions"},
        choices.map(([value, text]) => element("label", {class: "option"}, element("input", {type: "radio", name, value,
            checked: theme() === value, on: {change: () => setTheme(value)}}), text))));
}

function passwordSection(context, list) {
    const {administrator, beganWithLink} = currentSession();
    const asksCurrent = administrator.hasPassword && !beganWithLink;
    const part = section("password", "Password", {note: "Another password ends all other sessions."});
    part.append(passwordForm({
        action: administrator.hasPassword ? "Change the password" : "Save the password", asksCurrent,
        saved: async () => {
            announce("The password was changed");
            const done = element("p", {class: "good", role: "status"},
                "The password was changed. All other sessions have ended.");
            part.replaceWith(passwordSection(context, list));
            document.getElementById("password").closest("section").append(done);
            await loadSessions(context, list);
        },
    }));
    return part;
}

async function signOut(failure) {
    try {
        await post("session/end", {}, null, {signsIn: false});
    } catch (error) {
        if (error.code !== "AUTHENTICATION_REQUIRED") {
            failure.hidden = false;
            fill(failure, errorMessage(error));
            return;
        }
    }
    forget();
    // Loading anew forgets all data that the page has in memory.
    location.assign("/dashboard/sign-in");
}
