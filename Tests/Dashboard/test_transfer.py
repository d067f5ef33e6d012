"""Records as files: what an export holds, and what an import does and refuses."""
import csv
import io
import json

from playwright.sync_api import expect

from data_support import BIG, Place, ensure_production, rows
from support import PHONE, check_axe, check_no_overflow, sign_in, visit


def dialog_of(page, name):
    return page.get_by_role("dialog", name=name)


def export(page, format):
    """Exports the list, and returns the file's text."""
    page.get_by_role("button", name="Export").click()
    dialog = dialog_of(page, "Export Todo")
    dialog.get_by_label(format).check()
    check_axe(page)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Export").click()
    expect(dialog).to_have_count(0)
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return file.read()


def choose(page, text, name="records.jsonl"):
    """Opens the import and chooses a file with the text."""
    page.get_by_role("button", name="Import").click()
    dialog = dialog_of(page, "Import into Todo")
    dialog.get_by_label("File", exact=True).set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    return dialog


def line(name, **fields):
    return json.dumps({"recordName": name, "recordType": "Todo", "fields": {
        field: {"value": value} for field, value in fields.items()}})


def open_list(page, server, place, query=""):
    visit(page, server, place.address(query))
    expect(page.get_by_role("button", name="Export")).to_be_visible()


def test_all_that_the_filters_find_is_exported(page, server):
    place = Place(server)
    place.fill(230)
    place.save({"thing-001": {"title": ("STRING", "Thing 1"), "priority": ("INT64", BIG)}})
    sign_in(page, server)
    open_list(page, server, place)
    lines = [json.loads(text) for text in export(page, "JSON lines").splitlines()]
    assert sorted(record["recordName"] for record in lines) == [f"thing-{number:03}" for number in range(230)]
    [big] = [record for record in lines if record["recordName"] == "thing-001"]
    assert big["fields"]["priority"]["value"] == BIG and big["recordType"] == "Todo", big


def test_a_table_has_no_formula_and_no_file_address(page, server):
    place = Place(server)
    place.save({"evil": {"title": ("STRING", '=HYPERLINK("http://x")\n"two"'), "priority": ("INT64", "-5"),
                         "tags": ("STRING_LIST", ["a,b", "c"])}})
    sign_in(page, server)
    open_list(page, server, place)
    text = export(page, "CSV")
    [row] = list(csv.DictReader(io.StringIO(text)))
    assert row["title"] == '\'=HYPERLINK("http://x")\n"two"', row
    assert row["priority"] == "-5" and json.loads(row["tags"]) == ["a,b", "c"] and row["recordName"] == "evil", row
    assert "downloadURL" not in text


def test_what_was_exported_is_imported_elsewhere(page, server):
    source, target = Place(server), Place(server)
    source.save({"one": {"title": ("STRING", "=1+1"), "priority": ("INT64", BIG), "tags": ("STRING_LIST", ["x"])},
                 "two": {"title": ("STRING", "Größe, \"zwei\"")}})
    sign_in(page, server, "change")
    for format, name in (("JSON lines", "records.jsonl"), ("CSV", "records.csv")):
        open_list(page, server, source)
        text = export(page, format)
        open_list(page, server, target)
        dialog = choose(page, text, name)
        expect(dialog).to_contain_text("2 records in the file.")
        dialog.get_by_label("Replace records of the same name").check()
        check_axe(page)
        dialog.get_by_role("button", name="Import").click()
        expect(dialog).to_have_count(0)
        expect(rows(page)).to_have_count(2)
        assert target.value("one", "title") == "=1+1" and target.value("one", "priority") == BIG
        assert target.value("one", "tags") == ["x"] and target.value("two", "title") == 'Größe, "zwei"'


def test_an_import_of_new_records_leaves_those_that_are_there(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server, "change")
    open_list(page, server, place)
    dialog = choose(page, "\n".join([line("thing-000", title="Lost"), line("new", title="New")]))
    dialog.get_by_role("button", name="Import").click()
    expect(dialog).to_contain_text("1 record imported")
    expect(dialog).to_contain_text("Line 1, thing-000: a record of this name exists")
    check_axe(page)
    dialog.get_by_role("button", name="Close").click()
    expect(rows(page)).to_have_count(2)
    assert place.value("thing-000", "title") == "Thing 0" and place.value("new", "title") == "New"


def test_a_file_that_is_wrong_says_the_line_and_saves_nothing(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server, "change")
    open_list(page, server, place)
    wrong = {
        f"{line('a')}\nnonsense {{": "Line 2: this is no JSON.",
        "{\"recordName\": \"a\", \"recordType\": \"Other\"}": "Line 1: the record is of type Other",
        f"{line('a')}\n\n{line('a')}": "Line 3: a occurs twice.",
        "{\"fields\": {\"priority\": {\"value\": 9007199254740993}}}": "beyond 2^53",
        "recordName,priority\r\na,1\r\nb,many": "Line 3: priority: Not a whole number.",
        "recordName,nonsense\r\na,1": "the type has no field nonsense",
        "recordName,title\r\na,\"open": "a quotation mark isn’t closed",
        "": "The file has no records.",
    }
    for text, reason in wrong.items():
        dialog = choose(page, text)
        expect(dialog.get_by_role("alert")).to_contain_text(reason)
        expect(dialog.get_by_role("button", name="Import")).to_be_disabled()
        dialog.get_by_role("button", name="Close").click()
    assert place.names() == ["thing-000"]


def test_an_import_into_production_demands_the_number(page, server):
    ensure_production(server)
    place = Place(server, "production")
    place.fill(1)
    sign_in(page, server, "change")
    page.set_viewport_size(PHONE)
    open_list(page, server, place)
    dialog = choose(page, line("new", title="New"))
    action = dialog.get_by_role("button", name="Import")
    expect(action).to_be_disabled()
    dialog.get_by_label("Type 1 to import this number of records into production").fill("1")
    check_axe(page)
    check_no_overflow(page)
    action.click()
    expect(dialog).to_have_count(0)
    assert place.names() == ["new", "thing-000"]


def test_who_may_only_look_cannot_import(page, server):
    place = Place(server)
    place.fill(1)
    sign_in(page, server, "look")
    open_list(page, server, place)
    expect(page.get_by_role("button", name="Import")).to_have_count(0)
