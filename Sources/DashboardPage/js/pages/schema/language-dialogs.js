/** @file Dialogs of the schema's text: import, and the reset of development. */

import {path, post} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {environmentLabel} from "../../parts/badge.js";
import {changeList, scrollPart} from "../../parts/change-list.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {formDialog} from "../../parts/form-dialog.js";
import {announce} from "../../parts/status.js";
import {reloadFocused} from "./frame.js";
import {schemaTarget} from "./source.js";

/** Shows what the import changes, and does it. */
export async function askImport(page, text, {result}) {
    const {params, signal} = page;
    const number = plural(result.changes.length, "change");
    const done = await formDialog({
        title: "Import this schema?", action: `Import ${number}`, signal,
        children: [element("p", null, environmentLabel(params.environment),
            " A running app works with the new schema from its next request on."),
        scrollPart("Changes", changeList(result.changes))],
        run: () => post(schemaTarget(params, "import"), {text}, null, {signal}),
    });
    if (!done) return;
    announce(`${plural(done.changes.length, "change")} imported`);
    await reloadFocused(page);
}

/** Asks before development is emptied. The container's name must be typed. */
export async function askReset(page) {
    const {params, signal} = page;
    const isDone = await confirmDestroy({
        title: "Reset development?", action: "Delete all data of development", signal,
        environment: params.environment, where: params.container,
        children: element("p", null, "The records of all users, their zones, subscriptions and devices are deleted. ",
            "The schema becomes production’s. Users keep their roles. This can’t be undone here."),
        typed: {text: params.container,
            label: ["Type the container’s name to confirm: ", element("code", null, params.container)]},
        run: () => post(`${path(params.container)}/development/schema/reset`, {container: params.container}, null,
            {signal}),
    });
    if (!isDone) return;
    announce("Development was reset");
    await reloadFocused(page);
}
