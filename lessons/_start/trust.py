"""Have the published notebooks signed, so that JupyterLab runs the scripts in their outputs."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from .environment import Environment

Pairs = Sequence[tuple[Path, Path]]


def notary(home: Environment) -> NotebookNotary:
    """Give what signs for the JupyterLab of these lessons.

    Args:
        home: The lessons and what runs them.
    """
    data = Path(home.variables(os.environ)["JUPYTER_DATA_DIR"])
    data.mkdir(parents=True, exist_ok=True)
    made = NotebookNotary(data_dir=str(data))
    _ = made.secret
    return made


def sign(notary: NotebookNotary, home: Environment, again: Pairs = ()) -> None:
    """Sign what is new: the published lessons and solutions, whose stored outputs come from us.

    Args:
        notary: What signs.
        home: The lessons.
        again: Copies that were rewritten: as they were, and as they are. The new one is signed if
            the old one was, because then its outputs come from this machine.
    """
    lessons = home.root / "lessons"
    for path in [*lessons.glob("*.ipynb"), *lessons.glob("solutions/*.ipynb")]:
        with suppress(OSError, ValueError):  # one that cannot be read is told elsewhere
            found = nbformat.read(path, as_version=4)
            if not notary.check_signature(found):
                notary.sign(found)
    for old, new in again:
        if notary.check_signature(nbformat.read(old, as_version=4)):
            notary.sign(nbformat.read(new, as_version=4))


def sign_meanwhile(home: Environment, again: Pairs = ()) -> threading.Thread:
    """Sign what is new, in the background: it takes seconds.

    Args:
        home: The lessons.
        again: As for `sign`.
    """
    work = threading.Thread(target=lambda: sign(notary(home), home, again), daemon=True)
    work.start()
    return work
