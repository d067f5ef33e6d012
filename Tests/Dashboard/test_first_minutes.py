"""A server without anything: from the first click to the first saved record."""
import contextlib
import json
import subprocess
import urllib.parse

from playwright.sync_api import expect

from support import (CONTAINER, NARROW, PASSWORD, Operator, Server, check_axe, check_no_overflow, focused, sign_in,
                     tab_to, visit)


@contextlib.contextmanager
def fresh_server(page):
    """Starts a server that has no container, and lets the page use it."""
    server = Server(isFilled=False, container=None)
    try:
        server.operator = Operator(server.url)
        server.operator.post("session", {"link": urllib.parse.urlsplit(server.link).fragment})
        server.operator.post("session/password", {"password": PASSWORD})
        server.roles["administer"] = (server.operator.get("session")["administrator"]["name"], PASSWORD)
        page.watch.origin = server.url
        yield server
    finally:
        # Nothing may ask the server when it has ended.
        page.goto("about:blank")
        server.stop()


def step(page, name):
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name))


def test_from_nothing_to_the_first_record(page, server):
    with fresh_server(page) as fresh:
        sign_in(page, fresh)
        visit(page, fresh, "/dashboard")
        expect(page.get_by_role("heading", name="Your server is running")).to_be_visible()
        check_axe(page)
        page.get_by_label("Identifier").fill(CONTAINER)
        page.get_by_role("button", name="Make the container").click()
        expect(step(page, "Make a container")).to_contain_text("Done")
        assert [one["container"] for one in fresh.listed("container", "list")] == [CONTAINER]

        page.get_by_role("button", name="Make the token").click()
        expect(step(page, "Make an API token")).to_contain_text("Done")
        tokens = fresh.listed("token", "list")
        assert [(one["name"], one["environment"]) for one in tokens] == [("my app", "development")]

        page.get_by_label("Name", exact=True).fill("ada")
        page.get_by_role("button", name="Make the account").click()
        expect(step(page, "Make an account")).to_contain_text("Password of ada")
        assert [one["account"] for one in fresh.listed("account", "list")] == ["ada"]
        check_axe(page)

        token = step(page, "Make an API token").locator("pre").inner_text()
        swift = page.get_by_role("region", name="Swift code").inner_text()
        for line in ("import CloudKit\n", f'server: "{fresh.url}"', f'apiToken: "{token}"', f'"{CONTAINER}"',
                     'signIn(account: "ada", password: "'):
            assert line in swift, (line, swift)
        commands = page.get_by_role("region", name="Curl commands").or_(
            page.get_by_role("region", name="curl commands")).inner_text()
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], capture_output=True, text=True,
                              timeout=60, check=True)
        saved = json.loads(done.stdout)["records"][0]
        assert saved["fields"]["title"]["value"] == "Oranges for Saturday", done.stdout

        expect(page.get_by_role("heading", name="The first record is saved")).to_be_visible()
        check_axe(page)
        kept = fresh.run("record", "get", saved["recordName"], "--container", CONTAINER, "--account", "ada")
        assert "Oranges for Saturday" in kept
        page.get_by_role("link", name="Browse the data").click()
        expect(page).to_have_url(f"{fresh.url}/dashboard/{CONTAINER}/development/data")
        page.goto(f"{fresh.url}/dashboard")
        expect(page.get_by_role("heading", name="1 container")).to_be_visible()


def test_secrets_of_before_are_not_known(page, server):
    with fresh_server(page) as fresh:
        fresh.run("init", "--container", CONTAINER)
        fresh.run("token", "create", "--container", CONTAINER, "--name", "app")
        fresh.run("account", "create", "ann")
        sign_in(page, fresh)
        visit(page, fresh, "/dashboard")
        expect(step(page, "Save a record")).to_contain_text("TOKEN with the token of your app")
        expect(step(page, "Save a record")).to_contain_text("PASSWORD with the password of ann")
        page.get_by_role("link", name="make another one").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("API tokens")


def test_a_step_that_is_done_in_a_terminal_appears(page, server):
    with fresh_server(page) as fresh:
        sign_in(page, fresh)
        visit(page, fresh, "/dashboard")
        expect(page.get_by_role("button", name="Make the container")).to_be_visible()
        fresh.run("init", "--container", CONTAINER)
        expect(page.get_by_role("button", name="Make the token")).to_be_visible()


def test_role_look_sees_commands(page, server):
    with fresh_server(page) as fresh:
        sign_in(page, fresh, "look")
        visit(page, fresh, "/dashboard")
        expect(step(page, "Make a container")).to_contain_text(f"yap init --container {CONTAINER}")
        expect(page.get_by_role("button", name="Make the container")).to_have_count(0)
        check_axe(page)


def test_by_keyboard_on_a_narrow_screen(page, server):
    with fresh_server(page) as fresh:
        sign_in(page, fresh)
        page.set_viewport_size(NARROW)
        visit(page, fresh, "/dashboard")
        check_no_overflow(page)
        tab_to(page, "Identifier")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Name of the app")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Name", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
        expect(step(page, "Make an account")).to_contain_text("Password of ann")
        assert focused(page) != ""
        check_no_overflow(page)
        check_axe(page)


def test_another_container(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard")
    page.get_by_role("button", name="New container").click()
    dialog = page.get_by_role("dialog", name="New container")
    check_axe(page)
    dialog.get_by_role("button", name="Make the container").click()
    expect(dialog.get_by_role("alert")).to_have_text("Type an identifier.")
    dialog.get_by_label("Identifier").fill("iCloud.com.example.other")
    dialog.get_by_role("button", name="Make the container").click()
    expect(page.get_by_role("heading", name="iCloud.com.example.other")).to_be_visible()
    assert "iCloud.com.example.other" in [one["container"] for one in server.listed("container", "list")]
    server.run("container", "delete", "iCloud.com.example.other", "--yes")
