"""Build the book once for all tests that look at it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from _tools import places

LESSONS = [places.number_of(path.stem) for path in places.learners()]
ROOT = Path(__file__).resolve().parents[2]


# The lessons that tests open in a browser or look into: a usual run builds the book of these.
SOME = ("03", "06", "13")


@pytest.fixture(scope="session")
def chosen(pytestconfig):
    """Give the numbers of the lessons in the book: a page takes a second or two, `--all` all."""
    return LESSONS if pytestconfig.option.all else SOME


@pytest.fixture(scope="session")
def book(tmp_path_factory, chosen):
    """Give the folder of the book, built by the authors' command."""
    needed = "sphinx myst_nb sphinx_book_theme sphinx_copybutton sphinx-mathjax-offline"
    for name in needed.split():
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("site") / "book"
    command = [sys.executable, str(ROOT / "lessons" / "_tools"), "book", str(folder)]
    if chosen == SOME:  # else all of the package, too
        command += chosen
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, encoding="utf-8")
    # a warning is an error: see lessons/_tools/book
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return folder
