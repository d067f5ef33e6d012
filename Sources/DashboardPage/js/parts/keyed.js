/** @file A list that changes in place, so that what stays keeps its focus, its selection and what is open in it. */

/**
 * Makes the children of an element those of the entries. A child whose value is the same stays as it is; one with an
 * `update(value)` of its own is updated by that; another is made anew, with the same `details` open.
 * @param {HTMLElement} parent Has no other children.
 * @param {{key: string, value: any, make: function(any): HTMLElement}[]} entries
 */
export function updateKeyed(parent, entries) {
    const former = parent.keyed ?? new Map();
    const present = new Map();
    for (const entry of entries) present.set(entry.key, kept(former.get(entry.key), entry));
    for (const [key, {node}] of former) if (present.get(key)?.node !== node) node.remove();
    let place = parent.firstChild;
    for (const {node} of present.values()) {
        if (node === place) place = place.nextSibling;
        else parent.insertBefore(node, place);
    }
    parent.keyed = present;
}

function kept(former, {value, make}) {
    const text = JSON.stringify(value);
    if (former?.text === text) return former;
    if (former?.node.update) {
        former.node.update(value);
        return {text, node: former.node};
    }
    const node = make(value);
    const open = [...former?.node.querySelectorAll("details") ?? []].map((one) => one.open);
    node.querySelectorAll("details").forEach((one, index) => { one.open = open[index] ?? one.open; });
    return {text, node};
}
