/** @file Webhooks of an environment: what became of the notifications that they were sent. */

import {get, path, post} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {mayDo} from "../../core/state.js";
import {badge} from "../../parts/badge.js";
import {iconButton} from "../../parts/button.js";
import {commandCode} from "../../parts/code.js";
import {curlWords, scopeWords, setCommands} from "../../parts/command.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {empty, loadInto} from "../../parts/states.js";
import {announce} from "../../parts/status.js";
import {loadingTable, table} from "../../parts/table.js";
import {relativeTime} from "../../parts/time.js";

const reason = "A webhook is added on the server’s machine only, since it may name an address inside the server’s own "
    + "network.";

/** Shows the tab. */
export function showWebhooks(page) {
    const {container, environment, parts, signal} = page;
    const words = scopeWords(page);
    const add = ["yap", "webhook", "add", ...words, "--name", "shop", "--url", "https://example.com/hook"];
    setCommands(parts.command, {
        commands: [["yap", "webhook", "list", ...words], add, ["yap", "webhook", "test", ...words, "--name", "NAME"]],
        requests: [curlWords(`${path(container, environment)}/webhooks`)]});
    const columns = columnsOf(page);
    return loadInto(parts.list, {
        signal, waiting: () => loadingTable({label: "Webhooks", columns, rowsCount: 3}),
        load: () => get(`${path(container, environment)}/webhooks`, null, {signal}),
        show: ({webhooks}) => (webhooks.length
            ? [table({label: "Webhooks", columns, rows: webhooks}), element("div", {class: "body narrow"}, adding(add))]
            : empty(`No webhooks in ${environment}`, element("p", {class: "quiet"}, reason), commandCode(add))),
    });
}

function adding(command) {
    return element("section", {class: "section", "aria-labelledby": "adding"},
        element("h2", {id: "adding"}, "Add a webhook"), element("p", {class: "quiet"}, reason), commandCode(command));
}

function columnsOf(page) {
    return [
        {head: "Name", isName: true, cell: ({name}) => element("span", {class: "cut", title: name}, name)},
        {head: "Address", word: "address", className: "whole",
            cell: ({url}) => element("code", {class: "words-cell"}, url)},
        {head: "Sends", word: "sends", cell: ({database, recordType}) => [database ?? "all databases",
            recordType ? `, type ${recordType}` : ""]},
        {head: "Last answer", word: "last answer", cell: lastAnswer},
        ...["waiting", "delivered", "failed", "abandoned"].map((word) => (
            {head: `${word[0].toUpperCase()}${word.slice(1)}`, word, className: "number",
                cell: (row) => count(row[word] ?? 0)})),
        {head: "Actions", isHiddenHead: true, className: "end", cell: (row) => (mayDo("administer")
            ? iconButton("bin", `Remove ${row.name}`, {click: () => askRemove(row, page)}) : null)},
    ];
}

// The server keeps the status of an HTTP response, or why there was none.
function lastAnswer({lastResult, lastMilliseconds}) {
    if (!lastResult) return null;
    const isGood = /^2\d\d\b/.test(String(lastResult));
    return element("span", {class: "two-lines slim"}, element("span", null,
        badge(String(lastResult), {state: isGood ? "good" : "bad"})),
    lastMilliseconds ? element("small", {class: "quiet"}, relativeTime(lastMilliseconds)) : null);
}

async function askRemove({name, waiting}, page) {
    const {container, environment} = page;
    const isDone = await confirmDestroy({
        title: `Remove ${name}?`, action: `Remove ${name}`, environment, signal: page.signal,
        where: "Webhook.",
        children: element("p", null, "It gets no more notifications. ",
            waiting ? `${plural(waiting, "pending notification")} will be dropped. ` : "",
            "Its secret is lost: a webhook that is added again has another one."),
        typed: environment === "production"
            ? {text: name, label: ["Type the webhook’s name to confirm: ", element("code", null, name)]} : undefined,
        run: () => post(`${path(container, environment)}/webhooks/remove`, {name}),
    });
    if (!isDone) return;
    announce(`Webhook ${name} was removed`);
    await page.reload();
}
