"""Takes pictures of the pages, with the data of picture_data.py: each in both themes, 1280 and 375 px wide."""
import json
import urllib.parse

from playwright.sync_api import expect

import support
from data_support import field
from picture_data import FIREFOX, NOW, PictureServer, milliseconds, record_name
from support import scope

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
    yield "zones-choose", scope("zones"), None
    yield "zones", scope(f"zones?user={user}"), None
    yield "zone-changes", scope(f"zones/{user}/lists?since={urllib.parse.quote(server.token)}"), None
    yield "records", place.address(f"?{COLUMNS}"), None
    due = urllib.parse.quote("due>2026-11-27 00:00 UTC,done=0")
    yield "records-filter", place.address(f"?q={due}&{COLUMNS}"), None
    yield "records-empty", place.address(f"?q=title:begins:Bananas&{COLUMNS}"), None
    yield "record", place.address(f"?{COLUMNS}&open={ORANGES}"), None
    yield "record-create", place.address("?new=1"), None
    yield "record-delete", place.address(f"?{COLUMNS}&open={ORANGES}"), ask_delete
    yield "record-delete-production", production.address(f"?{COLUMNS}&open={ORANGES}"), ask_delete
    # The last, for it changes a record.
    yield "record-conflict", place.address(f"?{COLUMNS}&open={SHARED}"), make_conflict


def ask_delete(page, server):
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()


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

    def __init__(self, new_page, server, folder):
        self.new_page = new_page
        self.server = server
        self.folder = folder
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
        for size, viewport in (("1280", support.DESK), ("375", support.PHONE)):
            for theme in support.THEMES:
                page = self.new_page(viewport=viewport, color_scheme=theme, user_agent=FIREFOX, storage_state=cookies)
                page.clock.set_fixed_time(milliseconds(NOW) / 1000)
                page.context.route("**/operator/1/**", self.answer)
                support.visit(page, self.server, path)
                if action:
                    action(page, self.server)
                    support.settle(page)
                page.wait_for_load_state("networkidle")
                page.evaluate(SHOW_USUAL_PORT, str(self.server.port))
                page.screenshot(path=self.folder / f"{name}-{size}-{theme}.png")
                page.context.unroute_all(behavior="ignoreErrors")
                page.context.close()
                self.count += 1
        print(f"picture {name}", flush=True)

    def answer(self, route):
        """Answers with the times of the story."""
        response = route.fetch()
        route.fulfill(response=response, body=json.dumps(self.server.story.tell(response.json())))


def take_pictures(new_page, folder, usesSourceFiles):
    """Writes all pictures into a folder; returns how many. `new_page` is asked with a server and options."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for isEmpty in (False, True):
        server = PictureServer(isEmpty=isEmpty)
        server.usesSourceFiles = usesSourceFiles
        try:
            camera = Camera(lambda server=server, **options: new_page(server, **options), server, folder)
            if isEmpty:
                link = urllib.parse.urlsplit(server.link).fragment
                camera.take("overview-empty", "/dashboard", cookies=camera.sign_in({"link": link}))
            else:
                camera.take("sign-in", "/dashboard/sign-in")
                cookies = camera.sign_in({"name": server.name, "password": support.PASSWORD})
                for name, path, action in addresses(server):
                    camera.take(name, path, action, cookies)
            count += camera.count
        finally:
            server.stop()
    return count
