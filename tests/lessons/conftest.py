"""Make the demo lesson, released once for all tests."""

import shutil
from pathlib import Path

import pytest

from _tools import release

DEMO = Path(__file__).parent / "solutions" / "demo_chain.ipynb"


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> tuple[Path, Path]:
    """The demo lesson, released: solution and learner's notebook."""
    path = tmp_path_factory.mktemp("demo") / "lessons" / "solutions" / DEMO.name
    path.parent.mkdir(parents=True)
    return release.release(Path(shutil.copy(DEMO, path)))
