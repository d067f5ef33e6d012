/** @file Sending the files that were chosen for fields of a record, before the record is saved. */

import {ApiError, isAbort, post} from "../../core/api.js";
import {bare} from "../../parts/values/own.js";
import {owner, target} from "./source.js";

// What the server said of a file that was sent, by file and place: saving again doesn't send it again. A receipt is
// good for a day, and the page keeps it for an hour.
const sent = new WeakMap();
const keptMilliseconds = 3_600_000;

/** Whether the field holds a file that was chosen on this page and isn't on the server. */
function isChosen(field) {
    return field?.value?.file instanceof File;
}

/**
 * Sends the files among changed fields.
 * @param {import("./source.js").Scope} scope
 * @param {{recordName: string, recordType: string}} record
 * @param {Object} changes
 * @returns {Promise<Object>} the changes, with what the server made of each file in its place
 * @throws {ApiError} if a file wasn't taken
 */
export async function sendFiles(scope, record, changes, signal) {
    const names = Object.keys(changes).filter((name) => isChosen(changes[name]));
    if (names.length === 0) return changes;
    const whole = Object.assign(bare(), changes);
    for (const name of names) {
        const {file} = changes[name].value;
        whole[name] = {type: "ASSETID", value: await sendOnce(scope, {...record, fieldName: name}, file, signal)};
    }
    return whole;
}

async function sendOnce(scope, token, file, signal) {
    const place = JSON.stringify([scope.container, scope.environment, scope.database, scope.user, scope.zone, token]);
    const known = sent.get(file);
    if (known?.place === place && Date.now() - known.time < keptMilliseconds) return known.value;
    const body = {tokens: [token], zoneID: {zoneName: scope.zone}};
    const answer = await post(target(scope, "assets/upload"), body, owner(scope), {signal});
    const value = await sendBytes(answer.tokens?.[0]?.url, file, signal);
    sent.set(file, {place, value, time: Date.now()});
    return value;
}

/** The file goes to this origin, whichever address the server is reached by. */
async function sendBytes(address, file, signal) {
    const {pathname, search} = new URL(address, location.origin);
    let response;
    let answer;
    try {
        response = await fetch(pathname + search, {
            method: "POST", body: file, signal, credentials: "omit", redirect: "error",
            headers: {"Content-Type": "application/octet-stream"},
        });
        answer = await response.json();
    } catch (error) {
        if (isAbort(error) || signal?.aborted) throw error;
        throw new ApiError({code: "UNREACHABLE", reason: `The file ${file.name} could not be sent: it can’t be read, `
            + "or the server doesn’t respond."});
    }
    if (answer?.singleFile) return answer.singleFile;
    throw new ApiError({
        code: answer?.serverErrorCode ?? `HTTP_${response.status}`, requestID: answer?.uuid ?? null,
        reason: answer?.reason ?? `The server refused the file ${file.name} (${response.status}).`,
        status: response.status,
    });
}
