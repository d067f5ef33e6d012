/** @file SVG paths of charts. A value of null is a gap, and is drawn as one. */

/** Returns the path of a line. A single value between two gaps is a dot. */
export function linePath(values, x, y) {
    return runs(values).map(([start, end]) => {
        const points = [];
        for (let index = start; index < end; index += 1) points.push(`${round(x(index))} ${round(y(values[index]))}`);
        return points.length === 1 ? `M${points[0]}h0.01` : `M${points.join("L")}`;
    }).join("");
}

/** Returns the path of the area between two lines; `lower` has a value wherever `upper` has one. */
export function areaPath(lower, upper, x, y) {
    return runs(upper).map(([start, end]) => {
        const top = [];
        const bottom = [];
        for (let index = start; index < end; index += 1) {
            top.push(`${round(x(index))} ${round(y(upper[index]))}`);
            bottom.unshift(`${round(x(index))} ${round(y(lower[index]))}`);
        }
        return `M${[...top, ...bottom].join("L")}Z`;
    }).join("");
}

/** Returns the path of bars between two lines; a bar that isn't zero is at least 1 px high. */
export function barsPath(lower, upper, x, y, width) {
    const half = Math.max(0.5, width / 2 - 0.5);
    return upper.map((value, index) => {
        if (value === null || value <= lower[index]) return "";
        const bottom = y(lower[index]);
        return `M${round(x(index) - half)} ${round(bottom)}V${round(Math.min(y(value), bottom - 1))}`
            + `h${round(2 * half)}V${round(bottom)}Z`;
    }).join("");
}

// Beginnings and ends of the parts without a gap.
function runs(values) {
    const found = [];
    let start = -1;
    for (let index = 0; index <= values.length; index += 1) {
        const isGap = index === values.length || values[index] === null;
        if (!isGap && start < 0) start = index;
        if (isGap && start >= 0) found.push([start, index]);
        if (isGap) start = -1;
    }
    return found;
}

function round(number) {
    return Math.round(number * 10) / 10;
}
