/** @file Lines of the audit log as sentences. */

import {middleCut, plural} from "../core/format.js";

const verbs = {
    "sign-in": "signed in", "sign-in refused": "failed to sign in", "sign-out": "signed out",
    "password": "changed the password",
    "administrator added": "added an administrator", "administrator removed": "removed an administrator",
    "role changed": "changed a role", "link made": "made a one-time link", "session ended": "ended a session",
    "look as user": "looked at a user’s data", "refused": "tried what their role doesn’t allow",
    "container added": "made a container",
    "token made": "made an API token", "token changed": "changed an API token", "token revoked": "revoked an API token",
    "key added": "added a server key", "key revoked": "revoked a server key",
    "webhook removed": "removed a webhook", "webhook tested": "tested a webhook",
    "account made": "made an account", "account changed": "changed an account",
    "account disabled": "disabled an account", "account enabled": "enabled an account",
    "account password": "set an account’s password", "account deleted": "deleted an account",
    "account session ended": "ended a user’s session",
    "schema changed": "changed the schema", "schema deployed": "deployed the schema",
    "schema reset": "reset the schema",
};

/** Badges of outcomes, as parameters of `badge`. */
export const outcomes = {
    done: ["Done", {state: "good"}], refused: ["Refused", {state: "bad"}], failed: ["Failed", {state: "bad"}],
    begun: ["Begun", {state: "warn"}],
};

/** Returns what was done. */
export function wordsOf({action, count}) {
    if (action === "records changed") return `changed ${plural(count, "record")}`;
    if (action === "zones changed") return `changed ${plural(count, "zone")}`;
    return verbs[action] ?? action;
}

// The server cuts a note after 255 bytes, between characters of up to 4 bytes.
function noteText(note) {
    return note && new TextEncoder().encode(note).length > 251 ? `${note}…` : note;
}

/** Returns to what it was done with the note, and where: `{what, where}`, each a text or null. */
export function detailsOf(line) {
    const names = (line.names ?? []).slice(0, 3).map((name) => middleCut(name, 24));
    const more = line.count > names.length && names.length ? ` and ${line.count - names.length} more` : "";
    const user = line.user ? middleCut(line.user, 9) : null;
    const place = [line.container, line.database, user, line.zone].filter(Boolean).join("/");
    const what = [names.length ? names.join(", ") + more : null, noteText(line.note)].filter(Boolean).join("; ");
    return {what: what || null, where: place || null};
}
