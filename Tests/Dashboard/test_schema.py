"""Schemas: each job from a click to what the service has then."""
import re

from playwright.sync_api import expect

from schema_support import TODO, Container
from support import PHONE, allow, check_axe, check_no_overflow, focused, settle, sign_in, tab_to, visit

HOSTILE = "<img src=x onerror=alert(1)>"


def dialog_of(page, name):
    return page.get_by_role("dialog", name=name)


def switch(page, name):
    return page.get_by_role("switch", name=name, exact=True)


def said(page, text):
    """Waits until a result was spoken."""
    expect(page.locator("#announcement")).to_have_text(text)


def test_make_a_type_with_a_field_and_indexes(page, server):
    own = Container(server, text=None)
    sign_in(page, server, "change")
    visit(page, server, own.address())
    expect(page.get_by_role("heading", name="The schema has no record types yet")).to_be_visible()
    page.get_by_role("button", name="New type").click()
    dialog = dialog_of(page, "New record type")
    check_axe(page)
    dialog.get_by_role("button", name="Create the type").click()
    expect(dialog.get_by_role("alert")).to_have_text("Type a name.")
    dialog.get_by_label("Name", exact=True).fill("Note")
    dialog.get_by_role("button", name="Create the type").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Note")
    assert page.url.endswith("/schema/types/Note")
    page.get_by_role("button", name="New field").click()
    dialog = dialog_of(page, "New field of Note")
    check_axe(page)
    dialog.get_by_label("Name", exact=True).fill("title")
    dialog.get_by_role("button", name="Add the field").click()
    said(page, "Field title was added")
    assert "title STRING QUERYABLE SEARCHABLE SORTABLE" in own.text()
    expect(switch(page, "Sortable: title")).to_be_checked()
    switch(page, "Sortable: title").click()
    said(page, "title is no longer sortable")
    switch(page, "Sortable: ___createTime").click()
    said(page, "___createTime is sortable")
    text = own.text()
    assert "title STRING QUERYABLE SEARCHABLE," in text, text
    assert '"___createTime" TIMESTAMP SORTABLE' in text, text
    page.get_by_role("button", name="Delete field title").click()
    dialog_of(page, "Delete field title?").get_by_role("button", name="Delete title").click()
    said(page, "Field title was deleted")
    assert "title STRING" not in own.text()
    page.get_by_role("link", name="Record types").click()
    page.get_by_role("button", name="Delete type Note").click()
    check_axe(page)
    dialog_of(page, "Delete type Note?").get_by_role("button", name="Delete Note").click()
    said(page, "Type Note was deleted")
    assert "Note" not in own.text()


def test_lists_and_encrypted_fields_have_the_indexes_that_they_can_have(page, server):
    own = Container(server)
    sign_in(page, server, "change")
    visit(page, server, own.address("schema/types/Todo"))
    for name, kind, isEncrypted, expected in (("tags", "LIST<STRING>", False, "LIST<STRING> QUERYABLE SEARCHABLE"),
                                              ("secret", "STRING", True, "ENCRYPTED STRING")):
        page.get_by_role("button", name="New field").click()
        dialog = dialog_of(page, "New field of Todo")
        dialog.get_by_label("Name", exact=True).fill(name)
        dialog.get_by_label("Type", exact=True).select_option(kind)
        dialog.get_by_label("Encrypted").set_checked(isEncrypted)
        expect(dialog.get_by_label("Sortable")).to_be_disabled()
        dialog.get_by_role("button", name="Add the field").click()
        said(page, f"Field {name} was added")
        assert re.search(rf"{name} {re.escape(expected)},", own.text()), own.text()
    expect(switch(page, "Queryable: tags")).to_be_checked()
    expect(switch(page, "Sortable: tags")).to_have_count(0)
    expect(switch(page, "Queryable: secret")).to_have_count(0)


def test_a_refused_change_is_shown_and_changes_nothing(page, server):
    allow(page, "400", "409")
    own = Container(server)
    own.deploy()
    before = own.text()
    sign_in(page, server, "change")
    visit(page, server, own.address("schema/types/Todo"))
    page.get_by_role("button", name="New field").click()
    dialog = dialog_of(page, "New field of Todo")
    dialog.get_by_label("Name", exact=True).fill("title")
    dialog.get_by_role("button", name="Add the field").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Code")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("title")
    page.keyboard.press("Escape")
    # Production has the field.
    page.get_by_role("button", name="Delete field title").click()
    dialog = dialog_of(page, "Delete field title?")
    dialog.get_by_role("button", name="Delete title").click()
    expect(dialog.get_by_role("alert")).to_contain_text("title")
    check_axe(page)
    dialog.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("button", name="Delete field title")).to_be_focused()
    assert own.text() == before


def test_a_switch_goes_back_when_its_change_fails(page, server):
    allow(page, "409")
    own = Container(server)
    sign_in(page, server, "change")
    visit(page, server, own.address("schema/types/Todo"))
    page.route("**/schema/change", lambda route: route.fulfill(status=409, json={
        "uuid": "6d1f0a52-3c4b-4e0e-9a35-1f6f5f1c2d3e", "serverErrorCode": "CONFLICT", "reason": "too many indexes"}))
    switch(page, "Sortable: done").click()
    expect(page.get_by_role("alert")).to_contain_text("too many indexes")
    expect(switch(page, "Sortable: done")).to_be_checked()
    check_axe(page)


def test_a_type_that_does_not_exist(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/types/Nothing"))
    expect(page.get_by_role("heading", name="The schema has no record type Nothing")).to_be_visible()
    expect(page.get_by_role("button", name="New field")).to_have_count(0)
    check_axe(page)


def test_indexes_with_their_entries_and_how_far_they_are_built(page, server):
    own = Container(server)
    sign_in(page, server, "look")
    visit(page, server, own.address("schema/indexes"))
    row = page.get_by_role("row").filter(has_text="title").filter(has_text="SEARCHABLE")
    expect(row).to_contain_text("Ready")
    index = {"recordType": "Todo", "field": "title", "kind": "SORTABLE", "isSystemField": False, "entriesCount": 10000,
             "isCapped": True, "isBeingBuilt": True, "builtShare": 0.459}
    address = re.compile("/operator/.*/schema/indexes")
    page.route(address, lambda route: route.fulfill(json={"indexes": [index]}))
    page.reload()
    row = page.get_by_role("row").filter(has_text="SORTABLE")
    expect(row).to_contain_text("Being built, 45 %")
    expect(row).to_contain_text("10,000 and more")
    check_axe(page)
    page.unroute(address)
    # The page asks again by itself.
    expect(page.get_by_text("Being built")).to_have_count(0)
    said(page, "All indexes are ready")


def test_roles_and_grants(page, server):
    own = Container(server)
    sign_in(page, server, "change")
    visit(page, server, own.address("schema/roles"))
    page.get_by_role("button", name="New role").click()
    dialog_of(page, "New role").get_by_label("Name", exact=True).fill("editor")
    dialog_of(page, "New role").get_by_role("button", name="Create the role").click()
    said(page, "Role editor was created")
    assert "CREATE ROLE editor;" in own.text()
    cell = page.get_by_role("group", name="Todo, editor")
    cell.get_by_label("Read").check()
    said(page, "editor may read Todo")
    cell.get_by_label("Write").check()
    said(page, "editor may write Todo")
    assert "GRANT READ, WRITE TO editor" in own.text()
    page.get_by_role("group", name="Todo, _world").get_by_label("Read").uncheck()
    said(page, "_world may no longer read Todo")
    assert 'GRANT READ TO "_world" );' not in own.text().split("RECORD TYPE Users")[0]
    page.reload()
    expect(cell.get_by_label("Read")).to_be_checked()
    expect(cell.get_by_label("Create")).not_to_be_checked()
    page.get_by_role("button", name="Delete role editor").click()
    check_axe(page)
    dialog_of(page, "Delete role editor?").get_by_role("button", name="Delete editor").click()
    said(page, "Role editor was deleted")
    assert "editor" not in own.text()


def test_a_wrong_line_is_marked_with_its_reason(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    area = page.get_by_label("Schema as text")
    text = area.input_value()
    line = next(number for number, one in enumerate(text.split("\n"), 1) if one.strip().startswith("title"))
    button = page.get_by_role("button", name="Import", exact=True)
    expect(button).to_be_disabled()
    area.fill(re.sub(r"(title +)STRING", r"\1STRNG", text))
    expect(page.get_by_role("heading", name=re.compile(f"Line {line}, column"))).to_be_visible()
    expect(page.get_by_text("found 'STRNG'")).to_be_visible()
    expect(page.locator(".wrong-line")).to_have_text(str(line))
    expect(area).to_have_attribute("aria-invalid", "true")
    expect(button).to_be_disabled()
    check_axe(page)
    page.get_by_role("button", name="Go to the line").click()
    expect(area).to_be_focused()
    before = area.evaluate("area => area.value.slice(0, area.selectionStart)")
    assert before.count("\n") == line - 1 and before.endswith(tuple(" \n")), before[-40:]
    area.fill(text)
    expect(page.locator(".wrong-line")).to_have_count(0)
    expect(page.get_by_text("This is development’s schema.")).to_be_visible()


def test_changes_are_shown_before_the_import_and_imported(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    area = page.get_by_label("Schema as text")
    area.fill(re.sub(r"(title +STRING) [A-Z ]+", r"\1 QUERYABLE,\n        color STRING", area.input_value()))
    expect(page.get_by_text("An import changes 2 things: 1 field, 1 index")).to_be_visible()
    check_axe(page)
    page.get_by_role("button", name="Import", exact=True).click()
    dialog = dialog_of(page, "Import this schema?")
    expect(dialog.get_by_role("listitem").filter(has_text="field color")).to_contain_text("STRING")
    expect(dialog.get_by_role("listitem").filter(has_text="index title")).to_contain_text("→ QUERYABLE")
    check_axe(page)
    dialog.get_by_role("button", name="Import 2 changes").click()
    said(page, "2 changes imported")
    assert "color STRING," in own.text() and "title STRING QUERYABLE," in own.text()
    expect(page.get_by_text("This is development’s schema.")).to_be_visible()


def test_losses_forbid_the_import(page, server):
    own = Container(server)
    own.deploy()
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    area = page.get_by_label("Schema as text")
    area.fill("\n".join(line for line in area.input_value().split("\n") if not line.strip().startswith("done")))
    expect(page.get_by_role("heading", name="An import would lose data, and is refused")).to_be_visible()
    expect(page.get_by_text("no field 'done'")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    check_axe(page)


def test_a_file_is_opened_and_the_text_saved(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    text = TODO.replace("done INT64", "due TIMESTAMP")
    page.locator("input[type=file]").set_input_files({
        "name": "todo.ckdb", "mimeType": "text/plain", "buffer": text.encode()})
    expect(page.get_by_label("Schema as text")).to_have_value(text)
    expect(page.get_by_text("An import changes")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename.endswith("-development.ckdb")
    with open(download.value.path(), encoding="utf-8") as file:
        assert file.read() == text


def test_a_changed_text_is_not_lost_unasked(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    page.get_by_label("Schema as text").fill("DEFINE SCHEMA")
    page.get_by_role("link", name="Roles").click()
    dialog_of(page, "Leave without importing?").get_by_role("button", name="Keep editing").click()
    expect(page.get_by_label("Schema as text")).to_have_value("DEFINE SCHEMA")
    page.get_by_role("link", name="Roles").click()
    dialog_of(page, "Leave without importing?").get_by_role("button", name="Discard the text").click()
    expect(page.get_by_role("heading", name="Grants")).to_be_visible()


def test_reset_demands_the_containers_name(page, server):
    own = Container(server)
    own.deploy()
    own.change({"op": "addType", "recordType": "Draft"})
    sign_in(page, server)
    visit(page, server, own.address("schema/language"))
    page.get_by_role("button", name="Reset development").click()
    dialog = dialog_of(page, "Reset development?")
    button = dialog.get_by_role("button", name="Delete all data of development")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill(own.identifier[:-1])
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill(own.identifier)
    check_axe(page)
    button.click()
    said(page, "Development was reset")
    assert "Draft" not in own.text()


def test_production_is_read_only_and_leads_to_the_deploy(page, server):
    own = Container(server)
    own.deploy()
    sign_in(page, server)
    for rest in ("schema", "schema/types/Todo", "schema/roles", "schema/language"):
        visit(page, server, own.address(rest, "production"))
        expect(page.get_by_text("Read only: production’s schema changes by a deploy")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button", name=re.compile("^(New|Delete|Import|Reset)"))).to_have_count(0)
        expect(page.get_by_role("switch")).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("checkbox")).to_have_count(0)
    visit(page, server, own.address("schema", "production"))
    page.get_by_role("link", name="Deploy to production").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Deploy to production")


def test_deploy_shows_the_difference_and_what_was_done(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema"))
    page.get_by_role("link", name="Deploy to production").click()
    main = page.get_by_role("main")
    expect(main.get_by_role("listitem").filter(has_text="field title")).to_contain_text("STRING")
    check_axe(page)
    page.get_by_role("button", name=re.compile("^Deploy [0-9]+ changes$")).click()
    dialog = page.get_by_role("dialog", name="Deploy to production?")
    expect(dialog).to_contain_text("Production")
    expect(dialog).to_contain_text(own.identifier)
    expect(dialog.get_by_role("listitem").filter(has_text="field title")).to_be_visible()
    check_axe(page)
    assert "Todo" not in own.text("production")
    dialog.get_by_role("button", name=re.compile("^Deploy")).click()
    expect(page.get_by_role("heading", name=re.compile("^Deployed: "))).to_be_visible()
    assert own.text("production") == own.text()
    check_axe(page)
    page.reload()
    expect(page.get_by_role("heading", name="Production has all of development’s schema")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)
    check_axe(page)


def test_deploy_says_how_many_records_a_new_index_must_read(page, server):
    own = Container(server, TODO.replace("STRING QUERYABLE SEARCHABLE SORTABLE", "STRING QUERYABLE"))
    own.deploy()
    own.change({"op": "setIndex", "recordType": "Todo", "field": "title", "kind": "SORTABLE", "isOn": True})
    if not server.isMock:
        own.post("production/public/records/modify", {"operations": [
            {"operationType": "create", "record": {"recordName": f"thing-{number}", "recordType": "Todo", "fields": {
                "title": {"value": "Thing", "type": "STRING"}}}} for number in range(3)]})
    sign_in(page, server, "look")
    visit(page, server, own.address("schema/deploy", "production"))
    row = page.get_by_role("region", name="Indexes to build, table").get_by_role("row").filter(has_text="Todo.title")
    expect(row).to_contain_text("SORTABLE")
    expect(row).to_contain_text("10,000 and more" if server.isMock else "3")
    check_axe(page)


def test_a_plan_that_changed_is_shown_anew(page, server):
    allow(page, "409")
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/deploy", "production"))
    page.get_by_role("button", name=re.compile("^Deploy [0-9]+ changes$")).click()
    own.change({"op": "addField", "recordType": "Todo", "field": "meanwhile", "type": "STRING"})
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Deploy")).click()
    expect(page.get_by_role("alert")).to_contain_text("The difference has changed meanwhile")
    expect(page.get_by_role("listitem").filter(has_text="field meanwhile")).to_be_visible()
    assert "Todo" not in own.text("production")
    check_axe(page)
    page.get_by_role("button", name=re.compile("^Deploy [0-9]+ changes$")).click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Deploy")).click()
    expect(page.get_by_role("heading", name=re.compile("^Deployed: "))).to_be_visible()
    assert "meanwhile STRING" in own.text("production")


def test_removals_demand_the_containers_name(page, server):
    own = Container(server)
    own.deploy()
    own.change({"op": "setIndex", "recordType": "Todo", "field": "done", "kind": "SORTABLE", "isOn": False})
    sign_in(page, server)
    visit(page, server, own.address("schema/deploy", "production"))
    expect(page.get_by_role("listitem").filter(has_text="index done")).to_contain_text("Kept")
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)
    page.get_by_label("Also remove from production what development lacks").check()
    expect(page).to_have_url(re.compile("remove=1$"))
    settle(page)
    page.get_by_role("button", name="Deploy 1 change").click()
    dialog = page.get_by_role("dialog", name="Deploy to production?")
    button = dialog.get_by_role("button", name="Deploy 1 change")
    expect(button).to_be_disabled()
    dialog.get_by_role("textbox").fill(own.identifier)
    check_axe(page)
    button.click()
    expect(page.get_by_role("heading", name=re.compile("^Deployed: "))).to_be_visible()
    assert "done INT64 QUERYABLE," in own.text("production")


def test_a_refused_deploy_says_why(page, server):
    own = Container(server)
    sign_in(page, server)
    difference = {**own.get("schema/difference"), "refusals": [f"development's schema has no record type '{HOSTILE}'"]}
    page.route("**/schema/difference*", lambda route: route.fulfill(json=difference))
    visit(page, server, own.address("schema/deploy", "production"))
    expect(page.get_by_role("heading", name="This deploy is refused")).to_be_visible()
    expect(page.get_by_text(HOSTILE)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)
    check_axe(page)


def test_role_look_changes_nothing(page, server):
    own = Container(server)
    sign_in(page, server, "look")
    for rest in ("schema", "schema/types/Todo", "schema/roles", "schema/language"):
        visit(page, server, own.address(rest))
        expect(page.get_by_role("main").get_by_role("button", name=re.compile("^(New|Delete|Import|Reset)"))).to_have_count(0)
        expect(page.get_by_role("switch")).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("checkbox")).to_have_count(0)
        check_axe(page)
    expect(page.get_by_label("Schema as text")).not_to_be_editable()
    visit(page, server, own.address("schema/deploy", "production"))
    expect(page.get_by_role("listitem").filter(has_text="field title")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)


def test_role_change_neither_imports_nor_deploys(page, server):
    own = Container(server)
    sign_in(page, server, "change")
    visit(page, server, own.address("schema/language"))
    expect(page.get_by_label("Schema as text")).not_to_be_editable()
    expect(page.get_by_role("button", name="Reset development")).to_have_count(0)
    visit(page, server, own.address("schema/deploy", "production"))
    expect(page.get_by_role("listitem").filter(has_text="field title")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Deploy"))).to_have_count(0)


def test_by_keyboard(page, server):
    own = Container(server)
    sign_in(page, server)
    visit(page, server, own.address("schema/types/Todo"))
    page.get_by_role("link", name="Language").focus()
    tab_to(page, "Sortable: done")
    page.keyboard.press("Space")
    said(page, "done is no longer sortable")
    assert focused(page) == "Sortable: done"
    assert "done INT64 QUERYABLE," in own.text()
    tab_to(page, "Delete field done")
    page.keyboard.press("Enter")
    expect(dialog_of(page, "Delete field done?")).to_be_visible()
    tab_to(page, "Delete done")
    page.keyboard.press("Enter")
    said(page, "Field done was deleted")
    # What had the focus is gone.
    expect(page.get_by_role("button", name="New field")).to_be_focused()


def test_on_a_phone(page, server):
    own = Container(server)
    sign_in(page, server)
    page.set_viewport_size(PHONE)
    visit(page, server, own.address("schema/types/Todo"))
    switch(page, "Sortable: done").click()
    said(page, "done is no longer sortable")
    page.get_by_role("button", name="Delete field done").click()
    check_axe(page)
    dialog_of(page, "Delete field done?").get_by_role("button", name="Delete done").click()
    said(page, "Field done was deleted")
    visit(page, server, own.address("schema/deploy", "production"))
    page.get_by_role("button", name=re.compile("^Deploy [0-9]+ changes$")).click()
    check_axe(page)
    check_no_overflow(page)
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Deploy")).click()
    expect(page.get_by_role("heading", name=re.compile("^Deployed: "))).to_be_visible()
    check_no_overflow(page)


def test_hostile_names_are_text(page, server):
    own = Container(server)
    sign_in(page, server)
    flags = {"isQueryable": True, "isSortable": False, "isSearchable": False}
    field = {"name": HOSTILE, "type": "STRING", "isEncrypted": False, **flags}
    schema = {"recordTypes": [{"name": HOSTILE, "fields": [field], "systemFields": [],
                               "grants": [{"role": HOSTILE, "permissions": ["READ"]}]}],
              "roles": [HOSTILE], "version": 1, "text": HOSTILE}
    page.route(re.compile("/schema$"), lambda route: route.fulfill(json=schema)
               if "/operator/" in route.request.url else route.fallback())
    change = {"action": "add", "kind": "field", "recordType": HOSTILE, "name": HOSTILE, "before": None,
              "after": HOSTILE, "text": HOSTILE}
    page.route("**/schema/difference*", lambda route: route.fulfill(json={
        "changes": [change], "kept": [], "refusals": [], "effects": [], "plan": "1"}))
    for rest, environment in (("schema", "development"), (f"schema/types/{HOSTILE.replace('/', '%2F')}", "development"),
                              ("schema/roles", "development"), ("schema/deploy", "production")):
        visit(page, server, own.address(rest, environment))
        expect(page.get_by_role("main").get_by_text(HOSTILE).first).to_be_visible()
        expect(page.locator("img")).to_have_count(0)
        check_axe(page)
    visit(page, server, own.address("schema/language"))
    expect(page.get_by_label("Schema as text")).to_have_value(HOSTILE)


def test_the_overview_counts_changes_that_are_not_in_production(page, server):
    own = Container(server)
    own.deploy()
    own.change({"op": "addField", "recordType": "Todo", "field": "due", "type": "TIMESTAMP"})
    sign_in(page, server)
    visit(page, server, "/dashboard")
    card = page.get_by_role("article").filter(has_text=own.identifier)
    card.scroll_into_view_if_needed()
    expect(card).to_contain_text("1 change in development isn’t in production.")
    card.get_by_role("link", name="Review the deploy").click()
    expect(page).to_have_url(f"{server.url}{own.address('schema/deploy', 'production')}")


def test_the_commands_are_those_of_yap(page, server):
    own = Container(server)
    sign_in(page, server)
    for rest, environment, words in (("schema", "development", "yap schema export"),
                                     ("schema/deploy", "production", "yap schema diff"),
                                     ("schema/indexes", "production", "--environment production")):
        visit(page, server, own.address(rest, environment))
        page.get_by_text("The same as a command").click()
        expect(page.locator("details.command pre").first).to_contain_text(words)
        expect(page.locator("details.command pre").last).to_contain_text("curl --cookie")
