"""Hold the README to its word: its examples run, and its links lead somewhere."""

import doctest
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from _tools import pictures, places
from _tools.book import staging

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


@pytest.mark.parametrize("library", ["minigrad", "torch"])
def test_the_examples_print_what_they_show(library: str, tmp_path: Path) -> None:
    """The first of them is shown on PyTorch, and prints the same on minigrad."""
    pytest.importorskip(library)
    text = README.read_text(encoding="utf-8")
    assert text.count(">>> import torch ") == 1
    copy = tmp_path / "README.md"
    copy.write_text(text.replace("import torch ", f"import {library} as torch "), encoding="utf-8")
    results = doctest.testfile(str(copy), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0


def test_pytorch_gives_the_same_player() -> None:
    pytest.importorskip("torch")
    theirs, ours = pictures.played("torch"), pictures.played()
    assert theirs.html() == ours.html()


def test_the_links_lead_somewhere() -> None:
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    local = [link for link in links if not link.startswith("https://")]
    assert local
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_the_ways_in_take_as_long_as_their_lessons_say() -> None:
    text = README.read_text(encoding="utf-8")
    times = {places.number_of(path.name): staging.minutes(path) for path in places.learners()}
    first, evening, course = (
        int(re.search(pattern, text)[1])
        for pattern in (
            r"\*\*(\d+) minutes:\*\*",
            r"evening\*\* of (\d+) minutes",
            r"about (\d+) hours",
        )
    )
    assert first == times["00"]
    assert evening == times["01"] + times["06"] + times["07"] <= 120
    assert course == round(sum(times.values()) / 60)


def test_the_pictures_are_those_that_the_command_draws() -> None:
    drawn = pictures.pictures()
    stored = {name: (pictures.FOLDER / name).read_text(encoding="utf-8") for name in drawn}
    assert stored == drawn, "draw them again: python3 lessons/_tools pictures"
    text = README.read_text(encoding="utf-8")
    for name, svg in stored.items():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert len(svg) < 150_000
        assert f"lessons/reference/{name}" in text
    assert re.findall(r"<img(?![^>]* alt=\"[^\"]{20,}\")[^>]*>", text) == []
