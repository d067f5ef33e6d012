/** @file The first steps: from an empty server to the first saved record. */

import {element} from "../core/dom.js";
import {serverURL} from "../core/state.js";
import {badge} from "../parts/badge.js";
import {codeListing, commandCode} from "../parts/code.js";

/**
 * Creates the list of steps, with commands that fit this server.
 * @param {{containers: any[], hasAccount: boolean}} state
 */
export function firstSteps({containers, hasAccount}) {
    const container = containers[0]?.identifier ?? "iCloud.com.example.todo";
    const steps = [
        {title: "Make a container", isDone: containers.length > 0,
            text: "A container holds the data of one app, or of several apps that share it.",
            code: [commandCode(["yap", "init", "--container", container])]},
        {title: "Make an account", isDone: hasAccount,
            text: "The command prints a password once. The account has a private database in each container.",
            code: [commandCode(["yap", "account", "create", "ann"])]},
        {title: "Make an API token", isDone: (containers[0]?.tokensCount ?? 0) > 0,
            text: "The token identifies your app. It belongs to one container, and is printed once.",
            code: [commandCode(["yap", "token", "create", "--container", container, "--name", "my app"])]},
        {title: "Save a record from your app", isDone: false,
            text: "Sign in on the device, then run these lines. Replace TOKEN with the token of step 3.",
            code: [codeListing(shellLines(container), "Copy the commands"), element("h3", null, "In Swift"),
                codeListing(swiftLines(), "Copy the Swift code"), element("h3", null, "With curl"),
                codeListing(curlLines(container), "Copy the curl commands")]},
    ];
    const current = steps.findIndex((step) => !step.isDone);
    return element("div", {class: "section narrow"},
        element("header", null, element("h2", null, "Your server is running"),
        element("span", {class: "quiet"}, "Four steps lead to the first saved record. This page notices each one.")),
    element("ol", {class: "steps"}, steps.map((step, index) => stepPart(step, index === current))));
}

function stepPart({title, isDone, text, code}, isCurrent) {
    return element("li", {class: isDone ? "step done" : "step", "aria-current": isCurrent ? "step" : undefined},
        element("h3", null, title, isDone ? badge("Done", {state: "good"}) : null),
        element("p", {class: "quiet"}, text), code);
}

function shellLines(container) {
    const url = serverURL();
    return `export CLOUDKIT_SERVER=${url}
export CLOUDKIT_CONTAINER=${container}
export CLOUDKIT_API_TOKEN=TOKEN
yap login --server $CLOUDKIT_SERVER --container $CLOUDKIT_CONTAINER --account ann --api-token TOKEN`;
}

function swiftLines() {
    return `import CloudKit

let todo = CKRecord(recordType: "Todo")
todo["title"] = "Oranges for Saturday"
let database = CKContainer.default().privateCloudDatabase
try await database.save(todo)`;
}

function curlLines(container) {
    const url = serverURL();
    const signIn = JSON.stringify({account: "ann", password: "PASSWORD", container, apiToken: "TOKEN"});
    const record = {recordType: "Todo", fields: {title: {value: "Oranges for Saturday"}}};
    const body = JSON.stringify({operations: [{operationType: "create", record}]});
    return `# prints a webAuthToken, to be put in place of USER_TOKEN
curl --json '${signIn}' ${url}/yap/1/sign-in
curl --json '${body}' \\
  '${url}/database/1/${container}/development/private/records/modify?ckAPIToken=TOKEN&ckWebAuthToken=USER_TOKEN'`;
}
