"""Takes pictures of the pages, with the data of picture_data.py: each in both themes, 1280 and 375 px wide."""
import contextlib
import json
import urllib.parse

from playwright.sync_api import expect

import picture_device
import picture_schema
import picture_now
import support
from data_support import field
from picture_data import FIREFOX, NOW, PictureServer, milliseconds, record_name
from support import Refused, scope

COLUMNS = "cols=title,due,done,priority,estimate,list,tags,place&sort=due"
ORANGES = record_name("Oranges for Saturday")
SHARED = record_name("Prepare the talk for Utrecht")


# The port is another in each run.
SHOW_USUAL_PORT = """port => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) walker.currentNode.nodeValue = walker.currentNode.nodeValue.replaceAll(port, "8080");
}"""


def addresses(server):
    """Yields name, address and, where something is to be done first, an action, of each picture."""
    place, production, user = server.lists, server.production, server.lists.user
    yield "overview", "/dashboard", None
    yield "admins", "/dashboard/admins", None
    yield "audit", "/dashboard/audit", None
    yield "account", "/dashboard/account", None
    yield "people", "/dashboard/people", None
    yield "people-new", "/dashboard/people", click("New account")
    yield "person", "/dashboard/people/ann", None
    yield "person-delete", "/dashboard/people/carla", click("Delete carla")
    yield "keys", scope("keys"), None
    yield "keys-token", scope("keys"), make_token
    yield "keys-server", scope("keys/server"), None
    yield "keys-server-new", scope("keys/server"), paste_key
    yield "keys-webhooks", scope("keys/webhooks"), None
    yield "zones-choose", scope("zones"), None
    yield "zones", scope(f"zones?user={user}"), None
    yield "zone-changes", scope(f"zones/{user}/lists?since={urllib.parse.quote(server.token)}"), None
    yield "zone-moment", scope(f"zones/{user}/lists?at={urllib.parse.quote(server.token)}"), None
    yield "zone-difference", scope(f"zones/{user}/lists?since=40&until=50"), None
    yield "records", place.address(f"?{COLUMNS}"), None
    yield "records-views", place.address(f"?{COLUMNS}"), save_views
    due = urllib.parse.quote("due>2026-11-27 00:00 UTC,done=0")
    yield "records-filter", place.address(f"?q={due}&{COLUMNS}"), None
    yield "records-empty", place.address(f"?q=title:begins:Bananas&{COLUMNS}"), None
    yield "records-export", place.address(f"?{COLUMNS}"), ask_export
    yield "records-import", place.address(f"?{COLUMNS}"), choose_import
    yield "record", place.address(f"?{COLUMNS}&open={ORANGES}"), None
    yield "record-history", production.address(f"?{COLUMNS}&open={ORANGES}&view=history"), None
    production_user = scope(f"sync/{user}", "production")
    yield "now", scope("now", "production"), None
    yield "now-month", scope("now?range=month", "production"), None
    yield "requests", f"/dashboard/requests?container={support.CONTAINER}&environment=production", None
    yield "request", f"/dashboard/requests/{server.failed}", None
    yield "sync", scope("sync", "production"), None
    yield "sync-user", production_user, None
    yield "usage", scope("usage", "production"), None
    yield "slow", scope("slow", "production"), None
    yield "record-create", place.address("?new=1"), None
    yield "record-delete", place.address(f"?{COLUMNS}&open={ORANGES}"), ask_delete
    yield "record-delete-production", production.address(f"?{COLUMNS}&open={ORANGES}"), ask_delete
    yield from picture_schema.addresses(server)
    # The last, for it changes a record.
    yield "record-conflict", place.address(f"?{COLUMNS}&open={SHARED}"), make_conflict


def first_steps(page, server):
    """Does the first three steps. What the picture before has made is removed."""
    place = ["--container", support.CONTAINER]
    server.run("init", *place)
    for words in (["token", "revoke", *place, "--name", "my app"], ["account", "delete", "ann", "--yes"]):
        with contextlib.suppress(AssertionError):
            server.run(*words)
    page.reload()
    page.get_by_role("button", name="Make the token").click()
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_text("Password of ann")).to_be_visible()
    page.evaluate("document.querySelector('.sheet').scrollTop = 0; scrollTo(0, 0)")


def click(name):
    def action(page, server):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("dialog")).to_be_visible()
    return action


def make_token(page, server):
    """Makes the same token for each picture: the one of before is revoked."""
    with contextlib.suppress(Refused):
        server.operator.post(f"{support.CONTAINER}/tokens/revoke", {"name": "watch app"})
    page.get_by_role("button", name="New token").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("watch app")
    page.get_by_role("dialog").get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("dialog", name="Token of watch app")).to_be_visible()


def paste_key(page, server):
    page.get_by_role("button", name="New key").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("nightly report")
    page.get_by_role("radio", name="Paste a public key").check()


def ask_delete(page, server):
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def save_views(page, server):
    """Counts the records, and shows the menu of views."""
    page.get_by_role("button", name="Count the records").click()
    address = urllib.parse.urlsplit(page.url)
    views = [{"name": name, "container": support.CONTAINER, "type": "Todo", "address": f"{address.path}?{query}"}
             for name, query in (("By due date", address.query), ("Urgent, not done", "q=done=0"), ("Notes", "cols=note"))]
    page.evaluate("views => localStorage.setItem('yap-views', JSON.stringify(views))", views)
    page.get_by_role("button", name="Views", exact=True).click()


def ask_export(page, server):
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def choose_import(page, server):
    page.get_by_role("button", name="Import").click()
    lines = "\n".join(json.dumps({"recordName": f"moved-{number}", "fields": {}}) for number in range(214))
    page.get_by_role("dialog").get_by_label("File", exact=True).set_input_files(
        {"name": "lists.jsonl", "mimeType": "text/plain", "buffer": lines.encode()})
    expect(page.get_by_role("dialog")).to_contain_text("214 records in the file.")


def make_conflict(page, server):
    server.story.at("2026-11-27 09:12")
    server.change("Prepare the talk for Utrecht", {
        "title": ("STRING", "Prepare the talk for Utrecht"), "priority": ("INT64", "5"), "estimate": ("DOUBLE", "1")})
    page.reload()
    page.get_by_role("button", name="Edit", exact=True).click()
    field(page, "title").fill("Prepare the talk for Utrecht, with pictures")
    field(page, "priority").fill("4")
    server.story.at("2026-11-27 09:52")
    server.change("Prepare the talk for Utrecht", {
        "title": ("STRING", "Prepare the talk for Utrecht and Leiden"), "estimate": ("DOUBLE", "2.5")})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("dialog", name="The record was changed while you edited it")).to_be_visible()


class Camera:
    """Takes the pictures of one server. `new_page` makes a page of a browser, with options of its context."""

    def __init__(self, new_page, server, folder, only):
        self.new_page = new_page
        self.server = server
        self.folder = folder
        self.only = only
        self.count = 0

    def sign_in(self, body):
        """Returns the cookies of a session, which all pictures of the server share."""
        context = self.new_page(user_agent=FIREFOX).context
        response = context.request.post(f"{self.server.url}/operator/1/session", data=body)
        assert response.ok, response.text()
        state = context.storage_state()
        context.close()
        return state

    def take(self, name, path, action=None, cookies=None):
        if self.only not in name:
            return

        def prepare(page):
            page.context.route("**/operator/1/**", self.answer)
            support.visit(page, self.server, path)
            if action:
                action(page, self.server)
                support.settle(page)
            page.wait_for_load_state("networkidle")
            page.evaluate(SHOW_USUAL_PORT, str(self.server.port))

        self.shoot(name, prepare, cookies)

    def shoot(self, name, prepare, cookies=None):
        """Takes the four pictures of a page that `prepare` opens."""
        for size, viewport in (("1280", support.DESK), ("375", support.PHONE)):
            for theme in support.THEMES:
                page = self.new_page(viewport=viewport, color_scheme=theme, user_agent=FIREFOX, storage_state=cookies)
                page.clock.set_fixed_time(milliseconds(NOW) / 1000)
                prepare(page)
                page.screenshot(path=self.folder / f"{name}-{size}-{theme}.png")
                page.context.unroute_all(behavior="ignoreErrors")
                page.context.close()
                self.count += 1
        print(f"picture {name}", flush=True)

    def answer(self, route):
        """Answers with the times of the story."""
        response = route.fetch()
        told = self.server.story.tell(response.json())
        path = urllib.parse.urlsplit(route.request.url).path
        route.fulfill(response=response, body=json.dumps(picture_now.made_up(path, told)))


def take_pictures(new_page, folder, usesSourceFiles, only=""):
    """Writes the pictures whose name contains a text into a folder; returns how many.

    `new_page` is asked with a server and options.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for isEmpty in (False, True):
        server = PictureServer(isEmpty=isEmpty)
        server.usesSourceFiles = usesSourceFiles
        try:
            camera = Camera(lambda server=server, **options: new_page(server, **options), server, folder, only)
            if isEmpty:
                link = urllib.parse.urlsplit(server.link).fragment
                cookies = camera.sign_in({"link": link})
                camera.take("overview-empty", "/dashboard", cookies=cookies)
                camera.take("overview-code", "/dashboard", first_steps, cookies)
            else:
                camera.take("sign-in", "/dashboard/sign-in")
                picture_device.take(camera)
                picture_now.fill_devices(server)
                server.story.at("2026-11-27 09:53")
                cookies = camera.sign_in({"name": server.name, "password": support.PASSWORD})
                for name, path, action in addresses(server):
                    camera.take(name, path, action, cookies)
            count += camera.count
        finally:
            server.stop()
    return count
