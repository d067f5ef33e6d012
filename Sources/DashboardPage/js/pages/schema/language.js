/** @file The schema as text: read it, copy it, save it; in development change it, and reset the environment. */

import {element, fill, uniqueID} from "../../core/dom.js";
import {saveFile} from "../../core/save-file.js";
import {protectEdits} from "../../core/router.js";
import {mayDo} from "../../core/state.js";
import {button} from "../../parts/button.js";
import {curlWords, scopeWords} from "../../parts/command.js";
import {copyButton} from "../../parts/copy.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {message} from "../../parts/message.js";
import {section} from "../../parts/sheet.js";
import {loadInto, skeleton} from "../../parts/states.js";
import {textEditor} from "../../parts/text-editor.js";
import {SchemaCheck} from "./check.js";
import {productionNote, schemaSheet} from "./frame.js";
import {askImport, askReset} from "./language-dialogs.js";
import {loadSchema, schemaTarget} from "./source.js";

const fileBytesMax = 2_000_000;

/** Shows the page. */
export async function show(context) {
    const {params, setTitle, signal} = context;
    const page = {...context, ...schemaSheet(context, {tab: "Language", commands: commandsOf(params)})};
    page.reload = () => loadInto(page.body, {
        signal, load: () => loadSchema(context), show: ({text}) => content(page, text),
        waiting: () => element("div", {class: "body"}, skeleton(), skeleton(true), skeleton()),
    });
    fill(page.note, productionNote(params) ?? "The same language as Apple’s cktool writes.");
    setTitle("Schema language");
    await page.reload();
}

function commandsOf(params) {
    const commands = [["yap", "schema", "export", ...scopeWords(params)]];
    if (params.environment === "development") {
        commands.push(["yap", "schema", "import", "todo.ckdb", ...scopeWords(params)],
            ["yap", "schema", "reset", ...scopeWords(params), "--yes"]);
    }
    return {commands, requests: [curlWords(schemaTarget(params))]};
}

function content(page, text) {
    const {params, actions} = page;
    const canImport = params.environment === "development" && mayDo("administer");
    const id = uniqueID("said");
    const said = element("div", {class: "said", id, role: "status"});
    const editor = textEditor({label: "Schema as text", value: text, isReadOnly: !canImport,
        changed: () => check?.later()});
    if (canImport) editor.input.setAttribute("aria-describedby", id);
    const check = canImport ? new SchemaCheck({context: page, editor, said, original: text}) : null;
    const fileName = `${params.container.split(".").at(-1) || "schema"}-${params.environment}.ckdb`;
    fill(actions, copyButton(() => editor.input.value, "Copy the text"),
        button("Download", {icon: "download", className: "shrink",
            click: () => saveFile([editor.input.value], fileName)}),
        canImport ? [fileButton(page, editor, check), importButton(page, editor, check)] : null);
    if (check) protect(page, editor, text);
    return element("div", {class: "body"}, canImport ? said : null, editor,
        canImport ? resetPart(page) : null);
}

function importButton(page, editor, check) {
    const send = button("Import", {className: "first", attributes: {disabled: true},
        click: () => askImport(page, editor.input.value, check)});
    check.whenChecked = ({canImport}) => { send.disabled = !canImport; };
    return send;
}

function fileButton({failure}, editor, check) {
    const input = element("input", {type: "file", hidden: true, accept: ".ckdb,.txt,text/plain"});
    input.addEventListener("change", async () => {
        const [file] = input.files;
        if (!file) return;
        failure.hidden = file.size <= fileBytesMax;
        if (!failure.hidden) return fill(failure, message("bad", "The file is too large", {role: "alert"},
            element("p", null, "A schema as text has up to 2 MB.")));
        editor.setText(await file.text());
        input.value = "";
        return check.now();
    });
    const open = button("Open a file", {icon: "file", className: "shrink", click: () => input.click()});
    return [input, open];
}

function protect({signal}, editor, text) {
    protectEdits({
        signal, isDirty: () => editor.isConnected && editor.input.value !== text,
        confirm: () => confirmDestroy({title: "Leave without importing?", action: "Discard the text",
            keep: "Keep editing", children: element("p", null, "The text that you changed is lost."),
            run: async () => {}}),
    });
}

function resetPart(page) {
    return section("reset", "Reset development", {}, element("p", {class: "quiet"},
        "Deletes all of development’s data: records, zones, subscriptions and devices. ",
        "Its schema becomes production’s."),
    element("div", {class: "actions"}, button("Reset development", {icon: "bin", click: () => askReset(page)})));
}
