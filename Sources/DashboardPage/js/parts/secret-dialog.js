/** @file Shows a secret that the server doesn't tell a second time. */

import {element} from "../core/dom.js";
import {button} from "./button.js";
import {plainCode} from "./code.js";
import {openDialog} from "./dialog.js";

/**
 * Opens the dialog. Only its button closes it, so that the secret isn't lost by a key.
 * @param {{title: string, text: any, secret: string, label: string, more?: any, isWide?: boolean,
 *     signal?: AbortSignal}} options `label` is the copy button's, `more` stands below the secret.
 * @returns {Promise<void>} Resolves when it is closed.
 */
export async function showSecret({title, text, secret, label, more, isWide, signal}) {
    const dialog = openDialog({
        title, signal, isWide, canCancel: false,
        children: [element("p", {class: "quiet"}, text), plainCode(secret, label), more],
        actions: button("Done", {className: "first", click: () => dialog.close()}),
    });
    await dialog.closed;
}
