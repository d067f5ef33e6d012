/** @file Accounts of a container to choose from: by the beginning of a name, 50 at a time. */

import {element, fill} from "../core/dom.js";
import {isAbort} from "../core/api.js";
import {button, whileBusy} from "./button.js";
import {errorMessage} from "./message.js";

const pauseMilliseconds = 200;

/** Returns an account's full name, if it has one. */
export function fullName({givenName, familyName}) {
    return [givenName, familyName].filter(Boolean).join(" ");
}

/**
 * Creates a search box with the accounts that it finds. `part.input` is the box.
 * @param {{load: function({named?: string, after?: string}): Promise<any>, className: string, entry: function(any):
 *     Node}} options
 *     `load` returns `{accounts, after}`, `entry` the list item of an account.
 */
export function accountList({load: loadPage, className, entry}) {
    const input = element("input", {class: "input", type: "search",
        "aria-label": "Find an account by the beginning of its name",
        placeholder: "Beginning of a name", autocomplete: "off", spellcheck: "false"});
    const list = element("ul", {class: className});
    const status = element("p", {class: "quiet hint", role: "status"});
    const rest = element("div");
    let [timer, round] = [null, 0];
    const load = async (after) => {
        round += 1;
        const mine = round;
        try {
            const query = {...(input.value.trim() ? {named: input.value.trim()} : {}), ...(after ? {after} : {})};
            const answer = await loadPage(query);
            if (mine !== round) return;
            const items = answer.accounts.map(entry);
            if (after) list.append(...items);
            else fill(list, items);
            list.hidden = list.children.length === 0;
            status.textContent = list.children.length > 0 ? "" : input.value.trim()
                ? "No account’s name begins like this."
                : "This container has no accounts yet.";
            const more = answer.after === null ? null : button("Show 50 more", {click: () => whileBusy(more,
                () => load(answer.after))});
            fill(rest, more);
        } catch (error) {
            if (isAbort(error) || mine !== round) return;
            fill(rest, errorMessage(error, {level: "h3", retry: () => load(after)}));
        }
    };
    input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => load(null), pauseMilliseconds);
    });
    const part = element("div", {class: "account-list"}, input, status, list, rest);
    load(null);
    return Object.assign(part, {input});
}
