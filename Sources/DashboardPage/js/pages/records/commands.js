/** @file The commands that do what the record pages do. */

import {commandPart, curlWords, itemWords, scopeWords, setCommands} from "../../parts/command.js";
import {comparatorNamed} from "../../parts/query/comparators.js";
import {fieldWithKey} from "../../parts/query/fields.js";
import {readTime} from "../../parts/values/times.js";
import {historyItems} from "../record/history.js";
import {modifyBody, owner, queryPageBody, queryPageItems, target} from "./source.js";

/** System fields that `yap record query` can name. */
const knownSystem = ["recordName", "createdTimestamp", "modifiedTimestamp"];

/** Returns the words that say where the records are. */
export function whereWords(scope) {
    const words = scopeWords(scope);
    if (scope.database === "public") return [...words, "--public"];
    const zone = scope.zone ? ["--zone", scope.zone] : [];
    return [...words, "--account", scope.account ?? scope.user, ...zone];
}

function conditionWords(filter, fields) {
    const field = fieldWithKey(fields, filter.key);
    const sign = comparatorNamed(filter.comparator).command;
    const isKnown = field && sign && (!field.isSystem || knownSystem.includes(field.name)) && /^\w+$/.test(field.name);
    if (!isKnown) return null;
    const time = field.type === "TIMESTAMP" ? readTime(filter.value) : null;
    const value = time === null ? filter.value : new Date(Number(time)).toISOString().replace(".000Z", "Z");
    return ["--where", `${field.name} ${sign} ${value}`];
}

function sortWords(sort, fields) {
    const field = sort && fieldWithKey(fields, sort.key);
    if (!field) return [];
    return /^\w+$/.test(field.name) && (!field.isSystem || knownSystem.includes(field.name))
        ? ["--sort", `${sort.ascending ? "" : "-"}${field.name}`] : null;
}

/**
 * Returns the commands of a list. The yap command is missing where it has no word for a filter.
 * @param {import("./source.js").Scope} scope
 * @param {{filters: any[], sort: any, fields: any[], page: Object|null}} list `page` is what `loadPage` takes
 */
export function listCommands(scope, {filters, sort, fields, page}) {
    const conditions = filters.map((filter) => conditionWords(filter, fields));
    const order = sortWords(sort, fields);
    const isPossible = order !== null && conditions.every(Boolean);
    const words = ["yap", "record", "query", scope.type, ...whereWords(scope), ...conditions.flat(), ...(order ?? []),
        "--limit", "50"];
    return {
        commands: isPossible ? [words] : [],
        requests: page ? [curlWords(target(scope, "records/query"), {query: queryPageItems(scope, page),
            body: queryPageBody(scope, page)})] : [],
    };
}

/** Returns the commands that read one record. */
export function recordCommands(scope, name) {
    const body = {records: [{recordName: name}], zoneID: {zoneName: scope.zone}};
    return {
        commands: [["yap", "record", "get", name, ...whereWords(scope)]],
        requests: [curlWords(target(scope, "records/lookup"), {query: owner(scope), body})],
    };
}

/** Returns the commands that find the requests which changed a record. */
export function historyCommands(scope, name) {
    const items = historyItems(scope, name);
    return {commands: [["yap", "requests", ...itemWords(items)]], requests: [curlWords("requests", {query: items})]};
}

/** Returns the command and request that save the operations of a form. */
export function saveCommands(scope, operations) {
    return {requests: [curlWords(target(scope, "records/modify"), {query: owner(scope), body: modifyBody(scope,
        operations)})]};
}

export {commandPart, setCommands};
