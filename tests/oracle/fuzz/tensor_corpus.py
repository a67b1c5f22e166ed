"""Keep what PyTorch did in random tensor programs, so that they can be replayed without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .programs import Program, Statement

PATH = Path(__file__).parent / "recorded_tensors.json"
MESSAGE_LENGTH = 60


def compact(program: Sequence[Statement], events: list[Any]) -> list[Any]:
    """Write a log in few letters: statements by number, messages by their beginning."""
    numbers = {statement.text: number for number, statement in enumerate(program)}
    return [
        [numbers.get(event[0], event[0]), *map(_shortened, event[1:])]
        if isinstance(event[0], str)
        else [_shortened(event[0])]
        for event in events
    ]


def _shortened(value: Any) -> Any:
    if isinstance(value, dict) and "message" in value:
        return {**value, "message": value["message"][:MESSAGE_LENGTH]}
    return value


def read() -> dict[str, Any]:
    """Give PyTorch's version under "torch", and under "programs" seed, statements and log."""
    record: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    for entry in record["programs"]:
        entry["program"] = [Statement(*statement) for statement in entry["program"]]
    return record


def write(version: str, programs: dict[int, tuple[Program, list[Any]]]) -> None:
    """Keep programs and their logs, one program a line."""
    lines = [
        json.dumps(
            {"seed": seed, "program": program, "log": compact(program, events)},
            allow_nan=False,
            separators=(",", ":"),
        )
        for seed, (program, events) in programs.items()
    ]
    body = ",\n".join(lines)
    text = f'{{"torch": {json.dumps(version)}, "programs": [\n{body}\n]}}\n'
    PATH.write_text(text, encoding="utf-8", newline="\n")
