/** @file Creates elements. The only place that builds nodes: no text is ever parsed as HTML. */

const sprite = new URL("../../icons.svg", import.meta.url).pathname;
const svgNamespace = "http://www.w3.org/2000/svg";
let lastID = 0;

/**
 * Creates an HTML element.
 * @param {string} tag
 * @param {Object<string, any>|null} [attributes] Set by setAttribute. `on: {click: f}` adds listeners, true sets an
 *     empty attribute, false, null and undefined leave it out. `value` is set as a property too.
 * @param {...any} children Nodes, strings, numbers, arrays of them, or null.
 * @returns {HTMLElement}
 */
export function element(tag, attributes, ...children) {
    return assemble(document.createElement(tag), attributes, children);
}

/**
 * Creates an SVG element, with the same parameters as `element`.
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
    return assemble(document.createElementNS(svgNamespace, tag), attributes, children);
}

/**
 * Creates an icon of icons.svg, hidden from screen readers.
 * @param {string} name The symbol's ID.
 * @param {string} [className]
 */
export function icon(name, className = "icon") {
    return svg("svg", {class: className, "aria-hidden": "true"}, svg("use", {href: `${sprite}#${name}`}));
}

/**
 * Replaces the children of an element.
 * @template {Element} T
 * @param {T} parent
 * @returns {T}
 */
export function fill(parent, ...children) {
    parent.replaceChildren(...flatten(children));
    return parent;
}

/** Returns an ID that is unique in the document. */
export function uniqueID(prefix = "e") {
    lastID += 1;
    return `${prefix}-${lastID}`;
}

/**
 * Returns the address of a file of the page, for example `fileAddress("land.svg")`.
 * @param {string} name Path below the folder of index.html.
 */
export function fileAddress(name) {
    return new URL(`../../${name}`, import.meta.url).pathname;
}

function assemble(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) setOne(node, name, value);
    node.append(...flatten(children));
    return node;
}

function setOne(node, name, value) {
    if (value === null || value === undefined || value === false) return;
    if (name === "on") {
        for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else {
        node.setAttribute(name, value === true ? "" : String(value));
        if (name === "value" && "value" in node && node.value !== String(value)) node.value = String(value);
    }
}

function flatten(children) {
    return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
        .map((child) => (child instanceof Node ? child : String(child)));
}
