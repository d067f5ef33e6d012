/** @file Saved views: addresses of lists of records with a name, kept in this browser. */

const key = "yap-views";
/** How many views a browser keeps. */
export const viewsMax = 50;
/** How long a view's name may be. */
export const viewNameMax = 60;
const addressMax = 8000;

/**
 * A saved view. `address` is that of a list, with its filters, sort and columns.
 * @typedef {{name: string, container: string, type: string, address: string}} View
 */

/**
 * Returns the saved views, by name. What isn't a view is left out, since anything may lie in the browser's storage.
 * @returns {View[]}
 */
export function savedViews() {
    return stored().sort((one, other) => one.name.localeCompare(other.name));
}

/**
 * Saves a view, in the place of one with the same name, container and type.
 * @param {View} view
 * @param {View|null} [former] The view that gets a new name.
 * @returns {boolean} False when the browser doesn't keep it: there are too many, or its storage is blocked or full.
 */
export function saveView(view, former = null) {
    const others = stored().filter((one) => !isSame(one, view) && !(former && isSame(one, former)));
    return others.length < viewsMax && keep([...others, view]);
}

/** Deletes a view. Returns whether the browser kept the change. */
export function deleteView(view) {
    return keep(stored().filter((one) => !isSame(one, view)));
}

function isSame(one, other) {
    return one.name === other.name && one.container === other.container && one.type === other.type;
}

function stored() {
    try {
        const list = JSON.parse(localStorage.getItem(key) ?? "[]");
        return Array.isArray(list) ? list.filter(isView).slice(0, viewsMax) : [];
    } catch {
        return [];
    }
}

function isView(value) {
    const texts = [value?.name, value?.container, value?.type, value?.address];
    return texts.every((text) => typeof text === "string" && text !== "") && value.name.length <= viewNameMax
        && value.address.startsWith("/dashboard/") && value.address.length <= addressMax;
}

function keep(views) {
    try {
        localStorage.setItem(key, JSON.stringify(views));
        return true;
    } catch {
        return false;
    }
}
