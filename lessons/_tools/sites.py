"""Let a site that has been built take the place of an older one, and of nothing else."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def build(folder: Path, mark: str, kind: str, make: Callable[[Path, Path], int]) -> int:
    """Build a site, and put it where it belongs when it is complete.

    Args:
        folder: where that is; a site that is there goes.
        mark: a file that each such site has.
        kind: what it is called, such as "book".
        make: builds it, of sources in an empty folder, in a new one, and gives an exit code.

    Returns:
        An exit code.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        print(f"{folder} is not empty, and no {kind}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as place:  # what builds leaves folders beside it, too
        staged, built = Path(place) / "sources", Path(place) / "site"
        staged.mkdir()
        code = make(staged, built)
        if code == 0:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.move(built, folder)
            print(f"written: {folder / 'index.html'}")
    return code
