/** @file Deleting records: what goes, where, how many; then which of them could not be deleted and why. */

import {element, icon} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {button} from "../../parts/button.js";
import {copyButton} from "../../parts/copy.js";
import {confirmDestroy, openDialog} from "../../parts/dialog.js";
import {announce} from "../../parts/status.js";
import {shortName} from "../../parts/values/text.js";
import {scopeWordsOf} from "./addresses.js";
import {modify} from "./source.js";

const namesShown = 8;
const beginning = 8;

function typedOf(records) {
    if (records.length > 1) {
        const text = String(records.length);
        return {label: ["Type the number of records to confirm: ", element("code", null, text)], text,
            accepts: (typed) => typed === text || typed === count(records.length)};
    }
    const name = records[0].recordName;
    const isLong = name.length > 12;
    return {
        label: [`Type the record name${isLong ? `, or its first ${beginning} characters,` : ""} to confirm: `,
            element("code", null, name)],
        text: name, accepts: (typed) => typed === name || (isLong && typed === name.slice(0, beginning)),
    };
}

function namesList(records, titleOf) {
    const rest = records.length - namesShown;
    return element("ul", {class: "options"}, records.slice(0, namesShown).map((record) => element("li", {class: "row"},
        icon("records"), element("code", null, shortName(record.recordName)), element("bdi", {class: "cut quiet"},
            titleOf(record)))),
    rest > 0 ? element("li", {class: "quiet"}, `and ${plural(rest, "more record")}`) : null);
}

/** Lists what stayed, with the service's reason for each. */
function showFailures(failures, deletedCount, production) {
    const close = button("Close", {className: "first", click: () => dialog.close()});
    const rows = failures.slice(0, 100).map(({name, error}) => element("li", null, element("code", null, name),
        element("p", null, error.reason), element("p", {class: "quiet row"}, error.code,
            error.requestID ? copyButton(error.requestID, "Copy the request ID") : null)));
    const dialog = openDialog({
        title: `${plural(failures.length, "record")} could not be deleted`, isProduction: production, actions: close,
        children: [element("p", {class: "quiet"},
            deletedCount > 0 ? `${plural(deletedCount, "record")} deleted.` : "Nothing was deleted."),
            element("div", {class: "failures", tabindex: "0", role: "region",
                "aria-label": "Records that were not deleted"},
            element("ul", null, rows))],
    });
    return dialog.closed;
}

function operation({recordName, recordType, recordChangeTag}) {
    // The tag makes sure that what goes is what was seen.
    return {operationType: "delete", record: {recordName, recordType, ...(recordChangeTag ? {recordChangeTag} : {})}};
}

/**
 * Asks, deletes, and shows what could not be deleted.
 * @param {import("./source.js").Scope} scope
 * @param {any[]} records
 * @param {{titleOf: function(any): string, signal: AbortSignal}} options
 * @returns {Promise<string[]>} the names of the deleted records
 */
export async function removeRecords(scope, records, {titleOf, signal}) {
    const one = records.length === 1 ? records[0] : null;
    const isProduction = scope.environment === "production";
    const title = one ? titleOf(one) || shortName(one.recordName) : "";
    let results = [];
    let failure = null;
    const run = async () => {
        try {
            results = await modify(scope, records.map(operation));
        } catch (error) {
            // Earlier requests of the same deletion have been done: their result counts.
            if (!error.done?.length) throw error;
            [results, failure] = [error.done, error];
        }
    };
    await confirmDestroy({
        title: one ? `Delete “${title.slice(0, 80)}”?` : `Delete ${plural(records.length, "record")}?`,
        action: `Delete ${plural(records.length, "record")}`, run, signal, environment: scope.environment,
        where: [`${one?.recordType ?? scope.type} `, one ? element("code", null, shortName(one.recordName)) : null,
            ` in: ${scopeWordsOf(scope)}.`, isProduction ? " These are the data of people who use your app." : ""],
        children: [one ? null : namesList(records, titleOf),
            element("p", {class: "quiet"}, "Records that refer to a deleted one with DELETE_SELF are deleted with it. "
                + (scope.database === "private" ? "Devices of the account remove them at their next fetch. " : "")
                + "This can’t be undone here.")],
        typed: isProduction ? typedOf(records) : undefined,
    });
    const deleted = [];
    const failures = [];
    records.forEach(({recordName}, index) => {
        const error = results[index]?.error ?? (results[index] ? null : failure);
        // A record that is already gone is what was wanted.
        if (error && error.code !== "NOT_FOUND") failures.push({name: recordName, error});
        else if (results[index]) deleted.push(recordName);
    });
    if (deleted.length > 0) announce(`${plural(deleted.length, "record")} deleted`);
    if (failures.length > 0) await showFailures(failures, deleted.length, isProduction);
    return deleted;
}
