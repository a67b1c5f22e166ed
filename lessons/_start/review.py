"""Ask again what was learned, by Leitner's boxes: `python3 lessons --review`; cards for Anki."""

from __future__ import annotations

import csv
import html
import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import mistune

from minigrad.classroom import desk

from . import notebooks, progress
from .console import say

DAYS = (1, 3, 7, 21, 60)  # until a card of the first, second, ... box is asked again
AT_ONCE = 5
CARDS = "minigrad-cards.txt"
COMPARE = re.compile(r"^\s*compare\(\s*[\"']([^\"']+)", re.M)
CAME = re.compile(r"\bIt is (.+?)\.(?=\s*You predicted\b|\n\S|\s*\Z)", re.S)
_FOLD = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.S)
_TEST = re.compile(r"^### Test yourself$(.*?)(?=^#|\Z)", re.M | re.S)
_HEADING = re.compile(r"^#+ .*$", re.M)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.S)
_RENDER = mistune.create_markdown(plugins=["math"])
# For each card that was asked: its box, from 1 to 5, and the day on which it is due.
Boxes = dict[str, tuple[int, str]]


@dataclass(frozen=True)
class Card:
    """A question of a lesson.

    Args:
        key: A prediction's name, or the question itself: by this a card is known again.
        lesson: Its number.
        question: In Markdown.
        answer: In Markdown.
    """

    key: str
    lesson: str
    question: str
    answer: str


def cards_of(path: Path, cells: Sequence[notebooks.Cell]) -> list[Card]:
    """Read the questions of a lesson's self-test, and its predictions with what came.

    Args:
        path: Of a published notebook; its name gives the number.
        cells: Those in it, with their outputs.
    """
    lesson = path.stem.partition("_")[0]
    sources = [cell["source"] for cell in cells]
    made = [
        Card(html.unescape(asks), lesson, html.unescape(asks), html.unescape(says).strip())
        for part in _TEST.findall("\n\n".join(sources))
        for asks, says in _FOLD.findall(part)
    ]
    asked: list[str] = []  # the text and the code since the last prediction
    waiting: dict[str, str] = {}
    for cell, after in zip(cells, [*sources[1:], ""], strict=True):
        if cell["cell_type"] != "code":
            asked = [_HEADING.split(cell["source"])[-1].strip()]
            continue
        for name in progress.PREDICTS.findall(cell["source"]):
            waiting[name] = "\n\n".join(asked)
        for name in COMPARE.findall(cell["source"]):
            came, folded = CAME.search(progress.shown(cell)), _FOLD.match(after)
            if came and name in waiting:
                why = f"\n\n{folded[2].strip()}" if folded else ""
                made.append(Card(name, lesson, waiting[name], f"It is {came[1]}.{why}"))
        asked.append(f"```\n{cell['source']}\n```")
    return made


def chosen(folder: Path, notes: Mapping[str, set[str]], everything: bool = False) -> list[Card]:
    """List the self-tests of the lessons that were begun, and the predictions that were missed.

    Args:
        folder: Of the lessons.
        notes: As `progress.read` gives them.
        everything: Whether to take the lessons that were not begun, too.
    """
    begun = {name.partition(".")[0] for names in notes.values() for name in names}
    return [
        card
        for path, cells in progress.readable(folder)
        for card in cards_of(path, cells)
        if everything or card.lesson in begun
        if card.key == card.question or card.key in notes["missed"]
    ]


def due(cards: Sequence[Card], boxes: Boxes, today: date) -> list[Card]:
    """List what to ask: what is due, the longest first, then what was never asked, missed first.

    Args:
        cards: In the order of the lessons.
        boxes: Where they are.
        today: The day.
    """
    waiting = [card for card in cards if card.key in boxes]
    ready = [card for card in waiting if boxes[card.key][1] <= today.isoformat()]
    ready.sort(key=lambda card: boxes[card.key][1])
    new = [card for card in cards if card.key not in boxes]
    new.sort(key=lambda card: card.key == card.question)  # a prediction has a name
    return [*ready, *new]


def moved(boxes: Boxes, key: str, known: bool, today: date) -> None:
    """Put a card into the next box, or back into the first.

    Args:
        boxes: Is changed.
        key: Of the card.
        known: Whether the learner knew the answer.
        today: The day.
    """
    box = min(boxes.get(key, (0, ""))[0] + 1, len(DAYS)) if known else 1
    boxes[key] = (box, (today + timedelta(days=DAYS[box - 1])).isoformat())


def read(path: Path) -> Boxes:
    """Read the boxes; what is missing or no boxes at all reads as none.

    Args:
        path: Where they are.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(key): (int(box), str(day)) for key, (box, day) in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def show(folder: Path, today: date, ask: Callable[[str], str] = input) -> int:
    """Ask up to five questions, and note in which box each card is then; return the exit code.

    Args:
        folder: Of the lessons.
        today: The day.
        ask: Shows a prompt, and gives what was typed.
    """
    notes = desk.place(lessons=folder)
    if notes is None:
        say(f"A review needs notes, and {progress.VARIABLE} switches them off.")
        return 1
    place = progress.boxes(notes)
    cards, boxes = chosen(folder, progress.read(notes)), read(place)
    if not cards:
        say("There is nothing to review yet: first do an exercise or a prediction.")
        return 0
    asked, known = due(cards, boxes, today)[:AT_ONCE], list[bool]()
    try:
        for number, card in enumerate(asked, start=1):
            print(f"\n{number} of {len(asked)}, from lesson {card.lesson}\n{_text(card.question)}")
            ask("\nAnswer aloud, then press Enter. ")
            print(f"\n{_text(card.answer)}")
            typed = ""
            while typed not in ("y", "n"):
                typed = ask("\nDid you know it? y/n ").strip().lower()[:1]
            known.append(typed == "y")
            moved(boxes, card.key, known[-1], today)
            noted = json.dumps(boxes, indent=1, ensure_ascii=False) + "\n"
            notebooks.write(place, noted.encode())
    except EOFError:
        kept = "Your answers are saved." if known else "You haven't answered a question."
        say(f"\nStopped here. {kept}")
    if known:
        say(f"\nYou knew {sum(known)} of {len(known)}.")
    left = len(due(cards, boxes, today))
    days = min((boxes[card.key][1] for card in cards if card.key in boxes), default="")
    more = "more " if known else ""
    say(f"{left} {more}can be asked today." if left else f"Nothing is due until {days}.")
    return 0


def write(folder: Path, path: Path) -> int:
    """Write the cards as a file for Anki: of the lessons begun, or of all if none was.

    Args:
        folder: Of the lessons.
        path: Where to.
    """
    noted = progress.read(desk.place(lessons=folder))
    cards = chosen(folder, noted) or chosen(folder, noted, everything=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("#separator:tab\n#html:true\n#deck:minigrad\n#tags column:3\n")
        rows = csv.writer(file, "excel-tab", lineterminator="\n")
        for card in cards:
            rows.writerow([as_html(card.question), as_html(card.answer), f"lesson_{card.lesson}"])
    say(f"{len(cards)} cards are in {path}. In Anki: File, Import.")
    return 0


def as_html(markdown: str) -> str:
    r"""Write Markdown as Anki shows it: formulas in \( \) or \[ \], on one line, without links.

    Args:
        markdown: With formulas between dollar signs.
    """
    made = str(_RENDER(_LINK.sub(r"\1", markdown))).strip()
    made = re.sub(r"\$\$(.*?)\$\$", r"\\[\1\\]", made, flags=re.S)
    return made.replace("\t", "    ").replace("\n", "<br>")


def _text(markdown: str) -> str:
    plain = _BOLD.sub(r"\1", _LINK.sub(r"\1", markdown))
    return "\n".join(textwrap.fill(line, 88) or "" for line in plain.split("\n"))
