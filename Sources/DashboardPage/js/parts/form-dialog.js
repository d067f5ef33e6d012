/** @file A dialog with a form that sends one request. */

import {element, fill} from "../core/dom.js";
import {button, whileBusy} from "./button.js";
import {openDialog} from "./dialog.js";
import {errorMessage} from "./message.js";

/**
 * Opens the dialog. A failure of the request is shown in it.
 * @param {{title: string, action: string, children: any, run: function(): Promise<any>, isProduction?: boolean,
 *     signal?: AbortSignal}} options `run` returns the response, or undefined when something typed is wrong.
 * @returns {Promise<any>} The response, or undefined when it was cancelled.
 */
export async function formDialog({title, action, children, run, isProduction, signal}) {
    const failure = element("div", {hidden: true});
    const send = button(action, {className: "first", type: "submit"});
    const dialog = openDialog({
        title, signal, isProduction, children: [children, failure],
        actions: [button("Cancel", {click: () => dialog.close()}), send],
        submit: () => whileBusy(send, async () => {
            failure.hidden = true;
            try {
                const response = await run();
                if (response) dialog.close(response);
            } catch (error) {
                failure.hidden = false;
                fill(failure, errorMessage(error, {level: "h3"}));
            }
        }),
    });
    dialog.body.querySelector("input:not([type=radio]), textarea")?.focus();
    return dialog.closed;
}
