/** @file The changes of a zone since a token: the same answer that a device gets. */

import {element, fill} from "../../core/dom.js";
import {middleCut, plural} from "../../core/format.js";
import {setQuery} from "../../core/router.js";
import {button} from "../../parts/button.js";
import {copyButton} from "../../parts/copy.js";
import {growingTable} from "../../parts/growing-table.js";
import {empty} from "../../parts/states.js";
import {columnsOf, kindBadge} from "./columns.js";
import {fetchPage, isNumber, loadPresent, pageOf, pageSize, readChange} from "./source.js";
import {tokenText} from "./token.js";

const shownMax = 500;

/**
 * Loads the first page.
 * @param {string|null} since A token, which goes to the server as it is, or a change's number.
 */
export async function loadFeed(context, since) {
    if (!since || !isNumber(since)) return fetchPage(context, since);
    const present = await loadPresent(context);
    return fetchPage(context, tokenText(present, {change: readChange(since, present)}));
}

/** Creates the list. */
export function feedPart(context, answer, since) {
    const {parts} = context;
    const start = since && isNumber(since) ? `change ${since}` : "the token";
    if (!answer.records.length && !answer.moreComing) {
        fill(parts.note, since ? `Nothing changed since ${start}` : "The zone has no records");
        return empty(since ? `No changes since ${start.replace("the", "this")}` : "No records in this zone",
            tokenLine(answer.syncToken));
    }
    // The newest token is worth showing also where nothing follows.
    let token = answer.syncToken;
    const goOn = (text, options = {}) => button(text, {...options,
        click: () => setQuery({since: token}, {push: true})});
    const {area, line} = growingTable({label: "Changes", columns: columnsOf(context.params, {kind: kindBadge}),
        first: pageOf(answer),
        load: async (from) => {
            const page = await fetchPage(context, from);
            token = page.syncToken;
            return pageOf(page);
        },
        end: ({count, next, more}) => {
            const what = since ? plural(count, "change") : plural(count, "record");
            const isMore = next !== null;
            fill(parts.note, `${what}${isMore ? " and more" : ""} ${since ? `since ${start}` : "from the beginning"}`);
            const onwards = count >= shownMax ? () => goOn("Go on from here") : () => more(`Show ${pageSize} more`);
            return [element("p", {role: "status"}, isMore ? `${what} shown, more follow. ` : `All ${what} shown. `),
                tokenLine(token), isMore ? onwards() : goOn("Use as the next token", {icon: "right"})];
        }});
    return [area, line];
}

function tokenLine(token) {
    return element("span", {class: "row"}, "Token ", element("code", {title: token}, middleCut(token, 21)),
        copyButton(token, "Copy the token"));
}
