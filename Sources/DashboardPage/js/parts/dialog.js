/** @file Modal dialogs. */

import {element, uniqueID} from "../core/dom.js";
import {button, whileBusy} from "./button.js";
import {environmentLabel} from "./badge.js";
import {control} from "./control.js";
import {errorMessage} from "./message.js";

/**
 * Opens a dialog. The browser returns the focus to where it was when the dialog closes.
 * @param {{title: string, children?: any, actions?: any, submit?: function(Event): any, isProduction?: boolean,
 *     isWide?: boolean, canCancel?: boolean, signal?: AbortSignal}} options With `submit` its content is a form;
 *     `canCancel: false` ignores Escape.
 * @returns {{element: HTMLDialogElement, body: HTMLElement, close: function(any=): void, closed: Promise<any>}}
 *     `closed` resolves with the value given to `close`, or undefined after Escape.
 */
export function openDialog({title, children, actions, submit, isProduction, isWide, canCancel = true, signal}) {
    const id = uniqueID("dialog");
    const opener = document.activeElement;
    const heading = element("h2", {id, tabindex: "-1", autofocus: true}, title);
    const body = element(submit ? "form" : "div", {novalidate: submit ? true : undefined}, heading, children,
        actions ? element("div", {class: "actions"}, actions) : null);
    const classes = ["dialog", isProduction ? "production" : "", isWide ? "wide" : ""].filter(Boolean).join(" ");
    const dialog = element("dialog", {class: classes, "aria-labelledby": id}, body);
    let result;
    const closed = new Promise((resolve) => dialog.addEventListener("close", () => {
        dialog.remove();
        restoreFocus(opener);
        resolve(result);
    }, {once: true}));
    const close = (value) => {
        result = value;
        dialog.close();
    };
    if (submit) body.addEventListener("submit", (event) => { event.preventDefault(); submit(event); });
    dialog.addEventListener("cancel", (event) => { if (!canCancel) event.preventDefault(); });
    signal?.addEventListener("abort", () => { if (dialog.open) close(); }, {once: true});
    document.body.append(dialog);
    dialog.showModal();
    return {element: dialog, body, close, closed};
}

/**
 * Asks before something is destroyed, does it, and shows an error in the dialog.
 * @param {{title: string, children?: any, action: string, run: function(): Promise<any>, environment?: string,
 *     where?: any, typed?: {label: any, text: string, accepts?: function(string): boolean}, keep?: string,
 *     signal?: AbortSignal}} options `action` is the button's text: "Delete 3 records". With `environment` its label
 *     is shown, followed by `where`. `typed` is what must be typed before the button works.
 * @returns {Promise<boolean>} Whether it was done.
 */
export async function confirmDestroy({title, children, action, run, environment, where, typed, keep = "Keep", signal}) {
    const failure = element("div", {class: "failed", hidden: true});
    const destroy = button(action, {className: "destroy", type: "submit", attributes: {disabled: Boolean(typed)}});
    const field = typed ? typedControl(typed, destroy) : null;
    const submit = () => {
        if (destroy.disabled) return undefined;
        return whileBusy(destroy, async () => {
            try {
                await run();
                dialog.close(true);
            } catch (error) {
                failure.hidden = false;
                failure.replaceChildren(errorMessage(error, {level: "h3"}));
            }
        });
    };
    const place = environment ? element("p", null, environmentLabel(environment), " ", where) : null;
    const dialog = openDialog({
        title, submit, signal, isProduction: environment === "production",
        children: [place, children, field, failure],
        actions: [button(keep, {click: () => dialog.close(false)}), destroy],
    });
    return await dialog.closed === true;
}

function typedControl({label, text, accepts = (value) => value === text}, destroy) {
    return control(label, {autocomplete: "off", autocapitalize: "none", spellcheck: "false", on: {
        input: (event) => { destroy.disabled = !accepts(event.target.value.trim()); },
    }});
}

// The browser returns the focus by itself, except to an element that was removed meanwhile.
function restoreFocus(opener) {
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (!isLost || document.querySelector("dialog[open]")) return;
    if (opener?.isConnected && opener !== document.body) opener.focus();
    if (document.activeElement && document.activeElement !== document.body) return;
    const title = document.querySelector("main h1");
    if (title) title.tabIndex = -1;
    title?.focus();
}
