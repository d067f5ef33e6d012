/** @file The page of an address that leads nowhere. */

import {element, fill} from "../core/dom.js";
import {elsewhere, empty} from "../parts/states.js";

/** Shows the page. */
export async function show(context) {
    context.setTitle("Not found");
    fill(context.main, element("div", {class: "sheet"},
        element("div", {class: "head"}, element("div", null, element("h1", null, "This page doesn’t exist"))),
        empty("No page has this address", element("p", {class: "quiet"}, element("code", null, location.pathname)),
            elsewhere([{address: "/dashboard", icon: "overview", text: "Overview"}]))));
}
