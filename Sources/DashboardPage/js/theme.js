// Sets the chosen theme before the first paint. A classic script, because modules run after it.
"use strict";
try {
    const theme = localStorage.getItem("yap-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
    // Storage is blocked: the system's theme is used.
}
