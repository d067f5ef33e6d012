/** @file Loads the module of a page, also when the server was away or was replaced by another version meanwhile. */

import {isUnreachable, whenReachable} from "./reach.js";

/**
 * Loads a module. If that fails it is tried again once the server responds. If it fails then too, the server may be of
 * another version, whose files have another address: the whole page is loaded anew, once.
 * @param {function(): Promise<Object>} load
 * @param {AbortSignal} signal
 */
export async function loadModule(load, signal) {
    try {
        return await load();
    } catch {
        isUnreachable();
        await whenReachable(signal);
    }
    try {
        return await load();
    } catch (error) {
        if (history.state?.isLoadedAnew) throw error;
        history.replaceState({...history.state, isLoadedAnew: true}, "");
        location.reload();
        return new Promise(() => {});
    }
}
