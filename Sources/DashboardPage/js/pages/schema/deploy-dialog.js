/** @file The dialog that deploys. */

import {path, post} from "../../core/api.js";
import {element, fill} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {environmentLabel} from "../../parts/badge.js";
import {button, whileBusy} from "../../parts/button.js";
import {changeList, isRemoval, scrollPart} from "../../parts/change-list.js";
import {control} from "../../parts/control.js";
import {openDialog} from "../../parts/dialog.js";
import {errorMessage} from "../../parts/message.js";

/**
 * Shows what will be done, and does it. What removes something demands the container's name.
 * @param {Object} page
 * @param {Object} difference As `loadDifference` returns it.
 * @returns {Promise<{changes?: Object[], isStale?: boolean}|undefined>} `isStale` if the plan is another one by now;
 *     undefined if it was cancelled.
 */
export function askDeploy({params: {container}, removes, signal}, {changes, effects = [], plan}) {
    const removals = changes.filter(isRemoval);
    const removed = removals.length;
    const failure = element("div", {hidden: true});
    const send = button(`Deploy ${plural(changes.length, "change")}`,
        {className: removed ? "destroy" : "first", type: "submit", attributes: {disabled: removed > 0}});
    const typed = removed ? control(["Type the container’s name to confirm: ", element("code", null, container)],
        {autocomplete: "off", autocapitalize: "none", spellcheck: "false",
            on: {input: (event) => { send.disabled = event.target.value.trim() !== container; }}}) : null;
    const run = async () => {
        if (send.disabled) return undefined;
        try {
            const target = `${path(container)}/schema/deploy`;
            return dialog.close(await post(target, {remove: removes, plan}, null, {signal}));
        } catch (error) {
            if (error.code === "CONFLICT") return dialog.close({isStale: true});
            failure.hidden = false;
            return fill(failure, errorMessage(error, {level: "h3"}));
        }
    };
    const dialog = openDialog({
        title: "Deploy to production?", isProduction: true, signal, submit: () => whileBusy(send, run),
        children: [element("p", null, environmentLabel("production"), " ", element("code", null, container)),
            scrollPart("Changes", changeList([...removals, ...changes.filter((change) => !isRemoval(change))])),
            element("p", {class: "quiet"}, removed
                ? `${plural(removed, "removal")} can break apps that need what is removed. No record is touched.`
                : "A deploy only adds, and can’t be taken back. No record is touched.",
            effects.length ? ` ${plural(effects.length, "index", "indexes")} will be built.` : ""),
            typed, failure],
        actions: [button("Cancel", {click: () => dialog.close()}), send],
    });
    return dialog.closed;
}
