"""The log of requests: live rows, filters, and a request found by its ID."""
import re
import secrets

from playwright.sync_api import expect

from app_support import conflict, in_log, new_device, new_zone
from support import allow, check_axe, check_no_overflow, focused, scope, settle, sign_in, visit

HOSTILE = "<img src=x onerror=alert(1)>\"'"


def rows(page):
    return page.locator(".log tbody tr")


def show_log(page, server, query=""):
    """Opens the log, and waits until it shows what fits."""
    visit(page, server, f"/dashboard/requests{query}")
    expect(rows(page).first).to_be_visible()


def hide(page, isHidden):
    """Tells the page that it is hidden, as a browser does when another tab is shown."""
    page.evaluate("""isHidden => {
        Object.defineProperty(document, "hidden", {configurable: true, get: () => isHidden});
        document.dispatchEvent(new Event("visibilitychange"));
    }""", isHidden)


def test_a_failed_request_is_found_by_its_id_in_two_clicks(page, server):
    device = new_device(server)
    zone = new_zone(device)
    name = f"todo-{secrets.token_hex(4)}"
    answer = in_log(conflict(device, zone, name), server)
    sign_in(page, server)
    visit(page, server, "/dashboard")
    box = page.get_by_role("combobox", name="Find", exact=False)
    box.fill(f"CKError: \"Server Record Changed\"; uuid = {answer.id}")
    # The first click.
    page.get_by_role("option", name=f"Request {answer.id}").click()
    expect(page).to_have_url(f"{server.url}/dashboard/requests/{answer.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("records/modify")
    expect(page.get_by_role("main")).to_contain_text("CONFLICT")
    expect(page.get_by_role("main")).to_contain_text("Lists/1.4")
    expect(page.get_by_role("main")).not_to_contain_text("a secret title")
    check_axe(page)
    # The second one.
    page.get_by_role("region", name="Records of the request").get_by_role("link", name=name).click()
    expect(page).to_have_url(f"{server.url}{scope(f'data/private/{device.user}/{zone}/Todo')}?open={name}")
    expect(page.get_by_role("navigation", name="Parts of the record")).to_be_visible()


def test_a_request_shows_those_of_its_device(page, server):
    device = new_device(server)
    zone = new_zone(device)
    device.save(zone, "one")
    answer = device.fetch(zone)
    in_log(device.ask("zones/list", {}), server)
    sign_in(page, server)
    visit(page, server, f"/dashboard/requests/{answer.id}")
    near = page.get_by_role("region", name="Requests of the same device")
    expect(near.get_by_role("row").filter(has_text="zones/list")).to_have_count(1)
    expect(near.locator("[aria-current=true]")).to_contain_text("changes/zone")
    expect(near.get_by_role("row").filter(has_text="records/modify")).to_have_count(1)
    expect(page.get_by_role("region", name="Fetched changes, table")).to_contain_text(zone)
    page.get_by_role("link", name="All requests of this device").click()
    expect(rows(page).filter(has_text="zones/list").first).to_be_visible()
    assert "session=" in page.url


def test_an_unknown_id_says_so(page, server):
    allow(page, "404")
    sign_in(page, server)
    visit(page, server, "/dashboard/requests/00000000-0000-4000-8000-000000000000")
    expect(page.get_by_role("heading", name="The log doesn’t have this request")).to_be_visible()
    check_axe(page)


def test_the_id_of_an_error_leads_to_its_request(page, server):
    allow(page, "404")
    sign_in(page, server)
    visit(page, server, scope(f"zones/{server.user('ann')}/nothing-here"))
    visit(page, server, "/dashboard/audit")
    expect(page.locator("a[href^='/dashboard/requests/']").first).to_be_visible()


def test_a_live_row_appears_and_waits_while_a_row_has_the_focus(page, server):
    device = new_device(server)
    for _ in range(4):
        answer = device.ask("zones/list", {})
    in_log(answer, server)
    sign_in(page, server)
    show_log(page, server)
    zone = new_zone(device)
    expect(rows(page).first).to_contain_text("zones/modify")
    link = rows(page).nth(2).get_by_role("link")
    link.focus()
    before = (focused(page), link.bounding_box())
    device.save(zone, "one")
    device.save(zone, "two")
    new = page.get_by_role("button", name="2 new")
    expect(new).to_be_visible()
    assert (focused(page), link.bounding_box()) == before
    check_axe(page)
    new.click()
    expect(new).to_have_count(0)
    expect(rows(page).first).to_contain_text("records/modify")


def test_a_pause_is_visible_and_stops_the_log(page, server):
    page.clock.install()
    device = new_device(server)
    in_log(device.ask("zones/list", {}), server)
    sign_in(page, server)
    show_log(page, server)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("main").get_by_text("Paused")).to_be_visible()
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    device.ask("zones/lookup", {"zones": []})
    page.clock.run_for(60_000)
    assert not [url for url in sent if "/operator/" in url], sent
    page.get_by_role("button", name="Go on").click()
    expect(rows(page).first).to_contain_text("zones/lookup")


def test_a_hidden_page_sends_nothing_and_asks_once_on_return(page, server):
    page.clock.install()
    device = new_device(server)
    zone = new_zone(device)
    in_log(device.save(zone, "one"), server)
    sign_in(page, server)
    for path, shown in ((f"/dashboard/requests?zone={zone}", "dora"), ("/dashboard/now", "Requests a second")):
        visit(page, server, path)
        # The name of the account is the last thing that the log asks for.
        expect(page.get_by_role("main")).to_contain_text(shown)
        with page.expect_response(re.compile(r"/operator/1/(requests|live)\?.*after=")) as live:
            page.clock.run_for(2000)
        live.value.finished()
        hide(page, True)
        sent = []
        page.on("request", lambda request, sent=sent: sent.append(request.url))
        page.clock.run_for(60_000)
        assert not sent, sent
        with page.expect_request("**/operator/1/**"):
            hide(page, False)
        page.clock.run_for(300)
        assert len(sent) == 1, sent


def test_filters_are_in_the_address_and_survive_a_reload(page, server):
    device = new_device(server)
    zone = new_zone(device)
    device.save(zone, "one")
    device.ask("zones/list", {})
    answer = in_log(conflict(device, zone, "two"), server)
    sign_in(page, server)
    show_log(page, server)
    page.get_by_label("Operation", exact=True).select_option("records/modify")
    page.get_by_text("Who, device, zone, record, request ID").click()
    page.get_by_label("Zone", exact=True).fill(zone)
    page.get_by_role("button", name="Apply").click()
    expect(rows(page)).to_have_count(4)
    assert "operation=records%2Fmodify" in page.url and f"zone={zone}" in page.url, page.url
    page.reload()
    expect(rows(page)).to_have_count(4)
    expect(page.get_by_label("Operation", exact=True)).to_have_value("records/modify")
    expect(page.get_by_label("Zone", exact=True)).to_have_value(zone)
    page.get_by_label("Result", exact=True).select_option("CONFLICT")
    page.get_by_role("button", name="Apply").click()
    expect(rows(page)).to_have_count(1)
    page.go_back()
    expect(rows(page)).to_have_count(4)
    page.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(f"{server.url}/dashboard/requests")
    show_log(page, server, f"?id={answer.id}")
    expect(rows(page)).to_have_count(1)
    show_log(page, server, f"?user={device.user}&session=&slow=0")
    visit(page, server, "/dashboard/requests?slow=600000")
    expect(page.get_by_role("heading", name="No requests")).to_be_visible()
    check_axe(page)


def test_the_scope_of_the_log_marks_production(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/requests?container=iCloud.com.example.todo&environment=production")
    assert page.evaluate("document.documentElement.dataset.environment") == "production"
    page.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(f"{server.url}/dashboard/requests")
    assert page.evaluate("document.documentElement.dataset.environment") is None


def test_hostile_texts_are_text(page, server):
    device = new_device(server, client=HOSTILE)
    zone = new_zone(device)
    name = "<script>alert(1)</script>"
    answer = in_log(device.save(zone, name, kind="update", tag="nonsense"), server)
    sign_in(page, server)
    visit(page, server, f"/dashboard/requests/{answer.id}")
    expect(page.get_by_role("main")).to_contain_text("<img src=x")
    expect(page.get_by_role("region", name="Records of the request")).to_contain_text(name)
    assert page.locator("main img, main script").count() == 0
    show_log(page, server, f"?zone={zone}")
    expect(rows(page).first).to_contain_text("<img src=x")


def test_the_log_of_a_server_that_was_restarted(page, server):
    allow(page, "Failed to load resource", "net::ERR")
    device = new_device(server)
    zone = new_zone(device)
    answer = in_log(device.save(zone, "kept"), server)
    sign_in(page, server)
    show_log(page, server, f"?zone={zone}")
    server.pause()
    expect(page.get_by_role("region", name="Connection")).to_contain_text("The server doesn’t respond.")
    server.resume()
    # The page finds the server again by itself, after a wait that grows.
    expect(page.get_by_role("region", name="Connection")).to_have_count(0, timeout=40_000)
    expect(rows(page).filter(has_text="records/modify")).to_have_count(1)
    visit(page, server, f"/dashboard/requests/{answer.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("records/modify")
    in_log(device.save(zone, "more"), server)
    show_log(page, server, f"?zone={zone}")
    expect(rows(page).filter(has_text="records/modify")).to_have_count(2)


def test_the_log_on_a_phone(page, server):
    device = new_device(server)
    for _ in range(3):
        answer = device.ask("zones/list", {})
    in_log(answer, server)
    sign_in(page, server)
    page.set_viewport_size({"width": 320, "height": 700})
    show_log(page, server)
    check_no_overflow(page)
    page.get_by_text("Filters", exact=True).click()
    check_no_overflow(page)
    check_axe(page)
    rows(page).first.get_by_role("link").click()
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    check_no_overflow(page)
