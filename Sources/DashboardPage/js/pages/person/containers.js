/** @file The data of an account in each container. */

import {path} from "../../core/api.js";
import {element, icon} from "../../core/dom.js";
import {middleCut} from "../../core/format.js";
import {environmentLabel} from "../../parts/badge.js";
import {copyButton} from "../../parts/copy.js";
import {scopeAddress} from "../../parts/frame.js";
import {table} from "../../parts/table.js";

/**
 * Creates the table of containers with links to the user's private data.
 * @param {{containers: {identifier: string, userRecordName: string}[], made: any[]}} answer `made` are the containers
 *     of the server with their environments.
 */
export function containersPart({containers, made}) {
    if (!containers.length) return element("p", {class: "quiet"}, "The server has no container yet.");
    const columns = [
        {head: "Container", isName: true, cell: ({identifier}) => identifier},
        {head: "User record name", word: "user record name", cell: ({userRecordName}) => element("span",
            {class: "with"}, element("code", {title: userRecordName}, middleCut(userRecordName, 21)),
            copyButton(userRecordName, "Copy the user record name"))},
        {head: "Private data", word: "private data", cell: (row) => environmentLinks(row, made)},
    ];
    return table({label: "Data", columns, rows: containers, isPlain: true});
}

function environmentLinks({identifier, userRecordName}, made) {
    const environments = madeEnvironments(identifier, made);
    if (!environments.length) return "no environment is in use yet";
    return element("span", {class: "links"}, environments.map((environment) => element("a", {
        href: scopeAddress(identifier, environment, `data/private/${path(userRecordName)}`),
        "aria-label": `Private data in ${identifier}, ${environment}`}, environmentLabel(environment), icon("right"))));
}

/** Returns the environments of a container that have a store. */
export function madeEnvironments(identifier, made) {
    const container = made.find((one) => one.identifier === identifier);
    return (container?.environments ?? []).filter((one) => one.isMade).map((one) => one.environment);
}
