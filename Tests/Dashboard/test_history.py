"""The history of a record, and the log's filters of time, record and administrator."""
import secrets
import time
import urllib.parse

from playwright.sync_api import expect

from app_support import conflict, in_log, new_device, new_zone
from data_support import Place
from polling import eventually
from support import NARROW, THEMES, allow, check_axe, check_no_overflow, scope, sign_in, visit


def lines(page):
    return page.get_by_role("region", name="Requests that changed the record, table").locator("tbody tr")


def address(device, zone, name):
    return scope(f"data/private/{device.user}/{zone}/Todo?open={name}&view=history")


def log_rows(page):
    return page.locator(".log tbody tr")


def iso(milliseconds):
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return seconds + (f".{milliseconds % 1000:03}" if milliseconds % 1000 else "") + "Z"


def logged(server, **query):
    """Waits until the log has a request that fits; returns the newest."""
    def found():
        return server.operator.get("requests", **query)["requests"]
    return eventually(found, f"the log has no request with {query}")[0]


def test_the_history_of_a_record(page, server):
    device = new_device(server, "Phone/3.0")
    zone = new_zone(device)
    name = f"todo-{secrets.token_hex(4)}"
    refused = in_log(conflict(device, zone, name), server)
    in_log(device.save(zone, "another"), server)
    change = {"operationType": "forceUpdate", "record": {"recordName": name, "recordType": "Todo", "fields": {
        "title": {"value": "Mine", "type": "STRING"}}}}
    server.data_post("development", "private", "records/modify", {
        "operations": [change], "zoneID": {"zoneName": zone}}, user=device.user)
    logged(server, administrator=server.name, record=name)
    sign_in(page, server)
    visit(page, server, scope(f"data/private/{device.user}/{zone}/Todo?open={name}"))
    page.get_by_role("navigation", name="Parts of the record").get_by_role("link", name="History").click()
    expect(lines(page)).to_have_count(4)
    expect(lines(page).nth(0)).to_contain_text(server.name)
    expect(lines(page).nth(0)).to_contain_text("Update, forced")
    expect(lines(page).nth(1)).to_contain_text("CONFLICT")
    expect(lines(page).nth(1)).to_contain_text("Phone/3.0")
    expect(lines(page).nth(1)).to_contain_text("dora")
    expect(page.get_by_text("The log reaches back to")).to_be_visible()
    expect(page.get_by_text("earlier values aren’t known")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="All 4 requests shown")).to_be_visible()
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    page.get_by_text("The same as a command").last.click()
    expect(page.get_by_role("main")).to_contain_text(f"--record {name}")
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    lines(page).nth(1).get_by_role("link").first.click()
    expect(page).to_have_url(f"{server.url}/dashboard/requests/{refused.id}")


def test_the_history_of_a_deleted_record_says_who_deleted_it(page, server):
    allow(page, "404")
    device = new_device(server)
    zone = new_zone(device)
    device.save(zone, "gone")
    in_log(device.ask("records/modify", {"zoneID": {"zoneName": zone}, "operations": [
        {"operationType": "forceDelete", "record": {"recordName": "gone"}}]}), server)
    sign_in(page, server)
    visit(page, server, address(device, zone, "gone"))
    expect(page.get_by_role("heading", name="No record with this name in this zone")).to_be_visible()
    expect(lines(page).nth(0)).to_contain_text("Delete, forced")
    expect(lines(page)).to_have_count(2)
    check_axe(page)


def test_a_long_history_comes_page_by_page(page, server):
    device = new_device(server)
    zone = new_zone(device)
    for _ in range(26):
        answer = device.save(zone, "often")
    in_log(answer, server)
    sign_in(page, server)
    visit(page, server, address(device, zone, "often"))
    expect(lines(page)).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(lines(page)).to_have_count(26)


def test_the_history_of_a_record_in_the_public_database(page, server):
    place = Place(server, database="public")
    name = f"public-{secrets.token_hex(4)}"
    place.save({name: {"title": ("STRING", "One")}})
    logged(server, record=name)
    sign_in(page, server)
    visit(page, server, place.address(f"?open={name}&view=history"))
    expect(lines(page)).to_have_count(1)
    expect(lines(page)).to_contain_text(server.name)


def test_a_span_of_the_log_is_found_in_one_question(page, server):
    device = new_device(server)
    zone = new_zone(device)
    in_log(device.save(zone, "before"), server)
    first = logged(server, id=in_log(device.save(zone, "inside"), server).id)["timeMilliseconds"]
    last = logged(server, id=in_log(device.save(zone, "after"), server).id)["timeMilliseconds"]
    sign_in(page, server)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/requests?" in request.url else None)
    span = urllib.parse.urlencode({"zone": zone, "from": iso(first), "to": iso(last)})
    visit(page, server, f"/dashboard/requests?{span}")
    expect(log_rows(page)).to_have_count(1)
    assert len([url for url in asked if "/operator/" in url]) == 1, asked
    page.get_by_text("The same as a command").click()
    expect(page.get_by_role("main")).to_contain_text(f"--from {iso(first)} --to {iso(last)}")
    page.get_by_role("button", name="At any time").click()
    expect(log_rows(page)).to_have_count(4)


def test_requests_of_administrators_are_marked_and_found(page, server):
    zone = f"zone-{secrets.token_hex(4)}"
    server.make_zone(server.user("ann"), zone)
    logged(server, zone=zone)
    sign_in(page, server)
    visit(page, server, f"/dashboard/requests?zone={zone}")
    line = log_rows(page).filter(has_text="operator/zones/modify")
    expect(line.locator(".by-admin")).to_contain_text(server.name)
    expect(line.locator(".by-admin")).to_contain_text("ann")
    page.get_by_label("Administrator", exact=True).select_option("*")
    page.get_by_role("button", name="Apply").click()
    expect(log_rows(page)).to_have_count(1)
    assert "administrator=*" in page.url, page.url
    expect(page.get_by_label("Administrator", exact=True)).to_have_value("*")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    log_rows(page).first.get_by_role("link").first.click()
    expect(page.get_by_role("main").get_by_role("link", name="Audit log")).to_be_visible()
    check_axe(page)


def test_the_audit_log_leads_to_its_request(page, server):
    zone = f"zone-{secrets.token_hex(4)}"
    server.make_zone(server.user("ann"), zone)
    logged(server, zone=zone)
    sign_in(page, server)
    visit(page, server, "/dashboard/audit")
    page.get_by_role("row").filter(has_text=zone).locator("a[href^='/dashboard/requests/']").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("operator/zones/modify")
    expect(page.get_by_role("main")).to_contain_text(server.name)


def test_the_audit_log_says_what_a_role_was_refused(page, server):
    name, _ = server.administrator("look")
    sign_in(page, server, "look")
    response = page.context.request.post(f"{server.url}/operator/1/{'iCloud.com.example.todo'}/tokens/add",
                                         data={"name": "mine", "environment": "development"})
    assert response.status == 403, response.text()
    sign_in(page, server)
    visit(page, server, f"/dashboard/audit?administrator={name}")
    line = page.get_by_role("row").filter(has_text="tried what their role doesn’t allow")
    expect(line.first).to_contain_text("Refused")
    expect(line.first).to_contain_text("tokens/add")
