/** @file Labelled inputs, and what is wrong with them. */

import {element, icon, uniqueID} from "../core/dom.js";

/**
 * Creates a labelled input. `part.input` is the input.
 * @param {string} label
 * @param {Object} attributes Of the input; `tag: "textarea"` makes a text area.
 * @param {{hint?: any}} [options]
 */
export function control(label, attributes = {}, {hint} = {}) {
    const {tag = "input", class: more, ...rest} = attributes;
    const id = rest.id ?? uniqueID("input");
    const hintID = hint ? `${id}-hint` : undefined;
    const input = element(tag, {...rest, id, class: more ? `input ${more}` : "input", "aria-describedby": hintID});
    const part = element("div", {class: "control"}, element("label", {for: id}, label), input,
        hint ? element("p", {class: "hint", id: hintID}, hint) : null);
    return Object.assign(part, {input});
}

/**
 * Creates a labelled select. `part.input` is the select.
 * @param {string} label
 * @param {{value: string, text: string}[]} choices
 * @param {string} [value]
 */
export function selectControl(label, choices, value, attributes = {}) {
    const id = uniqueID("select");
    const input = selectInput(choices, value, {...attributes, id});
    const part = element("div", {class: "control"}, element("label", {for: id}, label),
        element("span", {class: "select"}, input, icon("down")));
    return Object.assign(part, {input});
}

/** Creates a bare select; give it an `aria-label` and put it into `span.select` with the icon `down`. */
export function selectInput(choices, value, attributes = {}) {
    return element("select", {class: "input", ...attributes}, choices.map((choice) => element("option",
        {value: choice.value, selected: choice.value === value}, choice.text)));
}

/** Shows what is wrong with an input, or removes it with null. Focuses the input. */
export function setWrong(input, text) {
    const holder = input.closest(".control") ?? input.parentElement;
    holder.querySelector(".wrong")?.remove();
    const ids = (input.getAttribute("aria-describedby") ?? "").split(" ");
    const described = ids.filter((id) => id && !id.endsWith("-wrong"));
    if (text) {
        const id = `${input.id}-wrong`;
        holder.append(element("p", {class: "wrong", id, role: "alert"}, icon("bad"), element("span", null, text)));
        described.unshift(id);
        input.setAttribute("aria-invalid", "true");
        input.focus();
    } else {
        input.removeAttribute("aria-invalid");
    }
    if (described.length) input.setAttribute("aria-describedby", described.join(" "));
    else input.removeAttribute("aria-describedby");
}

/**
 * Creates a labelled checkbox. `part.input` is the checkbox.
 * @param {string} label
 * @param {{isChecked?: boolean, hint?: any}} [options]
 */
export function tick(label, {isChecked = false, hint} = {}) {
    const id = uniqueID("tick");
    const hintID = hint ? `${id}-hint` : undefined;
    const input = element("input", {type: "checkbox", id, checked: isChecked, "aria-describedby": hintID});
    const part = element("div", {class: "control"}, element("label", {class: "tick", for: id}, input, label),
        hint ? element("p", {class: "hint", id: hintID}, hint) : null);
    return Object.assign(part, {input});
}

/**
 * Creates radio buttons as large options. `part.value` is the chosen value.
 * @param {string} legend
 * @param {{value: string, text: string, note?: string}[]} choices
 * @param {string} value
 * @param {{change?: function(string): void}} [listeners] `change` gets each newly chosen value.
 */
export function options(legend, choices, value, {change} = {}) {
    const name = uniqueID("choice");
    const part = element("fieldset", {class: "control"}, element("legend", null, legend),
        element("div", {class: "options"}, choices.map((choice) => element("label", {class: "option"},
            element("input", {type: "radio", name, value: choice.value, checked: choice.value === value,
                on: change ? {change: () => change(choice.value)} : undefined}),
            element("strong", null, choice.text), choice.note ? element("small", null, choice.note) : null))));
    Object.defineProperty(part, "value", {get: () => part.querySelector("input:checked")?.value ?? null});
    return part;
}
