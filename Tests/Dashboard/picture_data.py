"""Fills a server for the pictures: the cloud of a todo app, with people, lists and administrators.

What is kept is written by requests and commands, as a test does it. Times need more: all of it is written in a few
seconds, so a story says when each part was done, and `Story.tell` puts those times into the answers that a page gets.
"""
import base64
import contextlib
import datetime
import json
import struct
import time
import urllib.parse
import uuid
import zlib

import picture_schema
from data_support import Place
from support import CONTAINER, PASSWORD, Operator, Refused, Server

SCHEMA = """DEFINE SCHEMA
    RECORD TYPE List (
        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
        "___modTime" TIMESTAMP QUERYABLE SORTABLE,
        "___recordID" REFERENCE QUERYABLE,
        color STRING,
        name STRING QUERYABLE SORTABLE,
        GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
    );
    RECORD TYPE Todo (
        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
        "___modTime" TIMESTAMP QUERYABLE SORTABLE,
        "___recordID" REFERENCE QUERYABLE,
        done INT64 QUERYABLE SORTABLE,
        due TIMESTAMP QUERYABLE SORTABLE,
        estimate DOUBLE QUERYABLE SORTABLE,
        list REFERENCE QUERYABLE,
        note STRING,
        place LOCATION QUERYABLE,
        priority INT64 QUERYABLE SORTABLE,
        tags LIST<STRING> QUERYABLE,
        thumb BYTES,
        title STRING QUERYABLE SORTABLE SEARCHABLE,
        GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
    );
"""
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 "
          "Safari/605.1.15")
PHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
         "Version/26.0 Safari/604.1")
LISTS = {"groceries": "orange", "house": "blue", "garden": "green", "work": "gray"}
NOW = "2026-11-27 09:54"

# A line: list, due in November (31 and more: December), hour, done, priority, estimate, tags, title.
TODOS = """
work 23 09:00 1 4 2 - | Answer the questions of the auditors
house 23 17:00 1 3 0.5 - | Bleed the radiators
groceries 24 08:30 1 2 0.5 market | Bread from the mill
garden 24 15:00 1 3 3 weekend | Cover the roses
work 24 16:00 1 5 4 urgent | Finish the translation
house 25 08:00 1 4 0.25 family | Sign the school trip form
groceries 25 12:00 1 2 0.5 - | Refill the coffee
work 25 14:00 0 4 1.5 - | Draft the letter to the landlord
house 26 07:45 1 5 0.25 urgent | Take the bins out
garden 26 10:00 0 2 1 - | Sharpen the pruning shears
work 26 11:30 1 3 2 - | Review the grant application
groceries 26 18:00 1 1 0.5 family | Candles for Mia
groceries 27 08:30 0 4 1.5 market,weekend | Oranges for Saturday
work 27 11:00 0 5 1.5 - | Call the printer about the proofs
house 27 14:00 0 5 4 - | Renew the passport
house 27 17:30 1 3 0.5 - | Water the lemon tree
house 28 08:00 0 4 0.25 urgent | Return library books
work 28 11:00 0 4 4 - | Book the ferry to Naxos
house 28 14:30 0 4 0.25 family,urgent | Buy screws, 4 × 40
work 28 17:00 0 2 4 - | Send the invoice to Lindqvist
garden 29 08:00 1 5 1.5 family | Fix the gate hinge
house 29 11:30 0 1 2 - | Write to grandmother
groceries 29 14:00 0 3 0.5 market | Order flour and yeast
garden 29 17:00 0 2 2 family,weekend | Plan the walk on Sunday
house 30 08:30 0 3 1 - | Change the bicycle tyre
groceries 30 11:00 1 4 2 family,urgent | Pick up the parcel
house 30 14:00 0 1 4 weekend | Photograph the old map
work 30 17:30 0 4 0.5 - | Read chapter 9
groceries 31 09:00 0 3 0.5 market | Lentils, rice, olive oil
work 31 10:00 0 5 1 urgent | Prepare the talk for Utrecht
house 31 18:00 0 2 0.5 - | Descale the kettle
garden 32 09:30 0 3 2 weekend | Empty the rain barrel
work 32 13:00 0 4 1 - | Agree on dates with Kaya
house 32 16:00 0 3 0.25 family | Find the ice skates
groceries 33 08:30 0 2 0.5 - | Cinnamon and cloves
work 33 11:00 0 3 3 - | Proofread the catalogue
house 33 19:00 0 4 1 family | Call the piano tuner
garden 34 10:00 0 1 1.5 - | Label the seed jars
house 34 12:00 0 5 0.5 urgent | Pay the heating bill
work 34 15:30 0 2 2 - | Sort the negatives
groceries 35 09:00 0 3 1 market,weekend | Cheese for the fondue
house 35 11:00 0 2 3 weekend | Paint the hallway shelf
garden 35 14:00 0 3 2 family,weekend | Build the bird feeder
house 36 10:00 0 1 1 - | Mend the blue jacket
work 37 09:00 0 5 2 - | Submit the tax papers
groceries 37 17:00 0 2 0.5 - | Oats and honey
house 38 08:00 0 4 0.25 - | Book a dentist appointment
work 38 14:00 0 3 1.5 - | Thank-you notes to the choir
garden 39 10:00 0 2 1 - | Move the herbs indoors
house 39 18:30 0 3 2 family | Wrap the presents
groceries 40 09:00 0 4 1 market | Fish for Friday
work 40 16:00 0 4 0.5 - | Back up the old laptop
house 41 08:30 0 2 0.5 - | Replace the smoke alarm battery
garden 42 11:00 0 3 4 weekend | Prune the apple tree
house 42 15:00 0 5 1 family,urgent | Train tickets for the holidays
work 43 10:00 0 3 1 - | Close the year’s folders
groceries 44 12:00 0 2 0.5 - | Marzipan and dates
house 45 09:00 0 1 2 - | Frame the print of the harbour
garden 46 13:00 0 2 1 - | Order tulip bulbs
work 47 11:00 0 4 2 - | Plan January with Tom
"""
PLACES = {
    "Oranges for Saturday": (52.5145, 13.3908, 12), "Bread from the mill": (52.3906, 13.0645, 20),
    "Book the ferry to Naxos": (37.9421, 23.6465, 40), "Prepare the talk for Utrecht": (52.0907, 5.1214, 25),
    "Pick up the parcel": (52.5219, 13.4132, 8), "Train tickets for the holidays": (47.3782, 8.5402, 15),
    "Cheese for the fondue": (46.8065, 7.1620, 30), "Photograph the old map": (59.9127, 10.7461, 10),
    "Fish for Friday": (53.5461, 9.9526, 18), "Call the piano tuner": (48.2092, 16.3728, 35),
}
NOTE = """Forty minutes and ten for questions, in the old reading room: no microphone, so stand at the long side.

Begin with the map of 1652 and not with the archive. Show the three harbours side by side; the scans are in the folder \
that Kaya shared. Leave out the tables, they are in the paper.

"""
NOTE += ("Ask Tom for the lamp. Print two copies, one with large letters. "
         "Trains go at 7:04 and 8:04 from the west side. ") * 12


def picture():
    """Returns a small PNG: an orange on a table."""
    side = 24
    lines = b""
    for y in range(side):
        lines += b"\0" + b"".join(
            bytes((240, 140 + 3 * (y - x) // 2, 30)) if (x - 12) ** 2 + (y - 11) ** 2 < 70 else
            bytes((150, 96, 60)) if y > 17 else bytes((222, 236, 240)) for x in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines))
            + chunk(b"IEND", b""))


def milliseconds(text):
    """Returns the milliseconds of "2026-11-27 09:54", in UTC."""
    return int(datetime.datetime.fromisoformat(text + "+00:00").timestamp() * 1000)


def record_name(title):
    """Returns the same name in each run, of the form that devices make."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, title)).upper()


def todos():
    """Yields title and fields of each record."""
    for line in TODOS.strip().splitlines():
        words, title = line.split(" | ")
        kind, day, hour, done, priority, estimate, tags = words.split()
        due = milliseconds(f"2026-11-01 {hour}") + (int(day) - 1) * 86_400_000
        fields = {
            "title": ("STRING", title), "due": ("TIMESTAMP", str(due)), "done": ("INT64", done),
            "priority": ("INT64", priority), "estimate": ("DOUBLE", estimate),
            "list": ("REFERENCE", {"recordName": kind, "action": "DELETE_SELF", "zoneID": {"zoneName": "lists"}})}
        if tags != "-":
            fields["tags"] = ("STRING_LIST", tags.split(","))
        if title in PLACES:
            latitude, longitude, accuracy = PLACES[title]
            fields["place"] = ("LOCATION", {
                "latitude": latitude, "longitude": longitude, "horizontalAccuracy": accuracy})
        if title == "Oranges for Saturday":
            fields["thumb"] = ("BYTES", base64.b64encode(picture()).decode())
        if title == "Prepare the talk for Utrecht":
            fields["note"] = ("STRING", NOTE)
        yield title, fields


class Story:
    """When each part was done, as the pictures tell it."""

    def __init__(self):
        self.marks = []

    def at(self, text):
        """What is done from now on was done at a time."""
        time.sleep(0.01)
        self.marks.append((int(time.time() * 1000), milliseconds(text)))

    def when(self, real):
        began, told = next((mark for mark in reversed(self.marks) if mark[0] <= real), self.marks[0])
        # A part takes less than a minute, however slow the machine is.
        return told + min(max(0, real - began), 59_000)

    def tell(self, value, key=""):
        """Returns an answer of the server with the times of the story. Values of fields stay as they are."""
        if isinstance(value, dict):
            return {name: self.tell(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self.tell(one, key) for one in value]
        if value is None or not (key == "timestamp" or key.endswith("Milliseconds")):
            return value
        if key.startswith("expires"):
            return milliseconds(NOW) + int(value) - int(time.time() * 1000)
        return type(value)(self.when(int(value)))


class PictureServer(Server):
    """A server with the data of the pictures; or, `isEmpty`, one that was started and never used."""

    usesSourceFiles = False

    def __init__(self, isEmpty=False):
        self.story = Story()
        self.story.at(NOW if isEmpty else "2026-11-12 14:02")
        super().__init__(isFilled=False, container=None if isEmpty else CONTAINER)
        if not isEmpty:
            self.begin()

    def session(self, name, link, client):
        """Signs an administrator in with a link, and gives a password."""
        session = Operator(self.url)
        session.opener.addheaders = [("User-Agent", client)]
        session.post("session", {"link": urllib.parse.urlsplit(link).fragment})
        session.post("session/password", {"password": PASSWORD})
        self.roles[name] = (name, PASSWORD)
        return session

    def begin(self):
        self.operator = self.session("admin", self.link, FIREFOX)
        self.name = self.operator.get("session")["administrator"]["name"]
        self.roles["administer"] = (self.name, PASSWORD)
        self.fill()

    def fill(self):
        self.make_schema()
        self.make_keys()
        self.story.at("2026-11-12 14:30")
        self.make_people()
        self.make_lists()
        self.make_changes()
        self.story.at("2026-11-27 09:51")
        picture_schema.fill(self)
        self.story.at("2026-11-27 09:53")

    def make_keys(self):
        """Makes tokens, a server key and webhooks."""
        place = ["--container", CONTAINER]
        self.story.at("2026-11-14 09:10")
        self.run("token", "create", *place, "--name", "web page", "--origin", "https://todo.example.com", "--origin",
                 "https://staging.example.com", "--callback", "https://todo.example.com/signed-in")
        self.story.at("2026-11-19 16:05")
        made = self.run("token", "create", *place, "--name", "released app", "--environment", "production", "--notes",
                        "Version 2.1 and later", "--json")
        self.released_token = json.loads(made)["token"]
        self.story.at("2026-11-20 08:40")
        for name in ("jobs", "search index"):
            self.run("key", "create", *place, "--name", name, "--private-key", f"{self.folder}/{name}.pem")
        # A name that no network has: what is sent there stays here.
        for name, more in (("phones", []), ("search", ["--database", "public", "--type", "Todo"])):
            self.run("webhook", "add", *place, "--name", name, "--url", f"https://push.todo.example/{name}", *more)

    def make_schema(self):
        made = self.run("token", "create", "--container", CONTAINER, "--name", "my app", "--environment",
                        "development", "--notes", "Test builds", "--json")
        self.api_token = json.loads(made)["token"]
        path = f"{self.folder}/todo.ckdb"
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCHEMA)
        self.run("schema", "import", path, "--container", CONTAINER)
        self.run("schema", "deploy", "--container", CONTAINER, "--yes")

    def make_people(self):
        for name, given, family in (("ann", "Ann", "Lee"), ("bob", "Bob", "Okafor"), ("carla", "Carla", "Ricci")):
            self.run("account", "create", name, "--given-name", given, "--family-name", family, "--developer",
                     "--email", f"{name}@example.com")
        for name, given, family in (
                ("dmitri", "Dmitri", "Halvorsen"), ("eve", "Eve", "Tanaka"), ("farid", "Farid", "Nasser")):
            self.operator.post("accounts/add", {
                "name": name, "givenName": given, "familyName": family, "password": PASSWORD})
        self.operator.post("accounts/disable", {"name": "eve"})
        self.operator.post("accounts/password", {"name": "ann", "password": PASSWORD})
        for moment, environment, token, client in (
                ("2026-11-23 19:44", "development", self.api_token, "yap/0.1.0"),
                ("2026-11-25 07:31", "production", self.released_token, PHONE),
                ("2026-11-26 21:02", "development", self.api_token, SAFARI)):
            self.story.at(moment)
            signed = self.app_sign_in("ann", PASSWORD, environment=environment, apiToken=token, client=client)
            if client != SAFARI:
                self.register_device(signed, token, environment, record_name(client))
        self.story.at("2026-11-13 10:20")
        link = self.operator.post("administrators/add", {"name": "maria", "role": "change"})["link"]
        self.story.at("2026-11-13 10:26")
        self.maria = self.session("maria", link, SAFARI)
        self.story.at("2026-11-16 08:12")
        self.operator.post("administrators/role", {"name": "maria", "role": "administer"})
        self.story.at("2026-11-18 15:40")
        link = self.maria.post("administrators/add", {"name": "tom", "role": "look"})["link"]
        self.story.at("2026-11-18 15:47")
        self.tom = self.session("tom", link, PHONE)

    def make_lists(self):
        self.lists = Place(self, zone="lists")
        self.production = Place(self, "production", zone="lists")
        self.story.at("2026-11-20 09:05")
        self.make_zone(self.lists.user, "archive")
        for account, zone in (("bob", "lists"), ("carla", "lists"), ("carla", "recipes")):
            self.make_zone(self.user(account), zone)
        names = {name: {"name": ("STRING", name.capitalize()), "color": ("STRING", color)}
                 for name, color in LISTS.items()}
        for place in (self.lists, self.production):
            place.save(names, type="List")
        records = list(todos())
        self.production.save({record_name(title): fields for title, fields in records[12:28]})
        times = ("2026-11-20 09:06", "2026-11-21 16:31", "2026-11-24 07:58", "2026-11-25 19:14", "2026-11-26 12:20")
        size = -(-len(records) // len(times))
        # The oldest are written last: lists are read from the earliest due date on.
        for number, moment in enumerate(times):
            self.story.at(moment)
            part = records[::-1][number * size:(number + 1) * size]
            self.lists.save({record_name(title): fields for title, fields in part}, kind="create")

    def make_changes(self):
        """Changes the zone after a token, by several administrators."""
        place = self.lists
        self.token = self.changes_token()
        self.story.at("2026-11-26 17:31")
        with contextlib.suppress(Refused):
            Operator(self.url).post("session", {"name": "tim", "password": "what was it again"})
        self.tom = self.again(self.tom, "tom", PHONE)
        self.tom.post(f"{CONTAINER}/production/private/zones/list", {}, user=place.user)
        self.story.at("2026-11-27 07:12")
        admin, self.operator = self.operator, self.again(self.maria, "maria", SAFARI)
        self.story.at("2026-11-27 07:15")
        self.change("Bread from the mill", {"tags": ("STRING_LIST", ["market", "weekend"])})
        self.story.at("2026-11-27 08:02")
        self.change("Candles for Mia", {"priority": ("INT64", "3")})
        place.save({record_name("Leeks and potatoes"): {
            "title": ("STRING", "Leeks and potatoes"), "due": ("TIMESTAMP", str(milliseconds("2026-12-18 10:00"))),
            "done": ("INT64", "0"), "priority": ("INT64", "2"), "estimate": ("DOUBLE", "0.5"), "list": (
                "REFERENCE", {"recordName": "groceries", "action": "DELETE_SELF", "zoneID": {"zoneName": "lists"}})}},
            kind="create")
        self.story.at("2026-11-27 08:40")
        place.post("records/modify", {"operations": [{
            "operationType": "forceDelete", "record": {"recordName": record_name("Order tulip bulbs")}}]})
        self.story.at("2026-11-27 09:37")
        self.change("Renew the passport", {"priority": ("INT64", "5"), "estimate": ("DOUBLE", "3")})
        self.story.at("2026-11-27 09:48")
        self.operator = self.again(admin, self.name, FIREFOX)
        self.story.at("2026-11-27 09:50")
        self.change("Oranges for Saturday", {"estimate": ("DOUBLE", "1.5")})

    def again(self, session, name, client):
        """Ends a session and signs in anew: in the story, days have passed."""
        session.post("session/end")
        session = Operator(self.url)
        session.opener.addheaders = [("User-Agent", client)]
        session.post("session", {"name": name, "password": PASSWORD})
        return session

    def change(self, title, fields):
        self.lists.save({record_name(title): fields})

    def changes_token(self):
        body = {"zones": [{"zoneID": {"zoneName": "lists"}, "resultsLimit": 200}]}
        answer = self.data_post("development", "private", "changes/zone", body, user=self.lists.user)
        return answer["zones"][0]["syncToken"]
