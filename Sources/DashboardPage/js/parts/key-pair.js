/** @file Makes a pair of keys on the curve P-256 in the browser. */

const curve = {name: "ECDSA", namedCurve: "P-256"};

/** Returns whether this page can make keys: browsers allow it under TLS and on loopback only. */
export function canMakePairs() {
    return Boolean(globalThis.crypto?.subtle);
}

/**
 * Makes a pair. The private half exists in this page only.
 * @returns {Promise<{privatePEM: string, publicPEM: string}>} PKCS #8 and SubjectPublicKeyInfo as PEM, which openssl
 *     reads.
 */
export async function makePair() {
    const {privateKey, publicKey} = await crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
    return {
        privatePEM: pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey)),
        publicPEM: pem("PUBLIC KEY", await crypto.subtle.exportKey("spki", publicKey)),
    };
}

function pem(label, data) {
    const base64 = btoa(String.fromCharCode(...new Uint8Array(data)));
    return `-----BEGIN ${label}-----\n${base64.match(/.{1,64}/g).join("\n")}\n-----END ${label}-----\n`;
}
