/** @file A place on a map of the land's outlines, drawn as SVG. No tile server is asked. */

import {element, fileAddress, svg} from "../core/dom.js";

const width = 44;
const height = 16;
const metresOfDegree = 111_320;

function gridPath(west, north) {
    const lines = [];
    for (let longitude = Math.ceil(west / 10) * 10; longitude <= west + width; longitude += 10) {
        lines.push(`M${longitude} ${north}v${height}`);
    }
    for (let down = Math.ceil(north / 10) * 10; down <= north + height; down += 10) {
        lines.push(`M${west} ${down}h${width}`);
    }
    return lines.join("");
}

// The outlines end at 180°, so the neighbour is drawn too where the view reaches over it.
function lands(west) {
    const shifts = [0];
    if (west < -180) shifts.push(-360);
    if (west + width > 180) shifts.push(360);
    return shifts.map((shift) => svg("use", {
        class: "land", href: `${fileAddress("land.svg")}#land`, transform: shift ? `translate(${shift} 0)` : null,
    }));
}

/**
 * Creates a map around a place; null if the place isn't on the earth.
 * @param {number} latitude
 * @param {number} longitude
 * @param {number} [accuracyMetres]
 */
export function map(latitude, longitude, accuracyMetres = 0) {
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return null;
    // Down is positive in SVG.
    const [x, y] = [longitude, -latitude];
    const west = x - width / 2;
    const north = Math.min(Math.max(y - height / 2, -90), 90 - height);
    const reach = Math.min(Math.max(accuracyMetres / metresOfDegree, 1.6), height / 2) || 1.6;
    const side = `${Math.abs(latitude).toFixed(1)}° ${latitude < 0 ? "south" : "north"}, `
        + `${Math.abs(longitude).toFixed(1)}° ${longitude < 0 ? "west" : "east"}`;
    return element("figure", {class: "map"}, svg("svg", {
        viewBox: `${west} ${north} ${width} ${height}`, role: "img", "aria-label": `Map: the place is at ${side}`,
    }, lands(west), svg("path", {class: "grid", d: gridPath(west, north)}),
    svg("circle", {class: "reach", cx: x, cy: y, r: reach}), svg("circle", {class: "point", cx: x, cy: y, r: 0.5})));
}
