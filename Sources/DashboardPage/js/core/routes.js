/** @file The table of addresses. */

const scope = "/dashboard/{container}/{environment}";

/**
 * Patterns in the order in which they are tried. `{name}` is a segment, `{name?}` one that may be missing at the end.
 * `kind` is "door" for pages outside the frame.
 */
const table = [
    ["/dashboard", "overview", () => import("../pages/overview.js")],
    ["/dashboard/link", "", () => import("../pages/link.js"), "door"],
    ["/dashboard/sign-in", "", () => import("../pages/sign-in.js"), "door"],
    ["/dashboard/password", "", () => import("../pages/password.js"), "door"],
    ["/dashboard/people", "people", () => import("../pages/people.js")],
    ["/dashboard/people/{name}", "people", () => import("../pages/person.js")],
    ["/dashboard/admins", "admins", () => import("../pages/admins.js")],
    ["/dashboard/audit", "audit", () => import("../pages/audit.js")],
    ["/dashboard/account", "account", () => import("../pages/account.js")],
    [`${scope}/data/public/{zone?}/{type?}`, "records", () => import("../pages/records.js"), "page",
        {database: "public"}],
    [`${scope}/data/private/{user?}/{zone?}/{type?}`, "records", () => import("../pages/records.js"), "page",
        {database: "private"}],
    [`${scope}/data`, "records", () => import("../pages/records.js")],
    [`${scope}/zones/{user}/{zone}`, "zones", () => import("../pages/zone-changes.js")],
    [`${scope}/zones`, "zones", () => import("../pages/zones.js")],
    [`${scope}/schema/types/{type}`, "schema", () => import("../pages/schema/type.js")],
    [`${scope}/schema/indexes`, "schema", () => import("../pages/schema/indexes.js")],
    [`${scope}/schema/roles`, "schema", () => import("../pages/schema/roles.js")],
    [`${scope}/schema/language`, "schema", () => import("../pages/schema/language.js")],
    [`${scope}/schema/deploy`, "schema", () => import("../pages/schema/deploy.js")],
    [`${scope}/schema`, "schema", () => import("../pages/schema/types.js")],
    [`${scope}/subscriptions/public/{user?}`, "subscriptions", () => import("../pages/subscriptions.js"), "page",
        {database: "public"}],
    [`${scope}/subscriptions/private/{user?}`, "subscriptions", () => import("../pages/subscriptions.js"), "page",
        {database: "private"}],
    [`${scope}/subscriptions`, "subscriptions", () => import("../pages/subscriptions.js"), "page",
        {database: "private"}],
    [`${scope}/keys`, "keys", () => import("../pages/keys.js"), "page", {tab: "tokens"}],
    [`${scope}/keys/{tab}`, "keys", () => import("../pages/keys.js")],
    ["/dashboard/{container}/keys", "keys", () => import("../pages/keys.js")],
    ["/dashboard/now", "now", () => import("../pages/now.js")],
    ["/dashboard/requests", "requests", () => import("../pages/requests.js")],
    ["/dashboard/requests/{id}", "requests", () => import("../pages/request.js")],
    [`${scope}/now`, "now", () => import("../pages/now.js")],
    [`${scope}/sync`, "sync", () => import("../pages/sync.js")],
    [`${scope}/sync/{user}`, "sync", () => import("../pages/sync-user.js")],
    [`${scope}/usage`, "usage", () => import("../pages/usage.js")],
    [`${scope}/slow`, "slow", () => import("../pages/slow.js")],
    [scope, "records", () => import("../pages/records.js")],
    ["/dashboard/{container}", "records", () => import("../pages/records.js")],
];

/**
 * Finds the page of a path.
 * @returns {{params: Object<string, string>, section: string, module: function(): Promise<Object>, kind: string,
 *     pathname: string}}
 */
export function match(pathname) {
    const segments = decoded(pathname);
    for (const [pattern, section, module, kind = "page", fixed = {}] of segments ? table : []) {
        const params = matchOne(pattern.split("/").filter(Boolean), segments);
        if (params && isEnvironment(params)) return {params: {...fixed, ...params}, section, module, kind, pathname};
    }
    return {params: {}, section: "", module: () => import("../pages/missing.js"), kind: "page", pathname};
}

function matchOne(parts, segments) {
    if (segments.length > parts.length) return null;
    const params = {};
    for (const [index, part] of parts.entries()) {
        const isParameter = part.startsWith("{");
        if (segments[index] === undefined) {
            if (part.endsWith("?}")) continue;
            return null;
        }
        if (isParameter) params[part.replace(/[{}?]/g, "")] = segments[index];
        else if (part !== segments[index]) return null;
    }
    return params;
}

function isEnvironment({environment}) {
    return environment === undefined || environment === "development" || environment === "production";
}

function decoded(pathname) {
    try {
        return pathname.split("/").filter(Boolean).map(decodeURIComponent);
    } catch {
        return null;
    }
}
