"""All that we draw and write as pages can be used by keyboard, and axe-core finds nothing wrong.

The book is looked at in tests/book/test_book.py, where it is built, and JupyterLab in
test_player_in_a_browser.py, where it is started.
"""

from __future__ import annotations

from pathlib import Path

from _tools.grading import reports
from _tools.grading.running import Grade, Result
from _tools.grading.submissions import Submission

from .axe import COLORS, violations
from .chromium import Page
from .test_what_is_seen import on_a_page, pair, player, put, wide


def in_both_themes(page: Page) -> list[str]:
    """Look at a page whose colors are the system's."""
    page.prefer(prefers_color_scheme="light")
    found = violations(page)
    page.prefer(prefers_color_scheme="dark")
    found += violations(page, rules=COLORS)
    page.prefer()
    return found


def test_axe_finds_what_is_wrong(page: Page, tmp_path: Path) -> None:
    wrong = (
        '<img src="data:,"><h1>A</h1><h3>B</h3><p style="color:#aaa;background:#fff">pale words</p>'
    )
    put(page, tmp_path / "wrong.html", wrong, look="data-x")
    found = {line.partition(":")[0] for line in violations(page)}
    assert found >= {"image-alt", "heading-order", "color-contrast", "document-title"}


def test_the_player_on_a_page_of_its_own(page: Page, tmp_path: Path) -> None:
    page.open(on_a_page(player(), tmp_path).as_uri())
    page.wait("document.querySelector('.minigrad-player button')")
    assert in_both_themes(page) == []
    page.ask("document.querySelector('summary').click()")
    assert violations(page, "document.querySelector('details')") == []


def test_pictures(page: Page, tmp_path: Path) -> None:
    put(page, tmp_path / "pictures.html", pair().html() + wide().html())
    assert violations(page, "document.body", allowed=["region"]) == []  # it isn't a page


def test_the_pages_of_grades(page: Page, tmp_path: Path) -> None:
    said = ("Asked for: a number.", "You gave 5.", "  code = 1")
    kinds = ("right", "wrong", "unsolved", "hurt", "refused")
    results = [Result(f"01.{n}", kind, n == 1, 1, said) for n, kind in enumerate(kinds, 1)]
    handed = Submission("ann", tmp_path, "01")
    written = reports.write_pages([Grade(handed, tuple(results), ("It wrote a file.",))], tmp_path)
    for path in (*written, tmp_path / "index.html"):
        page.open(path.as_uri())
        assert in_both_themes(page) == []


def test_keys_lead_through_the_player_and_out_of_it(page: Page, tmp_path: Path) -> None:
    html = f'<a href="#a" id="a">before</a>{player().html()}<a href="#z" id="z">after</a>'
    put(page, tmp_path / "between.html", html)
    focused = (
        "document.activeElement.id || document.activeElement.getAttribute('aria-label')"
        " || document.activeElement.textContent"
    )
    passed = []
    while "z" not in passed and len(passed) < 15:
        page.press("Tab")
        passed.append(page.ask(focused))
        assert page.ask("getComputedStyle(document.activeElement).outlineStyle") != "none", passed
        if passed[-1].startswith(("Next", "All ")):
            page.press("Enter")
    assert passed[:8] == [
        "a", "backward player: arrow keys step, Home and End jump",
        "First", "Back", "Next", "Last", "Play", "step",
    ]  # fmt: skip
    assert passed[8:] == ["picture of the graph", "All 16 steps as a table", "z"]
    told = page.ask("document.querySelector('[aria-live]').innerText")
    assert told.startswith("Step 1 of 16")
    slider = "document.querySelector('.minigrad-player input[type=range]')"
    assert told.startswith(page.ask(f"{slider}.getAttribute('aria-valuetext')"))
    assert page.ask("document.querySelector('details').open")
