/** @file The columns of changes. */

import {path} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {count, middleCut} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {scopeAddress} from "../../parts/frame.js";
import {bothTimes} from "../../parts/time.js";
import {changeOf} from "./token.js";

/**
 * Returns the columns.
 * @param {Object} params Of the route.
 * @param {{kind?: function(any): HTMLElement}} [options] `kind` returns the badge of a record. Default: no badges.
 */
export function columnsOf(params, {kind} = {}) {
    return [
        kind ? {head: "What", word: "what", isHeadCell: true, cell: kind} : null,
        {head: "Record name", isName: true, className: "mono", cell: (record) => nameCell(record, params)},
        {head: "Type", word: "type", cell: (record) => record.recordType},
        {head: "Fields", word: "fields", cell: (record) => (record.deleted ? null : fieldNames(record.fields))},
        {head: "From", word: "from", cell: (record) => record.modified?.deviceID},
        {head: "Change", word: "change", className: "number", cell: changeCell},
        {head: "When", word: "when",
            cell: (record) => (record.modified ? bothTimes(record.modified.timestamp) : null)},
    ].filter(Boolean);
}

/** Creates the badge of a change as a device gets it. */
export function kindBadge({deleted, created, modified}) {
    if (deleted) return badge("Deleted", {state: "bad", icon: "bin"});
    return created?.timestamp === modified?.timestamp ? badge("Created", {state: "good", icon: "plus"})
        : badge("Changed", {state: "info", icon: "edit"});
}

/**
 * Creates the badge of a record that changed after some moment.
 * @param {any} record
 * @param {{earliest: number, latest: number}} moment The times between which the moment was.
 */
export function sinceBadge({deleted, created, modified}, {earliest, latest}) {
    if (deleted) return badge("Deleted since", {state: "bad", icon: "bin"});
    const made = created?.timestamp;
    const [isBefore, isAfter] = [made <= earliest, made >= latest];
    if (made === modified?.timestamp || (isAfter && !isBefore)) {
        return badge("Created since", {state: "good", icon: "plus"});
    }
    return isBefore && !isAfter ? badge("Changed since", {state: "info", icon: "edit"})
        : badge("Created or changed since", {state: "info", icon: "info"});
}

function changeCell({recordChangeTag}) {
    const change = changeOf(recordChangeTag);
    return change === null ? null
        : element("a", {href: `?at=${change}`, title: `The zone as it was at change ${change}`}, count(change));
}

function nameCell({recordName, recordType, deleted}, {container, environment, user, zone}) {
    const text = middleCut(recordName, 24);
    if (deleted || !recordType) return element("span", {title: recordName}, text);
    const address = scopeAddress(container, environment, `data/private/${path(user, zone, recordType)}`);
    return element("a", {href: `${address}?open=${encodeURIComponent(recordName)}`, title: recordName}, text);
}

function fieldNames(fields) {
    const names = Object.keys(fields ?? {});
    const text = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
    return element("span", {class: "cut", title: names.join(", ")}, text);
}
