"""Make the demo lesson, released once for all tests."""

from pathlib import Path

import pytest

from _tools import canonical, drafts, release


@pytest.fixture(scope="session")
def demo_draft() -> str:
    return (Path(__file__).parent / "demo_lesson.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def demo(tmp_path_factory, demo_draft) -> tuple[Path, Path]:
    """The demo lesson, imported from its draft and released: solution and learner's notebook."""
    path = tmp_path_factory.mktemp("demo") / "lessons" / "solutions" / "demo_chain.ipynb"
    canonical.write(drafts.notebook_from(demo_draft), path)
    return release.release(path)
