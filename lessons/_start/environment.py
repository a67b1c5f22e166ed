"""Have `.venv` as the locks describe it: made by uv or by venv and pip, mended when stale."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .console import Trouble, run, say

Words = list[str | Path]
STAMP = "minigrad.json"
REPOSITORY = Path(__file__).resolve().parents[2]  # holds lessons/, minigrad/ and tests/
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
        r"SSL|certificate|Connection|ProxyError|timed out|dns error|name resolution|getaddrinfo"
        r"|Network is unreachable|[Ff]ailed to fetch|sending request|MATCH THE HASHES|ash mismatch",
        "the package index can't be reached, or something in between changes its packages",
        "Try again, or from another network. Behind a proxy, set HTTPS_PROXY, and let PIP_CERT and "
        "SSL_CERT_FILE name its certificate. Once the environment is there, no network is needed.",
    ),
    (
        r"No space left on device|Errno 28|not enough space on the disk|Permission denied"
        r"|Read-only file system|Access is denied|Errno 13|Errno 30|WinError 5",
        "the environment can't be written",
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
        "there is no ready-made package for this machine",
        "Use CPython (3.11 to 3.14) from python.org, 64 bit, or the conda route in README.md.",
    ),
    (
        "",
        "it failed",
        "Run the same command again. If that fails too, delete the directory .venv and try again.",
    ),
)


def settings(own: Path, outside: Mapping[str, str]) -> dict[str, str]:
    """Environment variables under which Jupyter keeps to a folder of its own.

    Args:
        own: The folder: kernels, settings and open tabs of other projects stay out of it.
        outside: The reader's own.
    """
    return {name: outside.get(name, "1") for name in THREADS} | {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_CONFIG_DIR": str(own / "jupyter" / "config"),
        "JUPYTER_DATA_DIR": str(own / "jupyter" / "data"),
        "JUPYTER_RUNTIME_DIR": str(own / "jupyter" / "runtime"),
        "IPYTHONDIR": str(own / "ipython"),
        "MPLCONFIGDIR": str(own / "matplotlib"),
    }


@dataclass(frozen=True)
class Environment:
    """A repository and the directory of its virtual environment."""

    root: Path
    venv: Path

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def variables(self, outside: Mapping[str, str]) -> dict[str, str]:
        """Environment variables under which its programs see this environment and no other."""
        inside = {key: value for key, value in outside.items() if key not in FOREIGN}
        return inside | {
            "VIRTUAL_ENV": str(self.venv),
            "PATH": os.pathsep.join([str(self.python.parent), outside.get("PATH", os.defpath)]),
            "PYTHONNOUSERSITE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            **settings(self.venv / "var", outside),
        }


def fingerprint(root: Path, kind: str) -> str:
    """Hash of what decides the contents of an environment: its lock and pyproject.toml."""
    files = (root / LOCKS[kind], root / "pyproject.toml")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def read_stamp(venv: Path) -> dict[str, Any]:
    """What is noted about the environment; nothing where no note can be read."""
    try:
        return dict(json.loads((venv / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def is_current(root: Path, installed: Mapping[str, str], kind: str) -> bool:
    """Whether an environment holds what `kind` needs, by its own lock or one that includes it.

    Args:
        root: The repository.
        installed: The fingerprint of what was installed last, under its kind.
        kind: A key of `LOCKS`.
    """
    enough = LOCKS if kind == "lessons" else (kind, "tests")
    return any(installed.get(name) == fingerprint(root, name) for name in enough)


def ensure(
    kind: str, root: Path = REPOSITORY, variables: Mapping[str, str] = os.environ
) -> Environment:
    """Make the environment, or bring it up to date, unless it is right already.

    Args:
        kind: "lessons", "book", "lite" or "tests".
        root: The repository; by default the one that this file is in.
        variables: The environment variables to work under; the environment is `.venv` in the
            repository, or what MINIGRAD_VENV names.

    Returns:
        The environment, ready.

    Raises:
        Trouble: If it cannot be had, with advice.
    """
    venv = Path(variables.get("MINIGRAD_VENV") or root / ".venv").expanduser().absolute()
    home, bound_to = Environment(root, venv), [str(venv), str(root), HERE]
    try:
        stamp = read_stamp(venv)
        ours = stamp.get("made by minigrad") or not (venv.exists() and any(venv.iterdir()))
        fits = home.python.exists() and stamp.get("made for", bound_to) == bound_to
        if fits and is_current(home.root, stamp.get("installed", {}), kind):
            say(f"Environment: {venv} is ready.")
            return home
        if not (ours or fits):
            raise Trouble(
                f"there is an environment in {venv} that this command did not make, and it does "
                f"not run Python {HERE} for this project.",
                "Let MINIGRAD_VENV name another directory, or move this one away.",
            )
        fresh = ours and not (fits and stamp["installed"])  # else a run was interrupted
        takes = "this takes a minute or two" if fresh else "it is updated"
        say(f"Environment: it goes into {venv}; {takes}.")

        def note(**installed: str) -> None:
            noted = {"made by minigrad": ours, "made for": bound_to, "installed": installed}
            (venv / STAMP).write_text(json.dumps(noted, indent=2) + "\n", encoding="utf-8")

        venv.mkdir(parents=True, exist_ok=True)
        note()  # nothing is installed while this is at work
        for entry in venv.iterdir() if fresh else ():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != STAMP:
                entry.unlink()
        install(home, home.variables(variables), home.root / LOCKS[kind], fresh)
        note(**{kind: fingerprint(home.root, kind)})
    except OSError as error:
        raise Trouble(f"{error.filename or venv}: {error.strerror or error}.", ROOM) from None
    return home


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
            "Making the environment": [*make, home.venv],
            "Installing packages": [*into, *PINNED, lock],
            "Installing minigrad itself": [*into, *EDITABLE, home.root],
        }
        for task, command in list(tasks.items())[not fresh :]:
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
    happened, advice = next(told for pattern, *told in TROUBLES if re.search(pattern, text))
    return Trouble(f"{task}: {happened}.", advice, said)
