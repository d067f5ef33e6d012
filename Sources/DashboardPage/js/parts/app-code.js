/** @file Lines to paste into an app or a terminal, filled in with this server's address. */

import {shellWord} from "../core/format.js";
import {serverURL} from "../core/state.js";

const title = "Oranges for Saturday";

/**
 * Returns the Swift lines that name the server, sign an account in and save a record.
 * @param {{container: string, environment?: string, token: string, account: string, password: string}} app
 */
export function swiftCode({container, environment = "development", token, account, password}) {
    return `${swiftConfiguration(container, environment, `apiToken: ${swiftText(token)}`)}
let container = CKContainer.default()
try await container.signIn(account: ${swiftText(account)}, password: ${swiftText(password)})

let todo = CKRecord(recordType: "Todo")
todo["title"] = ${swiftText(title)}
try await container.privateCloudDatabase.save(todo)`;
}

/**
 * Returns the Swift lines of a program that signs its requests with a server-to-server key.
 * @param {{container: string, environment: string, keyID: string, keyFile: string}} program
 */
export function serverKeyCode({container, environment, keyID, keyFile}) {
    return `${swiftConfiguration(container, environment, `keyID: ${swiftText(keyID)}, keyFile: ${swiftText(keyFile)}`)}
let database = CKContainer.default().publicCloudDatabase`;
}

/** Returns the dependencies of a target that uses these lines, for its Package.swift. */
export const packageCode = `.product(name: "CloudKit", package: "yap"),
.product(name: "CloudKitAdditions", package: "yap"),`;

/**
 * Returns the shell commands that sign an account in and save a record. Their lines are short, so that little scrolls
 * sideways. The parameters are those of `swiftCode`.
 */
export function curlCode({container, environment = "development", token, account, password}) {
    const signIn = {account, password, container, apiToken: token,
        ...(environment === "production" ? {environment} : {})};
    const body = `{"operations": [{"operationType": "create", "record": {
  "recordType": "Todo", "fields": {"title": {"value": ${JSON.stringify(title)}}}}}]}`;
    const target = [container, environment, "private"].map(encodeURIComponent).join("/");
    return `user=$(curl --silent --json ${shellWord(JSON.stringify(signIn, null, 2))} \\
  ${shellWord(`${serverURL()}/yap/1/sign-in`)} |
  sed 's/.*"webAuthToken" *: *"\\([^"]*\\)".*/\\1/')
curl --json ${shellWord(body)} \\
  --url-query ${shellWord(`ckAPIToken=${token}`)} \\
  --url-query "ckWebAuthToken=$user" \\
  ${shellWord(`${serverURL()}/database/1/${target}/records/modify`)}`;
}

function swiftConfiguration(container, environment, more) {
    const place = environment === "production" ? `environment: "production", ` : "";
    return `import CloudKit
import CloudKitAdditions

var configuration = CloudKitConfiguration()
configuration.defaultContainer = ${swiftText(container)}
configuration.containers[${swiftText(container)}] = .init(
    server: ${swiftText(serverURL())}, ${place}
    ${more})
CKContainer.configure(configuration)
`.replace(/ +\n/g, "\n");
}

// A backslash would begin an escape or an interpolation.
function swiftText(text) {
    const escaped = String(text).replace(/[\\"]/g, "\\$&")
        .replace(/[\p{Cc}\u2028\u2029]/gu, (letter) => `\\u{${letter.charCodeAt(0).toString(16)}}`);
    return `"${escaped}"`;
}
