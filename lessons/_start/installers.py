"""Make a virtual environment and fill it from a lock: by uv if there is one, or by venv and pip."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .console import Trouble, run_with_progress, say

WHEELS_ONLY = ("--only-binary", ":all:")  # every pin has a wheel: nobody needs a compiler
TROUBLES = (
    # what the installer printed, what happened, what to do
    (
        r"DO NOT MATCH THE HASHES|[Hh]ash mismatch",
        "a downloaded package is not the one that the lock names",
        "Something between you and the package index changes files (a proxy, a broken download). "
        "Try again, or from another network.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate",
        "the package index could not prove who it is",
        "Behind a proxy that opens encrypted traffic, let PIP_CERT and SSL_CERT_FILE name its "
        "certificate.",
    ),
    (
        r"No space left on device|Errno 28|not enough space on the disk",
        "the disk is full",
        "The environment needs about 500 MB. Make room, or let MINIGRAD_VENV name a directory on "
        "another disk.",
    ),
    (
        r"ConnectionError|ConnectTimeout|ProxyError|Read timed out|Connection refused|dns error"
        r"|name resolution|getaddrinfo|Network is unreachable|[Ff]ailed to fetch|sending request",
        "the package index cannot be reached",
        "Connect to the internet and try again (behind a proxy, set HTTPS_PROXY). Once the "
        "environment is there, no network is needed.",
    ),
    (
        r"Permission denied|Read-only file system|Access is denied|Errno 13|Errno 30|WinError 5",
        "the environment cannot be written",
        "Close the programs that use it (JupyterLab, an editor), or let MINIGRAD_VENV name a "
        "directory of yours.",
    ),
    (
        r"No matching distribution|has no usable wheels|no wheels with a matching",
        "a package does not exist ready-made for this machine",
        "Use CPython (3.11 to 3.14) from python.org, 64 bit, or the conda route in README.md.",
    ),
)


def base_python() -> str:
    """Path of the Python outside any virtual environment, so that none stands on another."""
    return getattr(sys, "_base_executable", None) or sys.executable


def find_uv() -> str | None:
    """Path of uv, if it is installed."""
    return shutil.which("uv")


def explain(lines: list[str], task: str) -> Trouble:
    """Turn what an installer printed into what happened and what to do."""
    text = "\n".join(lines)
    said = [line.strip()[:200] for line in lines if line.strip() and "Retrying" not in line][-4:]
    for pattern, happened, advice in TROUBLES:
        if re.search(pattern, text):
            return Trouble(f"{task}: {happened}.", advice, said)
    return Trouble(
        f"{task} failed.",
        "Run the same command again. If it fails in the same way, delete the directory .venv and "
        "try once more.",
        said,
    )


def count_pins(lock: Path) -> int:
    """Number of packages that a lock names."""
    return sum(
        1 for line in lock.read_text(encoding="utf-8").splitlines() if re.match(r"[a-z0-9]", line)
    )


class Pip:
    """venv and pip, which come with Python (or, on Debian, in packages of their own)."""

    def __init__(self, python: Path, env: Mapping[str, str]) -> None:
        """Work on the environment whose interpreter is `python`."""
        self.python, self.env = python, env

    def create(self, venv: Path) -> None:
        """Make the environment; without ensurepip, leave pip out of it and use the one outside."""
        command = [base_python(), "-m", "venv", str(venv)]
        if importlib.util.find_spec("ensurepip") is None:
            self._outer_pip()
            command.append("--without-pip")
        code, lines = run_with_progress(
            command, "Making the environment", self.env, lambda _: "working"
        )
        if code:
            raise explain(lines, "Making the environment")

    def install(self, lock: Path) -> None:
        """Install every package of a lock, each checked against its hash."""
        pins = count_pins(lock)

        def describe(lines: list[str]) -> str:
            if any(line.startswith("Installing collected") for line in lines):
                return "all here, unpacking them"
            ready = sum(line.startswith(("Collecting", "Requirement already")) for line in lines)
            here = pins - sum(line.startswith("Ignoring") for line in lines)
            return f"{ready} of {here} packages"

        # Python files are compiled when they are first imported: most never are.
        options = ["--no-compile", "--no-warn-script-location", "--progress-bar", "off"]
        command = [
            *self.command(),
            "install",
            *WHEELS_ONLY,
            "--require-hashes",
            *options,
            "-r",
            str(lock),
        ]
        code, lines = run_with_progress(command, "Installing packages with pip", self.env, describe)
        if code:
            raise explain(lines, "Installing packages")

    def install_project(self, root: Path) -> None:
        """Install minigrad itself, editable, with nothing fetched."""
        command = [*self.command(), "install", "--no-deps", "--no-build-isolation", "-e", str(root)]
        code, lines = run_with_progress(
            command, "Installing minigrad itself", self.env, lambda _: "working"
        )
        if code:
            raise explain(lines, "Installing minigrad")

    def command(self) -> list[str]:
        """Give the command that runs a pip for the environment."""
        inside = [str(self.python), "-m", "pip"]
        if (
            subprocess.run(
                [*inside, "--version"], capture_output=True, env=dict(self.env)
            ).returncode
            == 0
        ):
            return inside
        return [*self._outer_pip(), "--python", str(self.python)]

    def _outer_pip(self) -> list[str]:
        outside = [base_python(), "-m", "pip"]
        if subprocess.run(
            [*outside, "--version"], capture_output=True, env=dict(self.env)
        ).returncode:
            raise Trouble(
                "this Python has neither ensurepip nor pip, so packages cannot be installed.",
                "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: take Python from "
                "python.org, or install uv.",
            )
        return outside


class Uv:
    """uv, a faster installer, for those who have it."""

    def __init__(self, uv: str, python: Path, env: Mapping[str, str]) -> None:
        """Work with the program `uv` on the environment whose interpreter is `python`."""
        self.uv, self.python, self.env = uv, python, env

    def create(self, venv: Path) -> None:
        """Make the environment."""
        command = [
            self.uv,
            "venv",
            "--no-project",
            "--allow-existing",
            "--python",
            base_python(),
            str(venv),
        ]
        self._run(command, "Making the environment with uv")

    def install(self, lock: Path) -> None:
        """Install every package of a lock, each checked against its hash."""
        options = ["--python", str(self.python), *WHEELS_ONLY, "--require-hashes", "-r", str(lock)]
        self._run([self.uv, "pip", "install", *options], "Installing packages with uv")

    def install_project(self, root: Path) -> None:
        """Install minigrad itself, editable, with nothing fetched."""
        options = [
            "--python",
            str(self.python),
            "--no-deps",
            "--no-build-isolation",
            "-e",
            str(root),
        ]
        self._run([self.uv, "pip", "install", *options], "Installing minigrad itself")

    def _run(self, command: list[str], title: str) -> None:
        code, lines = run_with_progress(command, title, self.env, lambda _: "working")
        if code:
            raise explain(lines, title)


def build(
    python: Path, env: Mapping[str, str], venv: Path, lock: Path, root: Path, fresh: bool
) -> None:
    """Bring the environment to what the lock says.

    Args:
        python: The interpreter of the environment.
        env: The environment variables to work under.
        venv: The directory of the environment.
        lock: The file of pinned, hashed requirements.
        root: The repository, installed editable.
        fresh: Whether the environment has yet to be made.
    """
    uv = find_uv()
    if uv:
        try:
            _fill(Uv(uv, python, env), venv, lock, root, fresh)
            return
        except (
            Trouble
        ) as trouble:  # pip may know an index, a proxy or a certificate that uv does not
            say(f"uv could not do it ({trouble.happened.rstrip('.')}); trying pip.")
    _fill(Pip(python, env), venv, lock, root, fresh)


def _fill(installer: Pip | Uv, venv: Path, lock: Path, root: Path, fresh: bool) -> None:
    if fresh:
        installer.create(venv)
    installer.install(lock)
    installer.install_project(root)
