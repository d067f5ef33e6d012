"""The page of a device's file: `yap sync inspect --open`."""
import json
import os
import shutil
import urllib.error
import urllib.request

from playwright.sync_api import expect

from device_support import TodoDevice, device_page
from support import NARROW, PHONE, THEMES, allow, check_axe, check_no_overflow, focused, settle

HOSTILE = "<img src=x onerror=alert(1)>"


def show(page, served):
    """Opens the page of a file."""
    page.watch.origin = served.url
    page.goto(served.link)
    expect(page.get_by_role("main")).to_contain_text("commit")
    settle(page)


def card(page, number):
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=f"Change-set {number}", exact=True))


def row(page, field):
    """The values of a field, of which there is one."""
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=field, exact=True)).get_by_role("cell")


def status(url, headers=None, method="GET"):
    """The status of a request outside the browser."""
    try:
        request = urllib.request.Request(url, headers=headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_queue_is_shown_field_by_field(page, server):
    device = TodoDevice(server)
    key = device.add("(A) Buy milk")
    device.sign_in()
    device.todo("sync")
    device.todo("edit", key, f"(B) Buy {HOSTILE}")
    device.todo("delete", key)
    with device_page(server, device) as served:
        show(page, served)
        expect(page.get_by_role("heading", level=1)).to_have_text("todo.sqlite")
        assert "#" not in page.url
        expect(page.get_by_role("status").first).to_contain_text("2 changes wait")
        expect(row(page, "priority").first).to_have_text("A")
        expect(row(page, "title").nth(0)).to_have_text("Buy milk")
        expect(row(page, "title").nth(1)).to_have_text(f"Buy {HOSTILE}")
        assert page.locator("main img").count() == 0
        expect(page.get_by_role("article").filter(has_text="Delete")).to_be_visible()
        zone = page.get_by_role("region", name="Zones, table").get_by_role("row").filter(has_text="todos")
        expect(zone).to_contain_text("Fetched")
        expect(zone.get_by_role("button", name="Copy the change token of todos")).to_be_visible()
        page.get_by_text("The same as a command").click()
        expect(page.get_by_role("main")).to_contain_text("yap sync inspect")
        # A reload has the secret still, and the address has none.
        page.reload()
        expect(page.get_by_role("main")).to_contain_text("Buy milk")
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            check_axe(page)
        for size in (PHONE, NARROW):
            page.set_viewport_size(size)
            check_no_overflow(page)
            check_axe(page)


def test_the_page_follows_the_app_and_keeps_its_place(page, server):
    device = TodoDevice(server)
    device.add("first")
    device.add("second " + "word " * 100)
    page.clock.install()
    with device_page(server, device) as served:
        show(page, served)
        expect(page.get_by_role("main")).to_contain_text("Nothing fetched yet")
        long = card(page, 2).locator("summary")
        long.focus()
        long.press("Enter")
        device.add("third")
        # The app writes while the page is open, and what is being read stays open and focused.
        expect(card(page, 3)).to_contain_text("third")
        assert card(page, 2).locator("details").evaluate("one => one.open")
        assert focused(page).endswith("…")
        device.sign_in()
        device.todo("sync")
        expect(page.get_by_role("main")).to_contain_text("Everything is sent")
        expect(page.get_by_role("listitem")).to_have_count(0)
        page.get_by_role("button", name="Pause").click()
        device.add("fourth")
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.clock.run_for(60_000)
        assert not asked, asked
        expect(page.get_by_role("main")).not_to_contain_text("fourth")
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("main")).to_contain_text("fourth")


def test_what_is_in_flight_and_put_aside_is_marked(page, server):
    device = TodoDevice(server)
    device.add("in flight")
    device.add("refused")
    with device_page(server, device) as served:
        show(page, served)
        expect(page.get_by_role("main")).to_contain_text("Waiting")
        device.alter(f"UPDATE {device.table('changeset')} SET in_flight = 1 WHERE sequence = 1")
        expect(card(page, 1)).to_contain_text("In flight")
        device.alter(f"UPDATE {device.table('change')} SET refusal = 10 WHERE sequence = 2")
        aside = page.get_by_role("region", name="Quarantined")
        expect(aside).to_contain_text("rejected by the server: permissionFailure")
        expect(aside).to_contain_text("refused", use_inner_text=True)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            check_axe(page)
        page.set_viewport_size(NARROW)
        check_no_overflow(page)


def test_lists_are_bounded_and_grow_when_asked(page, server):
    device = TodoDevice(server)
    with open(os.path.join(device.folder, "items"), "w", encoding="utf-8") as file:
        file.writelines(f"item {number}\n" for number in range(30))
    device.todo("import", file.name)
    for number in range(24):
        device.add(f"more {number}")
    with device_page(server, device) as served:
        show(page, served)
        expect(page.get_by_role("listitem")).to_have_count(20)
        expect(page.get_by_role("main")).to_contain_text("and 10 more changes")
        expect(page.get_by_role("main")).to_contain_text("20 of 25 change-sets are shown.")
        page.get_by_role("button", name="Show more").click()
        expect(page.get_by_role("listitem")).to_have_count(25)
        assert page.url.endswith("?limit=40")
        page.reload()
        expect(page.get_by_role("listitem")).to_have_count(25)


def test_the_merge_log_is_shown(page, server):
    device = TodoDevice(server)
    device.add("one")

    def with_merges(route):
        response = route.fetch()
        state = response.json()
        for sync in state.get("syncs", []):
            sync["untoldMerges"] = 3
            sync["merges"] = [
                {"number": 2, "recordName": "r-2", "zoneName": "todos", "field": "title", "rule": "remoteWon",
                 "kind": "lost", "replaced": HOSTILE, "kept": "x" * 900},
                {"number": 1, "recordName": "r-1", "zoneName": "todos", "field": None, "rule": "deletedRemotely",
                 "kind": None, "replaced": None, "kept": None}]
        route.fulfill(response=response, body=json.dumps(state))

    page.route("**/device/1/state*", with_merges)
    with device_page(server, device) as served:
        show(page, served)
        log = page.get_by_role("region", name="Merge log, table")
        expect(log).to_contain_text(HOSTILE)
        expect(log).to_contain_text("deletedRemotely")
        expect(page.get_by_role("main")).to_contain_text("2 of 3 decisions are shown.")
        check_axe(page)
        page.set_viewport_size(NARROW)
        check_no_overflow(page)
        page.unroute_all(behavior="wait")


def test_without_the_secret_nothing_of_the_file_is_told(page, server):
    device = TodoDevice(server)
    device.add("a secret title")
    allow(page, "421")
    with device_page(server, device) as served:
        state = f"{served.url}/device/1/state"
        assert status(state) == 421
        assert status(state, {"Authorization": f"Bearer {'0' * 64}"}) == 421
        right = {"Authorization": f"Bearer {served.secret}"}
        assert status(state, right) == 200
        assert status(state, {**right, "Host": "example.com"}) == 400
        assert status(state, right, "POST") in (400, 411)
        page.watch.origin = served.url
        page.goto(served.url)
        expect(page.get_by_role("alert")).to_contain_text("The address isn’t complete")
        assert "a secret title" not in page.content()
        check_axe(page)
        # The link, pasted into the same tab.
        page.goto(served.link)
        expect(page.get_by_role("main")).to_contain_text("a secret title")


def test_a_file_that_is_missing_is_said_and_shown_again_when_it_is_back(page, server):
    device = TodoDevice(server)
    device.add("one")
    allow(page, "404", "500", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
    with device_page(server, device) as served:
        show(page, served)
        away = device.folder + "-away"
        shutil.move(device.folder, away)
        expect(page.get_by_role("alert")).to_contain_text("is not there")
        expect(page.get_by_role("status").first).to_have_text("What is shown was read before.")
        check_axe(page)
        os.mkdir(device.folder)
        with open(device.file, "wb") as file:
            file.write(b"A" * 5000)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("alert")).to_contain_text("is no database")
        shutil.rmtree(device.folder)
        shutil.move(away, device.folder)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.get_by_role("status").first).to_contain_text("1 change waits")
        assert served.stop() == 0
        expect(page.get_by_role("alert")).to_contain_text("The command doesn’t respond")
