/** @file Subscriptions in words. */

import {exact} from "../core/format.js";
import {comparatorNamed, comparatorWord} from "../parts/query/comparators.js";

const triggers = {create: "created", update: "changed", delete: "deleted"};
const shownMax = 10;
const valueLettersMax = 80;

/** Returns what a subscription watches, a text for each line. */
export function watchedWords({subscriptionType, query, zoneID, zoneWide, firesOn, firesOnce}) {
    if (subscriptionType === "database") return ["All zones of the database"];
    if (subscriptionType === "zone") return [`Zone ${zoneID?.zoneName ?? ""}`];
    if (subscriptionType !== "query") return [];
    const filters = (query?.filterBy ?? []).map(filterWords);
    const more = filters.length > shownMax ? [`and ${filters.length - shownMax} more`] : [];
    const when = (firesOn ?? []).map((one) => triggers[one] ?? one);
    return [
        `Records of type ${query?.recordType ?? ""}, in ${placeWords(zoneID, zoneWide)}`,
        filters.length ? `where ${[...filters.slice(0, shownMax), ...more].join(" and ")}` : "all of them",
        `when one is ${alternatives(when)}${firesOnce ? ", once" : ""}`,
    ];
}

/** Returns what is sent to devices, a text for each line. */
export function sentWords({notificationInfo: info = {}}) {
    const alert = info.alertBody ?? info.alertLocalizationKey ?? null;
    const title = info.title ?? info.titleLocalizationKey ?? null;
    const subtitle = info.subtitle ?? info.subtitleLocalizationKey ?? null;
    const said = [title, subtitle, alert].filter(Boolean);
    return [
        said.length ? `An alert: “${said.join(" · ")}”` : null,
        info.soundName ? soundWords(info.soundName) : null,
        info.shouldBadge ? "a higher badge number" : null,
        info.shouldSendContentAvailable ? "a silent push, which wakes the app" : null,
        info.shouldSendMutableContent ? "an extension of the app may change the alert" : null,
        info.additionalFields?.length ? `values of ${info.additionalFields.join(", ")}` : null,
        info.category ? `category ${info.category}` : null,
    ].filter(Boolean).map((text, index) => (index ? text : text[0].toUpperCase() + text.slice(1)))
        .concat(Object.keys(info).length ? [] : ["A push without content"]);
}

// "created, changed or deleted".
function alternatives(words) {
    return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : words.join("");
}

function soundWords(name) {
    return name === "default" ? "the default sound" : `the sound ${name}`;
}

function placeWords(zoneID, zoneWide) {
    if (zoneID?.zoneName) return `zone ${zoneID.zoneName}`;
    return zoneWide === false ? "the default zone" : "all zones";
}

function filterWords({comparator, fieldName, systemFieldName, fieldValue}) {
    const known = comparatorNamed(comparator);
    const word = known ? comparatorWord(known, fieldValue?.type) : String(comparator ?? "").toLowerCase();
    return `${fieldName ?? systemFieldName ?? "any text"} ${word} ${valueWords(fieldValue)}`;
}

function valueWords({value, type} = {}) {
    if (type === "TIMESTAMP") return `${exact(Number(value))} UTC`;
    const text = typeof value === "object" ? value?.recordName ?? JSON.stringify(value) : String(value);
    return text.length > valueLettersMax ? `${text.slice(0, valueLettersMax)}…` : text;
}
