/** @file Server-to-server keys of an environment. */

import {get, path} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {middleCut, plural} from "../../core/format.js";
import {mayDo} from "../../core/state.js";
import {environmentLabel} from "../../parts/badge.js";
import {iconButton} from "../../parts/button.js";
import {commandCode} from "../../parts/code.js";
import {curlWords, scopeWords, setCommands} from "../../parts/command.js";
import {copyButton} from "../../parts/copy.js";
import {scopeAddress} from "../../parts/frame.js";
import {elsewhere, empty, loadInto} from "../../parts/states.js";
import {loadingTable, table} from "../../parts/table.js";
import {exactTime} from "../../parts/time.js";
import {askRevoke} from "./server-key-dialogs.js";

/** Shows the tab. */
export function showServerKeys(page) {
    const {container, parts, signal} = page;
    const create = ["yap", "key", "create", ...scopeWords(page), "--name", "jobs", "--private-key", "jobs.pem"];
    setCommands(parts.command, {
        commands: [["yap", "key", "list", "--container", container], create,
            ["yap", "key", "revoke", ...scopeWords(page), "--name", "NAME"]],
        requests: [curlWords(`${path(container)}/keys`)]});
    const columns = columnsOf(page);
    return loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Server keys", columns, rowsCount: 3}),
        load: () => get(`${path(container)}/keys`, null, {signal}),
        show: ({keys}) => {
            const here = keys.filter((one) => one.environment === page.environment);
            if (!here.length) return nothing(page, keys.length, create);
            return table({label: "Server keys", columns, rows: here});
        },
    });
}

function nothing({container, environment}, count, command) {
    const other = environment === "production" ? "development" : "production";
    return empty(`No keys in ${environment}`, element("p", {class: "quiet"},
        "A program of yours, for example a job in the night, signs its requests with a key."),
    count ? elsewhere([{address: scopeAddress(container, other, "keys/server"), icon: "key",
        text: [plural(count, "key"), " "], note: environmentLabel(other)}]) : null, commandCode(command));
}

function columnsOf(page) {
    return [
        {head: "Name", isName: true, cell: ({name}) => element("span", {class: "cut", title: name}, name)},
        {head: "Key ID", word: "key ID", cell: ({keyID, name}) => element("span", {class: "with"},
            element("code", {title: keyID}, middleCut(keyID, 25)), copyButton(keyID, `Copy the key ID of ${name}`))},
        {head: "Made, UTC", word: "made, UTC", cell: (row) => exactTime(row.createdMilliseconds)},
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => (mayDo("administer")
            ? iconButton("bin", `Revoke ${row.name}`, {click: () => askRevoke(row, page)}) : null)},
    ];
}
