"""The picture of a device's page: the page of a real file, with made-up content that is the same each time."""
import json

from device_support import TodoDevice, device_page
from picture_data import milliseconds

PATH = "/home/ann/.local/share/lists/lists.yap"
USER = "_9b5732c81b1fdc3943e0662135a1c1fe"
OWNER = "__defaultOwner__"


def change(kind, name, values, tag=None, type="Todo", problem=None, remedy=None):
    return {"kind": kind, "recordName": name, "recordType": type, "zoneName": "lists", "ownerName": OWNER,
            "changeTag": tag, "keys": [], "keysToRestore": [], "problem": problem, "remedy": remedy,
            "values": [{"key": key, "before": before, "after": after} for key, before, after in values]}


REFUSED = change("save", "8F2C61A0-35B1-47CE-9E7B-2E1A9D8C9C41", [
    ("title", None, "Oranges for Saturday"), ("priority", None, "11"), ("place", None, None)],
    problem="rejected by the server: invalidArguments: \"priority is more than 10\"",
    remedy="Set the object again, or under another key; `retry()`; or "
           "`discardQuarantinedChanges(forRecordID:)`, which keeps the server's values. The code has the reason.")
SETS = [
    (41, True, "0D6C0F1E-6A1B-4B53-8B41-5C6FD5A1E7D2", [
        change("save", "EEA83624-7837-4DD4-892E-CA0E27CB591E", [
            ("title", "Prepare the talk", "Prepare the talk for Utrecht, with pictures"), ("done", "0", "1"),
            ("due", "2026-11-28T09:00:00.000Z", None)], "1.3v8texm21w9qj")]),
    (42, False, "16E9814C-4985-45B5-80AB-80C898AC8760", [
        change("save", "F27F8577-182B-4F00-A80C-75F8FB1A2872", [
            ("title", None, "Water the plants"), ("done", None, "0"), ("priority", None, "3"), ("color", None, None),
            ("due", None, None)]),
        change("delete", "F2D16724-D191-41C8-A47D-065D0E08360F", [
            ("title", "Return the library books", None), ("done", "0", None)], "1.3v8texm21w9pk")]),
]


def zone(name, records, tagged, token, checksum, **more):
    return {"zoneName": name, "ownerName": OWNER, "recordsCount": records, "recordsWithTag": tagged, "token": token,
            "checksum": checksum, "differences": 0, "differs": False, "fullFetch": None, "unknown": [], "records": [],
            **more}


def state():
    """What the page is answered."""
    error = {"name": "networkUnavailable", "message": "The server can't be reached: Failed to connect to "
             "lists.example.com port 443 after 21 ms: Couldn't connect to server (container iCloud.com.example.lists)"}
    database = {
        "identifier": None, "userRecordName": USER, "subscription": "YapCloudKit",
        "pending": {"changeSets": 3, "inFlight": 1, "changes": 3, "putAside": 1},
        "changeSets": [{"sequence": 40, "uuid": "67B75AFD-2E0F-4C69-A1E0-86EBB257A07B", "inFlight": False,
                        "changesCount": 1, "changes": [REFUSED]}]
        + [{"sequence": number, "uuid": uuid, "inFlight": isSent, "changesCount": len(changes), "changes": changes}
           for number, isSent, uuid, changes in SETS],
        "putAside": [REFUSED], "zonesCount": 2,
        "zones": [zone("lists", 214, 213, "AQIBIV85YjU3MzJjODFiMWZkYzM5NDNlMDY2", "3b0c5d7e91a84f26c4b7"),
                  zone("photos", 12, 12, None, None, fullFetch="expired")],
        "errors": [{"atMilliseconds": milliseconds(f"2026-11-27 09:{minute}"), "code": 3, **error}
                   for minute in (51, 50, 49)]}
    return {"version": "1-412", "limit": 20, "limitMax": 320, "only": None, "file": PATH, "snapshot": 412, "syncs": [
        {"name": "cloudKit", "tablesVersion": 5, "handlerVersion": "1", "untoldMerges": 2, "merges": [
            {"number": 8, "recordName": "Oranges", "zoneName": "lists", "field": "title", "rule": "remoteWon",
             "kind": "lost", "replaced": "Oranges for Sunday", "kept": "Oranges for Saturday"},
            {"number": 7, "recordName": "Talk", "zoneName": "lists", "field": "tags", "rule": "merged",
             "kind": "combined", "replaced": "[work]", "kept": "[work, travel]"}],
         "accounts": [{"account": 1, "current": True, "databases": [database]}]}]}


def take(camera, name="device"):
    """Takes the pictures of the device's page."""
    if camera.only not in name:
        return
    device = TodoDevice(camera.server)
    device.add("one")
    body = json.dumps(state())
    with device_page(camera.server, device) as served:
        def prepare(page):
            page.watch.origin = served.url
            page.route("**/device/1/state*", lambda route: route.fulfill(body=body, content_type="application/json"))
            page.goto(served.link)
            page.get_by_text("Quarantined").first.wait_for()
        camera.shoot(name, prepare)
