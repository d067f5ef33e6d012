"""The dashboard of a `TestCloud`: what a test's devices left is shown, and what is changed there is theirs to fetch."""
import os
import subprocess
import threading
import urllib.parse

from playwright.sync_api import expect

from data_support import field
from support import check_axe, settle

PLACE = "/dashboard/iCloud.yap.test/development/data/private/_ada/notes/Note"


class Waiting:
    """A program that is a test which waits."""

    def __init__(self, server):
        program = os.path.join(os.path.dirname(server.program), "TestCloudChild")
        self.process = subprocess.Popen([program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, "YAP_DASHBOARD": "1"})
        self.watch = threading.Timer(120, self.process.kill)
        self.watch.start()
        line = self.process.stderr.readline()
        self.link = next(word for word in line.split() if word.startswith("http"))
        parts = urllib.parse.urlsplit(self.link)
        self.url = f"{parts.scheme}://{parts.netloc}"
        while self.process.stdout.readline() != "ready\n":
            assert self.process.poll() is None

    def tell(self, word):
        """Says a word, and returns the line that comes back."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(30)
        self.watch.cancel()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def test_what_a_test_has_left_is_shown_and_edited(page, server):
    test = Waiting(server)
    page.watch.origin = test.url
    try:
        page.goto(test.link)
        page.get_by_role("link", name="Not now").click()
        expect(page.get_by_role("main")).to_contain_text("iCloud.yap.test")
        settle(page)
        check_axe(page)
        page.goto(test.url + PLACE)
        settle(page)
        page.get_by_role("region", name="Records, table").get_by_role("link", name="shopping").click()
        page.get_by_role("button", name="Edit", exact=True).click()
        field(page, "text").fill("oat milk")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("button", name="Edit", exact=True)).to_be_visible()
        assert test.tell("show") == "text: oat milk"
        assert test.tell("restart") == "restarted"
        for path, text in (("zones?user=_ada", "notes"), ("schema", "Note"), ("subscriptions", "")):
            page.goto(f"{test.url}/dashboard/iCloud.yap.test/development/{path}")
            settle(page)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.get_by_role("main")).to_contain_text(text)
        page.goto(test.url + PLACE)
        expect(page.get_by_role("main")).to_contain_text("oat milk")
    finally:
        code = test.stop()
    assert code == 0
