"""Have the published notebooks signed, so that JupyterLab runs the scripts in their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
from jupyter_core.paths import jupyter_data_dir
from nbformat.sign import NotebookNotary

Pairs = Sequence[tuple[Path, Path]]


def notary() -> NotebookNotary:
    """Give what signs for the JupyterLab of these lessons."""
    data = Path(jupyter_data_dir())
    data.mkdir(parents=True, exist_ok=True)
    made = NotebookNotary(data_dir=str(data))
    _ = made.secret  # made here: two programs could want to make it at once
    return made


def sign(lessons: Path, again: Pairs = ()) -> None:
    """Sign the published lessons and solutions, whose stored outputs come from us.

    Args:
        lessons: Their folder.
        again: Copies that were rewritten: as they were, and as they are. The new one is signed if
            the old one was, because then its outputs come from this machine.
    """
    signs = notary()
    for path in [*lessons.glob("*.ipynb"), *lessons.glob("solutions/*.ipynb")]:
        with suppress(OSError, ValueError):  # one that cannot be read is reported elsewhere
            signs.sign(nbformat.read(path, as_version=4))
    for old, new in again:
        if signs.check_signature(nbformat.read(old, as_version=4)):
            signs.sign(nbformat.read(new, as_version=4))
