"""Sign-in by link and by password, wrong passwords, ended sessions, a server that doesn't respond."""
import re
import secrets

from playwright.sync_api import expect

import support
from support import PASSWORD, allow, check_axe, settle, sign_in, visit


def fill_form(page, name, password):
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_first_sign_in_by_link(page, server):
    name, link = server.new_administrator("administer")
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your password")
    assert "#" not in page.url, page.url
    check_axe(page)
    page.get_by_label("New password", exact=True).fill("short")
    page.get_by_role("button", name="Save the password").click()
    expect(page.get_by_role("alert")).to_contain_text("10 characters at least")
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("New password again").fill(PASSWORD + "!")
    page.get_by_role("button", name="Save the password").click()
    expect(page.get_by_role("alert")).to_have_text("The two passwords differ.")
    page.get_by_label("New password again").fill(PASSWORD)
    page.get_by_role("button", name="Save the password").click()
    expect(page).to_have_url(f"{server.url}/dashboard")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    secret = link.split("#")[1]
    page.go_back()
    assert secret not in page.url


def test_link_of_the_server_itself(page, server):
    if server.isMock:
        return
    other = support.Server(isFilled=False)
    try:
        page.watch.origin = other.url
        page.goto(other.link)
        expect(page.get_by_role("heading", level=1)).to_have_text("Choose your password")
        page.get_by_role("link", name="Not now").click()
        expect(page.get_by_role("heading", level=2, name="Your server is running")).to_be_visible()
        settle(page)
        check_axe(page)
    finally:
        other.stop()


def test_used_link_is_refused(page, server):
    allow(page, "401")
    _, link = server.new_administrator()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your password")
    page.get_by_role("link", name="Not now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    # The overview asks the server while it is shown.
    page.goto("about:blank")
    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("This link doesn’t work")
    expect(page.get_by_role("alert")).to_contain_text("used already")
    check_axe(page)
    page.get_by_role("link", name="Sign in with a password").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_link_without_its_secret(page, server):
    page.goto(f"{server.url}/dashboard/link")
    expect(page.get_by_role("heading", level=1)).to_have_text("The link is incomplete")


def test_wrong_password_then_right(page, server):
    allow(page, "401", "421")
    name, password = server.administrator("administer")
    visit(page, server, "/dashboard/audit?administrator=nobody")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    fill_form(page, name, "not the password")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    check_axe(page)
    fill_form(page, name, password)
    expect(page).to_have_url(f"{server.url}/dashboard/audit?administrator=nobody")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")


def test_too_many_tries_have_to_wait(page, server):
    allow(page, "401", "429")
    name, password = f"nobody-{secrets.token_hex(3)}", "not the password"
    visit(page, server, "/dashboard/sign-in")
    for _ in range(5):
        fill_form(page, name, password)
        expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    # The limit may begin at the fifth or the sixth failure.
    fill_form(page, name, password)
    waiting = page.get_by_role("heading", name="Try again in")
    expect(waiting.or_(page.get_by_role("alert"))).to_be_visible()
    if not waiting.is_visible():
        fill_form(page, name, password)
    expect(waiting).to_be_visible()
    expect(page.get_by_role("button", name="Sign in")).to_be_disabled()
    check_axe(page)
    expect(waiting).to_be_hidden(timeout=60_000)
    expect(page.get_by_role("button", name="Sign in")).to_be_enabled()


def test_another_site_is_no_destination(page, server):
    allow(page, "421")
    name, password = server.administrator("administer")
    for to in ("//example.com/", "https://example.com/dashboard", "/\\example.com", "javascript:alert(1)"):
        page.goto(f"{server.url}/dashboard/sign-in?to={support.urllib.parse.quote(to)}")
        fill_form(page, name, password)
        expect(page).to_have_url(f"{server.url}/dashboard")
        page.context.clear_cookies()


def test_ended_session_keeps_what_was_typed(page, server):
    allow(page, "421", "401")
    name = sign_in(page, server)
    visit(page, server, "/dashboard/admins")
    page.get_by_role("button", name="New admin").click()
    dialog = page.get_by_role("dialog", name="New administrator")
    wanted = f"lena-{secrets.token_hex(3)}"
    dialog.get_by_label("Name", exact=True).fill(wanted)
    dialog.get_by_role("radio", name=re.compile("^Change")).check()
    server.end_sessions()
    dialog.get_by_role("button", name="Make the link").click()
    over = page.get_by_role("dialog", name="Your session has ended")
    expect(over).to_be_visible()
    check_axe(page)
    expect(over.get_by_label("Name")).to_have_value(name)
    page.keyboard.press("Escape")
    expect(over).to_be_visible()
    over.get_by_label("Password").fill("not the password")
    over.get_by_role("button", name="Sign in").click()
    expect(over.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    over.get_by_label("Password").fill(server.roles["administer"][1])
    over.get_by_role("button", name="Sign in").click()
    expect(over).to_be_hidden()
    expect(page.get_by_role("dialog", name=f"Send this link to {wanted}")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("row", name=wanted)).to_contain_text("change")


def test_server_gone_and_back(page, server):
    allow(page, "ERR_", "421")
    page.clock.install()
    sign_in(page, server)
    visit(page, server, "/dashboard")
    server.pause()
    try:
        page.get_by_role("link", name="Audit").click()
        bar = page.get_by_role("alert").filter(has_text="The server doesn’t respond.")
        expect(bar).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check_axe(page)
        # From here on the page doesn't ask by itself.
        page.clock.pause_at(page.evaluate("Date.now() / 1000 + 5"))
    finally:
        server.resume()
    page.get_by_role("button", name="Try now").click()
    page.clock.resume()
    expect(bar).to_be_hidden(timeout=30_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    expect(page.get_by_role("region", name="Audit log, table").get_by_role("row").nth(1)).to_be_visible()


def test_change_without_a_server_is_not_repeated(page, server):
    allow(page, "ERR_", "421")
    sign_in(page, server)
    visit(page, server, "/dashboard/admins")
    page.get_by_role("button", name="New admin").click()
    dialog = page.get_by_role("dialog", name="New administrator")
    wanted = f"omar-{secrets.token_hex(3)}"
    dialog.get_by_label("Name", exact=True).fill(wanted)
    server.pause()
    try:
        dialog.get_by_role("button", name="Make the link").click()
        expect(dialog.get_by_role("alert")).to_contain_text("may or may not have been saved")
    finally:
        server.resume()
    expect(dialog.get_by_label("Name", exact=True)).to_have_value(wanted)
    expect(page.locator(".bars")).not_to_contain_text("doesn’t respond", timeout=40_000)
    dialog.get_by_role("button", name="Make the link").click()
    expect(page.get_by_role("dialog", name=f"Send this link to {wanted}")).to_be_visible()
