"""An empty list says where records of its type are."""
import secrets

from playwright.sync_api import expect

from data_support import ensure_production
from support import check_axe, scope, sign_in, visit


def account_of_its_own(server):
    if server.isMock:
        return "person001"
    name = f"else-{secrets.token_hex(3)}"
    server.run("account", "create", name)
    return name


def save(server, user, zone, count, environment="development"):
    server.make_zone(user, zone, environment)
    server.data_post(environment, "private", "records/modify", {"zoneID": {"zoneName": zone}, "operations": [
        {"operationType": "create", "record": {"recordName": f"thing-{number}", "recordType": "Todo", "fields": {
            "title": {"value": f"Thing {number}", "type": "STRING"}}}} for number in range(count)]}, user=user)


def test_an_empty_zone_says_where_records_are(page, server):
    ensure_production(server)
    user = server.user(account_of_its_own(server))
    empty, full = (f"{word}-{secrets.token_hex(3)}" for word in ("empty", "full"))
    server.make_zone(user, empty)
    save(server, user, full, 3)
    save(server, user, full, 1, "production")
    sign_in(page, server, "look")
    visit(page, server, scope(f"data/private/{user}/{empty}/Todo"))
    expect(page.get_by_role("heading", name="No records of type Todo here")).to_be_visible()
    places = page.locator(".elsewhere a")
    expect(places.filter(has_text=f"Zone {full} in Production")).to_contain_text("1 record")
    place = places.filter(has_text=f"Zone {full}").filter(has_not_text="Production")
    expect(place).to_contain_text("3 records")
    check_axe(page)
    place.click()
    expect(page).to_have_url(f"{server.url}{scope(f'data/private/{user}/{full}/Todo')}")
    expect(page.locator("tbody tr")).to_have_count(3)


def test_without_counts_the_usual_places_stay(page, server):
    user = server.user("ann")
    zone = f"empty-{secrets.token_hex(3)}"
    server.make_zone(user, zone)
    sign_in(page, server)
    page.route("**/counts*", lambda route: route.fulfill(json={"zones": [], "isCapped": False}))
    visit(page, server, scope(f"data/private/{user}/{zone}/Todo"))
    expect(page.get_by_role("link", name="Other zones of ann")).to_be_visible()
