"""Administrators, roles, the audit log, one's own account."""
import re
import secrets

from playwright.sync_api import expect

from support import CONTAINER, PASSWORD, Operator, allow, check_axe, settle, sign_in, visit


def test_add_change_and_remove_an_administrator(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/admins")
    name = f"lena-{secrets.token_hex(3)}"
    page.get_by_role("button", name="New admin").click()
    dialog = page.get_by_role("dialog", name="New administrator")
    check_axe(page)
    dialog.get_by_role("button", name="Make the link").click()
    expect(dialog.get_by_role("alert")).to_have_text("Type a name.")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Make the link").click()
    shown = page.get_by_role("dialog", name=f"Send this link to {name}")
    expect(shown).to_contain_text("/dashboard/link#")
    first = shown.locator("pre").inner_text()
    check_axe(page)
    shown.get_by_role("button", name="Done").click()
    expect(shown).to_be_hidden()
    row = page.get_by_role("table").first.get_by_role("row", name=name)
    expect(row).to_contain_text("look")
    expect(row).to_contain_text("Not chosen yet")

    row.get_by_role("button", name=f"One-time link for {name}").click()
    expect(shown).to_contain_text("/dashboard/link#")
    assert shown.locator("pre").inner_text() != first
    shown.get_by_role("button", name="Done").click()
    expect(row.get_by_role("button", name=f"One-time link for {name}")).to_be_focused()

    row.get_by_role("button", name=f"Change the role of {name}").click()
    dialog = page.get_by_role("dialog", name=f"Role of {name}")
    dialog.get_by_role("radio", name=re.compile("^Change")).check()
    dialog.get_by_role("button", name="Change the role").click()
    expect(row).to_contain_text("change")

    row.get_by_role("button", name=f"Remove {name}").click()
    dialog = page.get_by_role("dialog", name=f"Remove {name}?")
    check_axe(page)
    dialog.get_by_role("button", name="Keep").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name=f"Remove {name}").click()
    dialog.get_by_role("button", name=f"Remove {name}").click()
    expect(row).to_have_count(0)


def test_a_name_that_is_taken(page, server):
    allow(page, "409", "400")
    name = sign_in(page, server)
    visit(page, server, "/dashboard/admins")
    page.get_by_role("button", name="New admin").click()
    dialog = page.get_by_role("dialog", name="New administrator")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Make the link").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Code")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value(name)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="New admin")).to_be_focused()


def test_own_row_has_no_buttons(page, server):
    name = sign_in(page, server)
    visit(page, server, "/dashboard/admins")
    row = page.get_by_role("table").first.get_by_role("row").filter(has=page.get_by_text(name, exact=True))
    expect(row).to_contain_text("You")
    expect(row.get_by_role("button")).to_have_count(0)


def test_role_look_sees_no_buttons(page, server):
    sign_in(page, server, "look")
    visit(page, server, "/dashboard/admins")
    expect(page.get_by_role("table").first.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_role("button", name="New admin")).to_have_count(0)
    expect(page.get_by_role("button", name="One-time link")).to_have_count(0)
    expect(page.get_by_role("heading", name="Sessions")).to_have_count(0)
    check_axe(page)


def test_audit_shows_what_was_done(page, server):
    own = sign_in(page, server)
    name, _ = server.new_administrator("look")
    visit(page, server, "/dashboard/audit")
    row = page.get_by_role("row").filter(has_text=name).first
    expect(row).to_contain_text("added an administrator")
    expect(row).to_contain_text(own)
    expect(row).to_contain_text("Done")
    server.operator.post("administrators/remove", {"name": name})
    page.reload()
    expect(page.get_by_role("row").filter(has_text=name).first).to_contain_text("removed an administrator")


def test_audit_filters_are_in_the_address(page, server):
    own = sign_in(page, server)
    visit(page, server, "/dashboard/audit")
    page.get_by_label("Administrator").select_option(own)
    expect(page).to_have_url(f"{server.url}/dashboard/audit")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(f"{server.url}/dashboard/audit?administrator={own}")
    settle(page)
    expect(page.get_by_label("Administrator")).to_have_value(own)
    page.reload()
    expect(page.get_by_label("Administrator")).to_have_value(own)
    page.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(f"{server.url}/dashboard/audit")
    page.go_back()
    expect(page.get_by_label("Administrator")).to_have_value(own)


def test_long_details_wrap_in_the_audit_log(page, server):
    sign_in(page, server)
    name = "n" * 60
    server.operator.post(f"{CONTAINER}/tokens/add", {"name": name, "environment": "production"})
    server.operator.post(f"{CONTAINER}/tokens/revoke", {"name": name})
    server.make_zone(server.user("ann"), "z" * 200)
    visit(page, server, f"/dashboard/audit?administrator={server.name}&container={CONTAINER}")
    for words in ("made an API token", "revoked an API token", "changed 1 zone"):
        expect(page.get_by_role("row").filter(has_text=words).first).to_be_visible()
    table = page.get_by_role("region", name="Audit log, table")
    width, room = table.evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert width <= room, f"the table is {width} px wide in {room} px"
    expect(page.get_by_label("Administrator").locator("option", has_text="yap admin")).to_have_count(1)


def test_audit_shows_more(page, server):
    sign_in(page, server)
    for _ in range(30):
        name, _ = server.new_administrator("look")
        server.operator.post("administrators/remove", {"name": name})
    visit(page, server, "/dashboard/audit")
    rows = page.get_by_role("region", name="Audit log, table").get_by_role("row")
    expect(rows).to_have_count(51)
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows).not_to_have_count(51)
    expect(page.get_by_role("status").filter(has_text="shown")).to_be_visible()


def test_hostile_names_are_text(page, server):
    allow(page, "401")
    sign_in(page, server)
    text = "<img src=x onerror=alert(1)>"
    visit(page, server, f"/dashboard/audit?administrator={text}")
    expect(page.get_by_label("Administrator")).to_have_value(text)
    expect(page.locator("img")).to_have_count(0)


def test_sessions_can_be_ended(page, server):
    name, password = server.administrator("administer")
    other = Operator(server.url)
    other.post("session", {"name": name, "password": password})
    sign_in(page, server)
    visit(page, server, "/dashboard/account")
    table = page.get_by_role("region", name="Sessions, table")
    expect(table.get_by_text("This session")).to_have_count(1)
    if page.get_by_role("button", name="Show all").is_visible():
        page.get_by_role("button", name="Show all").click()
    row = table.get_by_role("row").filter(has_text="Python").first
    count = table.get_by_role("row").count()
    row.get_by_role("button").click()
    expect(table.get_by_role("row")).to_have_count(count - 1)


def test_theme_is_kept(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/account")
    page.get_by_label("Dark").check()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    expect(page.get_by_label("Dark")).to_be_checked()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_label("As the system").check()
    assert page.evaluate("document.documentElement.dataset.theme") is None


def test_change_the_password(page, server):
    allow(page, "401")
    name, link = server.new_administrator("look")
    session = Operator(server.url)
    session.post("session", {"link": link.split("#")[1]})
    session.post("session/password", {"password": PASSWORD})
    page.context.request.post(f"{server.url}/operator/1/session", data={"name": name, "password": PASSWORD})
    visit(page, server, "/dashboard/account")
    page.get_by_label("Present password").fill("not the password")
    page.get_by_label("New password", exact=True).fill("another long sentence")
    page.get_by_label("New password again").fill("another long sentence")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("alert")).to_have_text("The present password is wrong.")
    page.get_by_label("Present password").fill(PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("The password was changed. All other sessions have ended.")).to_be_visible()
    Operator(server.url).post("session", {"name": name, "password": "another long sentence"})


def test_sign_out(page, server):
    allow(page, "421")
    sign_in(page, server)
    visit(page, server, "/dashboard/account")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto(f"{server.url}/dashboard/admins")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
