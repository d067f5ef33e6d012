/** @file The buttons that export and import the records of a list. */

import {mayDo} from "../../core/state.js";
import {button} from "../../parts/button.js";
import {FilterError, queryBody} from "../../parts/query/body.js";
import {exportRecords} from "./export.js";
import {importRecords} from "./import.js";

/**
 * Creates the buttons.
 * @param {import("../records/list.js").RecordsList} list
 */
export function transferButtons(list) {
    const {scope, ownFields: fields, context: {signal}} = list;
    const save = button("Export", {icon: "download", className: "shrink", click: () => {
        try {
            const query = queryBody(scope.type, list.filters, list.sort, list.fields);
            return exportRecords(scope, {query, fields, signal, filtersCount: list.filters.length});
        } catch (error) {
            // The list says what is wrong with the filter.
            if (!(error instanceof FilterError)) throw error;
            return undefined;
        }
    }});
    const load = button("Import", {icon: "upload", className: "shrink", click: async () => {
        if (await importRecords(scope, {fields, signal})) list.load();
    }});
    return mayDo("change") ? [save, load] : [save];
}
