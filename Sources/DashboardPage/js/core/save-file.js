/** @file Saves what the page has as a file. */

import {element} from "./dom.js";

/**
 * Lets the browser save a file, and not open it.
 * @param {BlobPart[]} parts
 * @param {string} name
 */
export function saveFile(parts, name) {
    const address = URL.createObjectURL(new Blob(parts, {type: "application/octet-stream"}));
    const link = element("a", {href: address, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
