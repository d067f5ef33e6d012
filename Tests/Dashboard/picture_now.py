"""What the pictures of the live pages show: devices that send real requests, and the time line of an hour and a month.

The requests of the log, the devices and the zones are the server's own. The points of the charts are made up: an hour
can't be waited for.
"""
import json
import math
import random

from app_support import Device
from data_support import Place
from picture_data import NOW, milliseconds, record_name
from support import CONTAINER

ENVIRONMENT = "production"
PASSWORD = "the password of a picture"
IPHONE = "Groceries/4.2.1 (iPhone17,2; iOS 26.1)"
IPAD = "Groceries/4.2.0 (iPad14,1; iPadOS 26.0)"
MAC = "Groceries/4.1.9 (Mac16,1; macOS 26.1)"
BETA = "Groceries/4.3.0 (iPhone18,1; iOS 26.2)"
RECIPE = {"operationType": "create", "record": {"recordName": "recipe-1", "recordType": "Recipe", "fields": {
    "title": {"value": "Lentils", "type": "STRING"}}}}


class PictureDevice(Device):
    """A device of one of the picture's people."""

    def __init__(self, server, token, account, client):
        self.account = account
        super().__init__(server, token, client, ENVIRONMENT)

    def send(self, path, body, query=None):
        if path == "/yap/1/sign-in":
            body = {**body, "account": self.account, "password": PASSWORD}
        return super().send(path, body, query)

    def change(self, title, tag=None):
        """Saves a field of a record, with the change tag that the device knows."""
        return self.ask("records/modify", {"zoneID": {"zoneName": "lists"}, "operations": [{
            "operationType": "update" if tag else "forceUpdate", "record": {
                "recordName": record_name(title), "recordType": "Todo", **({"recordChangeTag": tag} if tag else {}),
                "fields": {"priority": {"value": 4, "type": "INT64"}}}}]})


def fill_devices(server):
    """Lets the devices of three people sync; keeps the failed request's ID in `server.failed`."""
    path = f"{server.folder}/picture-password"
    with open(path, "w", encoding="utf-8") as file:
        file.write(PASSWORD + "\n")
    for account in ("ann", "bob", "carla"):
        server.run("account", "password", account, "--password-file", path)
    token = json.loads(server.run("token", "create", "--container", CONTAINER, "--name", "pictures", "--json"))["token"]
    at = server.story.at
    # What an administrator does is in the order of its times, as the audit log shows it.
    at("2026-11-27 09:52")
    tag = Place(server, ENVIRONMENT, zone="lists").record(record_name("Oranges for Saturday"))["recordChangeTag"]
    at("2026-11-27 09:21")
    bob, carla = PictureDevice(server, token, "bob", IPHONE), PictureDevice(server, token, "carla", IPAD)
    mac, pad = PictureDevice(server, token, "ann", MAC), PictureDevice(server, token, "ann", IPAD)
    for zone in ("lists", "archive", "recipes"):
        mac.make_zone(zone)
    mac.fetch("lists")
    mac.fetch("archive")
    pad.fetch("lists")
    for device in (bob, carla):
        device.make_zone("lists")
        device.save("lists", "one", "two", "three")
        device.fetch("lists")
    at("2026-11-27 09:36")
    phone = PictureDevice(server, token, "ann", IPHONE)
    phone.change("Oranges for Saturday")
    at("2026-11-27 09:41")
    pad.ask("zones/list", {})
    pad.fetch("lists")
    server.failed = pad.change("Oranges for Saturday", tag).id
    pad.fetch("lists")
    pad.change("Oranges for Saturday")
    at("2026-11-27 09:47")
    beta = PictureDevice(server, token, "carla", BETA)
    for _ in range(3):
        beta.ask("records/modify", {"zoneID": {"zoneName": "lists"}, "operations": [RECIPE]})
    search = {"zoneID": {"zoneName": "lists"}, "query": {"recordType": "Todo", "filterBy": [{
        "fieldName": "note", "comparator": "EQUALS", "fieldValue": {"value": "x", "type": "STRING"}}]}}
    for _ in range(4):
        mac.ask("records/query", search)
    at("2026-11-27 09:52")
    for title in ("Return library books", "Pay the heating bill", "Renew the passport"):
        phone.change(title)
        phone.fetch("lists")
    for zone in ("archive", "recipes"):
        phone.fetch(zone)
    for device in (bob, carla, phone):
        device.ask("changes/database", {})
        device.ask("records/query", {"zoneID": {"zoneName": "lists"}, "query": {"recordType": "Todo"}})
        device.ask("zones/list", {})
        device.fetch("lists")


def made_up(path, answer):
    """Returns an answer with the points of the charts, where it has any."""
    if path.endswith("/live"):
        return {**answer, **_hour()}
    if path.endswith("/live/hours"):
        return {**answer, **_month()}
    if path.endswith("/backlog"):
        return {"pushesWaiting": {"count": 14, "isCapped": False}, "webhooksWaiting": 2, "indexesBeingBuilt": [
            {"recordType": "Todo", "field": "note", "kind": "QUERYABLE"}]}
    return answer


def _point(chance, requests, failing, name, at):
    errors = sum(chance.random() < failing for _ in range(min(requests, 400))) * max(1, requests // 400)
    slow = 1.6 + math.sin(at / 97) * math.sin(at / 31) + 60 * failing
    return {name: at, "requests": requests, "errors": errors, "milliseconds50": 3 + 2 * chance.random(),
            "milliseconds99": chance.uniform(22, 44) * slow, "bytesIn": requests * 1850,
            "bytesOut": requests * chance.randint(3000, 4600)}


def _hour():
    chance = random.Random(4)
    now = milliseconds(NOW) // 1000
    points = []
    for second in range(now - 3600, now):
        age = now - second
        if 1500 <= age < 1590:
            continue
        wave = 17 + 6 * math.sin(second / 410) + 3 * math.sin(second / 67) + (20 if 2520 < age < 2640 else 0)
        points.append(_point(chance, max(0, int(chance.gauss(wave, 2))), 0.09 if 2520 < age < 2600 else 0.006,
                             "second", second))
    return {
        "nowSecond": now, "points": points,
        "runs": [{"start": now - 90_000, "end": now - 1590}, {"start": now - 1500, "end": now}],
        "gauges": {"connections": 38, "polls": 31, "environmentsOpen": 2},
        "codes": [{"code": code, "count": count} for code, count in (
            ("CONFLICT", 412), ("BAD_REQUEST", 117), ("TRY_AGAIN_LATER", 64), ("AUTHENTICATION_FAILED", 21))],
        "operations": [{"operation": name, "count": count, "milliseconds50": half, "milliseconds99": most}
                       for name, count, half, most in (
                           ("changes/zone", 24_810, 3, 21), ("records/modify", 15_204, 8, 52),
                           ("records/query", 9_377, 11, 96), ("changes/database", 8_120, 2, 12),
                           ("records/lookup", 3_018, 3, 19), ("zones/list", 1_640, 2, 9))]}


def _month():
    chance = random.Random(5)
    end = milliseconds(NOW) // 3_600_000
    points = []
    for hour in range(end - 31 * 24, end + 1):
        day = math.sin((hour % 24 - 9) / 24 * 2 * math.pi)
        quiet = 0.6 if hour // 24 % 7 in (2, 3) else 1
        points.append(_point(chance, int((42_000 + 26_000 * day) * quiet * chance.uniform(0.93, 1.07)),
                             0.03 if hour % 173 == 0 else 0.006, "hour", hour))
    return {"nowSecond": milliseconds(NOW) // 1000, "points": points, "runs": [{"start": 0, "end": milliseconds(NOW) // 1000}]}
