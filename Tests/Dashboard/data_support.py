"""What the tests of the record pages share: zones with records, and the record as the API has it."""
import secrets
import urllib.parse

from playwright.sync_api import expect

from support import scope, visit

TYPE = "Todo"
BIG = "9007199254740993"


class Place:
    """A zone of ann's with records, which one test has for itself, or which has a name."""

    def __init__(self, server, environment="development", database="private", zone=None):
        self.server = server
        self.environment = environment
        self.database = database
        self.user = server.user("ann") if database == "private" else None
        self.zone = (zone or f"zone-{secrets.token_hex(4)}") if database == "private" else "_defaultZone"
        if self.user:
            server.make_zone(self.user, self.zone, environment)

    def address(self, query="", type=TYPE):
        owner = f"private/{self.user}" if self.user else "public"
        return scope(f"data/{owner}/{self.zone}/{urllib.parse.quote(type)}{query}", self.environment)

    def open_address(self, name):
        return self.address(f"?open={urllib.parse.quote(name)}")

    def post(self, endpoint, body):
        query = {"user": self.user} if self.user else {}
        body = {"zoneID": {"zoneName": self.zone}, "numbersAsStrings": True, **body}
        return self.server.data_post(self.environment, self.database, endpoint, body, **query)

    def save(self, records, kind="forceUpdate", type=TYPE):
        """Saves `{name: {field: (type, value)}}`."""
        operations = [{"operationType": kind, "record": {"recordName": name, "recordType": type, "fields": {
            field: {"type": value[0], "value": value[1]} for field, value in fields.items()}}}
            for name, fields in records.items()]
        for start in range(0, len(operations), 200):
            self.post("records/modify", {"operations": operations[start:start + 200]})

    def fill(self, count):
        """Saves thing-000, thing-001, ... with a title and a priority of 0 to 4."""
        self.save({f"thing-{number:03}": {
            "title": ("STRING", f"Thing {number}"), "priority": ("INT64", str(number % 5))} for number in range(count)})

    def record(self, name):
        """Returns the record as it is kept now."""
        return self.post("records/lookup", {"records": [{"recordName": name}]})["records"][0]

    def value(self, name, field):
        found = self.record(name)["fields"].get(field)
        return found["value"] if found else None

    def names(self):
        """Returns the names of all records of the type."""
        found, marker = [], None
        while True:
            body = {"query": {"recordType": TYPE}, "resultsLimit": 200}
            answer = self.post("records/query", {**body, **({"continuationMarker": marker} if marker else {})})
            found += [record["recordName"] for record in answer["records"]]
            marker = answer.get("continuationMarker")
            if not marker:
                return sorted(found)


def ensure_production(server):
    """Makes the type in production too. A stand-in has it."""
    if server.isMock or getattr(server, "hasProduction", False):
        return
    server.run("schema", "deploy", "--container", "iCloud.com.example.todo", "--yes")
    server.hasProduction = True


def rows(page):
    return page.locator("tbody tr")


def row(page, name):
    return page.locator(f'tbody tr[data-record="{name}"]')


def open_record(page, server, place, name):
    """Opens a record's panel by its address."""
    visit(page, server, place.open_address(name))
    expect(page.get_by_role("navigation", name="Parts of the record")).to_be_visible()


def edit_record(page, server, place, name):
    open_record(page, server, place, name)
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit the record")


def field(page, name):
    """The input of a field in a form."""
    return page.locator("#record-form").get_by_label(name, exact=True)
