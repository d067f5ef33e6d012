"""What the browser tests of the dashboard share: a server, sign-in, checks.

A test is a function `test_...(page, server)`. It fails on a console error, a page error, a violation of the page's policy,
or a request to another origin. `allow(page, "421")` permits console errors whose text contains a word, for tests in which
a request is refused on purpose. `server.new_page()` opens a page of another browser.

Environment: YAP names the program (default: the newest of .build/*/yap). YAP_DASHBOARD_MOCK names a stand-in instead, as
"URL LINK", where LINK signs an administrator in once.
"""
import glob
import http.cookiejar
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from polling import eventually, wait_for_retry

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTAINER = "iCloud.com.example.todo"
PASSWORD = "a long sentence is fine"
PHONE = {"width": 375, "height": 812}
NARROW = {"width": 320, "height": 700}
DESK = {"width": 1280, "height": 800}
THEMES = ("light", "dark")
AXE_OPTIONS = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
# Only what a failure prints leaves the browser: a whole result has several megabytes, and takes longer than the rules.
# An open menu covers a part of the page. What its edge leaves of a button depends on the widths of names, so the sizes of the
# page's own targets count while no menu is open.
AXE_VIOLATIONS = """async (options) => {
    const menu = document.querySelector(".menu:not([hidden])");
    const results = menu ? [await axe.run({...options, rules: {}}), await axe.run(menu, options)] : [await axe.run(options)];
    return results.flatMap((result) => result.violations).flatMap((rule) =>
        rule.nodes.slice(0, 3).map((node) => [rule.id, node.html, node.failureSummary.split("\\n")[1] ?? ""]));
}"""

IS_SHOWN = """() => [...document.querySelectorAll("h1")].filter((title) => title.checkVisibility()).length === 1
    && !document.querySelector("[aria-busy=true]")"""


class Refused(Exception):
    """An error response of the operator API."""

    def __init__(self, body):
        super().__init__(f"{body.get('serverErrorCode')}: {body.get('reason')}")
        self.code = body.get("serverErrorCode")


class Operator:
    """A session of an administrator, outside the browser."""

    def __init__(self, url):
        self.url = url
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def get(self, path, **query):
        return self._send(urllib.request.Request(self._address(path, query)))

    def post(self, path, body=None, **query):
        data = json.dumps(body or {}).encode()
        headers = {"Content-Type": "application/json", "X-Yap-Client": "1"}
        return self._send(urllib.request.Request(self._address(path, query), data, headers))

    def _address(self, path, query):
        return f"{self.url}/operator/1/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def _send(self, request):
        for _ in range(20):
            try:
                with self.opener.open(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                body = json.load(error)
                if body.get("serverErrorCode") not in ("THROTTLED", "TRY_AGAIN_LATER"):
                    raise Refused(body) from None
                wait_for_retry(body.get("retryAfter") or 1)
        raise TimeoutError("the server is busy for too long")


class Server:
    """A real server in a folder of its own, with an administrator, an account and some records."""

    isMock = False

    def __init__(self, isFilled=True, container=CONTAINER):
        self.program = os.environ.get("YAP") or newest_program()
        self.folder = tempfile.mkdtemp(prefix="yap-dashboard-")
        self.data = os.path.join(self.folder, "data")
        self.process = None
        self.port = 0
        self.link = None
        self.run("init", *(["--container", container] if container else []))
        self.start()
        self.operator = None
        self.roles = {}
        self.cookies = {}
        if isFilled:
            self.run("account", "create", "ann", "--given-name", "Ann", "--family-name", "Lee", "--developer")
            self.begin()

    def run(self, *words):
        """Runs a command of yap on the server's folder; returns what it printed."""
        done = subprocess.run([self.program, *words, "--data", self.data], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(f"yap {' '.join(words)}: {done.stderr}")
        return done.stdout

    def listed(self, *words):
        """Returns what a command prints with --json: the list that its object has."""
        answer = json.loads(self.run(*words, "--json"))
        return next(value for value in answer.values() if isinstance(value, list))

    def app_sign_in(self, account, password, container=CONTAINER, client=None, **more):
        """Signs an account in, as an app does; raises Refused."""
        if "apiToken" not in more and not hasattr(self, "apiToken"):
            made = json.loads(self.run("token", "create", "--container", container, "--name", "tests", "--json"))
            self.apiToken = made["token"]
        token = more.get("apiToken") or self.apiToken
        body = {"account": account, "password": password, "container": container, **more, "apiToken": token}
        headers = {"Content-Type": "application/json", **({"User-Agent": client} if client else {})}
        request = urllib.request.Request(f"{self.url}/yap/1/sign-in", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(json.load(error)) from None

    def register_device(self, signed, token, environment, client, container=CONTAINER):
        """Registers a device for pushes, as an app does."""
        query = urllib.parse.urlencode({"ckAPIToken": token, "ckWebAuthToken": signed["webAuthToken"]})
        body = {"apnsEnvironment": environment, "clientId": client}
        address = f"{self.url}/device/1/{container}/{environment}/tokens/create?{query}"
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def start(self):
        """Starts the process; a second time on the same port. Reads the one-time link from its output."""
        words = [self.program, "serve", "--data", self.data, "--port", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        isListening = threading.Event()
        threading.Thread(target=self._read, args=(self.process, isListening), daemon=True).start()
        if not isListening.wait(30):
            raise AssertionError("yap serve doesn't listen")

    def _read(self, process, isListening):
        for line in process.stdout:
            for word in line.split():
                if "/dashboard/link#" in word:
                    self.link = word
                if word.startswith("http://127.0.0.1:") and not self.port:
                    self.port = int(urllib.parse.urlsplit(word.rstrip(".,")).port)
            # The link or the dashboard's address is the last thing that is printed at the start.
            if "/dashboard" in line:
                isListening.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def pause(self):
        """Makes the server unreachable."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def resume(self):
        """Makes it reachable again, at the same address."""
        self.start()

    def end_sessions(self):
        """Ends all sessions of the administrators, but the one of the tests."""
        mine = self.operator.get("session")["session"]
        for one in self.operator.get("sessions")["sessions"]:
            if one["session"] != mine:
                self.operator.post("sessions/end", {"session": one["session"]})

    def begin(self):
        """Signs the first administrator in, gives a password, and makes records."""
        self.operator = Operator(self.url)
        self.operator.post("session", {"link": urllib.parse.urlsplit(self.link).fragment})
        self.operator.post("session/password", {"password": PASSWORD})
        self.name = self.operator.get("session")["administrator"]["name"]
        self.roles["administer"] = (self.name, PASSWORD)
        self.fill()

    def fill(self):
        """Makes zone lists of ann, with records."""
        user = self.user("ann")
        self.make_zone(user, "lists")
        operations = [{"operationType": "create", "record": {"recordName": f"todo-{number}", "recordType": "Todo", "fields": {
            "title": {"value": f"Thing {number}", "type": "STRING"}, "priority": {"value": number % 5, "type": "INT64"}}}}
            for number in range(60)]
        for environment in ("development",):
            self.data_post(environment, "private", "records/modify", {
                "operations": operations, "zoneID": {"zoneName": "lists"}}, user=user)

    def user(self, account):
        """Returns the userRecordName of an account."""
        found = self.operator.get(f"{CONTAINER}/accounts", named=account)["accounts"]
        return next(one["userRecordName"] for one in found if one["name"] == account)

    def data_post(self, environment, database, endpoint, body, **query):
        """Sends a request for data; raises the first failure in its answer."""
        answer = self.operator.post(f"{CONTAINER}/{environment}/{database}/{endpoint}", body, **query)
        for one in answer.get("records", []) + answer.get("zones", []):
            if "serverErrorCode" in one:
                raise Refused(one)
        return answer

    def make_zone(self, user, name, environment="development"):
        self.data_post(environment, "private", "zones/modify", {
            "operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": name}}}]}, user=user)

    def new_administrator(self, role="look"):
        """Adds an administrator without a password; returns the name and the link."""
        name = f"{role}-{secrets.token_hex(3)}"
        return name, self.operator.post("administrators/add", {"name": name, "role": role})["link"]

    def administrator(self, role):
        """Returns name and password of an administrator with a role."""
        if role not in self.roles:
            name, link = self.new_administrator(role)
            session = Operator(self.url)
            session.post("session", {"link": urllib.parse.urlsplit(link).fragment})
            session.post("session/password", {"password": PASSWORD})
            self.roles[role] = (name, PASSWORD)
        return self.roles[role]

    def stop(self):
        """Ends the process and removes the folder."""
        if self.process and self.process.poll() is None:
            self.pause()
        shutil.rmtree(self.folder, ignore_errors=True)


class Mock(Server):
    """A stand-in for the server, which somebody else has started."""

    isMock = True

    def __init__(self, base, link):
        self.base = base
        self.link = link
        self.roles = {}
        self.cookies = {}
        self.begin()

    @property
    def url(self):
        return self.base

    def control(self, name, **body):
        request = urllib.request.Request(f"{self.base}/mock/{name}", json.dumps(body).encode())
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def pause(self):
        self.control("pause")

    def resume(self):
        self.control("resume")

    def fill(self):
        pass

    def stop(self):
        pass


def make_server():
    """Returns the server of this run."""
    mock = os.environ.get("YAP_DASHBOARD_MOCK")
    return Mock(*mock.split()) if mock else Server()


def newest_program():
    found = sorted(glob.glob(str(ROOT / ".build" / "**" / "release" / "yap"), recursive=True), key=os.path.getmtime)
    if not found:
        raise AssertionError("no yap in .build: build it, or set YAP")
    return found[-1]


def sign_in(page, server, role="administer"):
    """Signs the page's browser in, without the form.

    Tests share the session of a role until one of them ends it, since a server takes its time over a password.
    """
    name, password = server.administrator(role)
    address = f"{server.url}/operator/1/session"
    page.context.add_cookies(server.cookies.get(role, []))
    if role not in server.cookies or not page.context.request.get(address).ok:
        page.context.clear_cookies()
        response = page.context.request.post(address, data={"name": name, "password": password})
        assert response.ok, response.text()
        server.cookies[role] = page.context.cookies()
    return name


def visit(page, server, path):
    """Opens an address of the dashboard, and waits until it has its one title and nothing is loading."""
    page.goto(server.url + path)
    # The browser sees this at its next frame; an expectation asks after 100 ms, and again after 250 more.
    page.wait_for_function(IS_SHOWN)


def settle(page):
    """Waits until nothing is loading."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def scope(rest, environment="development"):
    """Returns an address in the test's container."""
    return f"/dashboard/{CONTAINER}/{environment}/{rest}"


def allow(page, *words):
    """Permits console errors that contain one of the words."""
    page.watch.allowed.extend(words)


def refuses(work, *arguments, **options):
    """Waits until a request is refused: a running server notices a change of its tables within a second."""
    def refusal():
        try:
            work(*arguments, **options)
        except Refused as refused:
            return refused
        return None
    return eventually(refusal, "the server still allows it")


def tab_to(page, name):
    """Presses Tab until an element with a name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused(page) == name:
            return
    raise AssertionError(f"Tab doesn't reach {name}")


def check_axe(page):
    """Fails on each violation of accessibility rules, with target sizes."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    lines = [f"{rule}: {html[:160]} ({reason.strip()[:160]})"
             for rule, html, reason in page.evaluate(AXE_VIOLATIONS, AXE_OPTIONS)]
    assert not lines, f"axe at {page.url}:\n  " + "\n  ".join(lines)


def check_no_overflow(page):
    """Fails when the document scrolls sideways."""
    width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= room, f"{page.url} is {width} px wide in {room} px"


def focused(page):
    """Returns text and role of what has the focus."""
    return page.evaluate("""() => {
        const one = document.activeElement;
        return (one?.getAttribute("aria-label") || one?.labels?.[0]?.textContent || one?.textContent || "").trim();
    }""")
