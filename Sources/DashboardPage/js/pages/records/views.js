/** @file The menu of saved views: links to lists with their filters, sort and columns. */

import {element} from "../../core/dom.js";
import {match} from "../../core/routes.js";
import {deleteView, saveView, savedViews, viewNameMax, viewsMax} from "../../core/views.js";
import {button, iconButton} from "../../parts/button.js";
import {control, setWrong} from "../../parts/control.js";
import {formDialog} from "../../parts/form-dialog.js";
import {attachMenu} from "../../parts/picker.js";
import {announce} from "../../parts/status.js";
import {listAddress} from "./addresses.js";

/**
 * Creates the button with the menu of the type's views.
 * @param {import("./source.js").Scope} scope
 * @param {AbortSignal} signal
 */
export function viewsPicker({container, type}, signal) {
    const opener = button("Views", {icon: "list", className: "shrink"});
    const holder = element("div", {class: "picker views"}, opener);
    const ask = (view, former) => {
        menu.close();
        return askName(view, former, signal);
    };
    const row = (view) => element("li", null,
        element("a", {href: view.address, on: {click: () => menu.close()},
            "aria-current": view.address === listAddress() ? "page" : undefined},
        element("span", {class: "cut", dir: "auto"}, view.name), element("small", {class: "quiet"}, placeOf(view))),
        iconButton("edit", `Rename view ${view.name}`, {click: () => ask(view, view)}),
        iconButton("bin", `Delete view ${view.name}`, {click: () => remove(view, menu)}));
    const content = () => {
        const views = savedViews().filter((view) => view.container === container && view.type === type);
        const here = {container, type, address: listAddress()};
        return [views.length ? element("ul", null, views.map(row))
            : element("p", {class: "quiet"}, "Filters, sort and columns under a name, kept in this browser."),
        element("div", {class: "foot"}, button("Save this view", {icon: "plus", click: () => ask(here)}))];
    };
    const menu = attachMenu(opener, holder, {isRight: true, label: "Saved views", content});
    return holder;
}

// Where the view's records are, when it isn't here.
function placeOf({address}) {
    const {pathname} = new URL(address, location.origin);
    const {environment, database, zone} = match(pathname).params;
    if (pathname === location.pathname) return "";
    return [database === "public" ? "public" : zone, environment].filter(Boolean).join(", ");
}

async function askName(view, former, signal) {
    const field = control("Name", {value: view.name ?? "", maxlength: viewNameMax, autocomplete: "off", dir: "auto"},
        {hint: "A view of this record type with the same name is replaced."});
    const isSaved = await formDialog({
        title: former ? `Rename view ${former.name}` : "Save this view", action: former ? "Rename" : "Save", signal,
        children: field,
        run: async () => {
            const name = field.input.value.trim();
            if (!name) return void setWrong(field.input, "Type a name.");
            if (saveView({...view, name}, former)) return true;
            return void setWrong(field.input, `It wasn’t saved: this browser has ${viewsMax} views already, `
                + "or it keeps nothing for this page.");
        },
    });
    if (isSaved) announce(former ? "The view was renamed" : "The view was saved");
}

function remove(view, menu) {
    const isDeleted = deleteView(view);
    menu.close();
    announce(isDeleted ? `View ${view.name} was deleted`
        : "The view wasn’t deleted: this browser’s storage is blocked");
}
