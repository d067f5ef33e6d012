/** @file What takes something away from an account: ending sessions, disabling, deleting. */

import {post} from "../../core/api.js";
import {element} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {go} from "../../core/router.js";
import {options} from "../../parts/control.js";
import {confirmDestroy} from "../../parts/dialog.js";
import {announce} from "../../parts/status.js";

/** Asks before all sessions are ended. */
export async function askEndAll(page) {
    const isDone = await confirmDestroy({
        title: `End all sessions of ${page.name}?`, action: "End all sessions", signal: page.signal,
        children: element("p", null, "Devices have to sign in again with the password, and get no pushes until then. "
            + "Data that a device hasn’t sent yet stays on the device."),
        run: () => post("accounts/sessions/end", {name: page.name}),
    });
    if (!isDone) return;
    announce("All sessions were ended");
    await page.reload();
}

/** Asks before an account is disabled. */
export async function askDisable(page) {
    const isDone = await confirmDestroy({
        title: `Disable ${page.name}?`, action: `Disable ${page.name}`, keep: "Cancel", signal: page.signal,
        children: element("p", null, "All its sessions end, and it can’t sign in until it is enabled again. "
            + "Its data and its password are kept."),
        run: () => post("accounts/disable", {name: page.name}),
    });
    if (!isDone) return;
    announce(`${page.name} was disabled`);
    await page.reload();
}

/** Enables an account. */
export async function enable(page) {
    await post("accounts/enable", {name: page.name});
    announce(`${page.name} was enabled`);
    await page.reload();
}

/** Asks before an account is deleted, with or without its data. */
export async function askDelete(page) {
    const {name} = page;
    const choice = options("Private data", [
        {value: "keep", text: "Keep the data",
            note: "It stays in the stores, where no user reaches it. No other account can get it."},
        {value: "erase", text: "Erase the data",
            note: "All records and zones of its private databases, in every container and both environments."},
    ], "keep");
    let erased = 0;
    const isDone = await confirmDestroy({
        title: `Delete ${name}?`, action: `Delete ${name}`, signal: page.signal,
        children: [element("p", null, "The account and its sessions are deleted. An account that is made later with "
            + "the same name is another one. Records that it made in public databases stay. This can’t be undone."),
        choice],
        typed: {text: name, label: ["Type the account’s name to confirm: ", element("code", null, name)]},
        run: async () => {
            ({erasedCount: erased} = await post("accounts/delete", {name, erase: choice.value === "erase"}));
        },
    });
    if (!isDone) return;
    const what = choice.value === "erase" ? ` with ${plural(erased ?? 0, "record")}` : "";
    announce(`${name} was deleted${what}`);
    await go("/dashboard/people");
}
