"""The sync inspector: each device's position in each zone, as the server sees it."""
import secrets

from playwright.sync_api import expect

from app_support import conflict, in_log, new_device, new_zone
from support import NARROW, THEMES, check_axe, check_no_overflow, scope, sign_in, visit


def row(page, client):
    return page.get_by_role("region", name="Devices by zones").get_by_role("row").filter(has_text=client)


def cell(page, client, zone):
    """The cell of a device and a zone."""
    heads = page.get_by_role("region", name="Devices by zones").get_by_role("columnheader").all_inner_texts()
    return row(page, client).locator("> *").nth(heads.index(zone))


def test_a_device_that_is_behind_says_so(page, server):
    phone = new_device(server, "Behind/2.0 (iPhone)")
    tablet = new_device(server, "Ahead/2.0 (iPad)")
    zone, other = new_zone(phone), new_zone(phone)
    phone.save(zone, "one")
    phone.fetch(zone)
    phone.fetch(other)
    saved = tablet.save(zone, "two", "three")
    in_log(tablet.fetch(zone), server)
    sign_in(page, server)
    visit(page, server, scope(f"sync/{phone.user}"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sync of dora")
    expect(cell(page, "Behind/2.0", zone)).to_contain_text("Behind 2")
    expect(cell(page, "Behind/2.0", other)).to_contain_text("Up to date")
    expect(cell(page, "Ahead/2.0", zone)).to_contain_text("Up to date")
    expect(cell(page, "Ahead/2.0", zone)).to_contain_text("saved 2 records")
    expect(cell(page, "Ahead/2.0", other)).to_contain_text("Never fetched")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    phone.fetch(zone)
    # The page follows by itself.
    expect(cell(page, "Behind/2.0", zone)).to_contain_text("Up to date", timeout=15_000)
    cell(page, "Ahead/2.0", zone).get_by_role("link", name="saved 2 records", exact=False).click()
    expect(page).to_have_url(f"{server.url}/dashboard/requests/{saved.id}")


def test_the_last_error_leads_to_its_request(page, server):
    device = new_device(server, "Wrong/1.0")
    zone = new_zone(device)
    answer = in_log(conflict(device, zone, "one"), server)
    sign_in(page, server)
    visit(page, server, scope("sync"))
    page.get_by_role("region", name="Users, table").get_by_role("link", name="dora", exact=True).click()
    expect(row(page, "Wrong/1.0")).to_contain_text("CONFLICT")
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    check_axe(page)
    row(page, "Wrong/1.0").locator(f"a[href$='{answer.id}']").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("records/modify")


def test_zones_have_a_checksum_to_compare(page, server):
    device = new_device(server)
    zone = new_zone(device)
    device.save(zone, "one", "two")
    in_log(device.fetch(zone), server)
    sign_in(page, server)
    visit(page, server, scope(f"sync/{device.user}"))
    line = page.get_by_role("region", name="Zones on the server, table").get_by_role("row").filter(has_text=zone)
    expect(line.get_by_role("cell").nth(1)).to_have_text("2")
    expect(line.get_by_role("button", name=f"Copy the checksum of {zone}")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("yap sync inspect FILE")


def test_hostile_texts_are_text(page, server):
    client = f"<img src=x onerror=alert(1)>{secrets.token_hex(3)}"
    device = new_device(server, client)
    zone = new_zone(device)
    in_log(device.fetch(zone), server)
    sign_in(page, server)
    visit(page, server, scope(f"sync/{device.user}"))
    expect(row(page, client)).to_have_count(1)
    assert page.locator("main img").count() == 0


def test_any_account_can_be_chosen(page, server):
    sign_in(page, server)
    visit(page, server, scope("sync"))
    page.get_by_role("button", name="Account: Choose…").click()
    check_axe(page)
    page.get_by_role("group", name="Accounts").get_by_role("link", name="ann", exact=False).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sync of ann")
