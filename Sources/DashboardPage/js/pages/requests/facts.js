/** @file Who sent a request, from where, and how large it was. */

import {queryText} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {bytes, count, middleCut} from "../../core/format.js";
import {copyButton} from "../../parts/copy.js";
import {logAddress, syncAddress} from "./addresses.js";

/** Creates the list of facts. */
export function factsPart(request, nameOf) {
    const {id, administrator, user, session, client, address, database, zones = []} = request;
    const {bytesIn, bytesOut, groupRequests} = request;
    const facts = [
        ["Request ID", [element("code", null, id), copyButton(id, "Copy the request ID")]],
        ["Administrator", administrator ? [element("strong", null, administrator),
            element("a", {href: `/dashboard/audit${queryText({administrator})}`}, "Audit log")] : null],
        ["User", user ? userParts(request, nameOf) : administrator ? null : "No user is signed in"],
        ["Device", session ? [element("a", {href: logAddress({session}), class: "mono"}, middleCut(session, 24)),
            copyButton(session, "Copy the device’s ID")] : null],
        ["Program", client || null],
        ["Address", address ? element("code", null, address) : null],
        ["Request", element("code", null, `${request.method ?? ""} ${request.path ?? ""}`.trim())],
        ["Database", database ? [database, zones.length ? `${zones.length === 1 ? "zone" : "zones"} ${zones.join(", ")}`
            : null].filter(Boolean).join(", ") : null],
        ["Status", `${request.status}${request.code ? ` ${request.code}` : ""}`],
        ["Size", `${bytes(bytesIn ?? 0)} received, ${bytes(bytesOut ?? 0)} sent`],
        ["Commit", groupRequests > 1 ? `Shared with ${count(groupRequests - 1)} other requests` : null],
    ];
    return element("dl", {class: "request-facts"}, facts.filter(([, value]) => value !== null)
        .map(([word, value]) => element("div", null, element("dt", null, word), element("dd", null, value))));
}

function userParts(request, nameOf) {
    const {container, environment, user} = request;
    const name = container ? nameOf(container, user) : element("span", null, user);
    const isLinked = container && environment && !user.startsWith("_server");
    return [isLinked ? element("a", {href: syncAddress(request, user)}, name) : name,
        element("code", {class: "quiet"}, middleCut(user, 17)),
        copyButton(user, "Copy the name of the user’s record")];
}
