"""Hold the README to its word: its examples run, and its links lead somewhere."""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_examples_print_what_they_show() -> None:
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted > 10
    assert results.failed == 0


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith("https://")]
    assert local
    assert [link for link in local if not (ROOT / link).exists()] == []
