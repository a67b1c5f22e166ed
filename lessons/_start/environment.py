"""Have `.venv` as the locks describe it: made by uv or by venv and pip, mended when stale."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .console import Trouble, run, say

Words = list[str | Path]
STAMP = "minigrad.json"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
LOCKS = {
    "lessons": "lessons/requirements.txt",
    "book": "lessons/_tools/book/requirements.txt",
    "lite": "lessons/_tools/lite/requirements.txt",
    "tests": "tests/requirements.txt",
}
# Each lock includes that of the lessons, and that of the tests includes all.
# Kept from the programs inside: these would make them take packages or settings from elsewhere,
# and each start slow, since packages come uncompiled and need a cache.
FOREIGN = (
    *("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "JUPYTER_PATH", "MPLBACKEND"),
    *("PIP_PREFIX", "PIP_TARGET", "PIP_USER"),
)
# One thread for each product of matrices, unless the reader says otherwise: those of the lessons
# are small, and where another program has the other core, two threads took 32 s for 4.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


# Every pin has a wheel, so nobody needs a compiler; and each is checked against its hash.
PINNED = ("--only-binary", ":all:", "--require-hashes", "-r")
EDITABLE = ("--no-deps", "--no-build-isolation", "-e")
ROOM = (
    "The environment needs about 500 MB, and no program (JupyterLab, an editor) may hold its files "
    "open. Or let MINIGRAD_VENV name another directory for it."
)
TROUBLES = (
    # what the installer printed, what happened, what to do
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|ConnectionError|ProxyError"
        r"|ConnectTimeout|Read timed out|Connection refused|dns error|name resolution|getaddrinfo"
        r"|Network is unreachable|[Ff]ailed to fetch|sending request"
        r"|DO NOT MATCH THE HASHES|[Hh]ash mismatch",
        "the package index cannot be reached, or something in between changes what it sends",
        "Try again, or from another network. Behind a proxy, set HTTPS_PROXY, and let PIP_CERT and "
        "SSL_CERT_FILE name its certificate. Once the environment is there, no network is needed.",
    ),
    (
        r"No space left on device|Errno 28|not enough space on the disk|Permission denied"
        r"|Read-only file system|Access is denied|Errno 13|Errno 30|WinError 5",
        "the environment cannot be written",
        ROOM,
    ),
    (
        r"ensurepip is not available|No module named (pip|ensurepip)",
        "this Python has no pip",
        "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: take Python from "
        "python.org, or install uv.",
    ),
    (
        r"No matching distribution|has no usable wheels|no wheels with a matching",
        "a package does not exist ready-made for this machine",
        "Use CPython (3.11 to 3.14) from python.org, 64 bit, or the conda route in README.md.",
    ),
)


@dataclass(frozen=True)
class Environment:
    """A repository and the directory of its virtual environment."""

    root: Path
    venv: Path

    @property
    def binaries(self) -> Path:
        """The directory of the environment's programs."""
        return self.venv / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.binaries / ("python.exe" if os.name == "nt" else "python")

    def variables(self, outside: Mapping[str, str]) -> dict[str, str]:
        """Environment variables under which its programs see this environment and no other."""
        inside = {key: value for key, value in outside.items() if key not in FOREIGN}
        own = self.venv / "var"
        inside.update(
            VIRTUAL_ENV=str(self.venv),
            PATH=os.pathsep.join([str(self.binaries), outside.get("PATH", os.defpath)]),
            PYTHONNOUSERSITE="1",
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            PIP_NO_INPUT="1",
            # kernels, settings and open tabs of other projects stay out
            JUPYTER_PREFER_ENV_PATH="1",
            JUPYTER_CONFIG_DIR=str(own / "jupyter" / "config"),
            JUPYTER_DATA_DIR=str(own / "jupyter" / "data"),
            JUPYTER_RUNTIME_DIR=str(own / "jupyter" / "runtime"),
            IPYTHONDIR=str(own / "ipython"),
            MPLCONFIGDIR=str(own / "matplotlib"),
        )
        return dict.fromkeys(THREADS, "1") | inside


def locate(root: Path, variables: Mapping[str, str]) -> Environment:
    """Say where the environment is: `.venv` in the repository, or what MINIGRAD_VENV names."""
    named = variables.get("MINIGRAD_VENV")
    return Environment(root, Path(named).expanduser().absolute() if named else root / ".venv")


def repository() -> Path:
    """The directory that holds `lessons/`, `minigrad/` and `tests/`."""
    return Path(__file__).resolve().parents[2]


def fingerprint(root: Path, kind: str) -> str:
    """Hash of what decides the contents of an environment: its lock and pyproject.toml."""
    digest = hashlib.sha256()
    for name in (LOCKS[kind], "pyproject.toml"):
        digest.update((root / name).read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def read_stamp(environment: Environment) -> dict[str, Any]:
    """What is noted about the environment; nothing where no note can be read."""
    try:
        stamp = json.loads((environment.venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(environment: Environment, ours: bool, installed: Mapping[str, str]) -> None:
    """Note who made the environment, where it is, and which lock it holds (none during work)."""
    stamp = {
        "made by minigrad": ours,
        "made for": made_for(environment),
        "installed": dict(installed),
    }
    (environment.venv / STAMP).write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")


def made_for(environment: Environment) -> list[str]:
    """What an environment is bound to: its place, that of the project, and this Python."""
    return [str(environment.venv), str(environment.root), HERE]


def is_current(environment: Environment, stamp: Mapping[str, Any], kind: str) -> bool:
    """Whether the environment holds what `kind` needs, by its own lock or one that includes it."""
    installed = stamp.get("installed", {})
    enough = LOCKS if kind == "lessons" else (kind, "tests")
    return any(installed.get(name) == fingerprint(environment.root, name) for name in enough)


def ensure(
    kind: str, root: Path | None = None, variables: Mapping[str, str] = os.environ
) -> Environment:
    """Make the environment, or bring it up to date, unless it is right already.

    Args:
        kind: "lessons", "book", "lite" or "tests".
        root: The repository; by default the one that this file is in.
        variables: The environment variables to work under.

    Returns:
        The environment, ready.

    Raises:
        Trouble: If it cannot be had, with advice.
    """
    home = locate(root or repository(), variables)
    venv = home.venv
    try:
        there = venv.exists() and any(venv.iterdir())
        stamp = read_stamp(home)
        ours = not there or stamp.get("made by minigrad") is True
        fits = home.python.exists() and stamp.get("made for", made_for(home)) == made_for(home)
        if fits and is_current(home, stamp, kind):
            say(f"Environment: {venv} is ready.")
            return home
        if not (ours or fits):
            raise Trouble(
                f"there is an environment in {venv} that this command did not make, and it does "
                f"not run Python {HERE} for this project.",
                "Let MINIGRAD_VENV name another directory, or move this one away.",
            )
        fresh = ours and not (fits and stamp["installed"])  # else a run was interrupted
        takes = "this takes a minute or two" if fresh else "what is there is brought up to date"
        say(f"Environment: it goes into {venv}; {takes}.")
        venv.mkdir(parents=True, exist_ok=True)
        write_stamp(home, ours, {})
        if fresh:
            _empty(venv)
        install(home, home.variables(variables), home.root / LOCKS[kind], fresh)
        write_stamp(home, ours, {kind: fingerprint(home.root, kind)})
        # what editors read of functions; nothing else needs it, so no matter if it can't be written
        stubs = [str(home.python), "-m", "minigrad.signatures", "stubs"]
        with contextlib.suppress(OSError):
            subprocess.run(stubs, cwd=home.root, capture_output=True, check=False)
    except OSError as error:
        raise Trouble(f"{error.filename or venv}: {error.strerror or error}.", ROOM) from None
    return home


def _empty(venv: Path) -> None:
    """Remove everything but the note that says whose directory this is."""
    for entry in venv.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != STAMP:
            entry.unlink()


def install(home: Environment, env: Mapping[str, str], lock: Path, fresh: bool) -> None:
    """Bring the environment to what a lock says: with uv, or with venv and pip.

    Args:
        home: The environment.
        env: The environment variables to work under.
        lock: The file of pinned, hashed requirements.
        fresh: Whether the environment has yet to be made.
    """
    # the Python outside any virtual environment, so that none stands on another
    base = getattr(sys, "_base_executable", None) or sys.executable
    # Python files are compiled when they are first imported: most never are.
    pip: Words = [home.python, "-m", "pip", "install", "--no-compile", "--no-warn-script-location"]
    ways: list[tuple[Words, Words]] = [([base, "-m", "venv"], pip)]
    if uv := shutil.which("uv"):  # pip may know an index or a proxy that uv doesn't
        make = [uv, "venv", "--no-project", "--allow-existing", "--python", base]
        ways.insert(0, (make, [uv, "pip", "install", "--python", home.python]))
    for make, into in ways:
        tasks: dict[str, Words] = {
            "Installing packages": [*into, *PINNED, lock],
            "Installing minigrad itself": [*into, *EDITABLE, home.root],
        }
        if fresh:
            tasks = {"Making the environment": [*make, home.venv], **tasks}
        for task, command in tasks.items():
            say(f"{task} ...")
            code, lines = run(command, env)
            if code:
                break
        else:
            return
        trouble = explain(lines, task)
        if into is not pip:
            say(f"uv could not do it ({trouble.happened.rstrip('.')}); trying pip.")
    raise trouble


def explain(lines: Sequence[str], task: str) -> Trouble:
    """Turn what an installer printed into what happened and what to do."""
    text = "\n".join(lines)
    said = [line.strip()[:200] for line in lines if line.strip() and "Retrying" not in line][-4:]
    for pattern, happened, advice in TROUBLES:
        if re.search(pattern, text):
            return Trouble(f"{task}: {happened}.", advice, said)
    again = "If it fails in the same way, delete the directory .venv and try once more."
    return Trouble(f"{task} failed.", f"Run the same command again. {again}", said)
