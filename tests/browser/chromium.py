"""Open pages in a headless Chromium and ask them things, over its debugging protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60.0  # seconds
CODES = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "Delete": 46}
CODES |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def executable() -> str | None:
    """Give the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of the browser."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._number = 0
        self.requests: list[str] = []  # addresses that were asked for
        self.errors: list[str] = []  # exceptions of scripts
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for what it gives."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._connection.send(json.dumps(message))
        while True:
            answer = json.loads(self._connection.recv())
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            elif answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(answer["params"]["exceptionDetails"]))
            elif answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def open(self, address: str) -> None:
        """Go to an address and wait until the page has loaded."""
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def ask(self, script: str) -> Any:
        """Evaluate an expression of JavaScript and give its value."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(f"{script}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def wait(self, condition: str, patience: float = PATIENCE) -> None:
        """Wait until an expression is true.

        Raises:
            TimeoutError: If that takes too long.
        """
        end = time.monotonic() + patience
        while not self.ask(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"not true within {patience:.0f} s: {condition}")
            time.sleep(0.1)

    def press(self, *keys: str) -> None:
        """Press keys, such as "ArrowRight", and let them go."""
        for key in keys:
            here = {"key": key, "code": "Space" if key == " " else key}
            text = {"Enter": "\r", " ": " "}.get(key, "")
            for kind in ("keyDown", "keyUp"):
                self.call(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    text=text,
                    windowsVirtualKeyCode=CODES[key],
                    **here,
                )

    def click(self, selector: str) -> None:
        """Click on what a selector of CSS finds."""
        self.ask(f"document.querySelector({json.dumps(selector)}).click()")

    def size(self, width: int, height: int, scale: float = 1.0) -> None:
        """Give the page's window another size in pixels, each drawn as `scale` ones."""
        look = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **look)

    def prefer(self, **features: str) -> None:
        """Say what the reader prefers: `prefers_reduced_motion="reduce"`."""
        told = [{"name": name.replace("_", "-"), "value": v} for name, v in features.items()]
        self.call("Emulation.setEmulatedMedia", features=told)


@contextmanager
def browser(width: int = 1000, height: int = 1400) -> Iterator[Page]:
    """Start a browser with an empty profile, and give its page."""
    import websocket  # comes with Jupyter

    path = executable()
    assert path is not None, "no Chromium was found"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0"]
        options += ["--remote-allow-origins=*", f"--user-data-dir={profile}"]
        options += [f"--window-size={width},{height}", *QUIET, "about:blank"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([path, *options], **silent)
        try:
            connection = websocket.create_connection(
                _address(Path(profile), process), timeout=PATIENCE
            )
            try:
                yield Page(connection)
            finally:
                connection.close()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """Find where the page listens: the browser writes its port into the profile."""
    import urllib.request

    end = time.monotonic() + PATIENCE
    told = profile / "DevToolsActivePort"
    while time.monotonic() < end and process.poll() is None:
        if told.exists() and told.read_text().strip():
            port = told.read_text().split()[0]
            address = f"http://127.0.0.1:{port}/json/list"
            # no proxy stands between this machine and itself
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(address, timeout=PATIENCE) as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
    raise TimeoutError("the browser did not start")
