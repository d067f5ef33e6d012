/** @file The sync of one user: devices by zones, as the server sees them. */

import {accountOf} from "../core/accounts.js";
import {get, path} from "../core/api.js";
import {element, fill} from "../core/dom.js";
import {count, middleCut, plural} from "../core/format.js";
import {poll} from "../core/poll.js";
import {commandCode} from "../parts/code.js";
import {commandPart, curlWords, scopeWords} from "../parts/command.js";
import {copyButton} from "../parts/copy.js";
import {scopeAddress} from "../parts/frame.js";
import {liveControl} from "../parts/live.js";
import {errorMessage} from "../parts/message.js";
import {section, sheet} from "../parts/sheet.js";
import {empty, loadInto, skeleton} from "../parts/states.js";
import {table} from "../parts/table.js";
import {logAddress} from "./requests/addresses.js";
import {deviceCell, errorCell, pushesCell, stateBadge, zoneCell} from "./sync/cells.js";

const pollMilliseconds = 5000;

/** Shows the page. */
export async function show(context) {
    const {main, params, signal, setTitle} = context;
    const {container, environment, user} = params;
    const target = `${path(container, environment)}/sync`;
    const parts = {title: element("span", null, `Sync of ${middleCut(user, 17)}`),
        note: element("span", {role: "status"}), body: element("div", {class: "body"}), failure: element("div")};
    parts.live = liveControl({changed: () => polling?.now()});
    fill(main, sheet({title: parts.title, note: parts.note, actions: parts.live,
        above: element("a", {href: scopeAddress(container, environment, "sync")}, "Sync")}, parts.body,
    commandPart({commands: [["yap", "sync", "status", ...scopeWords(params), "--user", user]],
        requests: [curlWords(target, {query: {user}})]})));
    setTitle("Sync of a user");
    accountOf(container, user, signal).then((account) => {
        if (!account) return;
        parts.title.textContent = `Sync of ${account.name}`;
        setTitle(`Sync of ${account.name}`);
    }).catch(() => {});
    const load = () => get(target, {user}, {signal});
    const state = {text: ""};
    let polling = null;
    const follow = async () => {
        const answer = await load();
        fill(parts.failure);
        // A table that is being read or used stays.
        if (parts.body.contains(document.activeElement) && document.activeElement.matches("a, button")) return;
        if (JSON.stringify(answer) !== state.text) fill(parts.body, take(context, parts, state, answer));
    };
    await loadInto(parts.body, {signal, waiting: () => [skeleton(), skeleton(true)], load, show: (answer) => {
        polling ??= poll(follow, {signal, milliseconds: pollMilliseconds, isPaused: () => parts.live.isPaused,
            failed: (error) => fill(parts.failure, errorMessage(error))});
        return take(context, parts, state, answer);
    }});
}

function take({params}, parts, state, answer) {
    state.text = JSON.stringify(answer);
    const devices = answer.devices ?? [];
    const zones = answer.zones ?? [];
    fill(parts.note, summary(devices));
    if (!devices.length) {
        return [parts.failure, empty("The server has seen no device of this user", element("p", {class: "quiet"},
            "A device appears here once it has fetched or saved. Without a token of its own it counts as a session.")),
        zonesPart(zones, params)];
    }
    return [parts.failure, matrix(devices, zones, params), zonesPart(zones, params)];
}

function summary(devices) {
    const behind = devices.filter(({zones = []}) => zones.some(({state}) => state !== "up to date")).length;
    if (!devices.length) return "No devices";
    return behind ? `${plural(devices.length, "device")}, ${count(behind)} not up to date`
        : `${plural(devices.length, "device")}, all up to date`;
}

function matrix(devices, zones, params) {
    const names = [...new Set([...zones.map(({zone}) => zone),
        ...devices.flatMap((device) => (device.zones ?? []).map(({zone}) => zone))])];
    const newest = new Map(zones.map((one) => [one.zone, one]));
    const columns = [
        {head: "Device", isName: true, className: "device-cell", cell: deviceCell},
        ...names.map((name) => ({head: name, word: name, className: "zone-cell",
            cell: ({zones: own = []}) => zoneCell(own.find(({zone}) => zone === name), newest.get(name), params)})),
        {head: "Last error", word: "last error", cell: errorCell},
        {head: "Pushes waiting", word: "pushes waiting", className: "number", cell: pushesCell},
    ];
    return section("devices", "Devices", {note: "what each has fetched of each zone"},
        table({label: "Devices by zones", columns, rows: devices, isPlain: true}),
        element("p", {class: "row wrap legend-line"}, ["up to date", "behind", "never fetched", "token expired"]
            .map((state) => element("span", {class: "with"}, stateBadge({state, behindCount: 0, isLegend: true}),
                element("small", {class: "quiet"}, legends[state])))),
        element("p", null, element("a", {href: logAddress({container: params.container,
            environment: params.environment, user: params.user})}, "All requests of this user")));
}

const legends = {
    "up to date": "has fetched the newest change",
    "behind": "changes that it hasn’t fetched",
    "never fetched": "hasn’t fetched the zone",
    "token expired": "fetches the whole zone next time",
};

function zonesPart(zones, params) {
    if (!zones.length) return null;
    const columns = [
        {head: "Zone", isName: true, cell: ({zone}) => element("a", {href: scopeAddress(params.container,
            params.environment, `data/private/${path(params.user, zone)}`)}, zone)},
        {head: "Newest change", word: "newest change", className: "number",
            cell: (one) => count(one.newestChange ?? 0)},
        {head: "Records", word: "records", className: "number", cell: (one) => count(one.recordsCount ?? 0)},
        {head: "Checksum", word: "checksum", cell: ({zone, checksum}) => (checksum ? element("span", {class: "with"},
            element("code", {title: checksum}, middleCut(checksum, 21)),
            copyButton(checksum, `Copy the checksum of ${zone}`)) : null)},
    ];
    return section("zones", "Zones on the server", {},
        table({label: "Zones on the server", columns, rows: zones, isPlain: true}),
        element("p", {class: "quiet"}, "A device’s file shows the same numbers. Equal checksums mean equal records."),
        commandCode(["yap", "sync", "inspect", "FILE"]));
}
