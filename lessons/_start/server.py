"""Open JupyterLab at the first lesson, and find the one that runs already."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Any

from .console import say

FIRST_PORT = 8888
FIRST_PAGE = "lessons/mine/00_start_here.ipynb"
EXTENSIONS = Path(__file__).with_name("labextensions")  # one that shows the words of figures


def find(root: Path) -> dict[str, Any] | None:
    """Look for a JupyterLab that shows these lessons already.

    Args:
        root: The folder that holds `lessons`.

    Returns:
        What Jupyter notes of it, such as its port and its token; None where there is none.
    """
    from jupyter_server.serverapp import list_running_servers  # it takes a second to load

    for told in list_running_servers():
        there = Path(told["root_dir"])
        if there.exists() and there.samefile(root) and answers(told["port"]):
            return dict(told)
    return None


def answers(port: int) -> bool:
    """Whether something listens on this port."""
    with socket.socket() as asking:
        asking.settimeout(1)
        return asking.connect_ex(("127.0.0.1", port)) == 0


def has_browser() -> bool:
    """Whether there is a browser that can show JupyterLab; one in a terminal cannot."""
    shows = map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    try:
        return bool(webbrowser.get()) and (not sys.platform.startswith("linux") or any(shows))
    except webbrowser.Error:
        return False


def first_page(root: Path) -> str:
    """The page at which JupyterLab opens."""
    return f"/lab/tree/{FIRST_PAGE if (root / FIRST_PAGE).exists() else 'lessons'}"


def command(root: Path, port: int | None, browser: bool) -> list[str]:
    """The command that starts JupyterLab, on this port or on the first free one from 8888 on."""
    parts = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port or FIRST_PORT}",
        f"--ServerApp.port_retries={0 if port else 50}",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url={first_page(root)}",
        # the lessons ask nothing of the network
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        # else it asks npm for language servers, which takes a second and writes into the home
        "--LanguageServerManager.autodetect=False",
        "--ServerApp.answer_yes=True",  # Ctrl-C stops it at once
        # what it says where there is no error is its address
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
    ]
    if not browser:
        parts.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container
        parts.append("--allow-root")
    return parts


def quiet_kernels() -> None:
    """Have kernels tell errors alone: each would warn that messages here are not encrypted."""
    place = Path(os.environ["IPYTHONDIR"], "profile_default", "ipython_kernel_config.json")
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"IPKernelApp": {"log_level": logging.ERROR}}))


def revisit(root: Path, server: dict[str, Any], browser: bool) -> int:
    """Open the JupyterLab that runs already, and print its address.

    Args:
        root: The folder that holds `lessons`.
        server: What runs, as `find` gives it.
        browser: Whether it opens in the browser.

    Returns:
        The exit code.
    """
    # a page on this disk: it has the token, which others could read in a command line
    opener = Path(os.environ["JUPYTER_RUNTIME_DIR"], f"jpserver-{server['pid']}-open.html")
    if browser and opener.is_file():
        webbrowser.open(opener.as_uri())
    address = f"http://127.0.0.1:{server['port']}{first_page(root)}?token={server['token']}"
    say(f"JupyterLab is already running. Open this address in a browser:\n\n    {address}\n")
    say("To stop it: Ctrl-C where it was started, or File, Shut Down in JupyterLab.")
    return 0
