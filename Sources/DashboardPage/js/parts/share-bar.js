/** @file A bar that shows a part of a whole. The number stands beside it in words. */

import {svg} from "../core/dom.js";

/**
 * Creates a bar.
 * @param {number} value
 * @param {number} whole
 * @param {string} [className] "warn" or "bad" where the part is too large.
 */
export function shareBar(value, whole, className = "") {
    const share = whole > 0 ? Math.min(1, Math.max(0, value / whole)) : 0;
    return svg("svg", {class: `share ${className}`.trim(), viewBox: "0 0 100 4", preserveAspectRatio: "none",
        "aria-hidden": "true"}, svg("rect", {class: "whole", width: 100, height: 4}),
    svg("rect", {class: "part", width: value > 0 ? Math.max(1, 100 * share) : 0, height: 4}));
}
