/** @file One request: who sent it, what it asked for, what the answer was and why, what it touched. */

import {get, path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {exact, relative} from "../core/format.js";
import {reload, route} from "../core/router.js";
import {environmentLabel} from "../parts/badge.js";
import {button} from "../parts/button.js";
import {commandPart, curlWords} from "../parts/command.js";
import {copyButton} from "../parts/copy.js";
import {drawFrame} from "../parts/frame.js";
import {errorMessage} from "../parts/message.js";
import {section, sheet} from "../parts/sheet.js";
import {elsewhere, empty, loadInto, skeleton} from "../parts/states.js";
import {safeRow, table} from "../parts/table.js";
import {logAddress} from "./requests/addresses.js";
import {answerPart} from "./requests/answer.js";
import {logColumns} from "./requests/columns.js";
import {factsPart} from "./requests/facts.js";
import {userNames} from "./requests/names.js";
import {fetchPart, lackPart, queryPart, recordsPart} from "./requests/touched.js";

/** Shows the page. */
export async function show(context) {
    const {main, params, signal, setTitle} = context;
    const parts = {title: element("span", null, "Request"), note: element("span"),
        body: element("div", {class: "body"})};
    const back = element("a", {href: "/dashboard/requests"}, "Requests");
    fill(main, sheet({title: parts.title, note: parts.note, above: back}, parts.body,
        commandPart({commands: [["yap", "requests", "--id", params.id]],
            requests: [curlWords(`requests/${path(params.id)}`)]})));
    setTitle("Request");
    const nameOf = userNames(signal);
    await loadInto(parts.body, {
        signal, waiting: () => [skeleton(), skeleton(true), skeleton()],
        load: () => get(`requests/${path(params.id)}`, null, {signal}).catch((error) => ({error})),
        show: (answer) => {
            if (answer.error?.code === "NOT_FOUND") return unknown(params.id, answer.error);
            if (answer.error) return errorMessage(answer.error);
            const {request} = answer;
            fill(parts.title, request.operation || request.path || "Request");
            fill(parts.note, noteOf(request));
            setTitle(`${request.operation ?? "Request"} at ${exact(request.timeMilliseconds, {seconds: true})}`);
            if (request.container) {
                const {container, environment} = request;
                back.href = logAddress({container, environment});
                drawFrame({...route(), params: {...params, container, environment}});
            }
            return content(answer, nameOf);
        },
    });
}

function noteOf({container, environment, timeMilliseconds}) {
    return element("span", {class: "row wrap"}, environment ? environmentLabel(environment) : null,
        container ? element("code", null, container) : null, element("time", {
            datetime: new Date(timeMilliseconds).toISOString()},
        `${exact(timeMilliseconds, {seconds: true})} UTC, ${relative(timeMilliseconds)}`));
}

function unknown(id, error) {
    return empty("The log doesn’t have this request", element("p", {class: "quiet"}, "The log keeps the newest "
        + "requests of apps, and those of administrators that changed something or failed. The request may be too "
        + "old, or its ID from another server."),
    element("p", {class: "quiet"}, `The server says: ${error.reason}.`),
    element("p", {class: "row"}, element("code", null, id), copyButton(id, "Copy the request ID")),
    button("Try again", {icon: "retry", click: reload}), element("p", {class: "quiet"},
        "A request is written to the log within a second."),
    elsewhere([{address: "/dashboard/requests", icon: "requests", text: "All requests"},
        {address: "/dashboard/audit", icon: "audit", text: "What administrators did"}]));
}

// A part that fails leaves the others.
function content({request, before = [], after = []}, nameOf) {
    const parts = [() => answerPart(request), () => factsPart(request, nameOf), () => lackPart(request),
        () => recordsPart(request), () => queryPart(request), () => fetchPart(request),
        () => neighbours(request, before, after)];
    return parts.map((part) => {
        try {
            return part();
        } catch (error) {
            return errorMessage(error);
        }
    });
}

function neighbours(request, before, after) {
    if (!request.session) return null;
    const filters = {environment: "shown above", user: request.user, session: request.session};
    const columns = logColumns({nameOf: () => null, filters});
    const older = [...before].sort((one, other) => other.number - one.number);
    const newer = [...after].sort((one, other) => other.number - one.number);
    const rows = [...newer, request, ...older];
    const area = table({label: "Requests of the same device", columns, rows: [], isPlain: true});
    area.querySelector("tbody").append(...rows.map((entry) => safeRow(columns, entry,
        (one) => (one === request ? {"aria-current": "true"} : {}))));
    area.classList.add("log");
    return section("device", "The same device, before and after", {}, area, element("p", null,
        element("a", {href: logAddress({session: request.session})}, "All requests of this device")));
}
