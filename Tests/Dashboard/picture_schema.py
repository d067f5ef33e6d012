"""The pictures of schemas, deploys, subscriptions and the find box, with the data that they need."""
import json
import re
import urllib.parse
import urllib.request

from playwright.sync_api import expect

from support import CONTAINER, PASSWORD, scope

OPERATIONS = [
    {"op": "addRole", "role": "editor"},
    {"op": "setGrant", "recordType": "List", "role": "editor", "permissions": ["READ", "WRITE"]},
    {"op": "setIndex", "recordType": "List", "field": "color", "kind": "QUERYABLE", "isOn": True},
    {"op": "setIndex", "recordType": "Todo", "field": "estimate", "kind": "SORTABLE", "isOn": False},
    {"op": "addType", "recordType": "Template"},
    {"op": "addField", "recordType": "Template", "field": "name", "type": "STRING"},
    {"op": "setIndex", "recordType": "Template", "field": "name", "kind": "QUERYABLE", "isOn": True},
    {"op": "setIndex", "recordType": "Template", "field": "name", "kind": "SORTABLE", "isOn": True},
    {"op": "addField", "recordType": "Template", "field": "titles", "type": "LIST<STRING>"},
]
SUBSCRIPTIONS = [
    {"subscriptionID": "private-changes", "subscriptionType": "database",
     "notificationInfo": {"shouldSendContentAvailable": True}},
    {"subscriptionID": "lists-changed", "subscriptionType": "zone", "zoneID": {"zoneName": "lists"},
     "notificationInfo": {"alertBody": "A list has changed", "soundName": "default"}},
    {"subscriptionID": "urgent", "subscriptionType": "query", "firesOn": ["create", "update"], "zoneWide": True,
     "query": {"recordType": "Todo", "filterBy": [
         {"comparator": "GREATER_THAN_OR_EQUALS", "fieldName": "priority", "fieldValue": {"value": 4, "type": "INT64"}},
         {"comparator": "EQUALS", "fieldName": "done", "fieldValue": {"value": 0, "type": "INT64"}}]},
     "notificationInfo": {"title": "Urgent", "alertBody": "Something needs you today", "shouldBadge": True,
                          "additionalFields": ["title", "due"]}},
]


def fill(server):
    """Changes development's schema after the deploy, and subscribes ann."""
    server.operator.post(f"{CONTAINER}/development/schema/change", {"operations": OPERATIONS})
    signed = server.app_sign_in("ann", PASSWORD, apiToken=server.api_token, client="yap/0.1.0")
    query = urllib.parse.urlencode({"ckAPIToken": server.api_token, "ckWebAuthToken": signed["webAuthToken"]})
    body = {"operations": [{"operationType": "create", "subscription": one} for one in SUBSCRIPTIONS]}
    address = f"{server.url}/database/1/{CONTAINER}/development/private/subscriptions/modify?{query}"
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        assert "serverErrorCode" not in response.read().decode()


def addresses(server):
    """Yields name, address and action of each picture."""
    user = server.lists.user
    yield "schema", scope("schema"), None
    yield "schema-type", scope("schema/types/Todo"), None
    yield "schema-field", scope("schema/types/Template"), ask_field
    yield "schema-indexes", scope("schema/indexes"), build_index
    yield "schema-roles", scope("schema/roles"), None
    yield "schema-language", scope("schema/language"), type_wrong
    yield "schema-import", scope("schema/language"), ask_import
    yield "schema-production", scope("schema/types/Todo", "production"), None
    yield "deploy", scope("schema/deploy", "production"), None
    yield "deploy-dialog", scope("schema/deploy?remove=1", "production"), ask_deploy
    yield "deploy-done", scope("schema/deploy", "production"), deploy
    yield "deploy-same", scope("schema/deploy", "production"), show_same
    yield "subscriptions", scope(f"subscriptions/private/{user}"), None
    yield "records-elsewhere", scope(f"data/private/{user}/archive/Todo"), None
    yield "find", scope("schema"), open_find
    yield "keys-of-the-keyboard", scope("schema"), open_keys


def ask_field(page, server):
    page.get_by_role("button", name="New field").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("color")


def build_index(page, server):
    """Shows an index that is being built: real ones of so few records are ready at once."""
    def answer(route):
        value = route.fetch().json()
        for one in value["indexes"]:
            if (one["recordType"], one["field"], one["kind"]) == ("List", "color", "QUERYABLE"):
                one.update(isBeingBuilt=True, builtShare=0.46)
        route.fulfill(json=value)
    page.route(re.compile("/operator/.*/schema/indexes"), answer)
    page.reload()
    expect(page.get_by_text("Being built, 46 %")).to_be_visible()


def type_wrong(page, server):
    area = page.get_by_label("Schema as text")
    area.fill(re.sub(r"(color +)STRING", r"\1STRNG", area.input_value()))
    expect(page.get_by_role("heading", name=re.compile("^Line"))).to_be_visible()
    page.get_by_role("button", name="Go to the line").click()


def ask_import(page, server):
    area = page.get_by_label("Schema as text")
    area.fill(re.sub(r"(thumb +BYTES)", r"\1,\n        url             STRING QUERYABLE", area.input_value()))
    expect(page.get_by_text("An import changes")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def ask_deploy(page, server):
    page.get_by_role("button", name=re.compile("^Deploy [0-9]+")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def deploy(page, server):
    """Shows what was deployed, without doing it."""
    difference = server.operator.get(f"{CONTAINER}/schema/difference")
    page.route("**/schema/deploy", lambda route: route.fulfill(json={"changes": difference["changes"]})
               if route.request.method == "POST" else route.fallback())
    ask_deploy(page, server)
    show_same_from_now(page)
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Deploy")).click()
    expect(page.get_by_role("heading", name=re.compile("^Deployed"))).to_be_visible()


def show_same_from_now(page):
    same = {"changes": [], "kept": [], "refusals": [], "effects": [], "plan": "none"}
    page.route("**/schema/difference*", lambda route: route.fulfill(json=same))


def show_same(page, server):
    show_same_from_now(page)
    page.reload()
    expect(page.get_by_role("heading", name=re.compile("^Production has all"))).to_be_visible()


def open_find(page, server):
    page.keyboard.press("Control+k")
    page.keyboard.type("de")
    expect(page.get_by_role("option").first).to_be_visible()


def open_keys(page, server):
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
