/** @file The form of a record's fields: one editor a field, what changed, undo for each, what is wrong. */

import {element, fill, icon, uniqueID} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {button} from "../../parts/button.js";
import {fieldEditor, wrongSentence} from "../../parts/values/editor.js";
import {bare, own} from "../../parts/values/own.js";
import {nameWrong} from "../../parts/values/parse.js";
import {fieldText, isSame, isUnset} from "../../parts/values/text.js";
import {newFieldTypes, typeIcon, typeWord} from "../../parts/values/types.js";

const oldLetters = 120;

/** One field while it is edited. */
class FieldRow {
    constructor(definition, original, changed) {
        Object.assign(this, {definition, original, changed});
        this.editor = fieldEditor(definition, () => this.update());
        this.was = element("div");
        this.wrong = element("div");
        const {name, type, isEncrypted} = definition;
        const {first} = this.editor;
        if (first) first.id = uniqueID("field");
        const image = icon(typeIcon(type, isEncrypted));
        this.node = element("div", {class: "field edit", role: first ? null : "group",
            "aria-label": first ? null : name},
            first ? element("label", {for: first.id}, image, name) : element("span", null, image, name),
            element("div", null, this.editor.nodes, this.was, this.wrong));
        this.node.addEventListener("focusout", () => this.update(true));
        this.editor.set(original);
    }

    /** Reads the editor; `isChanged` is whether it differs from the record. */
    read() {
        const edited = this.editor.read();
        return {...edited, isChanged: Boolean(edited.wrong) || !isSame(edited.field ?? undefined, this.original)};
    }

    /** Draws what changed and what is wrong; a wrong text is said once its input is left. */
    update(saysWrong = false) {
        const {wrong, input, isChanged} = this.read();
        this.node.classList.toggle("changed", isChanged && !wrong);
        const wasWrong = this.node.querySelector("[aria-invalid]");
        wasWrong?.removeAttribute("aria-invalid");
        wasWrong?.removeAttribute("aria-describedby");
        const isSaid = wrong && (saysWrong || wasWrong);
        // Undo stays the same button, and what is wrong comes below it, so that a click on it is not lost.
        if (isChanged !== this.isShownChanged) fill(this.was, isChanged ? this.oldValue() : null);
        this.isShownChanged = isChanged;
        fill(this.wrong, isSaid ? wrongSentence(this.wrongID ??= uniqueID("wrong"), wrong) : null);
        if (isSaid && input) {
            input.setAttribute("aria-invalid", "true");
            input.setAttribute("aria-describedby", this.wrongID);
        }
        this.changed();
    }

    oldValue() {
        const undo = button("Undo", {icon: "retry", className: "bare",
            label: `Undo the change of ${this.definition.name}`,
            click: () => {
                this.editor.set(this.original);
                this.update();
                this.focus();
            }});
        const old = fieldText(this.original);
        const short = old.length > oldLetters ? `${old.slice(0, oldLetters)}…` : old;
        return element("p", {class: "was"}, "Was ", isUnset(this.original) ? short : element("del", {dir: "auto"},
            short), undo);
    }

    focus() {
        (this.editor.first ?? this.node.querySelector("input, textarea, select, button"))?.focus();
    }
}

/** The fields of a record that is edited or made. */
export class FieldsForm {
    /**
     * @param {{definitions: any[], fields: Object, canAdd: boolean, changed: function(): void, before?: Node}} options
     *     `canAdd`: whether fields that the schema doesn't have may be added.
     */
    constructor({definitions, fields, canAdd, changed, before}) {
        this.changed = changed;
        this.rows = [];
        this.node = element("form", {class: "fields", novalidate: true}, before);
        for (const definition of definitions) this.addRow(definition, own(fields, definition.name));
        if (canAdd) this.node.append(this.adder());
    }

    addRow(definition, original) {
        const row = new FieldRow(definition, original, () => this.changed());
        this.rows.push(row);
        const {adderNode} = this;
        if (adderNode) adderNode.before(row.node);
        else this.node.append(row.node);
        return row;
    }

    adder() {
        const holder = element("div");
        const open = button("Add a field", {icon: "plus", className: "bare", click: () => {
            fill(holder, this.addInputs(show));
            holder.querySelector("input").focus();
        }});
        const show = () => fill(holder, element("div", null, open),
            element("p", {class: "hint"}, "In development, saving adds a new field to the schema."));
        show();
        this.adderNode = element("div", {class: "field edit"}, element("span"), holder);
        return this.adderNode;
    }

    addInputs(done) {
        const name = element("input", {class: "input", "aria-label": "Name of the new field", placeholder: "Name",
            spellcheck: "false",
            autocomplete: "off"});
        const type = element("select", {class: "input", "aria-label": "Type of the new field"},
            newFieldTypes.map((value) => element("option", {value}, `${typeWord(value)} (${value})`)));
        const note = element("div");
        const add = () => {
            const text = name.value.trim();
            const isTaken = this.rows.some(({definition}) => definition.name === text);
            const wrong = isTaken ? "The record has this field." : text.startsWith("___")
                ? "Names with ___ are the service’s."
                : nameWrong(text);
            if (wrong) {
                fill(note, wrongSentence(uniqueID("wrong"), wrong));
                return name.focus();
            }
            done();
            return this.addRow({name: text, type: type.value, isEncrypted: false, isKnown: false}, undefined).focus();
        };
        name.addEventListener("keydown", (event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
        });
        return [name, element("span", {class: "select"}, type, icon("down")), note, element("div", {class: "row"},
            button("Add", {click: add}), button("Cancel", {className: "bare", click: done}))];
    }

    /**
     * Reads all editors.
     * @returns {{changes: Object, changedCount: number, wrongCount: number}} `changes` has a field for each change; one
     *     that was cleared has the value null.
     */
    read() {
        const changes = bare();
        let [changedCount, wrongCount] = [0, 0];
        for (const row of this.rows) {
            const {field, wrong, isChanged} = row.read();
            if (wrong) wrongCount += 1;
            else if (isChanged) {
                changedCount += 1;
                changes[row.definition.name] = field ?? {value: null};
            }
        }
        return {changes, changedCount, wrongCount};
    }

    /** Says everything that is wrong, and goes to the first of it. */
    showWrong() {
        for (const row of this.rows) row.update(true);
        this.node.querySelector("[aria-invalid]")?.focus();
    }

    /** Whether anything was typed. */
    isDirty() {
        return this.rows.some((row) => row.read().isChanged);
    }
}

/** Returns the sentence of the bar under a form. */
export function statusText({changedCount, wrongCount}, word = "changed") {
    const changed = changedCount > 0 ? `${plural(changedCount, "field")} ${word}` : `No field ${word}`;
    return wrongCount > 0 ? `${changed}, ${wrongCount} to correct` : changed;
}
