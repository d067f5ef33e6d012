#!/usr/bin/env python3
"""Runs the browser tests of the dashboard.

run.py [--only NAME] [--jobs N] [--shuffle SEED] [--traces FOLDER] [--pictures FOLDER] [--files]

Each test_*.py beside this file is read; each function test_...(page, server) runs in a browser context of its own. Exit
code 1: a test failed. --jobs divides the tests among so many processes, each with a server and a browser of its own;
each process takes the next test when it has ended one. After a failed test its process goes on with a new server and a
new browser. --shuffle runs the tests in another order, which the seed decides.
--files takes the page from Sources/DashboardPage in place of the server's program, so that a
change of the page needs no build. --pictures runs no test: it writes a picture of each page in both themes, 1280 and
375 px wide, with the data of picture_data.py.
"""
import argparse
import functools
import importlib
import mimetypes
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import traceback
import urllib.parse

from playwright.sync_api import expect, sync_playwright

import pictures
import support

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = support.ROOT / "Sources" / "DashboardPage"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
# The headless shell is the same browser without windows and menus, and needs a third less processor time.
BROWSERS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(os.path.exists, BROWSERS), BROWSERS[-1])
# For an action as for what is expected, which by default has 5 s only: a page that asks every 4 s, and again a second
# after it was refused, takes that long by itself.
WAIT_MILLISECONDS = 15_000
expect.set_options(timeout=WAIT_MILLISECONDS)


class Watch:
    """What a page must not do: errors, violations of its policy, requests to another origin."""

    def __init__(self, page, origin):
        self.origin = origin
        self.allowed = []
        self.seen = []
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.seen.append(f"page error: {error}"))
        page.on("request", self.request)

    def console(self, message):
        if message.type in ("error", "warning"):
            self.seen.append(f"console {message.type}: {message.text}")

    def request(self, request):
        if not request.url.startswith((self.origin + "/", "blob:" + self.origin + "/")):
            self.seen.append(f"request to another origin: {request.url}")

    def check(self):
        bad = [line for line in self.seen if not any(word in line for word in self.allowed)]
        assert not bad, "\n".join(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="only tests, or pictures, whose name contains this")
    parser.add_argument("--traces", help="keep a trace of each failed test in this folder")
    parser.add_argument("--pictures", help="write pictures of the pages into this folder, and run no test")
    parser.add_argument("--files", action="store_true", help="take the page's files from the source folder")
    parser.add_argument("--jobs", type=int, default=1, help="run the tests in so many processes")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="run the tests in an order that the seed decides")
    parser.add_argument("--modules", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.pictures:
        return write_pictures(pathlib.Path(arguments.pictures), arguments.files, arguments.only or "")
    return run_all(chosen_tests(arguments), arguments)


def chosen_tests(arguments):
    """Returns names and functions of the tests that are asked for, in their order."""
    tests = [(name, test) for name, test in all_tests() if not arguments.only or arguments.only in name]
    if arguments.modules:
        tests = [(name, test) for name, test in tests if name.split(".")[0] in arguments.modules.split(",")]
    # The longest are in this file. As the first ones they let the processes end at the same time.
    tests.sort(key=lambda test: not test[0].startswith("test_pages."))
    if arguments.shuffle is not None:
        random.Random(arguments.shuffle).shuffle(tests)
    return tests


def run_all(tests, arguments):
    """Runs the tests, in several processes if so many jobs are asked for."""
    fork = multiprocessing.get_context("fork")
    begun, passed = fork.Value("i", 0), fork.Value("i", 0)
    if arguments.jobs > 1:
        processes = [fork.Process(target=run_tests, args=(tests, begun, passed, arguments))
                     for _ in range(arguments.jobs)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    else:
        run_tests(tests, begun, passed, arguments)
    # What a process didn't report has failed.
    failed = len(tests) - passed.value
    print(f"{passed.value} passed, {failed} failed")
    return 1 if failed or not tests else 0


def run_tests(tests, begun, passed, arguments):
    """Runs those tests that no other process has begun."""
    with sync_playwright() as playwright:
        fixture = None
        try:
            while (index := take(begun)) < len(tests):
                fixture = fixture or Fixture(playwright, arguments)
                if run_test(fixture.browser, fixture.server, *tests[index], arguments.traces):
                    take(passed)
                elif not fixture.server.isMock:
                    fixture.close()
                    fixture = None
        finally:
            if fixture:
                fixture.close()


def take(counter):
    """Adds one to a counter; returns what it was before."""
    with counter.get_lock():
        counter.value += 1
        return counter.value - 1


class Fixture:
    """What the tests of a process share: a server and a browser."""

    def __init__(self, playwright, arguments):
        self.server = support.make_server()
        self.server.usesSourceFiles = arguments.files
        self.browser = launch(playwright)

    def close(self):
        try:
            self.browser.close()
        finally:
            self.server.stop()


def launch(playwright):
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


def all_tests():
    sys.path.insert(0, str(HERE))
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, value in vars(module).items():
            if name.startswith("test_") and callable(value):
                yield f"{path.stem}.{name}", value


def serve_files(route):
    """Answers a request for the page or one of its files from the source folder, as the server does."""
    path = urllib.parse.urlsplit(route.request.url).path
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
    if path.startswith("/dashboard/files/"):
        file = SOURCES / path.split("/", 4)[4]
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return route.fulfill(body=file.read_bytes(), content_type=kind, headers=headers)
    page = (SOURCES / "index.html").read_text().replace("{files}", "/dashboard/files/source")
    return route.fulfill(body=page, content_type="text/html; charset=utf-8", headers=headers)


def new_page(browser, server, **options):
    context = browser.new_context(locale="en-GB", timezone_id="Europe/Berlin", reduced_motion="reduce",
                                  **{"viewport": support.DESK, **options})
    context.set_default_timeout(WAIT_MILLISECONDS)
    if server.usesSourceFiles:
        context.route(re.compile(r"^http://[^/]+/dashboard(/[^?]*)?(\?.*)?$"), serve_files)
    page = context.new_page()
    page.watch = Watch(page, server.url)
    return page


def run_test(browser, server, name, test, traces):
    begin = time.monotonic()
    page = new_page(browser, server)
    pages = [page]
    # For tests of two administrators at a time. The test closes none of them.
    server.new_page = lambda: pages.append(new_page(browser, server)) or pages[-1]
    if traces:
        page.context.tracing.start(screenshots=True, snapshots=True)
    try:
        test(page, server)
        for one in pages:
            one.watch.check()
    except Exception:
        print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        for line in [line for one in pages for line in one.watch.seen]:
            print(f"  {line}", flush=True)
        if traces:
            page.context.tracing.stop(path=os.path.join(traces, f"{name}.zip"))
        return False
    finally:
        for one in pages:
            one.context.close()
    print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    return True


def write_pictures(folder, usesSourceFiles, only):
    """Writes the pictures, in the font that they are drawn with where it is installed."""
    if "Inter" in subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False).stdout:
        os.environ["FONTCONFIG_FILE"] = str(HERE / "fonts.conf")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        count = pictures.take_pictures(functools.partial(new_page, browser), folder, usesSourceFiles, only)
        browser.close()
    print(f"{count} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
