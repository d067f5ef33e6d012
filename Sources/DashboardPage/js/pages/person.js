/** @file One account: the person, its data in each container, its sessions and devices. */

import {get, path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {loadContainers, mayDo} from "../core/state.js";
import {fullName} from "../parts/account-list.js";
import {button, iconButton, whileBusy} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {keepFocus} from "../parts/focus.js";
import {message} from "../parts/message.js";
import {section, sheet} from "../parts/sheet.js";
import {elsewhere, empty, guarded, loadInto, skeleton} from "../parts/states.js";
import {bothTimes} from "../parts/time.js";
import {askPassword, askPerson} from "./people-dialogs.js";
import {accountBadges} from "./people.js";
import {askDelete, askDisable, askEndAll, enable} from "./person/dialogs.js";
import {containersPart} from "./person/containers.js";
import {devicesPart} from "./person/devices.js";
import {appSessions} from "./person/sessions.js";

/** Shows the page. */
export async function show(context) {
    const {main, params: {name}, setTitle} = context;
    const page = {...context, name, title: element("span", {class: "with-badges"}, name), note: element("span"),
        actions: element("div", {class: "actions"}), body: element("div", {class: "body"}),
        failure: element("div", {hidden: true})};
    page.reload = () => keepFocus(main, () => load(page));
    fill(main, sheet({title: page.title, note: page.note, actions: page.actions,
        above: element("a", {href: "/dashboard/people"}, "People")},
    page.body, commandPart({commands: [["yap", "account", "sessions", name], ["yap", "account", "password", name],
        ["yap", "account", "disable", name], ["yap", "account", "delete", name]],
    requests: [curlWords(`accounts/${path(name)}`)]})));
    setTitle(name);
    await load(page);
}

function load(page) {
    const {signal, name} = page;
    return loadInto(page.body, {
        signal, waiting: () => [skeleton(), skeleton(true)],
        load: async () => {
            const [answer, containers] = await Promise.all([account(name, signal), loadContainers({signal})]);
            return {...answer, made: containers};
        },
        show: (answer) => content(page, answer),
    });
}

// An account that doesn't exist is no failure of the page.
async function account(name, signal) {
    try {
        return await get(`accounts/${path(name)}`, null, {signal});
    } catch (error) {
        if (error.code === "NOT_FOUND") return {account: null};
        throw error;
    }
}

function content(page, answer) {
    if (!answer.account) return missing(page);
    page.account = answer.account;
    fill(page.title, element("span", null, answer.account.name), accountBadges(answer.account));
    fill(page.note, fullName(answer.account));
    fill(page.actions, mayDo("administer") ? actions(page) : null);
    const end = mayDo("administer") && answer.sessions.length
        ? button("End all sessions", {click: () => askEndAll(page)}) : null;
    return [page.failure, answer.account.isDisabled ? disabledMessage(page) : null,
        facts(answer.account),
        section("containers", "Data", {note: "The record name of the user, and its private data, in each container."},
            containersPart(answer)),
        section("sessions", "Sessions", {note: answer.sessionsAreCapped ? "The newest 100." : ""},
            appSessions(answer.sessions, page), end ? element("div", null, end) : null),
        section("devices", "Devices", {note: "Places that push notifications go to."}, devicesPart(answer, page))];
}

function missing(page) {
    fill(page.actions);
    return empty("Account not found", element("p", {class: "quiet"}, "No account has the name ",
        element("code", null, page.name), ". It may have been deleted."),
    elsewhere([{address: "/dashboard/people", icon: "people", text: "All accounts"}]));
}

function actions(page) {
    const {account: {name, isDisabled}} = page;
    const off = button("Disable", {click: () => askDisable(page)});
    return [button("Edit", {icon: "edit", className: "shrink", click: () => askPerson(page.account, page)}),
        button("New password", {icon: "key", className: "shrink", click: () => askPassword(page.account, page)}),
        isDisabled ? null : off,
        iconButton("bin", `Delete ${name}`, {click: () => askDelete(page)})];
}

function disabledMessage(page) {
    const on = button("Enable the account", {click: () => whileBusy(on, () => guarded(page, () => enable(page)))});
    return message("warn", "This account is disabled", {},
        element("p", null, "It can’t sign in. Its data and its password are kept."),
        mayDo("administer") ? element("div", {class: "actions"}, on) : null);
}

function facts({givenName, familyName, email, isDeveloper, createdMilliseconds}) {
    const rows = [["Given name", givenName], ["Family name", familyName], ["Email", email],
        ["Development", isDeveloper ? "always, as a developer" : "where the server lets everyone"],
        ["Made", bothTimes(createdMilliseconds)]];
    return element("dl", {class: "facts"}, rows.map(([word, value]) => element("div", null, element("dt", null, word),
        element("dd", {class: value ? "" : "quiet"}, value || "—"))));
}
