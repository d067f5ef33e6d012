/** @file The table of records: its columns, its rows, what is selected. */

import {element, icon} from "../../core/dom.js";
import {relativeTime} from "../../parts/time.js";
import {titleField} from "../../parts/query/fields.js";
import {cellContent} from "../../parts/values/cell.js";
import {own} from "../../parts/values/own.js";
import {shortName} from "../../parts/values/text.js";
import {itemType, typeIcon} from "../../parts/values/types.js";
import {recordAddress} from "./addresses.js";

function pickBox(label, isChecked, change) {
    return element("label", null, element("input", {type: "checkbox", "aria-label": label, checked: isChecked,
        on: {change}}));
}

function sortOf(field, sort, setSort) {
    if (!field?.isSortable || field.type.endsWith("_LIST") || field.type === "LOCATION") return undefined;
    const isCurrent = sort?.key === field.key;
    return {
        direction: isCurrent ? (sort.ascending ? "ascending" : "descending") : undefined,
        click: () => setSort({key: field.key, ascending: isCurrent ? !sort.ascending : true}),
    };
}

function fieldColumn(field, isTitle, {sort, setSort}) {
    const isTime = itemType(field.type) === "TIMESTAMP";
    return {
        head: [icon(typeIcon(field.type, field.isEncrypted)), field.label, isTime ? element("small", null,
            "UTC") : null],
        word: field.label, isHeadCell: isTitle,
        className: ["INT64", "DOUBLE"].includes(field.type) ? "number" : undefined,
        cell: (record) => cellContent(own(record.fields, field.name), recordAddress,
            own(record.cutFields, field.name)),
        sort: sortOf(field, sort, setSort),
    };
}

/**
 * Returns the columns of the table.
 * @param {{columns: any[], fields: any[], sort: any, setSort: function(any): void, canSelect: boolean,
 *     selected: import("./selection.js").Selection, rows: any[]}} list
 */
export function tableColumns(list) {
    const {columns, fields, canSelect, selected} = list;
    // On a phone it is the card's title.
    const title = titleField(columns);
    const find = (key) => fields.find((field) => field.key === key);
    const selectAll = (event) => selected.replace(event.target.checked ? list.rows.map(({recordName}) => recordName)
        : []);
    return [
        canSelect ? {
            head: pickBox("Select all rows shown", false, selectAll), className: "pick",
            cell: ({recordName}) => pickBox(`Select ${shortName(recordName)}`, selected.has(recordName),
                (event) => selected.set(recordName, event.target.checked)),
        } : null,
        {
            head: "Record name", isName: true, sort: sortOf(find("@recordName"), list.sort, list.setSort),
            cell: ({recordName}) => element("a", {href: recordAddress(recordName), class: "mono", title: recordName},
                shortName(recordName)),
        },
        ...columns.map((field) => fieldColumn(field, field === title, list)),
        {
            head: "modified", word: "modified", sort: sortOf(find("@modifiedTimestamp"), list.sort, list.setSort),
            cell: ({modified}) => (modified?.timestamp ? relativeTime(Number(modified.timestamp)) : null),
        },
    ].filter(Boolean);
}

/** Returns the attributes of a row. */
export function rowAttributes(record, selected, openName) {
    return {
        "data-record": record.recordName, "aria-selected": selected.has(record.recordName) ? "true" : undefined,
        "aria-current": record.recordName === openName ? "true" : undefined,
    };
}
