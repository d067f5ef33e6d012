/** @file What several charts share: the time under the crosshair, and the chosen span. */

/**
 * Creates the shared state of some charts.
 * @param {function({from: number, to: number}|null): void} chosen Called when the reader has chosen a span of time, or
 *     none.
 */
export function chartGroup(chosen) {
    const listeners = new Set();
    const state = {at: null, span: null, draft: null};
    const set = (values) => {
        Object.assign(state, values);
        for (const listener of listeners) listener(state);
    };
    return {
        state,
        listen(listener) { listeners.add(listener); },
        /** Moves the crosshair; null removes it. */
        point(at) { if (at !== state.at) set({at}); },
        /** Shows a span while it is drawn. */
        draw(one, other) { set({draft: {from: Math.min(one, other), to: Math.max(one, other)}}); },
        /** Ends the drawing. */
        cancel() { set({draft: null, at: null}); },
        /** Takes the span that is being drawn. */
        take() {
            const {draft} = state;
            set({draft: null});
            if (draft) chosen(draft);
        },
        /** Shows the span of the address. */
        show(span) { set({span}); },
        clear() { chosen(null); },
    };
}
