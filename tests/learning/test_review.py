"""Learners remember: what they learned is asked again in Leitner's boxes, and written for Anki."""

from __future__ import annotations

import csv
import json
import re
from datetime import date, timedelta

import pytest

from _start import commands, console, progress, review
from _tools import canonical, places
from _tools.lesson import predictions_of
from minigrad.classroom import compare, desk, predict

MONDAY = date(2024, 2, 26)


def typed(*answers):
    """Stand in for the keyboard: Enter and an answer for each question, then nothing more."""
    given = iter([each for answer in answers for each in ("", *answer)])

    def ask(prompt):
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    return ask


@pytest.fixture
def notes(tmp_path, monkeypatch):
    path = tmp_path / "notes.json"
    monkeypatch.setenv(progress.VARIABLE, str(path))
    return path


def begun(notes, *names, missed=()):
    notes.write_text(json.dumps({"predicted": names, "missed": missed}), encoding="utf-8")


def test_every_self_test_and_prediction_is_a_card():
    for path in places.learners():
        notebook = canonical.read(path)
        cards = review.cards_of(path, notebook.cells)
        closing = "".join(cell.source for cell in notebook.cells).partition("### Test yourself")[2]
        predicted = {each.name: each for each in predictions_of(notebook)}
        asked = [card for card in cards if card.key not in predicted]
        assert len(asked) == closing.count("<details>") >= 2, path
        assert {card.key for card in cards} >= {
            name for name, each in predicted.items() if each.came
        }
        assert all(card.question and card.answer for card in cards)
        for card in cards:
            if card.key in predicted:
                came = "".join(f"It is {predicted[card.key].came}.".split())
                assert "".join(card.answer.split()).startswith(came)


def test_what_is_known_comes_later_and_what_is_not_comes_first():
    boxes: review.Boxes = {}
    days = []
    today = MONDAY
    for known in (True, True, True, True, True, True, False, True):
        review.moved(boxes, "a", known, today)
        next_day = date.fromisoformat(boxes["a"][1])
        days.append((next_day - today).days)
        today = next_day
    assert days == [1, 3, 7, 21, 60, 60, 1, 3]
    cards = [
        review.Card(key, "00", question, "")
        for key, question in (
            ("new", "new"),
            ("00.a", "a missed prediction"),
            ("later", ""),
            ("b", ""),
            ("c", ""),
        )
    ]
    boxes = {
        "b": (4, MONDAY.isoformat()),
        "c": (1, (MONDAY - timedelta(days=9)).isoformat()),
        "later": (1, (MONDAY + timedelta(days=1)).isoformat()),
    }
    assert [card.key for card in review.due(cards, boxes, MONDAY)] == ["c", "b", "00.a", "new"]


def test_five_are_asked_of_the_lessons_that_were_begun(notes, capsys):
    begun(notes, "01.a", "02.a", missed=["02.a"])
    lessons = list(progress.readable(places.LESSONS))[1:3]
    cards = [card for path, cells in lessons for card in review.cards_of(path, cells)]
    left = sum(not re.fullmatch(r"\d\d\.[a-z]", card.key) for card in cards) + 1 - 5
    assert (
        review.show(places.LESSONS, MONDAY, typed(*(["y"], ["what?", "n"], ["Y"], ["y"], ["n"])))
        == 0
    )
    heard = capsys.readouterr()
    assert heard.out.startswith("\n1 of 5, from lesson 02\n")
    assert "Which of these six tensors are leaves?" in heard.out
    assert "It is a b c e.\n" in heard.out
    assert set(re.findall(r"from lesson (\d+)", heard.out)) == {"01", "02"}
    assert f"You knew 3 of 5.\n{left} more can be asked today." in heard.err
    boxes = review.read(progress.boxes(notes))
    assert sorted(box for box, _ in boxes.values()) == [1] * 5
    assert {day for _, day in boxes.values()} == {"2024-02-27"}
    # Those that are left, and then nothing until tomorrow.
    review.show(places.LESSONS, MONDAY, typed(*[["y"]] * left))
    review.show(places.LESSONS, MONDAY, typed())
    assert "Nothing is due until 2024-02-27." in capsys.readouterr().err


def test_who_stops_keeps_what_was_answered(notes, capsys):
    begun(notes, "01.a")
    assert review.show(places.LESSONS, MONDAY, typed(["y"])) == 0
    heard = capsys.readouterr().err
    assert "Your answers are saved." in heard and "You knew 1 of 1." in heard
    assert len(review.read(progress.boxes(notes))) == 1
    assert progress.reset(places.LESSONS) == 0
    assert list(notes.parent.iterdir()) == []


def test_who_stops_before_answering_is_told_no_score(notes, capsys):
    begun(notes, "01.a")
    assert review.show(places.LESSONS, MONDAY, typed()) == 0
    heard = capsys.readouterr().err
    assert "You haven't answered a question." in heard
    assert "You knew" not in heard and "more" not in heard


def test_where_there_is_nothing_to_review_it_says_so(notes, monkeypatch, capsys):
    assert review.show(places.LESSONS, MONDAY, typed()) == 0
    assert "nothing to review yet" in capsys.readouterr().err
    monkeypatch.setenv(progress.VARIABLE, "none")
    assert review.show(places.LESSONS, MONDAY, typed()) == 1
    assert "switches them off" in capsys.readouterr().err


def test_a_prediction_that_was_missed_is_noted(notes, monkeypatch):
    monkeypatch.setattr(desk, "shell", object)
    for name, guess, came in (
        ("00.a", "up", "down"),
        ("00.b", 3, 3),
        ("01.b", (1, 2), (1, 3)),
        ("02.a", (1, 2), (1, 2)),
        ("02.b", (1, 2), (1, 2, 3)),
    ):
        predict(name, guess)
        compare(name, came)
    compare("03.a", 1)  # never predicted
    assert progress.read(notes)["missed"] == {"00.a", "01.b", "02.b"}


def test_cards_are_what_anki_imports(notes, tmp_path, capsys):
    begun(notes, "06.a", missed=["06.a"])
    assert commands.main(["review", "--cards", str(tmp_path / "cards.txt")]) == 0
    text = (tmp_path / "cards.txt").read_text(encoding="utf-8")
    *head, _ = text.split("\n", 4)
    assert head == ["#separator:tab", "#html:true", "#deck:minigrad", "#tags column:3"]
    rows = list(csv.reader(text.splitlines()[4:], "excel-tab"))
    assert {row[2] for row in rows} == {"lesson_06"}
    assert all(len(row) == 3 for row in rows)
    (predicted,) = [row for row in rows if "The hook <code>double</code> is on" in row[0]]
    assert r"\(h = 2 \cdot 3 = 6\)" in predicted[0]
    assert predicted[1].startswith("<p>It is (27.0, 6.0).")
    assert "minigrad-cards.txt" in commands.cli.commands["review"].params[-1].flag_value
    notes.unlink()
    assert commands.main(["review", "--cards", str(tmp_path / "all.txt")]) == 0
    assert len((tmp_path / "all.txt").read_text(encoding="utf-8").splitlines()) > 18 * 3
    assert commands.main(["review", "--cards", str(tmp_path)]) == 1
    assert console.WRITABLE in capsys.readouterr().err


def test_markdown_is_written_as_anki_shows_it():
    markdown = (
        "If $a<b$, **is `x & y` it**?\n\n$$y\n$$\n[Lesson 01](01.ipynb) <b>\n```py\nx\t= 1\n```"
    )
    shown = review.as_html(markdown)
    for part in (
        r"\(a&lt;b\)",
        "<strong>is <code>x &amp; y</code> it</strong>?",
        "Lesson 01 ",
        "&lt;b&gt;",
        "x    = 1",
        r"\[<br>y<br><br>\]",
    ):
        assert part in shown, shown
    assert "\n" not in shown and "\t" not in shown and "ipynb" not in shown
