"""Accounts: each job from a click to what `yap account list` says, and who can sign in then."""
import secrets

from playwright.sync_api import expect

from support import (CONTAINER, NARROW, allow, check_axe, check_no_overflow, focused, refuses, settle, sign_in,
                     tab_to, visit)

HOSTILE = "<img src=x onerror=alert(1)>"


def new_name(word="zoe"):
    return f"{word}-{secrets.token_hex(3)}"


def make_account(server, **more):
    """Makes an account; returns its name and password."""
    name = new_name()
    return name, server.operator.post("accounts/add", {"name": name, **more})["password"]


def listed(server, name):
    """Returns what `yap account list` says about an account, or None."""
    return next((one for one in server.listed("account", "list") if one["account"] == name), None)


def visit_person(page, server, name):
    visit(page, server, f"/dashboard/people/{name}")
    settle(page)


def test_make_an_account_that_can_sign_in(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/people")
    name = new_name()
    page.get_by_role("button", name="New account").click()
    dialog = page.get_by_role("dialog", name="New account")
    check_axe(page)
    dialog.get_by_role("button", name="Make the account").click()
    expect(dialog.get_by_role("alert")).to_have_text("Type a name.")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_label("Given name").fill("Zoë")
    dialog.get_by_label("Email").fill(f"{name}@example.com")
    dialog.get_by_label("Developer").check()
    dialog.get_by_role("button", name="Make the account").click()
    shown = page.get_by_role("dialog", name=f"Password of {name}")
    password = shown.locator("pre").inner_text()
    check_axe(page)
    shown.get_by_role("button", name="Copy the password").click()
    shown.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    account = listed(server, name)
    assert (account["givenName"], account["email"], account["developer"]) == ("Zoë", f"{name}@example.com", True)
    assert server.app_sign_in(name, password)["webAuthToken"]


def test_a_given_password(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/people")
    name = new_name()
    page.get_by_role("button", name="New account").click()
    dialog = page.get_by_role("dialog", name="New account")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("radio", name="Type one").check()
    expect(dialog.get_by_role("textbox", name="Password")).to_be_focused()
    dialog.get_by_role("textbox", name="Password").fill("short")
    dialog.get_by_role("button", name="Make the account").click()
    expect(dialog.get_by_role("alert")).to_have_text("A password has 8 characters at least.")
    dialog.get_by_role("textbox", name="Password").fill("long enough for this")
    dialog.get_by_role("button", name="Make the account").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert server.app_sign_in(name, "long enough for this")["webAuthToken"]


def test_a_name_that_is_taken_is_refused(page, server):
    allow(page, "400", "409")
    sign_in(page, server)
    visit(page, server, "/dashboard/people")
    page.get_by_role("button", name="New account").click()
    dialog = page.get_by_role("dialog", name="New account")
    dialog.get_by_label("Name", exact=True).fill("ann")
    dialog.get_by_role("button", name="Make the account").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Code")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New account")).to_be_focused()


def test_edit_a_person(page, server):
    sign_in(page, server)
    name, _ = make_account(server, givenName="Old", email="old@example.com", isDeveloper=True)
    visit_person(page, server, name)
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name=f"Edit {name}")
    expect(dialog.get_by_label("Given name")).to_have_value("Old")
    dialog.get_by_label("Given name").fill("New")
    dialog.get_by_label("Family name").fill("Person")
    dialog.get_by_label("Email").fill("")
    dialog.get_by_label("Developer").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("main")).to_contain_text("New Person")
    account = listed(server, name)
    assert (account["givenName"], account["familyName"], account["email"] or None, account["developer"]) == (
        "New", "Person", None, False)


def test_a_disabled_account_cannot_sign_in(page, server):
    sign_in(page, server)
    name, password = make_account(server)
    server.app_sign_in(name, password)
    visit_person(page, server, name)
    page.get_by_role("button", name="Disable").click()
    dialog = page.get_by_role("dialog", name=f"Disable {name}?")
    check_axe(page)
    dialog.get_by_role("button", name=f"Disable {name}").click()
    expect(page.get_by_role("heading", name="This account is disabled")).to_be_visible()
    refuses(server.app_sign_in, name, password)
    assert server.listed("account", "sessions", name) == []
    check_axe(page)
    page.get_by_role("button", name="Enable the account").click()
    expect(page.get_by_role("heading", name="This account is disabled")).to_have_count(0)
    assert server.app_sign_in(name, password)["webAuthToken"]


def test_a_new_password_ends_the_old_one(page, server):
    sign_in(page, server)
    name, password = make_account(server)
    server.app_sign_in(name, password)
    visit_person(page, server, name)
    page.get_by_role("button", name="New password").click()
    page.get_by_role("dialog", name=f"New password for {name}").get_by_role("button", name="Set the password").click()
    shown = page.get_by_role("dialog", name=f"Password of {name}")
    fresh = shown.locator("pre").inner_text()
    shown.get_by_role("button", name="Done").click()
    expect(page.get_by_text("The account is signed in nowhere.")).to_be_visible()
    refuses(server.app_sign_in, name, password)
    assert fresh != password and server.app_sign_in(name, fresh)["webAuthToken"]


def test_end_one_session_and_all(page, server):
    sign_in(page, server)
    name, password = make_account(server, givenName=HOSTILE)
    for client in (HOSTILE, "curl/8.0", "Firefox/140.0 Linux"):
        server.app_sign_in(name, password, client=client)
    visit_person(page, server, name)
    rows = page.get_by_role("region", name="Sessions, table").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    expect(page.locator("img")).to_have_count(0)
    rows.filter(has_text="curl").get_by_role("button", name="End").click()
    expect(rows).to_have_count(3)
    assert len(server.listed("account", "sessions", name)) == 2
    page.get_by_role("button", name="End all sessions").click()
    dialog = page.get_by_role("dialog", name=f"End all sessions of {name}?")
    dialog.get_by_role("button", name="End all sessions").click()
    expect(page.get_by_text("The account is signed in nowhere.")).to_be_visible()
    assert server.listed("account", "sessions", name) == []


def test_delete_needs_the_name(page, server):
    sign_in(page, server)
    name, password = make_account(server)
    visit_person(page, server, name)
    page.get_by_role("button", name=f"Delete {name}").click()
    dialog = page.get_by_role("dialog", name=f"Delete {name}?")
    check_axe(page)
    destroy = dialog.get_by_role("button", name=f"Delete {name}")
    expect(destroy).to_be_disabled()
    dialog.get_by_label("Type the account’s name").fill(name[:-1])
    expect(destroy).to_be_disabled()
    dialog.get_by_role("radio", name="Erase the data").check()
    dialog.get_by_label("Type the account’s name").fill(name)
    destroy.click()
    expect(page).to_have_url(f"{server.url}/dashboard/people")
    assert listed(server, name) is None
    refuses(server.app_sign_in, name, password)


def test_search_and_pages_are_in_the_address(page, server):
    sign_in(page, server)
    beginning = f"page-{secrets.token_hex(2)}"
    for number in range(52):
        server.operator.post("accounts/add", {"name": f"{beginning}-{number:02}", "password": "long enough"})
    visit(page, server, "/dashboard/people")
    page.get_by_role("searchbox", name="Find by the beginning of the name").fill(beginning)
    rows = page.get_by_role("region", name="Accounts, table").get_by_role("row")
    expect(rows.filter(has_text=beginning)).to_have_count(50)
    expect(page).to_have_url(f"{server.url}/dashboard/people?named={beginning}")
    expect(page.get_by_role("searchbox", name="Find by the beginning of the name")).to_be_focused()
    page.get_by_role("button", name="Next 50").click()
    expect(rows).to_have_count(3)
    expect(page).to_have_url(f"{server.url}/dashboard/people?named={beginning}&after={beginning}-49")
    page.reload()
    expect(rows).to_have_count(3)
    page.go_back()
    expect(rows.filter(has_text=beginning)).to_have_count(50)
    page.get_by_role("searchbox", name="Find by the beginning of the name").fill(f"{beginning}-nobody")
    expect(page.get_by_role("heading", name="No account found")).to_be_visible()
    page.get_by_role("button", name="Show all accounts").click()
    expect(page).to_have_url(f"{server.url}/dashboard/people")


def test_private_data_and_devices(page, server):
    sign_in(page, server)
    visit_person(page, server, "ann")
    link = page.get_by_role("link", name=f"Private data in {CONTAINER}, development")
    expect(page.get_by_role("region", name="Data, table").get_by_role("row").filter(has=link)).to_have_count(1)
    expect(page.get_by_role("heading", name="Devices")).to_be_visible()
    link.click()
    expect(page).to_have_url(f"{server.url}/dashboard/{CONTAINER}/development/data/private/{server.user('ann')}")


def test_devices_that_pushes_go_to(page, server):
    sign_in(page, server)
    name, password = make_account(server, isDeveloper=True)
    visit_person(page, server, name)
    expect(page.get_by_text("No device of this account waits for pushes.")).to_be_visible()
    signed = server.app_sign_in(name, password)
    server.register_device(signed, server.apiToken, "development", "a phone")
    visit_person(page, server, name)
    # The page looks in a few environments at a time. Other tests have made containers too.
    while page.get_by_role("button", name="Look in").is_visible():
        page.get_by_role("button", name="Look in").click()
        settle(page)
    rows = page.get_by_role("region", name="Devices, table").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("Development")
    check_axe(page)


def test_an_account_that_is_not_there(page, server):
    allow(page, "404")
    sign_in(page, server)
    visit_person(page, server, "nobody-here")
    expect(page.get_by_role("heading", name="Account not found")).to_be_visible()
    check_axe(page)


def test_role_look_sees_no_buttons(page, server):
    sign_in(page, server, "look")
    visit(page, server, "/dashboard/people")
    expect(page.get_by_role("link", name="ann", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New account")).to_have_count(0)
    page.get_by_role("link", name="ann", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("ann")
    settle(page)
    for name in ("Edit", "New password", "Disable", "Delete ann", "End all sessions", "End the session"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    check_axe(page)


def test_make_an_account_by_keyboard(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/people")
    name = new_name("key")
    tab_to(page, "New account")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    shown = page.get_by_role("dialog", name=f"Password of {name}")
    expect(shown).to_be_visible()
    page.keyboard.press("Escape")
    expect(shown).to_be_visible()
    tab_to(page, "Done")
    page.keyboard.press("Enter")
    expect(shown).to_be_hidden()
    assert focused(page) == "New account"
    assert listed(server, name)


def test_a_narrow_screen(page, server):
    sign_in(page, server)
    name, password = make_account(server, givenName="A" * 60, email=f"{'long' * 20}@example.com")
    server.app_sign_in(name, password, client="x" * 200)
    page.set_viewport_size(NARROW)
    # The first 50 accounts are listed, and how far down this one is depends on those that other tests have made.
    for path in (f"/dashboard/people?named={name}", f"/dashboard/people/{name}"):
        visit(page, server, path)
        settle(page)
        check_no_overflow(page)
        check_axe(page)
    page.get_by_role("button", name=f"Delete {name}").click()
    check_no_overflow(page)
    check_axe(page)


def test_the_audit_log_says_what_was_done(page, server):
    sign_in(page, server)
    name, _ = make_account(server)
    server.operator.post("accounts/disable", {"name": name})
    server.operator.post("accounts/delete", {"name": name, "erase": False})
    visit(page, server, "/dashboard/audit")
    rows = page.get_by_role("row").filter(has_text=name)
    for words in ("made an account", "disabled an account", "deleted an account"):
        expect(rows.filter(has_text=words)).to_have_count(1)
