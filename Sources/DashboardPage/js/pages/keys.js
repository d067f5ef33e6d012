/** @file What apps and programs use to reach a container: API tokens, server keys, webhooks. A tab each. */

import {path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {go} from "../core/router.js";
import {mayDo} from "../core/state.js";
import {button} from "../parts/button.js";
import {commandPart} from "../parts/command.js";
import {keepFocus} from "../parts/focus.js";
import {scopeAddress} from "../parts/frame.js";
import {sheet} from "../parts/sheet.js";
import {addKey} from "./keys/server-key-dialogs.js";
import {showServerKeys} from "./keys/server-keys.js";
import {addToken} from "./keys/token-dialogs.js";
import {showTokens} from "./keys/tokens.js";
import {showWebhooks} from "./keys/webhooks.js";
import {show as showMissing} from "./missing.js";

const tabs = [
    {name: "tokens", text: "API tokens", show: showTokens, address: "keys", add: addToken, addText: "New token",
        note: "A token identifies an app to the server. Users of the app sign in with their accounts."},
    {name: "server", text: "Server keys", show: showServerKeys, address: "keys/server", add: addKey, addText: "New key",
        note: "A program that signs with a key reads and changes every record of the public database."},
    {name: "webhooks", text: "Webhooks", show: showWebhooks, address: "keys/webhooks",
        note: "The server sends the notifications of this environment to an address of yours."},
];

/** Shows the page. */
export async function show(context) {
    const {main, params: {container, environment, tab: name}, setTitle} = context;
    if (!environment) return go(`/dashboard/${path(container, "development")}/keys`, {replace: true});
    const tab = tabs.find((one) => one.name === name);
    if (!tab) return showMissing(context);
    const parts = {list: element("div", {class: "fill"}), actions: element("div", {class: "actions"}),
        command: commandPart({})};
    fill(main, sheet({title: tab.text, note: tab.note, actions: parts.actions}, tabBar(context.params),
        parts.list, parts.command));
    setTitle(tab.text);
    const page = {...context, container, environment, parts};
    page.reload = () => keepFocus(main, () => tab.show(page));
    fill(parts.actions, tab.add && mayDo("administer")
        ? button(tab.addText, {icon: "plus", className: "first", click: () => tab.add(page)}) : null);
    return tab.show(page);
}

function tabBar({container, environment, tab}) {
    const link = ({name, text, address}) => element("a", {href: scopeAddress(container, environment, address),
        "aria-current": name === tab ? "page" : undefined}, text);
    return element("nav", {class: "tabs", "aria-label": "Kinds of keys"}, tabs.map(link));
}
