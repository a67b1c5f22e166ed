"""Open JupyterLab at the first lesson, and say where it is for those who have no browser here."""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .console import Trouble, say
from .environment import Environment

FIRST_PORT = 8888
FIRST_PAGE = "lessons/mine/00_start_here.ipynb"
SECONDS_TO_START = 90.0
EXTENSIONS = Path(__file__).with_name("labextensions")  # one that shows the words of figures
SETTINGS: dict[str, dict[str, object]] = {
    # no question about news and no look for updates: the lessons ask nothing of the network
    "jupyter/config/lab/user-settings/@jupyterlab/apputils-extension/"
    "notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
    # each kernel would warn here that messages within this machine are not encrypted
    "ipython/profile_default/ipython_kernel_config.json": {
        "IPKernelApp": {"log_level": logging.ERROR}
    },
}


def find(home: Environment) -> dict[str, Any] | None:
    """Look for a JupyterLab that shows these lessons already.

    Args:
        home: The lessons and what runs them.

    Returns:
        What Jupyter notes of it, such as its port and its token; None where there is none.
    """
    from jupyter_server.serverapp import list_running_servers  # it takes a second to load

    folder = Path(home.variables(os.environ)["JUPYTER_RUNTIME_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    for told in list_running_servers(str(folder), log=logging.getLogger(__name__)):
        root = Path(told["root_dir"])
        if root.exists() and root.samefile(home.root) and answers(told["port"]):
            return dict(told)
    return None


def has_browser() -> bool:
    """Whether there is a browser that can show JupyterLab; one in a terminal cannot."""
    shows = map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    try:
        return bool(webbrowser.get()) and (not sys.platform.startswith("linux") or any(shows))
    except webbrowser.Error:
        return False


def first_page(home: Environment) -> str:
    """The page at which JupyterLab opens."""
    return f"/lab/tree/{FIRST_PAGE if (home.root / FIRST_PAGE).exists() else 'lessons'}"


def command(home: Environment, port: int | None, browser: bool) -> list[str]:
    """The command that starts JupyterLab, on this port or on the first free one from 8888 on."""
    parts = [
        str(home.python),
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port or FIRST_PORT}",
        f"--ServerApp.port_retries={0 if port else 50}",
        f"--ServerApp.root_dir={home.root}",
        f"--LabApp.default_url={first_page(home)}",
        "--LabApp.extension_manager=readonly",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        # else it asks npm for language servers, which takes a second and writes into the home
        "--LanguageServerManager.autodetect=False",
        "--ServerApp.answer_yes=True",  # Ctrl-C stops it at once
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
    ]
    if not browser:
        parts.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container
        parts.append("--allow-root")
    return parts


def write_settings(home: Environment) -> None:
    """Give JupyterLab and kernels their settings; what the reader set there before stays."""
    for name, settings in SETTINGS.items():
        place = home.venv / "var" / name
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def answers(port: int) -> bool:
    """Whether something listens on this port."""
    with socket.socket() as asking:
        asking.settimeout(1)
        return asking.connect_ex(("127.0.0.1", port)) == 0


def serve(
    home: Environment,
    port: int | None,
    browser: bool,
    meanwhile: Callable[[], None],
    afterward: Callable[[], object],
) -> int:
    """Start JupyterLab, print its address, and stay until it ends.

    Args:
        home: The repository and its environment.
        port: Where it listens; None for a free one.
        browser: Whether it opens in the browser.
        meanwhile: What to do while it starts; trouble there stops it.
        afterward: What to begin when it answers.

    Returns:
        The exit code.
    """
    write_settings(home)
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(16)
    env = {**home.variables(os.environ), "JUPYTER_TOKEN": token}
    say("JupyterLab is starting ...")
    parts = command(home, port, browser)
    process = subprocess.Popen(parts, env=env, cwd=home.root, stdin=subprocess.DEVNULL)
    previous = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        meanwhile()
        _tell(home, _started(home, process), browser)
        say("Ctrl-C here stops JupyterLab.")
        afterward()
        process.wait()
    except KeyboardInterrupt:
        say("\nJupyterLab is stopping.")
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(timeout=10)  # it ends its kernels
        return 0
    finally:
        signal.signal(signal.SIGTERM, previous)
        process.terminate()
        process.wait()
    return 0 if process.returncode in (0, -signal.SIGTERM) else 1


def revisit(home: Environment, server: dict[str, Any], browser: bool) -> int:
    """Open the JupyterLab that runs already, and print its address.

    Args:
        home: The repository and its environment.
        server: What runs, as `find` gives it.
        browser: Whether it opens in the browser.

    Returns:
        The exit code.
    """
    say("JupyterLab runs already.")
    # a page on this disk: it has the token, which others could read in a command line
    folder = Path(home.variables(os.environ)["JUPYTER_RUNTIME_DIR"])
    opener = folder / f"jpserver-{server['pid']}-open.html"
    _tell(home, server, browser and opener.is_file() and webbrowser.open(opener.as_uri()))
    say("To stop it: Ctrl-C where it was started, or File, Shut Down in JupyterLab.")
    return 0


def _started(home: Environment, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Wait until JupyterLab answers."""
    deadline = time.monotonic() + SECONDS_TO_START
    while (server := find(home)) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Trouble(
                "JupyterLab did not start; see above.",
                "Run this again, perhaps with another --port.",
            )
        time.sleep(0.1)
    return server


def _tell(home: Environment, server: dict[str, Any], opens: bool) -> None:
    first = "It opens in your browser. If it does not, the address is"
    address = f"http://127.0.0.1:{server['port']}{first_page(home)}?token={server['token']}"
    say(f"{first if opens else 'Open this address in a browser'}:\n\n    {address}\n")
