/** @file A file of a record: its size, a preview of pictures, and a download. */

import {element, fill} from "../../core/dom.js";
import {isAbort} from "../../core/api.js";
import {linkButton} from "../button.js";
import {pictureType, sizeText} from "./bytes.js";

const previewBytesMax = 8_000_000;

/**
 * Returns the address of a file on this server, or null. Only path and query of what the record says are used, so the
 * link can neither leave this origin nor run anything.
 * @param {any} asset
 * @param {string} name that the file is saved under
 */
export function fileURL(asset, name) {
    if (typeof asset?.downloadURL !== "string") return null;
    try {
        const named = asset.downloadURL.replace("${f}", encodeURIComponent(name));
        const url = new URL(named, location.origin);
        return /^https?:$/.test(url.protocol) ? url.pathname + url.search : null;
    } catch {
        return null;
    }
}

async function bytesOf(url, signal, range) {
    const response = await fetch(url, {
        signal, credentials: "omit", redirect: "error", headers: range ? {Range: `bytes=0-${range - 1}`} : {},
    });
    if (!response.ok) return null;
    if (!range || response.status === 206) return new Uint8Array(await response.arrayBuffer());
    // A server that knows no ranges sends all; the beginning is enough.
    const reader = response.body.getReader();
    const {value} = await reader.read();
    reader.cancel();
    return value ?? new Uint8Array();
}

async function loadPicture(url, signal) {
    const start = await bytesOf(url, signal, 16);
    if (!start || !pictureType(start)) return null;
    const bytes = await bytesOf(url, signal);
    const picture = bytes && pictureType(bytes);
    if (!picture) return null;
    const address = URL.createObjectURL(new Blob([bytes], {type: picture.type}));
    const image = element("img", {src: address, alt: "Preview of the file", width: "128", height: "96"});
    try {
        await image.decode();
    } catch {
        return null;
    } finally {
        URL.revokeObjectURL(address);
    }
    return {image, text: `${picture.word}, ${image.naturalWidth} × ${image.naturalHeight}`};
}

/**
 * Creates the view of a file. The preview comes when it has loaded; a file that is no picture has none.
 * @param {any} asset
 * @param {{name: string, signal: AbortSignal}} options `name` is what the file is saved as.
 */
export function assetView(asset, {name, signal}) {
    const size = element("span", {class: "quiet"}, sizeText(asset?.size ?? 0));
    const url = fileURL(asset, name);
    const words = element("div", null, element("strong", null, "File"), size,
        url ? element("span", null, linkButton("Download", url, {icon: "download",
            attributes: {download: name}})) : null);
    const view = element("div", {class: "preview"}, words);
    if (url && Number(asset?.size) > 0 && Number(asset.size) <= previewBytesMax) showPreview(view, size, url, asset,
        signal);
    return view;
}

async function showPreview(view, size, url, asset, signal) {
    try {
        const picture = await loadPicture(url, signal);
        if (!picture || signal.aborted) return;
        view.prepend(picture.image);
        fill(size, `${sizeText(asset.size)}, ${picture.text}`);
    } catch (error) {
        if (!isAbort(error)) fill(size, `${sizeText(asset.size)}, no preview: the file can’t be read`);
    }
}
