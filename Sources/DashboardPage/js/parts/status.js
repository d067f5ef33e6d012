/** @file Speaks results to screen readers, politely. */

import {element} from "../core/dom.js";

let region = null;

/** Says a result, for example "Zone lists was deleted". */
export function announce(text) {
    if (!region?.isConnected) {
        region = element("div", {class: "hidden", role: "status", id: "announcement"});
        document.body.append(region);
    }
    region.textContent = "";
    setTimeout(() => { region.textContent = text; }, 50);
}
