// Names of fields come from apps: `constructor` and `__proto__` are possible, so objects are never read by plain index.

/**
 * Returns an object's own member, or undefined.
 * @param {object|null|undefined} object
 * @param {string} name
 */
export function own(object, name) {
    return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns an empty object without a prototype, in which every name can be set. */
export function bare() {
    return Object.create(null);
}
