/** @file A switch that takes effect at once. */

import {element} from "../core/dom.js";

/**
 * Creates a switch. It goes back when the change fails.
 * @param {string} label Read by screen readers, and shown as the title.
 * @param {boolean} isOn
 * @param {function(boolean): Promise<boolean>} change Gets the new state, and returns whether it was applied.
 */
export function toggle(label, isOn, change) {
    const input = element("input", {type: "checkbox", role: "switch", "aria-label": label, title: label,
        checked: isOn});
    let isBusy = false;
    input.addEventListener("click", (event) => { if (isBusy) event.preventDefault(); });
    input.addEventListener("change", async () => {
        isBusy = true;
        input.setAttribute("aria-busy", "true");
        const wanted = input.checked;
        if (!await change(wanted)) input.checked = !wanted;
        input.removeAttribute("aria-busy");
        isBusy = false;
    });
    return element("label", {class: "switch"}, input);
}
