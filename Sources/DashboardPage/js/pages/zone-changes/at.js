/** @file A zone as it was at a change, as far as that can be known: of each record the last version is kept. */

import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {growingTable} from "../../parts/growing-table.js";
import {section} from "../../parts/sheet.js";
import {columnsOf, sinceBadge} from "./columns.js";
import {fetchAfter, fetchPage, fetchUntil, loadPresent, pageOf, readChange} from "./source.js";

/**
 * Loads the first pages of what was kept and of what changed since.
 * @param {string} text A change's number, a token, or "newest".
 * @throws {PlaceError} if the text is no change of the zone
 */
export async function loadAt(context, text) {
    const present = await loadPresent(context);
    const change = text === "newest" ? present.change : readChange(text, present);
    const nothing = {records: [], moreComing: false};
    const [kept, later] = await Promise.all([fetchUntil(context, present, change),
        change < present.change ? fetchAfter(context, present, change) : nothing]);
    return {present, change, kept, later};
}

/** Creates the two lists. */
export function atPart(context, {present, change, kept, later}) {
    // The moment of the change lies between the times of the records before and after it.
    const moment = {earliest: kept.records[0]?.modified?.timestamp ?? -Infinity,
        latest: later.records.find((record) => record.modified)?.modified.timestamp ?? Infinity};
    const since = present.change - change;
    return element("div", {class: "body"},
        element("p", {role: "status"}, since ? `${plural(since, "change")} came after change ${count(change)}. `
            + "Only the newest version of a record is kept: records that changed later are in the second list, without "
            + "their earlier values." : `Change ${count(change)} is the newest: the zone is as it was.`),
        listPart({context, id: "kept", title: "Unchanged since", label: "Unchanged records", first: kept,
            none: change ? "No record is as it was." : "Change 0 is the empty zone.",
            columns: columnsOf(context.params)}),
        since ? listPart({context, id: "later", title: "Changed, created or deleted since",
            label: "Records changed since", first: later, none: "All later changes were deletions.",
            note: deletionsNote(later),
            columns: columnsOf(context.params, {kind: (record) => sinceBadge(record, moment)})}) : null);
}

function deletionsNote({lacksDeletions}) {
    return lacksDeletions ? "Deletions so long ago aren’t kept: records that were deleted since are missing here."
        : "Of a deleted record it isn’t kept when it was created: that may have been later too.";
}

/**
 * Creates a section with a list of changes that grows.
 * @param {{context: any, id: string, title: string, label: string, first: any, columns: any[], none: string,
 *     note?: string|null, load?: function(string): Promise<any>}} options `load` returns the page behind a token.
 */
export function listPart({context, id, title, label, first, columns, none, note, load}) {
    const loadPage = load ?? ((token) => fetchPage(context, token));
    if (!first.records.length && !first.moreComing) return section(id, title, {}, element("p", {class: "quiet"}, none));
    const {area, line} = growingTable({label, columns, isPlain: true, first: pageOf(first),
        load: async (token) => pageOf(await loadPage(token)), endClass: "row between",
        end: ({count: number, next, more}) => [element("p", {role: "status", class: "quiet"},
            next === null ? `All ${plural(number, "record")} shown` : `${plural(number, "record")} shown, more follow`),
        next === null ? null : more("Show 50 more")]});
    return section(id, title, {}, note ? element("p", {class: "quiet"}, note) : null, area, line);
}
