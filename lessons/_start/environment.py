"""Have `.venv` as the locks describe it: made once, recognized at once, mended when stale."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import installers
from .console import Trouble, say

STAMP = "minigrad.json"
LOCKS = {
    "lessons": "lessons/requirements.txt",
    "book": "lessons/_tools/book/requirements.txt",
    "lite": "lessons/_tools/lite/requirements.txt",
    "tests": "tests/requirements.txt",
}
# Each lock includes that of the lessons, and that of the tests includes all.
# Kept from the programs inside: these would make them take packages or settings from elsewhere.
FOREIGN = (
    "PYTHONDONTWRITEBYTECODE",  # packages come uncompiled; without a cache each start would be slow
    "PYTHONHOME",
    "PYTHONPATH",
    "JUPYTER_PATH",
    "MPLBACKEND",
    "PIP_PREFIX",
    "PIP_TARGET",
    "PIP_USER",
)
# One thread for each product of matrices, unless the reader says otherwise: those of the lessons
# are small, and where another program has the other core, two threads took 32 s for 4.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


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


def read_stamp(environment: Environment) -> dict[str, object] | None:
    """What is noted about the environment; None where no note can be read."""
    try:
        stamp = json.loads((environment.venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None


def write_stamp(environment: Environment, ours: bool, installed: Mapping[str, str]) -> None:
    """Note who made the environment, where it is, and which lock it holds (none during work)."""
    stamp = {
        "made by minigrad": ours,
        "root": str(environment.root),
        "venv": str(environment.venv),
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "installed": dict(installed),
    }
    draft = environment.venv / (STAMP + ".new")
    draft.write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    draft.replace(environment.venv / STAMP)


def python_inside(environment: Environment) -> str | None:
    """Version ("3.12") of the environment's interpreter; None if it does not run."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.prefix != sys.base_prefix)"
    try:
        answer = subprocess.run(
            [environment.python, "-I", "-c", ask], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, _, is_virtual = answer.stdout.strip().partition(" ")
    return version if answer.returncode == 0 and is_virtual == "True" else None


def why_remake(environment: Environment, stamp: Mapping[str, object] | None) -> str | None:
    """Say why an environment that is there cannot be used as it is; None if it can."""
    if stamp is not None and stamp.get("made by minigrad") and not stamp.get("installed"):
        return "it was not finished"
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    inside = python_inside(environment)
    if inside is None:
        return "no Python runs in it"
    if inside != here:
        return f"it was made with Python {inside}, and this is {here}"
    if stamp is not None and (stamp.get("root"), stamp.get("venv")) != (
        str(environment.root),
        str(environment.venv),
    ):
        return "the project has moved since"
    return None


def is_current(environment: Environment, stamp: Mapping[str, object], kind: str) -> bool:
    """Whether the environment holds what `kind` needs, by its own lock or one that includes it."""
    installed = stamp.get("installed")
    if not isinstance(installed, dict):
        return False
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
    environment = locate(root or repository(), variables)
    venv = environment.venv
    try:
        is_there = venv.exists() and any(venv.iterdir())
        stamp = read_stamp(environment)
        ours = not is_there or (stamp or {}).get("made by minigrad") is True
        reason = why_remake(environment, stamp) if is_there else None
        if is_there and reason is None and stamp and is_current(environment, stamp, kind):
            say(f"Environment: {venv} is ready.")
            return environment
        if reason and not ours:
            raise Trouble(
                f"there is an environment in {venv} that this command did not make, and {reason}.",
                "Let MINIGRAD_VENV name another directory, or move this one away.",
            )
        fresh = not is_there or reason is not None
        _announce(venv, is_there, reason, stamp)
        venv.mkdir(parents=True, exist_ok=True)
        write_stamp(environment, ours, {})
        if fresh:
            _empty(venv)
        lock = environment.root / LOCKS[kind]
        installers.build(
            environment.python,
            environment.variables(variables),
            venv,
            lock,
            environment.root,
            fresh,
        )
        write_stamp(environment, ours, {kind: fingerprint(environment.root, kind)})
        # what editors read of functions; nothing else needs it, so no matter if it can't be written
        stubs = [str(environment.python), "-m", "minigrad.signatures", "stubs"]
        with contextlib.suppress(OSError):
            subprocess.run(stubs, cwd=environment.root, capture_output=True, check=False)
    except OSError as error:
        raise Trouble(
            f"{error.filename or venv}: {error.strerror or error}.",
            "The directory must be writable, with about 500 MB free, and no program may hold its "
            "files open. Or let MINIGRAD_VENV name another directory for the environment.",
        ) from None
    return environment


def _announce(
    venv: Path, is_there: bool, reason: str | None, stamp: Mapping[str, object] | None
) -> None:
    if reason:
        say(f"Environment: {venv} is made anew, because {reason}.")
    elif is_there and stamp:
        say(f"Environment: {venv} is brought up to date.")
    elif is_there:
        say(f"Environment: the packages go into {venv}, which is there already.")
    else:
        say(f"Environment: none yet. It goes into {venv}; the first time takes a minute or two.")


def _empty(venv: Path) -> None:
    """Remove everything but the note that says whose directory this is."""
    for entry in venv.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != STAMP:
            entry.unlink()
