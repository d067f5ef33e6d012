"""One record: reading, editing, conflicts, making, deleting; what hostile values and lost sessions must not do."""
import base64
import json
import re
import secrets

from playwright.sync_api import expect

from data_support import BIG, TYPE, Place, edit_record, ensure_production, field, open_record, row, rows
from support import PASSWORD, PHONE, allow, check_axe, check_no_overflow, sign_in, visit

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAGklEQVR4nGNk+M+AFzDhlx6VJkKaieGfEbYM"
                       "AKcRAhFb7gIAAAAASUVORK5CYII=")
ALL_TYPES = {
    "title": ("STRING", "All types"), "priority": ("INT64", BIG), "ratio": ("DOUBLE", "2.5"),
    "due": ("TIMESTAMP", "1795768200000"), "digest": ("BYTES", base64.b64encode(bytes(range(40))).decode()),
    "place": ("LOCATION", {"latitude": 52.5145, "longitude": 13.3908, "horizontalAccuracy": 12.0}),
    "list": ("REFERENCE", {"recordName": "thing-000", "action": "NONE"}),
    "tags": ("STRING_LIST", ["market", "weekend"]),
    "scores": ("INT64_LIST", [BIG, "2"]), "kept": ("STRING", "long text " * 1000),
}


def heading(page):
    return page.get_by_role("heading", level=1)


def part(page, name):
    """The value of a field in the panel."""
    term = page.locator("dt", has_text=re.compile(f"^{re.escape(name)}$"))
    return page.locator(".panel .field", has=term).locator("dd")


def save(page):
    page.get_by_role("button", name="Save", exact=True).click()


def saved(page, title):
    """Waits until the form is gone and the record is shown."""
    expect(page.get_by_role("navigation", name="Parts of the record")).to_be_visible()
    expect(heading(page)).to_have_text(title)


def test_every_type_is_shown(page, server):
    place = Place(server)
    place.fill(1)
    place.save({"all": ALL_TYPES})
    sign_in(page, server)
    open_record(page, server, place, "all")
    expect(part(page, "priority")).to_have_text(BIG)
    expect(part(page, "ratio")).to_have_text("2.5")
    expect(part(page, "due")).to_contain_text("27 Nov 2026, 08:30:00 UTC")
    expect(part(page, "due")).to_contain_text("09:30:00 in your time zone")
    expect(part(page, "place").get_by_role("img", name="Map")).to_be_visible()
    expect(part(page, "place")).to_contain_text("± 12 m")
    expect(part(page, "tags")).to_contain_text("2 texts")
    expect(part(page, "scores")).to_contain_text(BIG)
    digest = part(page, "digest")
    expect(digest).to_contain_text("First 16 of 40 bytes")
    digest.get_by_role("button", name="Show all").click()
    expect(digest).to_contain_text("26 27")
    kept = part(page, "kept")
    assert len(kept.inner_text()) < 1000
    kept.get_by_role("button", name="Show all").click()
    assert len(kept.inner_text()) > 9000
    check_axe(page)
    page.get_by_role("link", name="JSON", exact=True).click()
    expect(page.locator(".listing")).to_contain_text(BIG)
    check_axe(page)
    page.get_by_role("link", name="Fields", exact=True).click()
    part(page, "list").get_by_role("link", name="thing-000").click()
    expect(heading(page)).to_have_text("Thing 0")
    page.go_back()
    expect(heading(page)).to_have_text("All types")


def test_what_refers_to_a_record(page, server):
    place = Place(server)
    place.fill(2)
    place.save({"child": {"title": ("STRING", "Child"),
                          "list": ("REFERENCE", {"recordName": "thing-000", "action": "DELETE_SELF"})}})
    sign_in(page, server)
    open_record(page, server, place, "thing-000")
    page.get_by_role("link", name="Referred to by").click()
    section = page.locator(".panel section", has=page.get_by_role("heading", name=f"{TYPE}, by the field list"))
    expect(section).to_contain_text("DELETE_SELF")
    check_axe(page)
    section.get_by_role("link", name="Child").click()
    expect(heading(page)).to_have_text("Child")


def test_edit_undo_and_save(page, server):
    place = Place(server)
    place.fill(2)
    place.save({"all": ALL_TYPES})
    sign_in(page, server, "change")
    edit_record(page, server, place, "all")
    bar = page.get_by_role("status").filter(has_text="changed")
    expect(bar).to_have_text("No field changed")
    field(page, "title").fill("New title")
    field(page, "due").fill("2026-12-24 18:00")
    field(page, "ratio").fill("1,5")
    field(page, "list").fill("thing-001")
    page.get_by_role("button", name="Remove item 1 of tags").click()
    expect(bar).to_have_text("4 fields changed, 1 to correct")
    expect(page.locator("#record-form")).to_contain_text("Not a number. Use a point: 1.5")
    check_axe(page)
    save(page)
    expect(field(page, "ratio")).to_be_focused()
    page.get_by_role("button", name="Undo the change of ratio").click()
    expect(field(page, "ratio")).to_have_value("2.5")
    expect(bar).to_have_text("4 fields changed")
    save(page)
    saved(page, "New title")
    fields = place.record("all")["fields"]
    assert fields["title"]["value"] == "New title"
    assert fields["due"]["value"] == "1798135200000", fields["due"]
    assert fields["list"]["value"]["recordName"] == "thing-001"
    assert fields["tags"]["value"] == ["weekend"]
    assert fields["digest"]["value"] == ALL_TYPES["digest"][1]
    assert fields["place"]["value"]["horizontalAccuracy"] == 12
    expect(row(page, "all")).to_contain_text("New title")


def test_large_whole_numbers_survive(page, server):
    place = Place(server)
    place.save({"big": {"title": ("STRING", "Big"), "priority": ("INT64", BIG), "scores": ("INT64_LIST", [BIG])}})
    sign_in(page, server)
    edit_record(page, server, place, "big")
    expect(field(page, "priority")).to_have_value(BIG)
    field(page, "title").fill("Bigger")
    save(page)
    saved(page, "Bigger")
    assert place.value("big", "priority") == BIG
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, "priority").fill("9223372036854775807")
    field(page, "scores, item 1").fill("-9007199254740995")
    save(page)
    saved(page, "Bigger")
    assert place.value("big", "priority") == "9223372036854775807"
    assert place.value("big", "scores") == ["-9007199254740995"]
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, "priority").fill("9223372036854775808")
    save(page)
    expect(page.locator("#record-form")).to_contain_text("Out of range")
    assert place.value("big", "priority") == "9223372036854775807"


def test_no_value_and_empty_text_differ(page, server):
    place = Place(server)
    place.save({"one": {"title": ("STRING", "One"), "kept": ("STRING", "text")}})
    sign_in(page, server)
    edit_record(page, server, place, "one")
    field(page, "kept").fill("")
    save(page)
    saved(page, "One")
    assert place.value("one", "kept") == ""
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="Remove the value of kept").click()
    save(page)
    saved(page, "One")
    assert "kept" not in place.record("one")["fields"]


def test_two_administrators_edit_one_record(page, server):
    place = Place(server)
    place.save({"shared": {"title": ("STRING", "Begun"), "priority": ("INT64", "1"), "kept": ("STRING", "same")}})
    sign_in(page, server)
    edit_record(page, server, place, "shared")
    field(page, "title").fill("Mine")
    other = server.new_page()
    sign_in(other, server, "change")
    edit_record(other, server, place, "shared")
    field(other, "title").fill("Theirs")
    field(other, "priority").fill("2")
    save(other)
    saved(other, "Theirs")
    other.context.close()
    save(page)
    dialog = page.get_by_role("dialog", name="The record was changed while you edited it")
    expect(dialog.get_by_role("group")).to_have_count(2)
    title = dialog.get_by_role("group", name="title")
    for text in ("Begun", "Mine", "Theirs"):
        expect(title).to_contain_text(text)
    expect(title.get_by_role("radio", name="Mine")).to_be_checked()
    expect(dialog.get_by_role("group", name="priority").get_by_role("radio", name="2")).to_be_checked()
    check_axe(page)
    page.set_viewport_size(PHONE)
    check_no_overflow(page)
    dialog.get_by_role("button", name="Go back to my edits").click()
    expect(field(page, "title")).to_have_value("Mine")
    assert place.value("shared", "title") == "Theirs"
    save(page)
    dialog.get_by_role("button", name="Save the chosen values").click()
    saved(page, "Mine")
    assert place.value("shared", "title") == "Mine"
    assert place.value("shared", "priority") == "2"


def test_discard_mine_shows_theirs(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server)
    edit_record(page, server, place, "thing-000")
    field(page, "title").fill("Mine")
    place.save({"thing-000": {"title": ("STRING", "Theirs")}})
    save(page)
    page.get_by_role("dialog").get_by_role("button", name="Discard mine").click()
    saved(page, "Theirs")
    assert place.value("thing-000", "title") == "Theirs"


def test_the_record_was_deleted_meanwhile(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server)
    edit_record(page, server, place, "thing-000")
    field(page, "title").fill("Mine")
    place.post("records/modify", {"operations": [
        {"operationType": "forceDelete", "record": {"recordName": "thing-000"}}]})
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("The record was deleted while you edited it")
    expect(field(page, "title")).to_have_value("Mine")


def test_edits_survive_the_end_of_the_session(page, server):
    place = Place(server)
    place.fill(1)
    name = sign_in(page, server)
    allow(page, "421")
    edit_record(page, server, place, "thing-000")
    field(page, "title").fill("Typed before")
    server.end_sessions()
    save(page)
    dialog = page.get_by_role("dialog", name="Your session has ended")
    expect(dialog).to_be_visible()
    assert name
    dialog.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    saved(page, "Typed before")
    assert place.value("thing-000", "title") == "Typed before"


def test_edits_survive_an_unreachable_server(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server)
    allow(page, "Failed to load resource", "ERR_")
    edit_record(page, server, place, "thing-000")
    field(page, "title").fill("Kept")
    server.pause()
    try:
        save(page)
        expect(page.locator(".form-failure")).to_contain_text("Your edits are kept")
        expect(field(page, "title")).to_have_value("Kept")
    finally:
        server.resume()
    page.locator(".form-failure").get_by_role("button", name="Try again").click()
    saved(page, "Kept")
    assert place.value("thing-000", "title") == "Kept"


def test_a_lost_response_is_no_conflict(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server)
    allow(page, "Failed to load resource", "ERR_")
    edit_record(page, server, place, "thing-000")
    field(page, "title").fill("Once")

    def lose(route):
        route.fetch()
        route.abort()
    page.route("**/records/modify*", lose)
    save(page)
    expect(page.locator(".form-failure")).to_contain_text("Your edits are kept")
    page.unroute("**/records/modify*")
    page.locator(".form-failure").get_by_role("button", name="Try again").click()
    saved(page, "Once")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_leaving_with_edits_asks(page, server):
    place = Place(server)
    place.fill(2)
    sign_in(page, server)
    visit(page, server, place.address())
    row(page, "thing-000").get_by_role("link", name="thing-000").click()
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, "title").fill("Unsaved")
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    for leave in (lambda: page.go_back(), lambda: page.get_by_role("link", name="Close").click(),
                  lambda: row(page, "thing-001").get_by_role("link", name="thing-001").click(),
                  lambda: page.get_by_role("link", name="Overview", exact=True).click()):
        leave()
        expect(dialog).to_be_visible()
        dialog.get_by_role("button", name="Stay").click()
        expect(field(page, "title")).to_have_value("Unsaved")
    check_axe(page)
    row(page, "thing-001").get_by_role("link", name="thing-001").click()
    dialog.get_by_role("button", name="Discard the edits").click()
    expect(heading(page)).to_have_text("Thing 1")
    assert place.value("thing-000", "title") == "Thing 0"
    # The next form is guarded as the first one was.
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, "title").fill("Unsaved too")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()


def test_create_a_record(page, server):
    place = Place(server)
    place.save({"all": ALL_TYPES})
    sign_in(page, server, "change")
    visit(page, server, place.address())
    page.get_by_role("link", name="New record").click()
    expect(heading(page)).to_have_text(f"New {TYPE}")
    field(page, "Record name").fill("all")
    field(page, "title").fill("Plums")
    field(page, "priority").fill(BIG)
    field(page, "due").fill("2026-11-27")
    field(page, "Latitude of place").fill("-33.9")
    field(page, "Longitude of place").fill("151.2")
    page.get_by_role("button", name="Add an item to tags").click()
    field(page, "tags, item 1").fill("fruit")
    field(page, "digest").fill("00 ff")
    field(page, "Notation of digest").select_option("hex")
    extra = f"extra{secrets.token_hex(3)}"
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Name of the new field").fill(extra)
    page.get_by_label("Type of the new field").select_option("DOUBLE")
    page.get_by_role("button", name="Add", exact=True).click()
    field(page, extra).fill("0.5")
    check_axe(page)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator("#record-form")).to_contain_text("A record with this name exists")
    field(page, "Record name").fill("plums")
    page.get_by_role("button", name="Create", exact=True).click()
    saved(page, "Plums")
    expect(page).to_have_url(re.compile("open=plums"))
    fields = place.record("plums")["fields"]
    assert fields["priority"]["value"] == BIG
    assert fields["due"]["value"] == "1795737600000"
    assert fields["place"]["value"]["latitude"] == -33.9
    assert fields["tags"]["value"] == ["fruit"]
    assert fields["digest"]["value"] == "AP8="
    assert fields[extra] == {"value": "0.5", "type": "DOUBLE"}, fields[extra]
    expect(rows(page)).to_have_count(2)


def test_create_without_a_name(page, server):
    place = Place(server)
    sign_in(page, server)
    visit(page, server, place.address("?new=1"))
    field(page, "title").fill("Nameless")
    page.get_by_role("button", name="Create", exact=True).click()
    saved(page, "Nameless")
    assert [name for name in place.names() if re.fullmatch(r"[0-9a-f-]{36}", name)]


def test_the_first_record_of_a_new_type(page, server):
    place = Place(server)
    sign_in(page, server)
    allow(page, "404")
    kind = f"Kind{secrets.token_hex(3)}"
    visit(page, server, place.address("", "").rstrip("/"))
    page.get_by_label("Name of a new record type").fill(kind)
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(f"New {kind}")
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Name of the new field").fill("title")
    page.keyboard.press("Enter")
    field(page, "title").fill("First of its kind")
    page.get_by_role("button", name="Create", exact=True).click()
    saved(page, "First of its kind")
    expect(page.get_by_role("columnheader", name="title")).to_be_visible()
    expect(rows(page)).to_have_count(1)


def test_production_takes_no_new_fields(page, server):
    ensure_production(server)
    place = Place(server, "production")
    sign_in(page, server)
    visit(page, server, place.address("?new=1"))
    expect(field(page, "title")).to_be_visible()
    expect(page.get_by_role("button", name="Add a field")).to_have_count(0)


def test_production_demands_the_name(page, server):
    ensure_production(server)
    place = Place(server, "production")
    place.fill(2)
    sign_in(page, server)
    open_record(page, server, place, "thing-001")
    page.get_by_role("button", name="Delete", exact=True).click()
    dialog = page.get_by_role("dialog", name="Delete “Thing 1”?")
    expect(dialog).to_contain_text("Production")
    button = dialog.get_by_role("button", name="Delete 1 record")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill("thing-000")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill("thing-001")
    check_axe(page)
    button.click()
    expect(heading(page)).to_have_text(TYPE)
    expect(rows(page)).to_have_count(1)
    assert place.names() == ["thing-000"]


def test_hostile_records_run_nothing(page, server):
    place = Place(server)
    attack = "<script>window.ran = 1</script><img src=x onerror=\"window.ran = 2\">"
    name = "\"><img src=x onerror='window.ran = 3'> & 'quotes' %2F/../?#"
    # A field name of ASCII may be anything; so may a value be.
    odd = "<b>field</b>\"', =" + secrets.token_hex(2)
    place.save({name: {
        "title": ("STRING", attack),
        "kept": ("STRING", "\u202eright to left \u05e9\u05dc\u05d5\u05dd\u202c " + "x" * 10_240),
        "tags": ("STRING_LIST", [attack, "\u2028", ""]), odd: ("STRING", attack), "constructor": ("INT64", "1"),
        "list": ("REFERENCE", {"recordName": "javascript:window.ran=4", "action": "NONE"}),
    }, "second": {"title": ("STRING", "Harmless")}})
    sign_in(page, server)
    visit(page, server, place.address())
    expect(rows(page)).to_have_count(2)
    check_no_overflow(page)
    page.locator("tbody .name a").filter(has_text="img").first.click()
    expect(heading(page)).to_have_text(re.compile("^<script>window.ran = 1"))
    expect(page.locator(".named code")).to_have_text(name)
    expect(page.locator(".panel dt", has_text=odd)).to_be_visible()
    check_axe(page)
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, odd).fill(f"{attack} again")
    field(page, "constructor").fill("2")
    save(page)
    saved(page, re.compile("^<script>"))
    assert place.value(name, odd) == f"{attack} again"
    assert place.value(name, "constructor") == "2"
    assert place.value(name, "kept").endswith("x" * 10_240)
    page.reload()
    expect(page.locator(".named code")).to_have_text(name)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 record").click()
    expect(rows(page)).to_have_count(1)
    assert place.names() == ["second"]
    assert page.evaluate("window.ran === undefined")


def test_files_are_previewed_by_their_bytes(page, server):
    place = Place(server)
    place.save({"filed": {"title": ("STRING", "Filed")}})
    sign_in(page, server)
    bodies = {"picture": PNG, "page": b"<script>window.ran = 1</script>"}

    def with_files(route):
        answer = route.fetch()
        body = answer.json()
        for name, content in bodies.items():
            address = f"https://elsewhere.example/assets/{name}/${{f}}"
            body["records"][0]["fields"][name] = {"type": "ASSETID", "value": {
                "fileChecksum": "x", "size": len(content), "downloadURL": address}}
        body["records"][0]["fields"]["evil"] = {"type": "ASSETID", "value": {
            "size": 3, "downloadURL": "javascript:window.ran=2"}}
        route.fulfill(response=answer, body=json.dumps(body))
    page.route("**/records/lookup*", with_files)
    page.route("**/assets/**", lambda route: route.fulfill(
        body=bodies[route.request.url.split("/")[4]], content_type="application/octet-stream"))
    open_record(page, server, place, "filed")
    expect(part(page, "picture").get_by_role("img")).to_be_visible()
    expect(part(page, "picture")).to_contain_text("PNG, 10 × 10")
    link = part(page, "picture").get_by_role("link", name="Download")
    assert link.get_attribute("href").startswith("/assets/picture/"), "on this origin"
    assert link.get_attribute("download")
    expect(part(page, "page").get_by_role("link", name="Download")).to_be_visible()
    expect(part(page, "page").get_by_role("img")).to_have_count(0)
    expect(part(page, "evil").get_by_role("link")).to_have_count(0)
    check_axe(page)
    assert page.evaluate("window.ran === undefined")


def choose_file(page, name, content):
    """Chooses a file for a field of the form."""
    page.locator("#record-form").get_by_label(name, exact=True).set_input_files(
        {"name": "chosen <b>.png", "mimeType": "image/png", "buffer": content})


def test_a_file_is_sent_replaced_and_removed(page, server):
    place = Place(server)
    place.save({"filed": {"title": ("STRING", "Filed")}})
    sign_in(page, server, "change")
    edit_record(page, server, place, "filed")
    name = f"file{secrets.token_hex(3)}"
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Name of the new field").fill(name)
    page.get_by_label("Type of the new field").select_option("ASSETID")
    page.get_by_role("button", name="Add", exact=True).click()
    choose_file(page, name, PNG)
    expect(page.locator("#record-form")).to_contain_text("chosen <b>.png")
    check_axe(page)
    save(page)
    saved(page, "Filed")
    expect(part(page, name)).to_contain_text("PNG, 10 × 10")
    first = place.value("filed", name)
    assert int(first["size"]) == len(PNG), first
    edit_record(page, server, place, "filed")
    choose_file(page, name, b"another")
    # Another device changes the record meanwhile: the file that was sent is one of the choices, and isn't sent again.
    place.save({"filed": {"title": ("STRING", "Filed elsewhere")}}, kind="forceUpdate")
    uploads = []
    page.on("request", lambda request: uploads.append(request.url) if "/upload?t=" in request.url else None)
    save(page)
    page.get_by_role("dialog").get_by_role("button", name="Save the chosen values").click()
    saved(page, "Filed elsewhere")
    assert int(place.value("filed", name)["size"]) == 7 and len(uploads) == 1, uploads
    edit_record(page, server, place, "filed")
    page.get_by_role("button", name=f"Remove the file of {name}").click()
    save(page)
    saved(page, "Filed elsewhere")
    assert place.value("filed", name) is None


def test_a_file_that_the_server_refuses_is_said(page, server):
    place = Place(server)
    place.save({"filed": {"title": ("STRING", "Filed")}})
    sign_in(page, server, "change")
    edit_record(page, server, place, "filed")
    page.get_by_role("button", name="Add a field").click()
    page.get_by_label("Name of the new field").fill("refusedFile")
    page.get_by_label("Type of the new field").select_option("ASSETID")
    page.get_by_role("button", name="Add", exact=True).click()
    choose_file(page, "refusedFile", b"content")
    page.route("**/upload?*", lambda route: route.fulfill(status=413, content_type="application/json", body=json.dumps(
        {"serverErrorCode": "QUOTA_EXCEEDED", "reason": "the database is full", "uuid": "request-7"})))
    allow(page, "413")
    save(page)
    expect(page.locator(".form-failure")).to_contain_text("the database is full")
    expect(page.locator(".form-failure")).to_contain_text("Your edits are kept")
    page.unroute("**/upload?*")
    save(page)
    saved(page, "Filed")
    assert int(place.value("filed", "refusedFile")["size"]) == 7


def test_encrypted_fields_are_marked_and_not_edited(page, server):
    place = Place(server)
    place.save({"secret": {"title": ("STRING", "Secret")}})
    sign_in(page, server)

    def with_secret(route):
        answer = route.fetch()
        body = answer.json()
        body["records"][0]["fields"]["hushed"] = {"type": "BYTES", "value": "AAEC", "isEncrypted": True}
        route.fulfill(response=answer, body=json.dumps(body))
    page.route("**/records/lookup*", with_secret)
    open_record(page, server, place, "secret")
    expect(part(page, "hushed")).to_contain_text("Encrypted")
    expect(part(page, "hushed")).not_to_contain_text("AAEC")
    page.get_by_role("button", name="Edit", exact=True).click()
    group = page.get_by_role("group", name="hushed")
    expect(group).to_contain_text("can’t be edited here")
    expect(group.get_by_role("textbox")).to_have_count(0)


def test_one_odd_field_leaves_the_others(page, server):
    place = Place(server)
    place.save({"odd": {"title": ("STRING", "Odd")}})
    sign_in(page, server)

    def with_odd(route):
        answer = route.fetch()
        body = answer.json()
        fields = body["records"][0]["fields"]
        fields["strange"] = {"type": "STRING", "value": {"not": ["text"]}}
        fields["stranger"] = {"type": "LOCATION", "value": 7}
        fields["strangest"] = {"type": "NEW_TYPE_LIST", "value": "x"}
        fields["nothing"] = None
        route.fulfill(response=answer, body=json.dumps(body))
    page.route("**/records/lookup*", with_odd)
    page.route("**/records/query*", with_odd)
    open_record(page, server, place, "odd")
    expect(part(page, "title")).to_have_text("Odd")
    expect(page.locator(".panel .field dt", has_text="strangest")).to_be_visible()
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(field(page, "title")).to_have_value("Odd")
