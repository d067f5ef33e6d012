"""Zones of a private database, and their changes by token."""
import secrets

from playwright.sync_api import expect

from support import allow, check_axe, scope, sign_in, visit


def test_choose_an_account(page, server):
    sign_in(page, server)
    visit(page, server, scope("zones"))
    page.get_by_role("main").get_by_role("link", name="ann", exact=False).first.click()
    expect(page).to_have_url(f"{server.url}{scope('zones')}?user={server.user('ann')}")
    expect(page.get_by_role("button", name="Account: ann")).to_be_visible()
    expect(page.get_by_role("link", name="lists", exact=True)).to_be_visible()
    page.get_by_role("button", name="Account: ann").click()
    check_axe(page)
    page.get_by_role("group", name="Accounts").get_by_role("searchbox").fill("an")
    page.get_by_role("group", name="Accounts").get_by_role("link", name="ann").click()
    expect(page.get_by_role("button", name="Account: ann")).to_be_visible()


def test_create_and_delete_a_zone(page, server):
    sign_in(page, server, "change")
    visit(page, server, scope(f"zones?user={server.user('ann')}"))
    name = f"trip-{secrets.token_hex(3)}"
    page.get_by_role("button", name="New zone").click()
    dialog = page.get_by_role("dialog", name="New zone")
    check_axe(page)
    dialog.get_by_label("Name", exact=True).fill("_wrong")
    dialog.get_by_role("button", name="Create the zone").click()
    expect(dialog.get_by_role("alert")).to_contain_text("BAD_REQUEST")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create the zone").click()
    expect(dialog).to_be_hidden()
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("custom")
    row.get_by_role("button", name=f"Delete zone {name}").click()
    dialog = page.get_by_role("dialog", name=f"Delete zone {name}?")
    expect(dialog).to_contain_text("Development")
    check_axe(page)
    dialog.get_by_role("button", name=f"Delete {name} and its records").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text=f"Zone {name} was deleted")).to_have_count(1)


def test_production_demands_the_name(page, server):
    sign_in(page, server)
    user = server.user("ann")
    name = f"trip-{secrets.token_hex(3)}"
    server.make_zone(user, name, "production")
    visit(page, server, scope(f"zones?user={user}", "production"))
    page.get_by_role("button", name=f"Delete zone {name}").click()
    dialog = page.get_by_role("dialog", name=f"Delete zone {name}?")
    expect(dialog).to_contain_text("Production")
    button = dialog.get_by_role("button", name=f"Delete {name} and its records")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill(name[:-1])
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill(name)
    check_axe(page)
    button.click()
    expect(page.get_by_role("row").filter(has_text=name)).to_have_count(0)


def test_role_look_changes_no_zones(page, server):
    sign_in(page, server, "look")
    visit(page, server, scope(f"zones?user={server.user('ann')}"))
    expect(page.get_by_role("link", name="lists", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New zone")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete zone")).to_have_count(0)


def test_zones_of_the_public_database(page, server):
    sign_in(page, server)
    visit(page, server, scope("zones?database=public"))
    expect(page.get_by_role("link", name="_defaultZone")).to_be_visible()
    expect(page.get_by_role("button", name="New zone")).to_have_count(0)


def test_changes_page_by_page_and_since_a_token(page, server):
    sign_in(page, server)
    user = server.user("ann")
    visit(page, server, scope(f"zones/{user}/lists"))
    rows = page.get_by_role("region", name="Changes, table").get_by_role("row")
    expect(rows).to_have_count(51)
    more = page.get_by_role("button", name="Show 50 more")
    more.click()
    expect(rows).not_to_have_count(51)
    while more.is_visible():
        count = rows.count()
        more.click()
        expect(rows).not_to_have_count(count)
    page.get_by_role("button", name="Use as the next token").click()
    expect(page.get_by_role("heading", name="No changes since this token")).to_be_visible()
    assert "since=" in page.url
    name = f"new-{secrets.token_hex(3)}"
    record = {"recordName": name, "recordType": "Todo", "fields": {"title": {"value": "New", "type": "STRING"}}}
    zone = {"zoneName": "lists"}
    server.data_post("development", "private", "records/modify", {
        "operations": [{"operationType": "create", "record": record}], "zoneID": zone}, user=user)
    page.reload()
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("Created")
    server.data_post("development", "private", "records/modify", {
        "operations": [{"operationType": "forceDelete", "record": {"recordName": name}}], "zoneID": zone}, user=user)
    page.reload()
    expect(rows.nth(1)).to_contain_text("Deleted")
    check_axe(page)
    page.go_back()
    expect(rows).to_have_count(51)


def test_a_token_that_fits_no_zone(page, server):
    sign_in(page, server)
    visit(page, server, scope(f"zones/{server.user('ann')}/lists?since=bm90IGEgdG9rZW4"))
    expect(page.get_by_role("heading", name="The token isn’t of this zone")).to_be_visible()
    check_axe(page)
    page.get_by_role("main").get_by_role("button", name="From the beginning").last.click()
    expect(page.get_by_role("region", name="Changes, table")).to_be_visible()


def test_a_zone_that_does_not_exist(page, server):
    allow(page, "404")
    sign_in(page, server)
    visit(page, server, scope(f"zones/{server.user('ann')}/nothing-here"))
    expect(page.get_by_role("alert")).to_contain_text("ZONE_NOT_FOUND")
    check_axe(page)
