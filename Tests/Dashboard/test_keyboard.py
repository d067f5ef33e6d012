"""Without a mouse."""
from playwright.sync_api import expect

from support import NARROW, allow, check_axe, focused, scope, sign_in, visit


def test_sign_in_and_navigate(page, server):
    allow(page, "421")
    name, password = server.administrator("administer")
    page.goto(f"{server.url}/dashboard")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    tab_to(page, "Admins")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Administrators")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("navigation").get_by_role("link", name="Admins")).to_have_attribute("aria-current", "page")
    tab_to(page, "New admin")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="New admin")).to_be_focused()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def tab_to(page, name):
    for _ in range(30):
        page.keyboard.press("Tab")
        if focused(page) == name:
            return
    raise AssertionError(f"Tab doesn't reach {name}")


def test_container_picker(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard")
    opener = page.get_by_role("button", name="Container: all")
    opener.focus()
    page.keyboard.press("ArrowDown")
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("link", name="All containers")).to_be_focused()
    check_axe(page)
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="All containers")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation").get_by_role("link", name="Zones")).to_be_visible()


def test_find_box(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Find")
    expect(box).to_be_focused()
    page.keyboard.type("aud")
    expect(page.get_by_role("option", name="Audit log")).to_have_attribute("aria-selected", "true")
    check_axe(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("nothing that exists")
    expect(page.get_by_role("option", name="Nothing found")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox", name="Results")).to_have_count(0)


def test_find_offers_what_the_page_can_do(page, server):
    sign_in(page, server)
    visit(page, server, scope("schema"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="New type")).to_have_attribute("aria-selected", "true")
    check_axe(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New record type")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New type")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("deploy to")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Deploy to production")


def test_find_knows_types_and_zones(page, server):
    sign_in(page, server)
    visit(page, server, scope(f"zones?user={server.user('ann')}"))
    page.keyboard.press("Control+k")
    page.keyboard.type("list")
    expect(page.get_by_role("option", name="lists zone")).to_be_visible()
    page.get_by_role("combobox", name="Find").fill("Todo")
    page.get_by_role("option", name="Todo record type", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Todo")
    expect(page).to_have_url(f"{server.url}{scope('schema/types/Todo')}")


def test_question_mark_lists_the_keys_and_can_be_switched_off(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    check_axe(page)
    dialog.get_by_label("The key ? opens this list").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(dialog).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("short?")
    page.keyboard.press("Backspace")
    page.get_by_role("option", name="Keyboard shortcuts").click()
    dialog.get_by_label("The key ? opens this list").check()


def test_find_on_a_phone(page, server):
    sign_in(page, server)
    page.set_viewport_size(NARROW)
    visit(page, server, "/dashboard")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("adm")
    check_axe(page)
    page.get_by_role("option", name="Admins").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Administrators")
    expect(page.get_by_role("dialog")).to_have_count(0)
