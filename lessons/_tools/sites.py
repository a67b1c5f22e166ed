"""Let a site that has been built take the place of an older one, and of nothing else."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def in_use(folder: Path, mark: str, kind: str) -> bool:
    """Tell whether a folder holds something else than such a site, and say so.

    Args:
        folder: where the site is to go.
        mark: a file that each such site has.
        kind: what it is called, such as "book".
    """
    other = folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file()
    if other:
        print(f"{folder} is not empty, and no {kind}.", file=sys.stderr)
    return other


def replace(folder: Path, built: Path) -> None:
    """Put a site where it belongs.

    Args:
        folder: where that is; what is there goes.
        built: the site, complete.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(built, folder)
    print(f"written: {folder / 'index.html'}")
