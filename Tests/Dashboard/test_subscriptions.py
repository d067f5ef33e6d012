"""Subscriptions of a user, in words."""
import secrets

from playwright.sync_api import expect

from schema_support import Container, subscribe
from support import check_axe, scope, sign_in, visit


def test_choose_an_account_that_has_none(page, server):
    sign_in(page, server, "look")
    visit(page, server, scope("subscriptions"))
    check_axe(page)
    page.get_by_role("main").get_by_role("link", name="ann", exact=False).first.click()
    expect(page).to_have_url(f"{server.url}{scope('subscriptions/private/' + server.user('ann'))}")
    expect(page.get_by_role("heading", name="No subscriptions of ann")).to_be_visible()
    check_axe(page)
    page.get_by_role("link", name="In the public database").click()
    expect(page).to_have_url(f"{server.url}{scope('subscriptions/public/' + server.user('ann'))}")
    expect(page.get_by_role("button", name="Database: Public")).to_be_visible()


def test_what_is_watched_and_sent_in_words(page, server):
    own = Container(server)
    name = f"sub-{secrets.token_hex(3)}"
    user = subscribe(server, own, name, [
        {"subscriptionID": "all", "subscriptionType": "database",
         "notificationInfo": {"shouldSendContentAvailable": True}},
        {"subscriptionID": "<img src=x onerror=alert(1)>", "subscriptionType": "query", "firesOn": ["create", "update"],
         "firesOnce": True, "query": {"recordType": "Todo", "filterBy": [
             {"comparator": "GREATER_THAN", "fieldName": "done", "fieldValue": {"value": 3, "type": "INT64"}}]},
         "notificationInfo": {"alertBody": "<b>Done</b>", "additionalFields": ["title"]}}])
    sign_in(page, server, "look")
    visit(page, server, own.address(f"subscriptions/private/{user}"))
    expect(page.get_by_text(f"2 subscriptions of {name}, in the private database")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="<img src=x onerror=alert(1)>")
    for words in ("Records of type Todo, in all zones", "where done is greater than 3",
                  "when one is created or changed, once", "An alert: “<b>Done</b>”", "values of title"):
        expect(row).to_contain_text(words)
    row = page.get_by_role("row").filter(has_text="All zones of the database")
    expect(row).to_contain_text("A silent push, which wakes the app")
    expect(page.locator("img")).to_have_count(0)
    check_axe(page)
