/** @file Which records are selected, and the bar under the table that says so. */

import {element, fill} from "../../core/dom.js";
import {count, plural} from "../../core/format.js";
import {button, setButtonText, whileBusy} from "../../parts/button.js";

/** Records of a page. */
export const pageSize = 50;

/** The selection. It holds names of rows that are shown, no others. */
export class Selection {
    /** @param {{changed: function(): void}} options */
    constructor({changed}) {
        this.changed = changed;
        this.names = new Set();
    }

    get size() {
        return this.names.size;
    }

    has(name) {
        return this.names.has(name);
    }

    set(name, isSelected) {
        if (isSelected) this.names.add(name);
        else this.names.delete(name);
        this.changed();
    }

    /** Selects exactly these. */
    replace(names) {
        this.names = new Set(names);
        this.changed();
    }

    /** Marks rows and boxes of a table. */
    mark(table) {
        const rows = table?.querySelectorAll("tbody tr") ?? [];
        for (const row of rows) {
            const isSelected = this.has(row.dataset.record);
            if (isSelected) row.setAttribute("aria-selected", "true");
            else row.removeAttribute("aria-selected");
            const box = row.querySelector(".pick input");
            if (box) box.checked = isSelected;
        }
        const all = table?.querySelector("thead .pick input");
        if (!all) return;
        all.checked = this.size > 0 && this.size === rows.length;
        all.indeterminate = this.size > 0 && !all.checked;
    }
}

/** Shows what is selected and what can be done with it. */
export function showBulk(holder, size, {remove, clear}) {
    const text = `${plural(size, "record")} selected`;
    const deleteText = `Delete ${size}…`;
    const said = holder.querySelector(".bulk p");
    if (said) {
        // The button stays the same, so that it keeps the focus.
        said.textContent = text;
        setButtonText(holder.querySelector(".bulk .delete"), deleteText);
        return;
    }
    fill(holder, element("div", {class: "bulk", role: "region", "aria-label": "Selected records"},
        element("p", {role: "status"}, text), button(deleteText, {icon: "bin", className: "delete", click: remove}),
        button("Clear", {icon: "cross", className: "bare shrink", click: clear})));
}

/**
 * Shows how many records are shown, and the way to more.
 * @param {Element} holder
 * @param {{shownCount: number, droppedCount: number, hasMore: boolean, more: function(): Promise<void>,
 *     first: function(): void, note: Node|null, counted: Node, total: number|null}} state `counted` says how many
 *     exist: `total`, once that is known.
 */
export function showCount(holder, state) {
    const {droppedCount, hasMore, more, first, note, counted} = state;
    const target = hasMore ? button(moreWords(state), {className: "next-page", click: () => whileBusy(target, more)})
        : null;
    fill(holder, element("div", {class: "after"}, element("p", {role: "status"}, shownWords(state)),
        hasMore || droppedCount > 0 ? counted : null, note,
        droppedCount > 0 ? button("Back to the first", {className: "bare", click: first}) : null, target));
}

/** Shows how many records are left, once they are counted. The focus stays where it is. */
export function showLeft(holder, state) {
    const target = holder.querySelector(".next-page");
    if (!target) return;
    holder.querySelector("[role=status]").textContent = shownWords(state);
    setButtonText(target, moreWords(state));
}

function shownWords(state) {
    const {shownCount, droppedCount, hasMore} = state;
    const range = droppedCount > 0 ? `Records ${droppedCount + 1} to ${droppedCount + shownCount}` : plural(shownCount,
        "record");
    if (!hasMore) return `${range} shown, ${droppedCount > 0 ? "no more exist" : "all of them"}`;
    const left = leftOf(state);
    return left ? `${range} shown, ${count(left)} left` : `${range} shown, more exist`;
}

function moreWords(state) {
    return `Show ${Math.min(pageSize, leftOf(state) ?? pageSize)} more`;
}

// Null if the records weren't counted, or have changed since.
function leftOf({shownCount, droppedCount, total}) {
    const left = (total ?? 0) - droppedCount - shownCount;
    return left > 0 ? left : null;
}
