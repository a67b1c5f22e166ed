"""A browser for each file of tests, and none of them where there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .chromium import Page, browser, executable


@pytest.fixture(autouse=True, scope="session")
def needs_chromium() -> None:
    """Leave these tests out where they cannot run."""
    if executable() is None:
        pytest.skip("Chromium is not installed")
    if not sys.platform.startswith("linux"):
        pytest.skip("tried on Linux only")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """Give an empty page."""
    with browser() as opened:
        yield opened
