"""What waits in an environment, and the times at which the server didn't run."""
import re

from playwright.sync_api import expect

from app_support import in_log, new_device, new_zone
from support import NARROW, THEMES, check_axe, check_no_overflow, scope, sign_in, visit


def gauge(page, word):
    return page.locator(".gauges > div").filter(has=page.locator("dt", has_text=word))


def show_now(page, server, path):
    device = new_device(server)
    in_log(device.save(new_zone(device), "one"), server)
    sign_in(page, server)
    visit(page, server, path)
    expect(page.locator(".plot .line").first).to_be_attached()


def test_what_waits_is_shown_for_an_environment(page, server):
    show_now(page, server, scope("now"))
    for word in ("Pushes waiting", "Webhooks waiting", "Indexes being built"):
        expect(gauge(page, word)).to_contain_text("0")
    page.get_by_text("The same as a command").click()
    expect(page.get_by_role("main")).to_contain_text("/backlog")
    visit(page, server, "/dashboard/now")
    expect(page.locator(".gauges")).to_contain_text("Connections")
    expect(gauge(page, "Pushes waiting")).to_have_count(0)


def test_a_backlog_is_followed_while_the_page_is_live(page, server):
    page.clock.install()
    indexes = [{"recordType": "Todo", "field": f"field{number}", "kind": "QUERYABLE"} for number in range(5)]
    answers = [{"pushesWaiting": {"count": 10_000, "isCapped": True}, "webhooksWaiting": 3,
                "indexesBeingBuilt": indexes},
               {"pushesWaiting": {"count": 7, "isCapped": False}, "webhooksWaiting": 0, "indexesBeingBuilt": []}]
    asked = []
    # The next question comes after 5 s, and what is checked first may take longer.
    page.route(re.compile("/backlog"), lambda route: asked.append(1) or route.fulfill(json=answers[0]))
    show_now(page, server, scope("now"))
    expect(gauge(page, "Pushes waiting")).to_contain_text("10,000+")
    expect(gauge(page, "Webhooks waiting")).to_contain_text("3")
    expect(gauge(page, "Indexes being built")).to_contain_text("Todo.field0 QUERYABLE")
    expect(gauge(page, "Indexes being built")).to_contain_text("and 2 more")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    del answers[0]
    expect(gauge(page, "Pushes waiting")).to_contain_text("7")
    page.get_by_role("button", name="Pause").click()
    count = len(asked)
    page.clock.run_for(60_000)
    assert len(asked) == count, asked


def test_no_line_is_drawn_while_the_server_did_not_run(page, server):
    def answer(route):
        """The server ran 20 minutes, then was off 10, and runs since. It has a point a minute."""
        response = route.fetch()
        told = response.json()
        now = told["nowSecond"]
        off, on = now - 2400, now - 1800
        points = [{"second": second, "requests": 60, "errors": 0, "milliseconds50": 3, "milliseconds99": 9,
                   "bytesIn": 10, "bytesOut": 10} for second in range(now - 3600, now, 60) if not off <= second < on]
        route.fulfill(json={**told, "points": points, "runs": [
            {"start": now - 9000, "end": off}, {"start": on, "end": now - 30}]})

    page.route(re.compile("/operator/1/live"), answer)
    show_now(page, server, "/dashboard/now")
    page.get_by_role("button", name="Requests a second as a table").click()
    cells = page.get_by_role("region", name="Requests a second, table").locator("tbody td:first-of-type")
    expect(cells.first).to_be_attached()
    texts = cells.all_inner_texts()
    gap = [index for index, text in enumerate(texts) if text == "no data"]
    # One gap, as long as the server was off; the newest points are zero and no gap.
    assert gap == list(range(gap[0], gap[-1] + 1)), texts
    step = 3600 / len(texts) if len(texts) < 200 else 15
    assert abs(len(gap) * step - 600) <= 3 * step, (len(gap), len(texts))
    assert 0 not in gap, texts[:5]
    page.get_by_role("button", name="Requests a second as a chart").click()
    path = page.locator("figure", has_text="Requests a second").locator(".line.c1").get_attribute("d")
    assert path.count("M") == 2, path[:200]


def test_the_server_says_when_it_ran(page, server):
    runs = server.operator.get("live")["runs"]
    assert runs and all(run["start"] <= run["end"] for run in runs), runs
    assert server.operator.get("live/hours")["runs"]
