/** @file Addresses to pages, by the History API. */

import {isAbort} from "./api.js";
import {loadModule} from "./modules.js";
import {match} from "./routes.js";

let settings = null;
let current = null;
let pending = null;
let position = 0;
let guard = null;
let isReturning = false;

/**
 * Starts the router at the present address.
 * @param {{prepare: function(Object): Promise<Object|null>, failed: function(any, Object): void}} options
 *     `prepare(route)` builds what surrounds the page, and returns `{main, session}`, or null if it went elsewhere.
 */
export function start(options) {
    settings = options;
    position = history.state?.position ?? 0;
    history.replaceState({...history.state, position}, "");
    addEventListener("popstate", popped);
    addEventListener("beforeunload", (event) => { if (guard?.isDirty(null)) event.preventDefault(); });
    document.addEventListener("click", clicked);
    return render({isFirst: true});
}

/**
 * Goes to an address below /dashboard.
 * @param {string} address Path and query.
 * @param {{replace?: boolean}} [options]
 */
export async function go(address, {replace = false} = {}) {
    const url = new URL(address, location.origin);
    if (url.origin !== location.origin || !isOurs(url.pathname)) throw new Error("not an address of the dashboard");
    if (!await mayLeave(url)) return;
    if (!replace) position += 1;
    history[replace ? "replaceState" : "pushState"]({position}, "", url.pathname + url.search);
    await render({});
}

/**
 * Changes items of the query; null removes one.
 * @param {Object<string, string|null>} items
 * @param {{push?: boolean}} [options] Whether Back returns to the present query.
 */
export function setQuery(items, {push = false} = {}) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(items)) {
        if (value === null || value === undefined || value === "") query.delete(name);
        else query.set(name, value);
    }
    const text = query.toString();
    return go(location.pathname + (text ? `?${text}` : ""), {replace: !push});
}

/** Shows the present page anew, for example after another administrator signed in. */
export function reload() {
    current?.controller.abort();
    current = null;
    return render({});
}

/**
 * Protects edits until the signal is aborted.
 * @param {{isDirty: function(URL|null): boolean, confirm: function(): Promise<boolean>, signal: AbortSignal}} options
 *     `isDirty` gets the next address, or null when the whole page is closed. `confirm` returns whether to leave.
 */
export function protectEdits(options) {
    guard = options;
    options.signal.addEventListener("abort", () => { if (guard === options) guard = null; }, {once: true});
}

/** Returns the present route: `{params, section, module, pathname}`. */
export function route() {
    return current?.route ?? match(location.pathname);
}

/** Returns whether a path belongs to the dashboard's pages. */
export function isOurs(pathname) {
    const isPage = pathname === "/dashboard" || pathname.startsWith("/dashboard/");
    return isPage && !pathname.startsWith("/dashboard/files/");
}

async function mayLeave(url) {
    if (!guard?.isDirty(url)) return true;
    const active = guard;
    const leaves = await active.confirm();
    if (leaves && guard === active) guard = null;
    return leaves;
}

async function popped(event) {
    const next = event.state?.position ?? 0;
    if (isReturning) {
        isReturning = false;
        return;
    }
    if (guard?.isDirty(new URL(location.href))) {
        // The address has changed already: go back to the edits first, then ask.
        const distance = next - position;
        isReturning = true;
        history.go(-distance);
        if (await guard.confirm()) {
            guard = null;
            history.go(distance);
        }
        return;
    }
    position = next;
    await render({});
}

function clicked(event) {
    const hasKey = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || hasKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!link || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !isOurs(url.pathname) || url.hash) return;
    event.preventDefault();
    go(url.pathname + url.search, {replace: url.href === location.href});
}

async function render({isFirst = false}) {
    const pathname = location.pathname;
    const query = new URLSearchParams(location.search);
    pending?.controller.abort();
    if (current && current.route.pathname === pathname && current.page) {
        current.context.query = query;
        if (current.page.queryChanged) return guarded(current, () => current.page.queryChanged(current.context));
    }
    const controller = new AbortController();
    const shown = pending = {route: match(pathname), controller, page: null, context: null};
    await guarded(shown, async () => {
        // The page of before stays until the module is there, also while the server is away.
        const page = await loadModule(shown.route.module, controller.signal);
        if (controller.signal.aborted) return;
        current?.controller.abort();
        [current, pending] = [shown, null];
        const surroundings = await settings.prepare(shown.route);
        if (!surroundings || controller.signal.aborted) return;
        shown.page = page;
        shown.context = contextFor(shown, query, surroundings, isFirst);
        if (!isFirst) scrollTo(0, 0);
        await page.show(shown.context);
        shown.context.focusTitle();
    });
}

function contextFor(shown, query, {main, session}, isFirst) {
    let isFocused = isFirst;
    const focusTitle = () => {
        const title = main.querySelector("h1");
        const isElsewhere = main.contains(document.activeElement) || document.querySelector("dialog[open]");
        if (isFocused || !title || isElsewhere || shown.controller.signal.aborted) return;
        isFocused = true;
        title.tabIndex = -1;
        title.focus({preventScroll: true});
    };
    return {
        params: shown.route.params, section: shown.route.section, query, main, session,
        signal: shown.controller.signal,
        focusTitle,
        setTitle(text) {
            document.title = `${text} · Yap`;
            requestAnimationFrame(focusTitle);
        },
    };
}

async function guarded(shown, work) {
    try {
        await work();
    } catch (error) {
        if (!isAbort(error) && !shown.controller.signal.aborted) settings.failed(error, shown.route);
    }
}
