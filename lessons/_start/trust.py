"""Have the published notebooks signed, so that JupyterLab runs the small scripts in their outputs.

Signing takes seconds, so it is done for those that are new, and while JupyterLab runs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .console import say
from .environment import Environment

PROGRAM = Path(__file__).with_name("signing.py")
RECORD = "var/signed.json"  # in the environment: what is signed
SECRET, SIGNATURES = "notebook_secret", "nbsignatures.db"


def published(root: Path) -> list[Path]:
    """List the notebooks whose stored outputs come from us: lessons and solutions.

    Args:
        root: The repository.
    """
    lessons = root / "lessons"
    return sorted(lessons.glob("*.ipynb")) + sorted((lessons / "solutions").glob("*.ipynb"))


def unsigned(home: Environment) -> dict[Path, str]:
    """Find the notebooks that changed since the last signing, each with the hash of its file.

    Args:
        home: The repository and its environment.
    """
    known = _known(home)
    found = {}
    for path in published(home.root):
        with suppress(OSError):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest not in known:
                found[path] = digest
    return found


def keep_secret(home: Environment) -> None:
    """Make the key of the signatures before two programs want to make it at the same time.

    Args:
        home: The repository and its environment.
    """
    place = _data(home) / SECRET
    with suppress(OSError):  # there is one, or Jupyter will say why there can be none
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(written, "wb") as file:
            file.write(base64.encodebytes(secrets.token_bytes(1024)))


def sign(home: Environment, again: Sequence[tuple[Path, Path]] = ()) -> int:
    """Sign what is new.

    Args:
        home: The repository and its environment.
        again: Copies that were rewritten: as they were, and as they are. The new one is signed if
            the old one was.

    Returns:
        How many published notebooks were signed.
    """
    wanted = unsigned(home)
    if not wanted and not again:
        return 0
    keep_secret(home)
    order = {
        "sign": [str(path) for path in wanted],
        "again": [[str(old), str(new)] for old, new in again],
    }
    done = subprocess.run(
        [str(home.python), "-P", str(PROGRAM)],
        input=json.dumps(order),
        env=home.variables(os.environ),
        cwd=home.root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C is meant for JupyterLab; this ends by itself
    )
    if done.returncode:
        say(
            "The notebooks could not be signed as trusted; JupyterLab will ask. "
            + done.stderr.strip()[-300:]
        )
        return 0
    _record(home, {*_known(home), *wanted.values()})
    return len(wanted)


def sign_meanwhile(home: Environment, again: Sequence[tuple[Path, Path]] = ()) -> threading.Thread:
    """Sign what is new, in the background.

    Args:
        home: The repository and its environment.
        again: As for `sign`.

    Returns:
        The thread that does it.
    """
    thread = threading.Thread(target=sign, args=(home, again), daemon=True)
    thread.start()
    return thread


def _data(home: Environment) -> Path:
    return Path(home.variables(os.environ)["JUPYTER_DATA_DIR"])


def _known(home: Environment) -> set[str]:
    """Read the hashes of what is signed; none where the signatures themselves are gone."""
    if not all((_data(home) / name).exists() for name in (SECRET, SIGNATURES)):
        return set()
    try:
        found = json.loads((home.venv / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()


def _record(home: Environment, digests: set[str]) -> None:
    """Note what is signed; without the note, all are signed again the next time."""
    current = {
        hashlib.sha256(path.read_bytes()).hexdigest() for path in published(home.root)
    } & digests
    with suppress(OSError):
        place = home.venv / RECORD
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        draft.write_text(json.dumps(sorted(current), indent=1) + "\n", encoding="utf-8")
        draft.replace(place)
