"""A headless Chromium and one page in it, over the DevTools protocol on two pipes: no port, no network, no other program."""

import fcntl
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

PROGRAM = os.environ["HURRAY_CHROMIUM"]
SECONDS = 60


class Failed(Exception):
    """The browser, or a script in the page, did not do what was asked."""


def _apart(end):
    """The same end of a pipe with a number that is neither 3 nor 4, where the browser wants its own."""
    other = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return other


class Browser:
    def __init__(self, *arguments):
        self._folder = tempfile.TemporaryDirectory()
        their_in, our_out = map(_apart, os.pipe())
        our_in, their_out = map(_apart, os.pipe())

        def put_in_place():
            os.dup2(their_in, 3)
            os.dup2(their_out, 4)

        self._errors = pathlib.Path(self._folder.name, "stderr")
        # A browser in a sandbox of its own needs rights that tests of root or in containers do not have.
        command = [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   f"--user-data-dir={self._folder.name}/profile", "--remote-debugging-pipe", "--window-size=1280,1000", *arguments]
        environment = {**os.environ, "HOME": self._folder.name, "XDG_CONFIG_HOME": self._folder.name, "XDG_CACHE_HOME": self._folder.name}
        for name in ("DBUS_SESSION_BUS_ADDRESS", "LD_LIBRARY_PATH", "LD_PRELOAD"):
            environment.pop(name, None)
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                             pass_fds=(3, 4), preexec_fn=put_in_place, env=environment)
        os.close(their_in)
        os.close(their_out)
        self._in, self._out = our_in, our_out
        self._number, self._pending, self._session = 0, b"", None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for end in (self._in, self._out):
            os.close(end)
        # Its pipe is closed: it ends by itself.
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        for _ in range(50):
            try:
                self._folder.cleanup()
                return
            except OSError:
                # A helper process of it still writes there.
                time.sleep(0.1)

    def _message(self, deadline):
        while b"\0" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise Failed(f"no answer: {self._errors.read_text(errors='replace')[-2000:]}")
            more = os.read(self._in, 1 << 16)
            if not more:
                raise Failed(f"the browser ended: {self._errors.read_text(errors='replace')[-2000:]}")
            self._pending += more
        text, self._pending = self._pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """The result of a method; events that come meanwhile are kept."""
        self._number += 1
        number = self._number
        request = {"id": number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        deadline = time.monotonic() + SECONDS
        while True:
            message = self._message(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def wait_for(self, event):
        deadline = time.monotonic() + SECONDS
        while not any(seen["method"] == event for seen in self.events):
            message = self._message(deadline)
            if "method" in message:
                self.events.append(message)

    def open(self, path, fragment=""):
        """Opens a file and waits for its load event."""
        # Another fragment of the same page would load nothing.
        for address in ("about:blank", pathlib.Path(path).absolute().as_uri() + fragment):
            self.events.clear()
            answer = self.call("Page.navigate", url=address)
            if "errorText" in answer:
                raise Failed(answer["errorText"])
            self.wait_for("Page.loadEventFired")

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, code=None, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "Tab": 9}.get(key, 0))

    def click(self, selector):
        """A click of the mouse on the middle of an element."""
        x, y = self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def complaints(self):
        """What the console says, and exceptions."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"])
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append(event["params"]["args"])
            elif event["method"] == "Log.entryAdded":
                found.append(event["params"]["entry"])
        return found

    def requests(self):
        """Addresses of all that was asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
