/** @file The difference between two changes of a zone. */

import {element} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {listPart} from "./at.js";
import {columnsOf, kindBadge} from "./columns.js";
import {PlaceError, fetchAfter, fetchPage, loadPresent, readChange} from "./source.js";
import {changeOf} from "./token.js";

/**
 * Loads the first pages.
 * @throws {PlaceError} if one of the texts is no change of the zone
 */
export async function loadBetween(context, sinceText, untilText) {
    const present = await loadPresent(context);
    const [since, until] = [sinceText ? readChange(sinceText, present) : 0, readChange(untilText, present)];
    if (since > until) throw new PlaceError("The first change must come before the second.");
    const later = until < present.change ? await fetchAfter(context, present, until) : {records: [], moreComing: false};
    // Tombstones have no number. The first ones behind the end of the span say where it is.
    const firstLive = later.records.findIndex(({deleted}) => !deleted);
    const tombstones = firstLive < 0 ? later.records : later.records.slice(0, firstLive);
    const ends = new Set(tombstones.map(({recordName}) => recordName));
    const inside = (page) => cut(page, until, ends);
    const between = inside(await fetchAfter(context, present, since));
    return {since, until, between, later, inside};
}

// The records of a page up to the end of the span.
function cut(page, until, ends) {
    const end = page.records.findIndex((record) => (record.deleted ? ends.has(record.recordName)
        : changeOf(record.recordChangeTag) > until));
    return end < 0 ? page : {...page, records: page.records.slice(0, end), moreComing: false};
}

/** Creates the two lists. */
export function betweenPart(context, {since, until, between, later, inside}) {
    const columns = columnsOf(context.params, {kind: kindBadge});
    const lacks = between.lacksDeletions ? "Deletions so long ago aren’t kept: deleted records are missing here."
        : null;
    return element("div", {class: "body"},
        element("p", {role: "status"}, `From change ${count(since)} to ${count(until)}: `
            + `${plural(until - since, "change")}. A record is listed at its last change: earlier ones aren’t kept.`),
        listPart({context, id: "between", title: "Last changed between them", label: "Records changed between them",
            first: between, none: "No record’s last change lies between them.", note: lacks, columns,
            load: async (token) => inside(await fetchPage(context, token))}),
        later.records.length || later.moreComing ? listPart({context, id: "later", title: "Changed later too",
            label: "Records changed later", first: later, none: "", columns,
            note: `Their last change is after change ${count(until)}. Whether they also changed before isn’t kept.`})
            : null);
}
