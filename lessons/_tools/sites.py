"""Replace an older site by a newly built one, and never anything else."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def build(folder: Path, mark: str, kind: str, make: Callable[[Path, Path], int]) -> int:
    """Build a site, and move it into its folder when it is complete.

    Args:
        folder: where it goes; an old site there is deleted.
        mark: a file that every such site has.
        kind: what it is called, such as "book".
        make: builds it, with an empty folder for sources and a new one, and returns an exit code.

    Returns:
        An exit code.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        print(f"{folder} isn't empty, and isn't a {kind}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as place:  # a build also leaves folders next to it
        staged, built = Path(place) / "sources", Path(place) / "site"
        staged.mkdir()
        code = make(staged, built)
        if code == 0:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.move(built, folder)
            print(f"written: {folder / 'index.html'}")
    return code
