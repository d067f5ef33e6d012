/** @file The deploy: how development differs from production, what production gets, and doing it. */

import {path} from "../../core/api.js";
import {element, fill} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {go, setQuery} from "../../core/router.js";
import {mayDo} from "../../core/state.js";
import {button} from "../../parts/button.js";
import {changeList, changesText, differenceText} from "../../parts/change-list.js";
import {curlWords} from "../../parts/command.js";
import {tick} from "../../parts/control.js";
import {message} from "../../parts/message.js";
import {section} from "../../parts/sheet.js";
import {elsewhere, empty, loadInto, skeleton} from "../../parts/states.js";
import {announce} from "../../parts/status.js";
import {table} from "../../parts/table.js";
import {askDeploy} from "./deploy-dialog.js";
import {schemaSheet} from "./frame.js";
import {loadDifference, schemaAddress} from "./source.js";

/** Shows the page. */
export async function show(context) {
    const {params, setTitle} = context;
    if (params.environment !== "production") return go(schemaAddress(params), {replace: true});
    const target = `${path(params.container)}/schema`;
    const parts = schemaSheet(context, {tab: "Deploy", title: "Deploy to production", commands: {
        commands: [["yap", "schema", "diff", "--container", params.container],
            ["yap", "schema", "deploy", "--container", params.container, "--dry-run"],
            ["yap", "schema", "deploy", "--container", params.container, "--yes"]],
        requests: [curlWords(`${target}/difference`),
            curlWords(`${target}/deploy`, {body: {remove: false, plan: "PLAN"}})]}});
    Object.assign(context, {page: {...context, ...parts}});
    setTitle("Deploy to production");
    return queryChanged(context);
}

/** Shows the difference with or without removals. */
export function queryChanged(context) {
    const {page, query} = context;
    page.removes = query.get("remove") === "1";
    return load(page, {});
}

/** Loads the difference, and shows it below what was done or what was wrong before. */
function load(page, {above = null}) {
    const {body, params, signal, removes} = page;
    return loadInto(body, {
        signal, load: () => loadDifference(params.container, {removes, signal}),
        show: (difference) => content(page, difference, above),
        waiting: () => element("div", {class: "body"}, skeleton(), skeleton(true), skeleton()),
    });
}

function content(page, difference, above) {
    const {changes, kept, refusals} = difference;
    showHead(page, difference);
    const isSame = !changes.length && !kept.length && !refusals.length;
    if (isSame && !page.removes) return [above ? element("div", {class: "body"}, above) : null, same(page)];
    return element("div", {class: "body"}, above, refusals.length ? refused(page, refusals) : null,
        changesPart(difference), effects(difference), keptPart(page, kept));
}

function changesPart({changes, refusals}) {
    if (changes.length) return section("gets", "Production gets", {note: changesText(changes)}, changeList(changes));
    return refusals.length ? null : element("p", null, "Production has everything that development has.");
}

function showHead(page, difference) {
    const {changes, refusals} = difference;
    fill(page.note, refusals.length ? "Refused for now" : differenceText(changes));
    const canDeploy = mayDo("administer") && changes.length && !refusals.length;
    fill(page.actions, canDeploy ? button(`Deploy ${plural(changes.length, "change")}`,
        {icon: "deploy", className: "first", click: () => deploy(page, difference)}) : null);
}

async function deploy(page, difference) {
    const result = await askDeploy(page, difference);
    if (!result) return undefined;
    if (result.isStale) {
        announce("The difference has changed meanwhile");
        return load(page, {above: message("warn", "The difference has changed meanwhile", {role: "alert"},
            element("p", null, "Nothing was deployed. Below is the difference as it is now."))});
    }
    announce(`${plural(result.changes.length, "change")} deployed`);
    return load(page, {above: message("good", `Deployed: ${changesText(result.changes)}`, {},
        element("p", null, "Apps work with the new schema from their next request on. ",
            element("a", {href: schemaAddress(page.params, "indexes")}, "New indexes"),
            " are built in the background."),
        changeList(result.changes))});
}

function same({params}) {
    return empty("Production has all of development’s schema", element("p", {class: "quiet"},
        "Types, fields, indexes, grants and roles are the same. A change in development appears here."),
    elsewhere([{address: schemaAddress(params), icon: "schema", text: "Record types of production"},
        {address: schemaAddress({...params, environment: "development"}), icon: "schema",
            text: "Record types of development"}]));
}

function refused({params}, refusals) {
    return message("bad", "This deploy is refused", {}, element("p", null,
        "A deploy only adds: production’s types and fields must be in development, with the same types."),
    element("ul", {class: "reasons"}, refusals.map((text) => element("li", null, text))),
    element("p", null, element("a", {href: schemaAddress({...params, environment: "development"})},
        "Change development’s schema")));
}

function effects({effects: list = []}) {
    if (!list.length) return null;
    return section("effects", "Indexes to build", {note: "In the background, while production serves requests."},
        table({label: "Indexes to build", isPlain: true, rows: list, columns: [
            {head: "Field", isName: true,
                cell: ({recordType, field}) => element("code", null, `${recordType}.${field}`)},
            {head: "Index", word: "index", cell: ({index}) => index},
            {head: "Records to read", word: "records to read", className: "number",
                cell: ({recordsToRead, isCapped}) => `${count(recordsToRead)}${isCapped ? " and more" : ""}`},
        ]}));
}

// Indexes, grants and roles that development lacks: production keeps them, unless the address says `remove=1`.
function keptPart(page, kept) {
    if (!kept.length && !page.removes) return null;
    const box = tick("Also remove from production what development lacks", {isChecked: page.removes,
        hint: "Indexes, grants and roles only. Apps that need them fail. Types and fields are never removed."});
    box.input.addEventListener("change", () => setQuery({remove: box.input.checked ? "1" : null}));
    return section("kept", "What development lacks", {}, element("p", {class: "quiet"}, page.removes
        ? "Removals are in the list above." : "Production keeps these, since apps may need them."),
    kept.length ? changeList(kept, {isKept: true}) : null, box);
}
