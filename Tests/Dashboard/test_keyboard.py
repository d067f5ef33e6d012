"""Without a mouse."""
from playwright.sync_api import expect

from support import NARROW, allow, check_axe, focused, sign_in, visit


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
