/** @file API tokens of a container. */

import {get, path} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {mayDo} from "../../core/state.js";
import {environmentLabel} from "../../parts/badge.js";
import {iconButton} from "../../parts/button.js";
import {commandCode} from "../../parts/code.js";
import {curlWords, setCommands} from "../../parts/command.js";
import {empty, loadInto} from "../../parts/states.js";
import {loadingTable, table} from "../../parts/table.js";
import {exactTime} from "../../parts/time.js";
import {askEnvironment, askRevoke} from "./token-dialogs.js";

/** Shows the tab. */
export function showTokens(page) {
    const {container, parts, signal} = page;
    const words = ["--container", container];
    setCommands(parts.command, {
        commands: [["yap", "token", "list", ...words], ["yap", "token", "create", ...words, "--name", "NAME"],
            ["yap", "token", "revoke", ...words, "--name", "NAME"]],
        requests: [curlWords(`${path(container)}/tokens`)]});
    const columns = columnsOf(page);
    return loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "API tokens", columns, rowsCount: 3}),
        load: () => get(`${path(container)}/tokens`, null, {signal}),
        show: ({tokens}) => (tokens.length ? table({label: "API tokens", columns, rows: tokens})
            : empty("No tokens yet",
                element("p", {class: "quiet"}, "An app needs a token to reach this container."),
                commandCode(["yap", "token", "create", ...words, "--name", "my app"]))),
    });
}

function columnsOf(page) {
    return [
        {head: "Name", isName: true, cell: ({name}) => element("span", {class: "cut", title: name}, name)},
        {head: "Works in", word: "works in", cell: ({environment}) => element("span", {class: "tags"},
            environmentsOf(environment).map(environmentLabel))},
        {head: "Pages", word: "pages", cell: pages},
        {head: "Notes", word: "notes",
            cell: ({notes}) => (notes ? element("span", {class: "words-cell"}, notes) : null)},
        {head: "Made, UTC", word: "made, UTC", cell: (row) => exactTime(row.createdMilliseconds)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => (mayDo("administer")
            ? actions(row, page) : null)},
    ];
}

/** Returns the environments of a token: "both" is two. */
export function environmentsOf(environment) {
    return environment === "both" ? ["development", "production"] : [environment];
}

// Origins of web pages that may use the token, and where the sign-in page leads back to.
function pages({origins = [], callback}) {
    if (!origins.length && !callback) return null;
    return element("span", {class: "words-cell"}, origins.map((origin) => element("span", null, origin)),
        callback ? element("small", {class: "quiet"}, `callback ${callback}`) : null);
}

function actions(row, page) {
    return element("div", {class: "row-actions"},
        iconButton("edit", `Change the environments of ${row.name}`, {click: () => askEnvironment(row, page)}),
        iconButton("bin", `Revoke ${row.name}`, {click: () => askRevoke(row, page)}));
}
