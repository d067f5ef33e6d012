/** @file Requests in a row: the server's limit a second is waited for. */

const triesMax = 20;

/**
 * Does a request again when the server says to wait.
 * @template T
 * @param {function(): Promise<T>} ask
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
export async function patiently(ask, signal) {
    for (let tries = 1; ; tries += 1) {
        try {
            return await ask();
        } catch (error) {
            const mayWait = error.code === "THROTTLED" || error.code === "TRY_AGAIN_LATER";
            if (!mayWait || tries >= triesMax) throw error;
            await pause((error.retryAfterSeconds ?? 1) * 1000, signal);
        }
    }
}

function pause(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer);
            reject(signal.reason);
        };
        const timer = setTimeout(() => {
            signal.removeEventListener("abort", end);
            resolve();
        }, milliseconds);
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, {once: true});
    });
}
