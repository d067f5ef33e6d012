"""The list of records: scope, pages, filters, sort, columns, selection, deletion."""
import json
import re
import secrets

from playwright.sync_api import expect

from data_support import TYPE, Place, ensure_production, row, rows
from support import DESK, NARROW, PHONE, THEMES, allow, check_axe, check_no_overflow, scope, sign_in, visit


def show(page, server, place, query):
    """Opens the list with a query, and waits until the list, and the panel if one is open, have what they show."""
    visit(page, server, place.address(query))
    expect(page.locator(".list-content").locator("tbody tr[data-record], h2, [role=alert]").first).to_be_attached()
    if "open=" in query or "new=" in query:
        expect(page.locator(".panel").locator(".tabs, #record-form, [role=alert]").first).to_be_visible()


def status(page):
    return page.locator(".after").get_by_role("status")


def test_choose_what_is_missing(page, server):
    place = Place(server)
    place.fill(3)
    sign_in(page, server)
    visit(page, server, scope("data"))
    main = page.get_by_role("main")
    check_axe(page)
    main.get_by_role("link", name="Private database of an account").click()
    expect(page).to_have_url(re.compile("/data/private$"))
    main.get_by_role("searchbox").fill("an")
    main.get_by_role("link", name="ann").first.click()
    expect(page).to_have_url(re.compile(f"/data/private/{place.user}$"))
    expect(main.get_by_role("button", name="Account: ann")).to_be_visible()
    main.get_by_role("link", name=place.zone, exact=True).click()
    expect(main.get_by_text("Choose a record type")).to_be_visible()
    check_axe(page)
    main.get_by_role("link", name=TYPE, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TYPE)
    expect(rows(page)).to_have_count(3)


def test_pickers_change_the_scope(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_role("button", name="Account: ann").click()
    expect(page.get_by_role("searchbox", name="Find an account")).to_be_focused()
    check_axe(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Account: ann")).to_be_focused()
    page.get_by_role("button", name=f"Zone: {place.zone}").click()
    page.get_by_role("link", name="_defaultZone", exact=True).click()
    expect(page).to_have_url(re.compile(f"/_defaultZone/{TYPE}$"))
    page.get_by_role("button", name="Database: Private").click()
    page.get_by_role("link", name="Public", exact=True).click()
    expect(page).to_have_url(re.compile(f"/data/public/_defaultZone/{TYPE}$"))
    page.go_back()
    page.go_back()
    expect(rows(page)).to_have_count(2)


def test_pages_of_130_records(page, server):
    place = Place(server)
    place.fill(130)
    sign_in(page, server)
    visit(page, server, place.address())
    expect(rows(page)).to_have_count(50)
    expect(status(page)).to_have_text("50 records shown, more exist")
    more = page.get_by_role("button", name="Show 50 more")
    more.click()
    expect(rows(page)).to_have_count(100)
    more.click()
    expect(rows(page)).to_have_count(130)
    expect(status(page)).to_have_text("130 records shown, all of them")
    expect(more).to_have_count(0)
    names = rows(page).evaluate_all("rows => rows.map((row) => row.dataset.record)")
    assert sorted(names) == place.names()


def test_filter_sort_address_and_reload(page, server):
    place = Place(server)
    place.fill(20)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_role("button", name="Filter", exact=True).click()
    form = page.get_by_role("form", name="Filters")
    form.get_by_label("Field of filter 1").select_option(label="priority")
    form.get_by_label("Comparison of filter 1").select_option(label="is at least")
    form.get_by_label("Value of filter 1").fill("3")
    expect(form).to_contain_text("Index: priority, QUERYABLE")
    form.get_by_label("Sort field").select_option(label="title")
    form.get_by_label("Direction").select_option(label="Z to A")
    expect(form).to_contain_text("Index: title, SORTABLE")
    form.get_by_role("button", name="Add a filter").click()
    form.get_by_label("Field of filter 2").select_option(label="title")
    form.get_by_label("Comparison of filter 2").select_option(label="begins with")
    form.get_by_label("Value of filter 2").fill("Thing 1")
    check_axe(page)
    form.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("button", name="Filter (2)")).to_be_visible()
    expected = ["thing-019", "thing-018", "thing-014", "thing-013"]
    expect(rows(page)).to_have_count(4)

    def shown():
        return rows(page).evaluate_all("rows => rows.map((row) => row.dataset.record)")
    assert shown() == expected, shown()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(rows(page)).to_have_count(4)
    assert shown() == expected, shown()
    expect(page.get_by_label("Value of filter 2")).to_have_value("Thing 1")
    page.get_by_role("columnheader", name="title").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="title")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("columnheader", name="title").get_by_role("button")).to_be_focused()
    expect(rows(page).first).to_have_attribute("data-record", "thing-013")
    page.get_by_role("button", name="Remove filter 2").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(rows(page)).to_have_count(20)


def test_a_refused_query_says_why(page, server):
    place = Place(server)
    place.save({"one": {"title": ("STRING", "One"), "digest": ("BYTES", "AAEC")}})
    sign_in(page, server)
    allow(page, "400")
    visit(page, server, place.address())
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("Field of filter 1").select_option(label="digest")
    expect(page.get_by_role("form", name="Filters")).to_contain_text("No QUERYABLE index on digest")
    page.get_by_label("Value of filter 1").fill("AAEC")
    page.get_by_role("button", name="Apply").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Field 'digest' is not marked queryable")
    expect(alert).to_contain_text("BAD_REQUEST")
    expect(alert.get_by_role("button", name="Copy the request ID")).to_be_visible()
    check_axe(page)
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(rows(page)).to_have_count(1)


def test_a_wrong_value_is_not_sent(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    visit(page, server, place.address("?q=priority=many"))
    expect(page.get_by_role("alert")).to_contain_text("Nothing was requested")
    visit(page, server, place.address("?q=priority"))
    expect(page.get_by_role("alert")).to_contain_text("A comparison is missing")
    visit(page, server, place.address("?q=priority=1"))
    page.get_by_label("Value of filter 1").fill("1,5")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("form", name="Filters").get_by_role("alert")).to_contain_text("Not a whole number")
    expect(page.get_by_label("Value of filter 1")).to_be_focused()


def test_only_shown_columns_are_asked_for(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    asked = []
    page.on("request", lambda request: asked.append(json.loads(request.post_data)["desiredKeys"])
            if request.url.split("?")[0].endswith("records/query") else None)
    visit(page, server, place.address("?cols=title,priority"))
    expect(rows(page)).to_have_count(2)
    assert asked[-1] == ["title", "priority"], asked
    page.get_by_role("button", name="Columns").click()
    check_axe(page)
    page.get_by_role("group", name="Columns").get_by_label("priority", exact=True).uncheck()
    expect(page).to_have_url(re.compile("cols=title(&|$)"))
    expect(page.get_by_role("columnheader", name="priority")).to_have_count(0)
    assert asked[-1] == ["title"], asked
    page.reload()
    expect(page.get_by_role("columnheader", name="title")).to_be_visible()
    expect(page.get_by_role("columnheader", name="priority")).to_have_count(0)


def test_open_by_name(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_label("Open a record by its name").fill("thing-001")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thing 1")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(TYPE)
    visit(page, server, place.open_address("nobody"))
    expect(page.get_by_role("alert")).to_contain_text("No record with this name in this zone")


def test_delete_selected_records(page, server):
    place = Place(server)
    place.fill(6)
    sign_in(page, server, "change")
    visit(page, server, place.address())
    for name in ("thing-001", "thing-003", "thing-004"):
        row(page, name).get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete 3…").click()
    dialog = page.get_by_role("dialog", name="Delete 3 records?")
    expect(dialog).to_contain_text("thing-003")
    expect(dialog).to_contain_text("Development")
    check_axe(page)
    dialog.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("button", name="Delete 3…")).to_be_focused()
    page.get_by_role("button", name="Delete 3…").click()
    dialog.get_by_role("button", name="Delete 3 records").click()
    expect(rows(page)).to_have_count(3)
    expect(status(page)).to_have_text("3 records shown, all of them")
    assert place.names() == ["thing-000", "thing-002", "thing-005"]


def test_what_could_not_be_deleted_is_listed(page, server):
    place = Place(server)
    place.fill(3)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_label("Select all rows shown").check()
    # Somebody changes one meanwhile: what was not seen is not deleted.
    place.save({"thing-001": {"title": ("STRING", "Changed meanwhile")}})
    page.get_by_role("button", name="Delete 3…").click()
    page.get_by_role("button", name="Delete 3 records").click()
    dialog = page.get_by_role("dialog", name="1 record could not be deleted")
    expect(dialog).to_contain_text("2 records deleted")
    expect(dialog).to_contain_text("thing-001")
    expect(dialog).to_contain_text("CONFLICT")
    check_axe(page)
    dialog.get_by_role("button", name="Close").click()
    expect(rows(page)).to_have_count(1)
    assert place.names() == ["thing-001"]


def test_production_demands_the_number(page, server):
    ensure_production(server)
    place = Place(server, "production")
    place.fill(4)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_label("Select all rows shown").check()
    page.get_by_role("button", name="Delete 4…").click()
    dialog = page.get_by_role("dialog", name="Delete 4 records?")
    expect(dialog).to_contain_text("Production")
    button = dialog.get_by_role("button", name="Delete 4 records")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill("3")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill("4")
    check_axe(page)
    button.click()
    expect(page.get_by_role("heading", name=f"No records of type {TYPE} here")).to_be_visible()
    assert place.names() == []


def test_empty_and_without_match(page, server):
    place = Place(server)
    Place(server).fill(1)
    sign_in(page, server)
    visit(page, server, place.address())
    expect(page.get_by_role("heading", name=f"No records of type {TYPE} here")).to_be_visible()
    expect(page.get_by_role("link", name="Other zones of ann")).to_be_visible()
    check_axe(page)
    place.fill(1)
    visit(page, server, place.address('?q=title="nothing"'))
    expect(page.get_by_role("heading", name="No record matches the filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(rows(page)).to_have_count(1)


def test_a_missing_zone(page, server):
    place = Place(server)
    place.zone = f"absent-{secrets.token_hex(3)}"
    sign_in(page, server)
    allow(page, "404")
    visit(page, server, place.address())
    expect(page.get_by_role("alert")).to_contain_text("ZONE_NOT_FOUND")
    expect(page.get_by_role("link", name="Other zones of ann")).to_be_visible()


def test_role_look_sees_no_changes(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server, "look")
    visit(page, server, place.open_address("thing-000"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Thing 0")
    for name in ("Edit", "Delete"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="New record")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)


def test_keyboard_only(page, server):
    place = Place(server)
    place.fill(3)
    sign_in(page, server)
    visit(page, server, place.address())
    page.get_by_role("button", name="Filter", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Field of filter 1")).to_be_focused()
    page.keyboard.type("title")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.type("Thing 2")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    row(page, "thing-002").get_by_role("link", name="thing-002").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thing 2")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit the record")
    page.locator("#record-form").get_by_label("priority", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("77")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thing 2")
    assert place.value("thing-002", "priority") == "77"
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text(TYPE)
    expect(row(page, "thing-002").get_by_role("link", name="thing-002")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("region", name="Selected records")).to_contain_text("1 record selected")


def test_every_state_is_accessible_in_both_themes(page, server):
    place = Place(server)
    place.fill(3)
    sign_in(page, server)
    allow(page, "400")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        for query in ("", "?q=priority>=1,title:words:thing&sort=-priority", "?q=title=none", "?open=thing-001",
                      "?open=thing-001&view=json", "?new=1"):
            show(page, server, place, query)
            check_axe(page)


def test_phone_without_sideways_scrolling(page, server):
    place = Place(server)
    place.fill(3)
    place.save({"long": {"title": ("STRING", "word" * 80), "tags": ("STRING_LIST", ["market" * 9, "weekend", "x", "y"]),
                         "due": ("TIMESTAMP", "1795000000000"), "kept": ("STRING", "line\n" * 40)}})
    sign_in(page, server)
    for viewport in (PHONE, NARROW):
        page.set_viewport_size(viewport)
        for query in ("", "?q=title:begins:w&sort=title", "?open=long", "?open=long&view=json", "?new=1", "?open=none"):
            show(page, server, place, query)
            check_no_overflow(page)
        check_axe(page)
    page.set_viewport_size(PHONE)
    visit(page, server, place.address())
    row(page, "long").get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete 1…").click()
    check_no_overflow(page)
    page.keyboard.press("Escape")
    page.set_viewport_size(DESK)


def test_slow_answers_show_that_they_load(page, server):
    place = Place(server)
    place.fill(3)
    sign_in(page, server)
    held = []
    page.route("**/records/query*", lambda route: held.append(route))
    page.goto(server.url + place.address())
    expect(page.locator("tbody .name .skeleton").first).to_be_visible()
    expect(status(page)).to_have_text("Loading")
    check_axe(page)
    held.pop().continue_()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("columnheader", name="priority").get_by_role("button").click()
    # The rows of before stay until the others are there.
    expect(page.locator("table[aria-busy=true]")).to_be_visible()
    expect(rows(page)).to_have_count(3)
    held.pop().continue_()
    expect(page.locator("table[aria-busy=true]")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="priority")).to_have_attribute("aria-sort", "ascending")


def test_the_list_comes_back_with_the_server(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    allow(page, "Failed to load resource", "ERR_")
    visit(page, server, place.address())
    server.pause()
    try:
        page.get_by_role("columnheader", name="title").get_by_role("button").click()
        expect(page.locator(".list-content").get_by_role("alert")).to_contain_text("UNREACHABLE")
    finally:
        server.resume()
    expect(rows(page)).to_have_count(2, timeout=20_000)


def test_no_more_than_500_rows_are_kept(page, server):
    place = Place(server)
    place.fill(560)
    sign_in(page, server)
    visit(page, server, place.address("?cols=-"))
    more = page.get_by_role("button", name="Show 50 more")
    for count in range(100, 501, 50):
        more.click()
        expect(rows(page)).to_have_count(count)
    more.click()
    expect(status(page)).to_have_text("Records 51 to 550 shown, more exist")
    expect(rows(page)).to_have_count(500)
    more.click()
    expect(status(page)).to_have_text("Records 61 to 560 shown, no more exist")
    page.get_by_role("button", name="Back to the first").click()
    expect(rows(page)).to_have_count(50)
    assert rows(page).first.get_attribute("data-record") in place.names()
