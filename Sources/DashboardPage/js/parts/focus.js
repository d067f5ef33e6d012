/** @file Keeps the keyboard's place while a part of the page is shown anew. */

/**
 * Runs work that may replace what has the focus. The focus goes to the element of the same name, or to the title.
 * @param {Element} area Where the focus is looked for.
 * @param {function(): Promise<any>} work
 */
export async function keepFocus(area, work) {
    const focused = area.contains(document.activeElement) ? document.activeElement : null;
    await work();
    const isLost = focused && !focused.isConnected && document.activeElement === document.body;
    if (!isLost || document.querySelector("dialog[open]")) return;
    const same = [...area.querySelectorAll("button, a, input")].find((one) => nameOf(one) === nameOf(focused));
    const title = document.querySelector("main h1");
    if (title) title.tabIndex = -1;
    (same ?? title)?.focus();
}

function nameOf(one) {
    return one.getAttribute("aria-label") ?? one.textContent;
}
