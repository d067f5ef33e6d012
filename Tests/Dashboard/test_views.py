"""Saved views of a list: links with a name, kept in the browser."""
import json

from playwright.sync_api import expect

from data_support import Place, rows
from support import CONTAINER, NARROW, check_axe, check_no_overflow, sign_in, visit

QUERY = "?q=priority<2&sort=-title&cols=title"


def menu(page):
    return page.get_by_role("group", name="Saved views")


def open_menu(page):
    page.get_by_role("button", name="Views", exact=True).click()
    expect(menu(page)).to_be_visible()


def save(page, name):
    open_menu(page)
    menu(page).get_by_role("button", name="Save this view").click()
    dialog = page.get_by_role("dialog", name="Save this view")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()


def put(page, server, text):
    """Puts a text into the browser's storage, where views are kept."""
    page.goto(f"{server.url}/dashboard/sign-in")
    page.evaluate("text => localStorage.setItem('yap-views', text)", text)


def test_a_view_is_saved_shown_renamed_and_deleted(page, server):
    place = Place(server)
    place.fill(10)
    sign_in(page, server)
    visit(page, server, place.address(QUERY))
    save(page, "Low <b>priority</b>")
    expect(page.get_by_role("button", name="Views", exact=True)).to_be_focused()
    visit(page, server, place.address())
    expect(rows(page)).to_have_count(10)
    open_menu(page)
    check_axe(page)
    menu(page).get_by_role("link", name="Low <b>priority</b>").click()
    expect(rows(page)).to_have_count(4)
    assert "q=priority" in page.url and "sort=-title" in page.url and "cols=title" in page.url, page.url
    open_menu(page)
    expect(menu(page).locator("a[aria-current]")).to_have_text("Low <b>priority</b>")
    menu(page).get_by_role("button", name="Rename view Low <b>priority</b>").click()
    dialog = page.get_by_role("dialog")
    check_axe(page)
    dialog.get_by_label("Name", exact=True).fill("  ")
    dialog.get_by_role("button", name="Rename").click()
    expect(dialog.get_by_role("alert")).to_have_text("Type a name.")
    dialog.get_by_label("Name", exact=True).fill("Later")
    dialog.get_by_role("button", name="Rename").click()
    expect(dialog).to_be_hidden()
    page.reload()
    open_menu(page)
    expect(menu(page).get_by_role("link")).to_have_text(["Later"])
    menu(page).get_by_role("button", name="Delete view Later").click()
    expect(page.get_by_role("status").filter(has_text="View Later was deleted")).to_have_count(1)
    open_menu(page)
    expect(menu(page).get_by_role("link")).to_have_count(0)


def test_a_view_is_found_in_the_find_box(page, server):
    place = Place(server)
    place.fill(10)
    sign_in(page, server)
    visit(page, server, place.address(QUERY))
    save(page, "Things of low priority")
    visit(page, server, "/dashboard")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("low prio")
    page.get_by_role("option", name="Things of low priority").click()
    expect(rows(page)).to_have_count(4)


def test_a_view_of_another_zone_says_where_it_is(page, server):
    one, other = Place(server), Place(server)
    one.fill(3)
    other.fill(2)
    sign_in(page, server)
    visit(page, server, one.address("?cols=title"))
    save(page, "Titles")
    visit(page, server, other.address())
    open_menu(page)
    expect(menu(page).get_by_role("link")).to_contain_text(one.zone)
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    check_axe(page)
    menu(page).get_by_role("link").click()
    expect(rows(page)).to_have_count(3)


def test_broken_storage_is_survived(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    good = {"name": "Good", "container": CONTAINER, "type": "Todo", "address": place.address("?cols=title")}
    bad = [None, 3, [], {"name": "No address"}, {**good, "name": "Elsewhere", "address": "https://example.com/"},
           {**good, "name": "Script", "address": "javascript:alert(1)"}, {**good, "name": "x" * 61}]
    for text, count in (("{", 0), ("null", 0), ("7", 0), (json.dumps(bad), 0), (json.dumps([*bad, good]), 1)):
        put(page, server, text)
        visit(page, server, place.address())
        expect(rows(page)).to_have_count(2)
        open_menu(page)
        expect(menu(page).get_by_role("link")).to_have_count(count)
    menu(page).get_by_role("button", name="Save this view").press("Escape")
    save(page, "Second")
    open_menu(page)
    expect(menu(page).get_by_role("link")).to_have_text(["Good", "Second"])


def test_views_are_bounded(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    views = [{"name": f"View {number}", "container": "another", "type": "Todo", "address": "/dashboard/x"}
             for number in range(50)]
    put(page, server, json.dumps(views))
    visit(page, server, place.address())
    open_menu(page)
    menu(page).get_by_role("button", name="Save this view").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("x" * 100)
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("x" * 60)
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("has 50 views already")
