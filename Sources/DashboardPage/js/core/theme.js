/** @file The theme: auto, light or dark, kept in this browser. js/theme.js applies it before the first paint. */

const key = "yap-theme";

/** Returns "light", "dark" or "auto". */
export function theme() {
    const value = read();
    return value === "light" || value === "dark" ? value : "auto";
}

/** Sets and keeps the theme. */
export function setTheme(value) {
    try {
        if (value === "auto") localStorage.removeItem(key);
        else localStorage.setItem(key, value);
    } catch {
        // Storage is blocked: the theme lasts until the page is closed.
    }
    if (value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
}

function read() {
    try {
        return localStorage.getItem(key);
    } catch {
        return document.documentElement.dataset.theme ?? null;
    }
}
