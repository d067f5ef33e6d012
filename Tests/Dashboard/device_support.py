"""A device's database file, made by the example app `todo`, and the page that `yap sync inspect --open` serves of it."""
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import threading
import urllib.parse

import app_support
from support import CONTAINER


class TodoDevice:
    """A device of the account dora, with a folder of its own."""

    def __init__(self, server, name="phone"):
        self.server = server
        self.name = name
        self.program = os.path.join(os.path.dirname(server.program), "todo")
        self.folder = tempfile.mkdtemp(prefix=f"{name}-", dir=server.folder)
        self.file = os.path.join(self.folder, "todo.sqlite")

    def todo(self, *words, input=None, fails=False):
        """Runs a command of the app; returns what it printed."""
        done = subprocess.run([self.program, "--device", self.name, "--folder", self.folder, *words], input=input,
                              capture_output=True, text=True, timeout=60)
        if done.returncode and not fails:
            raise AssertionError(f"todo {' '.join(words)}: {done.stderr}")
        return done.stdout

    def sign_in(self):
        token = app_support.app_token(self.server)
        self.todo("login", "--server", self.server.url, "--container", CONTAINER, "--api-token", token, "--account",
                  app_support.ACCOUNT, "--password-stdin", input=app_support.PASSWORD + "\n")

    def add(self, text):
        """Adds an item; returns its key."""
        return json.loads(self.todo("add", text, "--json"))["key"]

    def alter(self, statement, *values):
        """Changes the tables of the sync, as a state that doesn't last would leave them."""
        with contextlib.closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(statement, values)
            # As each commit of the app does.
            data = connection.execute("SELECT data FROM yap2 WHERE extension = '' AND key = 'snapshot'").fetchone()[0]
            connection.execute("UPDATE yap2 SET data = ? WHERE extension = '' AND key = 'snapshot'",
                               (bytes([data[0] + 1]) + data[1:] if data[0] < 255 else data,))

    @staticmethod
    def table(kind):
        """The name of a table of the app's sync."""
        return f"cloudKit_{kind}_cloudKit"


class DevicePage:
    """The running command."""

    def __init__(self, program, file, *words):
        self.process = subprocess.Popen([program, "sync", "inspect", file, "--open", *words], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        watch = threading.Timer(30, self.process.kill)
        watch.start()
        self.link = self.process.stdout.readline().strip()
        watch.cancel()
        assert self.link, "yap sync inspect --open doesn't listen"
        parts = urllib.parse.urlsplit(self.link)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.secret = parts.fragment

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.stdout.close()
        return self.process.wait(30)


@contextlib.contextmanager
def device_page(server, device, *words):
    """Serves the page of a device's file."""
    page = DevicePage(server.program, device.file, *words)
    try:
        yield page
    finally:
        page.stop()
