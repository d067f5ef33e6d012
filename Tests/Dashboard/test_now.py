"""Charts of what happens now: values, gaps, table, keyboard, the span that leads to the log."""
from playwright.sync_api import expect

from app_support import conflict, in_log, new_device, new_zone
from support import NARROW, THEMES, check_axe, check_no_overflow, scope, sign_in, visit


def show_now(page, server, path="/dashboard/now"):
    """Makes some requests, and opens the charts."""
    device = new_device(server)
    zone = new_zone(device)
    in_log(conflict(device, zone, "one"), server)
    sign_in(page, server)
    visit(page, server, path)
    expect(page.locator(".plot .line").first).to_be_attached()
    return device, zone


def plot(page, title="Requests a second"):
    return page.get_by_role("slider", name=f"{title}: point in time")


def test_charts_and_gauges(page, server):
    show_now(page, server)
    for title in ("Requests a second", "Time to respond", "Failed requests", "Bytes a second"):
        expect(page.get_by_role("figure", name=title)).to_be_visible()
    expect(page.get_by_text("Connections", exact=True)).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="In the last minute")).to_be_visible()
    codes = page.get_by_role("region", name="Errors by code, table")
    codes.get_by_role("link", name="CONFLICT").click()
    expect(page.get_by_label("Result", exact=True)).to_have_value("CONFLICT")


def test_the_month_and_both_scopes(page, server):
    show_now(page, server, scope("now"))
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    page.get_by_role("link", name="Last month").click()
    expect(page.get_by_role("figure", name="Requests an hour")).to_be_visible()
    assert "range=month" in page.url
    page.reload()
    expect(page.get_by_role("figure", name="Requests an hour")).to_be_visible()
    page.get_by_role("link", name="Last hour").click()
    expect(page.get_by_role("figure", name="Requests a second")).to_be_visible()
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    check_axe(page)


def test_a_chart_as_a_table(page, server):
    show_now(page, server)
    page.get_by_role("button", name="Requests a second as a table").click()
    table = page.get_by_role("region", name="Requests a second, table")
    expect(table.get_by_role("columnheader")).to_have_text(["From, UTC", "Succeeded", "Failed"])
    expect(plot(page)).to_be_hidden()
    check_axe(page)
    page.get_by_role("button", name="Requests a second as a chart").click()
    expect(plot(page)).to_be_visible()


def test_a_span_by_keyboard_leads_to_the_log(page, server):
    show_now(page, server)
    plot(page).focus()
    page.keyboard.press("End")
    latest = plot(page).get_attribute("aria-valuetext")
    assert "UTC: Succeeded" in latest, latest
    page.keyboard.press("ArrowLeft")
    assert plot(page).get_attribute("aria-valuetext") != latest
    # All charts show the same time.
    times = {one.get_attribute("aria-valuetext").split(": ")[0] for one in page.get_by_role("slider").all()}
    assert len(times) == 1, times
    for _ in range(3):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    chosen = page.get_by_role("group", name="Chosen span")
    expect(chosen).to_be_visible()
    assert "from=" in page.url and "to=" in page.url
    page.reload()
    expect(chosen).to_be_visible()
    check_axe(page)
    chosen.get_by_role("link", name="Open in the log").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Requests")
    assert "from=" in page.url and "to=" in page.url
    page.go_back()
    chosen.get_by_role("button", name="Clear").click()
    expect(chosen).to_have_count(0)
    assert "from=" not in page.url


def test_a_span_by_pointer(page, server):
    show_now(page, server)
    box = plot(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page.get_by_role("group", name="Chosen span")).to_be_visible()
    page.mouse.click(box["x"] + 200, box["y"] + 400)


def test_a_pause_stops_the_charts(page, server):
    page.clock.install()
    show_now(page, server)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("main").get_by_text("Paused")).to_be_visible()
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.clock.run_for(60_000)
    assert not sent, sent
    with page.expect_request("**/operator/1/live*"):
        page.get_by_role("button", name="Go on").click()


def test_a_long_run_keeps_no_more(page, server):
    page.clock.install()
    show_now(page, server)
    before = page.evaluate("document.querySelectorAll('*').length")
    for _ in range(20):
        with page.expect_response("**/operator/1/live*") as live:
            page.clock.run_for(2000)
        live.value.finished()
    after = page.evaluate("document.querySelectorAll('*').length")
    assert after <= before + 40, (before, after)


def test_usage_and_slow_pages(page, server):
    device, zone = show_now(page, server)
    visit(page, server, scope("usage"))
    page.get_by_role("region", name="Users by bytes").get_by_role("link", name="dora", exact=True).click()
    expect(page.get_by_role("region", name="Zones, table")).to_contain_text(zone)
    check_axe(page)
    device.ask("records/query", {"zoneID": {"zoneName": zone}, "query": {"recordType": "Todo"}})
    visit(page, server, scope("slow"))
    for title in ("Slow queries", "Throttled clients"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    check_axe(page)


def test_what_production_refused_is_named(page, server):
    device = new_device(server, environment="production")
    zone = new_zone(device)
    answer = in_log(device.save(zone, "one", type="Recipe"), server)
    sign_in(page, server)
    visit(page, server, scope("slow", "production"))
    lacks = page.get_by_role("region", name="Missing in production, table")
    link = lacks.get_by_role("link", name="Recipe", exact=True)
    expect(link).to_have_attribute("href", f"{scope('schema')}?type=Recipe")
    check_axe(page)
    visit(page, server, f"/dashboard/requests/{answer.id}")
    expect(page.get_by_role("main")).to_contain_text("Production’s schema has no type Recipe")
