/** @file Requests about the schema of an environment. */

import {get, path, post} from "../../core/api.js";
import {scopeAddress} from "../../parts/frame.js";

/** Record types that the service makes by itself. */
export const systemTypes = ["Users"];

/** Returns the path of an endpoint of the environment, below /operator/1/. */
export function schemaTarget({container, environment}, endpoint = "") {
    return `${path(container, environment)}/schema${endpoint ? `/${endpoint}` : ""}`;
}

/** Loads the schema: `{recordTypes, roles, text}`. */
export async function loadSchema({params, signal}) {
    const answer = await get(schemaTarget(params), null, {signal});
    return {...answer, recordTypes: answer.recordTypes ?? [], roles: answer.roles ?? []};
}

/**
 * Changes development's schema: all operations or none.
 * @param {{params: Object, signal: AbortSignal}} context
 * @param {Object[]} operations As docs/OPERATOR_API.md lists them.
 */
export function changeSchema({params, signal}, operations) {
    return post(schemaTarget(params, "change"), {operations}, null, {signal});
}

/** Loads how development differs from production: `{changes, kept, refusals, effects, plan}`. */
export function loadDifference(container, {removes = false, signal} = {}) {
    return get(`${path(container)}/schema/difference`, removes ? {remove: "1"} : null, {signal});
}

/** Returns the address of a page of the schema. */
export function schemaAddress({container, environment}, ...rest) {
    return scopeAddress(container, environment, path("schema", ...rest));
}

/** Returns the address of the page that deploys to production. */
export function deployAddress(container) {
    return schemaAddress({container, environment: "production"}, "deploy");
}
