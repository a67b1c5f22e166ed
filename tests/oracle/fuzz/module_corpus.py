"""Keep what PyTorch did in some hundred random programs, to be held against where it is missing."""

from __future__ import annotations

import hashlib
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from ..compare import differences, unworded
from .module_fuzzing import in_single
from .module_programs import program
from .module_running import Program, events

PATH = Path(__file__).parent / "module_corpus.json"
COUNT = 300
# A program of more than this many letters is left to the live comparison.
LARGEST = 4200
# Texts of Python's own errors, which change from version to version.
_PYTHONS = re.compile(
    r"object is not|has no (len|attribute)|positional argument|keyword argument|must be a mapping|"
    r"mutated during|out of range|not subscriptable|iterable|multiple values"
)


def in_double(seed: int) -> Program:
    """Make the program of a seed in double precision: its log is kept in single precision."""
    return {**program(seed), "dtype": "float64"}


def fingerprint(described: Program) -> str:
    """Give a short text that tells programs apart."""
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:12]


def read() -> dict[str, Any]:
    """Give the corpus: PyTorch's version, and for each seed a fingerprint and a log."""
    corpus: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return corpus


def record() -> None:
    """Run programs on PyTorch and keep the logs; needs torch."""
    torch = import_module("torch")
    kept: dict[str, Any] = {}
    seed = 0
    while len(kept) < COUNT:
        described = in_double(seed)
        log = _short(events(torch, described))
        text = json.dumps(log)
        # Half of the programs are any that fit, half are those in which much happens.
        wanted = len(log) > 4 if seed % 2 else "forward raised" not in text and len(log) > 7
        if wanted and len(text) < LARGEST and not _PYTHONS.search(text):
            kept[str(seed)] = [fingerprint(described), log]
        seed += 1
    version = torch.__version__.split("+")[0]
    lines = ",\n".join(f"{json.dumps(seed)}: {json.dumps(entry)}" for seed, entry in kept.items())
    text = f'{{"torch": {json.dumps(version)}, "programs": {{\n{lines}\n}}}}\n'
    PATH.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(kept)} programs, {len(text)} bytes")


def parts(library: Any, seed: str, entry: list[Any]) -> list[str]:
    """Say how a library's log of a program differs from the recorded one."""
    return differences(unworded(entry[1]), in_single(events(library, in_double(int(seed)))))


def _short(log: list[Any]) -> list[Any]:
    """Round the numbers to what is compared."""
    return json.loads(
        json.dumps(in_single(log)), parse_float=lambda digits: float(f"{float(digits):.8g}")
    )
