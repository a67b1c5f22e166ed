"""Have `.venv` as the locks describe it: made by uv or by venv and pip, mended when stale."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .console import Trouble, run, say

STAMP = "minigrad.json"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
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


# Every pin has a wheel, so nobody needs a compiler; and each is checked against its hash.
PINNED = ("--only-binary", ":all:", "--require-hashes", "-r")
EDITABLE = ("--no-deps", "--no-build-isolation", "-e")
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
        "python": HERE,
        "installed": dict(installed),
    }
    draft = environment.venv / (STAMP + ".new")
    draft.write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    draft.replace(environment.venv / STAMP)


def why_remake(environment: Environment, stamp: Mapping[str, object] | None) -> str | None:
    """Say why an environment that is there cannot be used as it is; None if it can."""
    if not environment.python.exists():
        return "no Python runs in it"
    if stamp is None:  # made by somebody else
        return None
    if stamp.get("made by minigrad") and not stamp.get("installed"):
        return "it was not finished"
    if stamp.get("python") != HERE:
        return f"it was made with Python {stamp.get('python')}, and this is {HERE}"
    if (stamp.get("root"), stamp.get("venv")) != (str(environment.root), str(environment.venv)):
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
        install(environment, environment.variables(variables), lock, fresh)
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


def base_python() -> str:
    """Path of the Python outside any virtual environment, so that none stands on another."""
    return getattr(sys, "_base_executable", None) or sys.executable


def install(home: Environment, env: Mapping[str, str], lock: Path, fresh: bool) -> None:
    """Bring the environment to what a lock says: with uv, or with venv and pip.

    Args:
        home: The environment.
        env: The environment variables to work under.
        lock: The file of pinned, hashed requirements.
        fresh: Whether the environment has yet to be made.
    """
    if uv := shutil.which("uv"):
        make = [uv, "venv", "--no-project", "--allow-existing", "--python", base_python()]
        try:
            _fill(
                [*make, home.venv] * fresh, [uv, "pip"], ["--python", home.python], home, env, lock
            )
            return
        except (
            Trouble
        ) as trouble:  # pip may know an index, a proxy or a certificate that uv doesn't
            say(f"uv could not do it ({trouble.happened.rstrip('.')}); trying pip.")
    make = [base_python(), "-m", "venv", home.venv]
    pip: list[str | Path] = [home.python, "-m", "pip"]
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it in a package of its own
        make.insert(3, "--without-pip")
        pip = [base_python(), "-m", "pip", "--python", home.python]
        if subprocess.run([*pip[:3], "--version"], capture_output=True, env=dict(env)).returncode:
            raise Trouble(
                "this Python has neither ensurepip nor pip, so packages cannot be installed.",
                "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: take Python from "
                "python.org, or install uv.",
            )
    # Python files are compiled when they are first imported: most never are.
    _fill(make * fresh, pip, ["--no-compile", "--no-warn-script-location"], home, env, lock)


def _fill(
    make: Sequence[str | Path],
    installer: Sequence[str | Path],
    options: Sequence[str | Path],
    home: Environment,
    env: Mapping[str, str],
    lock: Path,
) -> None:
    """Make an environment unless it is there, and install a lock and minigrad itself."""
    into = [*installer, "install", *options]
    for task, command in (
        ("Making the environment", make),
        ("Installing packages", [*into, *PINNED, lock]),
        ("Installing minigrad itself", [*into, *EDITABLE, home.root]),
    ):
        if command:
            say(f"{task} ...")
            code, lines = run(command, env)
            if code:
                raise explain(lines, task)


def explain(lines: Sequence[str], task: str) -> Trouble:
    """Turn what an installer printed into what happened and what to do."""
    text = "\n".join(lines)
    said = [line.strip()[:200] for line in lines if line.strip() and "Retrying" not in line][-4:]
    for pattern, happened, advice in TROUBLES:
        if re.search(pattern, text):
            return Trouble(f"{task}: {happened}.", advice, said)
    again = "If it fails in the same way, delete the directory .venv and try once more."
    return Trouble(f"{task} failed.", f"Run the same command again. {again}", said)
