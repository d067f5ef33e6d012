"""What the tests of schemas share: a container of a test's own, and its schemas as the service has them."""
import json
import secrets
import urllib.parse
import urllib.request

from support import Server

TODO = """DEFINE SCHEMA
    RECORD TYPE Todo (
        "___recordID" REFERENCE QUERYABLE,
        done INT64 QUERYABLE SORTABLE,
        title STRING QUERYABLE SEARCHABLE SORTABLE,
        GRANT WRITE TO "_creator",
        GRANT CREATE TO "_icloud",
        GRANT READ TO "_world"
    );
"""


class Container:
    """A container with a schema in development."""

    def __init__(self, server: Server, text=TODO):
        self.server = server
        self.identifier = f"iCloud.com.example.test{secrets.token_hex(4)}"
        if server.isMock:
            server.control("container", container=self.identifier)
        else:
            server.run("init", "--container", self.identifier)
        if text:
            self.post("development/schema/import", {"text": text})

    def address(self, rest="schema", environment="development"):
        return f"/dashboard/{self.identifier}/{environment}/{rest}"

    def get(self, path, **query):
        return self.server.operator.get(f"{self.identifier}/{path}", **query)

    def post(self, path, body):
        return self.server.operator.post(f"{self.identifier}/{path}", body)

    def change(self, *operations):
        return self.post("development/schema/change", {"operations": list(operations)})

    def deploy(self, removes=False):
        plan = self.get("schema/difference", **({"remove": "1"} if removes else {}))["plan"]
        return self.post("schema/deploy", {"remove": removes, "plan": plan})

    def text(self, environment="development"):
        """Returns the schema as `yap schema export` prints it, with single spaces."""
        if self.server.isMock:
            text = self.get(f"{environment}/schema")["text"]
        else:
            text = self.server.run("schema", "export", "--container", self.identifier, "--environment", environment)
        return " ".join(text.split())


def subscribe(server, container, account, subscriptions, database="private"):
    """Makes subscriptions as an app of a new account does; returns the user's record name."""
    token = json.loads(server.run("token", "create", "--container", container.identifier, "--name", account, "--json"))
    made = json.loads(server.run("account", "create", account, "--developer", "--json"))
    signed = server.app_sign_in(account, made["password"], container.identifier, apiToken=token["token"])
    query = urllib.parse.urlencode({"ckAPIToken": token["token"], "ckWebAuthToken": signed["webAuthToken"]})
    address = f"{server.url}/database/1/{container.identifier}/development/{database}/subscriptions/modify?{query}"
    body = {"operations": [{"operationType": "create", "subscription": one} for one in subscriptions]}
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    failed = [one for one in answer["subscriptions"] if "serverErrorCode" in one]
    assert not failed, failed
    return signed["userRecordName"]

