"""How many records a filter finds, and long values in the list."""
import re

from playwright.sync_api import expect

from data_support import Place, open_record, row, rows
from support import DESK, NARROW, check_axe, check_no_overflow, sign_in, visit


def counted(page):
    return page.locator(".counter > span")


def test_the_records_of_a_filter_are_counted_on_request(page, server):
    place = Place(server)
    place.fill(130)
    sign_in(page, server)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "count=true" in request.url else None)
    visit(page, server, place.address())
    expect(rows(page)).to_have_count(50)
    assert not asked, asked
    page.get_by_role("button", name="Count the records").click()
    expect(counted(page)).to_have_text("130 records in all")
    expect(counted(page)).to_be_focused()
    expect(page.locator("#announcement")).to_have_text("130 records in all")
    expect(page.locator(".after").get_by_role("status")).to_have_text("50 records shown, 80 left")
    # It stays while more rows come, and goes with another filter.
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows(page)).to_have_count(100)
    expect(counted(page)).to_have_text("130 records in all")
    expect(page.locator(".after").get_by_role("status")).to_have_text("100 records shown, 30 left")
    expect(page.get_by_role("button", name="Show 30 more")).to_be_visible()
    check_axe(page)
    visit(page, server, place.address("?q=priority<4"))
    page.get_by_role("button", name="Count the records").click()
    expect(counted(page)).to_have_text("104 records in all")
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    # A list that is shown whole needs no count.
    page.set_viewport_size(DESK)
    visit(page, server, place.address("?q=priority=4"))
    expect(page.locator(".after").get_by_role("status")).to_have_text("26 records shown, all of them")
    expect(page.get_by_role("button", name="Count the records")).to_have_count(0)


def test_a_count_that_stopped_says_so(page, server):
    place = Place(server)
    place.fill(60)
    sign_in(page, server)
    answers = iter([{"count": 10_000, "isCapped": True, "stoppedBy": "records"},
                    {"count": 1204, "isCapped": True, "stoppedBy": "rows"},
                    {"count": 640, "isCapped": True, "stoppedBy": "bytes"}])
    page.route(re.compile("count=true"), lambda route: route.fulfill(json=next(answers)))
    for text in ("More than 10,000 records", "1,204 records or more: 20,000 rows were examined",
                 "640 records or more: 64 MB were read"):
        visit(page, server, place.address())
        page.get_by_role("button", name="Count the records").click()
        expect(counted(page)).to_have_text(text)


def test_long_values_are_cut_in_the_list_and_whole_in_the_record(page, server):
    place = Place(server)
    place.save({"long": {
        "title": ("STRING", "ä" * 60_000), "digest": ("BYTES", "AAEC" * 4000),
        "tags": ("STRING_LIST", [f"tag number {number}" for number in range(500)])}})
    sign_in(page, server)
    with page.expect_response(re.compile("records/query")) as answered:
        visit(page, server, place.address("?cols=title,digest,tags"))
    assert len(answered.value.body()) < 5000
    line = row(page, "long")
    expect(line).to_contain_text("…")
    expect(line).to_contain_text("120 KB")
    expect(line).to_contain_text("12,000 bytes")
    expect(line).to_contain_text("+497")
    check_axe(page)
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    page.set_viewport_size(DESK)
    open_record(page, server, place, "long")
    panel = page.get_by_role("region", name="Record", exact=True)
    expect(panel).to_contain_text("60,000 characters")
    title = panel.locator(".field").filter(has=page.locator("dt", has_text="title"))
    title.get_by_role("button", name="Show all").click()
    assert len(title.locator(".words").inner_text()) == 60_000


def test_an_export_has_whole_values(page, server):
    place = Place(server)
    place.save({"long": {"title": ("STRING", "x" * 5000)}})
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("button", name="Export").click()
    with open(download.value.path(), encoding="utf-8") as file:
        assert "x" * 5000 in file.read()
