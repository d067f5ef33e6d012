/** @file Dialogs of the page of zones. */

import {ApiError} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {button, whileBusy} from "../parts/button.js";
import {control, setWrong} from "../parts/control.js";
import {confirmDestroy, openDialog} from "../parts/dialog.js";
import {environmentLabel} from "../parts/badge.js";
import {errorMessage} from "../parts/message.js";
import {announce} from "../parts/status.js";
import {postZones} from "./zones-request.js";

const person = " These are the data of a person who uses your app.";

/** Asks for a name, and makes the zone. */
export async function askNewZone(context) {
    const {place, account, signal} = context;
    const failure = element("div", {hidden: true});
    const name = control("Name", {autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 255},
        {hint: "1 to 255 ASCII characters. It doesn’t begin with _."});
    const send = button("Create the zone", {className: "first", type: "submit"});
    const dialog = openDialog({
        title: "New zone", signal,
        children: [element("p", null, environmentLabel(place.environment),
            ` In the private database of ${account?.name ?? place.user}.`),
            name, failure],
        actions: [button("Cancel", {click: () => dialog.close()}), send],
        submit: () => whileBusy(send, async () => {
            const text = name.input.value;
            setWrong(name.input, null);
            if (!text) return setWrong(name.input, "Type a name.");
            try {
                await modify(context, "create", text);
                return dialog.close(text);
            } catch (error) {
                failure.hidden = false;
                return fill(failure, errorMessage(error, {level: "h3"}));
            }
        }),
    });
    name.input.focus();
    const made = await dialog.closed;
    if (!made) return;
    announce(`Zone ${made} was created`);
    await context.reload();
}

/** Asks before a zone is deleted with all its records. */
export async function askDeleteZone(name, context) {
    const {place, account, signal} = context;
    const isProduction = place.environment === "production";
    const whose = account?.name ?? place.user;
    const isDone = await confirmDestroy({
        title: `Delete zone ${name}?`, action: `Delete ${name} and its records`, environment: place.environment, signal,
        where: `Private database of ${whose}.${isProduction ? person : ""}`,
        children: element("p", {class: "quiet"},
            `All records of the zone are deleted, and devices of ${whose} remove them at their next fetch. `,
            "This can’t be undone here."),
        typed: isProduction ? {text: name, label: ["Type the zone’s name to confirm: ", element("code", null, name)]}
            : undefined,
        run: () => modify(context, "delete", name),
    });
    if (!isDone) return;
    announce(`Zone ${name} was deleted`);
    await context.reload();
}

// A failure of one zone travels inside a successful response.
async function modify(context, operationType, zoneName) {
    const answer = await postZones(context, "zones/modify",
        {operations: [{operationType, zone: {zoneID: {zoneName}}}]});
    const failed = answer.zones?.find((zone) => zone.serverErrorCode);
    if (failed) throw new ApiError({code: failed.serverErrorCode, reason: failed.reason});
}
