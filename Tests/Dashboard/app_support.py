"""An app's devices, for the tests of what the server saw: real requests of an account with tokens of their own."""
import json
import secrets
import urllib.error
import urllib.parse
import urllib.request

from polling import eventually
from support import CONTAINER, Refused

PASSWORD = "the password of dora"
ACCOUNT = "dora"


class Answer:
    """A response: its status, its body and its request ID."""

    def __init__(self, status, body, headers):
        self.status = status
        self.body = json.loads(body or b"{}")
        self.id = headers.get("X-Apple-Request-UUID") or self.body.get("uuid")


class Device:
    """A device that is signed in."""

    def __init__(self, server, token, client, environment="development"):
        self.server = server
        self.token = token
        self.client = client
        self.environment = environment
        self.id = secrets.token_hex(4)
        answer = self.send("/yap/1/sign-in", {"account": ACCOUNT, "password": PASSWORD, "container": CONTAINER,
                                              "environment": environment, "apiToken": token})
        assert answer.status == 200, answer.body
        self.session = answer.body["webAuthToken"]
        self.user = answer.body["userRecordName"]
        self.positions = {}

    def send(self, path, body, query=None):
        address = self.server.url + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"Content-Type": "application/json", "User-Agent": self.client}
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return Answer(response.status, response.read(), response.headers)
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), error.headers)

    def ask(self, endpoint, body, database="private"):
        """Sends a request of CloudKit's protocol."""
        query = {"ckAPIToken": self.token, "ckWebAuthToken": self.session, "clientId": self.id}
        return self.send(f"/database/1/{CONTAINER}/{self.environment}/{database}/{endpoint}", body, query)

    def make_zone(self, name):
        return self.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": name}}}]})

    def save(self, zone, *names, kind="forceUpdate", tag=None, type="Todo"):
        """Saves records."""
        more = {"recordChangeTag": tag} if tag else {}
        return self.ask("records/modify", {"zoneID": {"zoneName": zone}, "operations": [
            {"operationType": kind, "record": {"recordName": name, "recordType": type, "fields": {
                "title": {"value": "a secret title", "type": "STRING"}}, **more}} for name in names]})

    def fetch(self, zone):
        """Fetches what changed in a zone since this device's last fetch."""
        wanted = {"zoneID": {"zoneName": zone}}
        if zone in self.positions:
            wanted["syncToken"] = self.positions[zone]
        answer = self.ask("changes/zone", {"zones": [wanted]})
        if answer.status == 200:
            self.positions[zone] = answer.body["zones"][0].get("syncToken")
        return answer


def app_token(server):
    """Returns the app's token; makes it, and the account, when it is asked for first."""
    if not getattr(server, "appToken", None):
        server.appToken = json.loads(server.run(
            "token", "create", "--container", CONTAINER, "--name", "devices", "--json"))["token"]
        path = f"{server.folder}/password"
        with open(path, "w", encoding="utf-8") as file:
            file.write(PASSWORD + "\n")
        server.run("account", "create", ACCOUNT, "--given-name", "Dora", "--developer", "--password-file", path)
    return server.appToken


def new_device(server, client="Lists/1.4 (iPhone)", environment="development"):
    return Device(server, app_token(server), client, environment)


def new_zone(device):
    """Makes a zone that one test has for itself."""
    name = f"zone-{secrets.token_hex(4)}"
    answer = device.make_zone(name)
    assert answer.status == 200, answer.body
    return name


def in_log(answer, server):
    """Waits until the log has the request of an answer: it is written within a second. Returns the answer."""
    def logged():
        try:
            server.operator.get(f"requests/{answer.id}")
            return answer
        except Refused as error:
            if error.code != "NOT_FOUND":
                raise
        return None
    return eventually(logged, f"the log doesn't have request {answer.id}")


def conflict(device, zone, name):
    """Saves a record twice, the second time with an old change tag; returns the answer of the second."""
    first = device.save(zone, name)
    tag = first.body["records"][0]["recordChangeTag"]
    device.save(zone, name)
    return device.save(zone, name, kind="update", tag=tag)
