/** @file Checks a schema's text while it is typed, and says what an import would change. */

import {isAbort, post} from "../../core/api.js";
import {element, fill} from "../../core/dom.js";
import {plural} from "../../core/format.js";
import {badge} from "../../parts/badge.js";
import {button} from "../../parts/button.js";
import {changeList, changesText, scrollPart} from "../../parts/change-list.js";
import {errorMessage, message} from "../../parts/message.js";
import {schemaTarget} from "./source.js";

const pauseMilliseconds = 500;

/** The state of the text in an editor. */
export class SchemaCheck {
    /**
     * @param {{context: Object, editor: HTMLElement, said: HTMLElement, original: string}} options `said` is the
     *     element that says what the check found, `original` the schema that the environment has.
     */
    constructor({context, editor, said, original}) {
        Object.assign(this, {context, editor, said, original, round: 0, whenChecked: () => {}});
        this.sayUnchanged();
    }

    /** Checks once nothing was typed for a moment. */
    later() {
        clearTimeout(this.timer);
        this.whenChecked({canImport: false});
        this.timer = setTimeout(() => this.now(), pauseMilliseconds);
    }

    /** Checks now. */
    async now() {
        clearTimeout(this.timer);
        this.round += 1;
        const mine = this.round;
        const {context: {params, signal}, editor} = this;
        const text = editor.input.value;
        if (text === this.original) return this.sayUnchanged();
        try {
            const result = await post(schemaTarget(params, "check"), {text}, null, {signal});
            if (mine === this.round && editor.input.value === text) this.show(result);
        } catch (error) {
            if (isAbort(error) || mine !== this.round) return undefined;
            fill(this.said, errorMessage(error, {title: "The text was not checked", retry: () => this.now()}));
        }
        return undefined;
    }

    sayUnchanged() {
        this.round += 1;
        this.editor.markLine(null);
        this.whenChecked({canImport: false});
        fill(this.said, element("p", {class: "quiet"}, "This is development’s schema. Change the text or open a file, ",
            "and see here what an import would change."));
    }

    show({error, changes, losses}) {
        this.result = {error, changes, losses};
        this.editor.markLine(error?.line ?? null);
        this.whenChecked({canImport: !error && changes.length > 0 && losses.length === 0});
        fill(this.said, error ? this.wrong(error) : losses.length ? lossesPart(losses)
            : changes.length ? changesPart(changes) : nothing());
    }

    wrong({line, column, reason}) {
        return message("bad", `Line ${line}, column ${column}`, {}, element("p", null, reason),
            element("div", {class: "actions"}, button("Go to the line",
                {click: () => this.editor.goTo(line, column)})));
    }
}

function lossesPart(losses) {
    return message("warn", "An import would lose data, and is refused", {}, scrollPart("Losses",
        element("ul", {class: "reasons"}, losses.map((text) => element("li", null, text)))));
}

function changesPart(changes) {
    const isOpen = changes.length <= 8;
    return element("details", {class: "said-changes", open: isOpen}, element("summary", null,
        badge("Valid", {state: "good"}), element("span", null, `An import changes ${plural(changes.length, "thing")}: `,
            changesText(changes))), scrollPart("Changes", changeList(changes)));
}

function nothing() {
    return element("p", null, badge("Valid", {state: "good"}), " It is the schema that development has.");
}
