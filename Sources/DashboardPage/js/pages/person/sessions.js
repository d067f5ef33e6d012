/** @file Sessions of an account: where from, with what, in which container. */

import {post} from "../../core/api.js";
import {element, fill} from "../../core/dom.js";
import {mayDo} from "../../core/state.js";
import {environmentLabel} from "../../parts/badge.js";
import {button, whileBusy} from "../../parts/button.js";
import {clientName} from "../../parts/client.js";
import {errorMessage} from "../../parts/message.js";
import {announce} from "../../parts/status.js";
import {table} from "../../parts/table.js";
import {exactTime, relativeTime} from "../../parts/time.js";

/**
 * Creates the table.
 * @param {any[]} sessions As `GET accounts/NAME` answers them.
 * @param {{name: string, reload: function(): Promise<any>}} page
 */
export function appSessions(sessions, page) {
    if (!sessions.length) return element("p", {class: "quiet"}, "The account is signed in nowhere.");
    const failure = element("div", {hidden: true});
    const columns = [
        {head: "Program", isName: true,
            cell: ({client}) => element("span", {class: "cut", title: client}, clientName(client))},
        {head: "Address", word: "address", className: "mono", cell: ({address}) => (address
            ? element("span", {class: "cut", title: address}, address) : null)},
        {head: "Container", word: "container", cell: ({container}) => element("span", {class: "cut", title: container},
            container)},
        {head: "Environment", word: "environment", cell: ({environment}) => environmentLabel(environment)},
        {head: "Signed in, UTC", word: "signed in, UTC", cell: (row) => element("span", {class: "two-lines slim"},
            exactTime(row.createdMilliseconds), element("small", {class: "quiet"}, "expires ",
                relativeTime(row.expiresMilliseconds)))},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => (mayDo("administer")
            ? endButton(row, page, failure) : null)},
    ];
    return [table({label: "Sessions", columns, rows: sessions, isPlain: true}), failure];
}

function endButton({session, client}, page, failure) {
    const target = button("End", {label: `End the session of ${clientName(client)}`, click: () => whileBusy(target,
        async () => {
            failure.hidden = true;
            try {
                await post("accounts/sessions/end", {name: page.name, session});
            } catch (error) {
                if (error.code !== "NOT_FOUND") {
                    failure.hidden = false;
                    return fill(failure, errorMessage(error, {level: "h3"}));
                }
            }
            announce("The session was ended");
            return page.reload();
        })});
    return target;
}
