/** @file Repeated requests of a live page: only while the page is visible, and one at a time. */

import {isAbort} from "./api.js";

const pauseMax = 30_000;

/**
 * Repeats work until the signal is aborted: never while the page is hidden or paused, and once on return.
 * @param {function(): Promise<any>} work
 * @param {{signal: AbortSignal, milliseconds?: number, isPaused?: function(): boolean,
 *     failed?: function(any): void}} options After an error the waits grow.
 * @returns {{now: function(): void}} `now` runs the work at once, for example after a pause.
 */
export function poll(work, {signal, milliseconds = 2000, isPaused = () => false, failed = () => {}}) {
    let timer = null;
    let isRunning = false;
    let errors = 0;
    const plan = () => {
        clearTimeout(timer);
        if (!signal.aborted) timer = setTimeout(run, Math.min(milliseconds * 2 ** errors, pauseMax));
    };
    const run = async () => {
        if (isRunning || signal.aborted || document.hidden || isPaused()) return;
        isRunning = true;
        clearTimeout(timer);
        try {
            await work();
            errors = 0;
        } catch (error) {
            if (isAbort(error) || signal.aborted) return;
            errors += 1;
            failed(error);
        } finally {
            isRunning = false;
        }
        plan();
    };
    document.addEventListener("visibilitychange", () => run(), {signal});
    signal.addEventListener("abort", () => clearTimeout(timer), {once: true});
    plan();
    return {now: () => run()};
}
