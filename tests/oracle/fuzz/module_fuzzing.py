"""Compare random programs of modules with hooks, count what they reach, and explain a failure."""

from __future__ import annotations

import faulthandler
import json
import re
from collections import Counter
from importlib import import_module
from typing import Any

import minigrad

from ..compare import differences, unworded
from .module_programs import program
from .module_running import Program, events
from .module_shrink import shrink


def part(torch: Any, described: Program, limit: int = 3) -> list[str]:
    """Say how minigrad's log of a program differs from torch's; nothing if they agree.

    Over many operations rounding adds up to more than the few last bits that are granted. So
    where only numbers differ, the program is run in double precision: what agrees there to single
    precision was rounding, for a wrong derivative is as wrong as before.
    """
    found = differences(unworded(events(torch, described)), events(minigrad, described), limit)
    if not found or not only_rounding(found):
        return found
    precise = {**described, "dtype": "float64"}
    logs = [in_single(events(library, precise)) for library in (torch, minigrad)]
    return differences(*logs, limit) and found


def in_single(log: list[Any]) -> list[Any]:
    """Let a log in double precision be compared to single precision."""
    found: list[Any] = json.loads(json.dumps(log).replace("float64[", "float32["))
    return found


def only_rounding(found: list[str]) -> bool:
    """Tell whether all differences are between numbers."""
    return all("tolerance" in text or text.startswith("... and") for text in found)


def signature(found: list[str]) -> str:
    """Tell failures apart roughly, so that a program made smaller keeps its kind of failure."""
    lines = found[0].split("\n")
    first = lines[0].split(": ", 1)[-1]
    events = [
        json.loads(line.split(maxsplit=1)[1]) if "..." not in line else ["..."]
        for line in lines[1:]
    ]
    heads = [re.sub(r"\d+", "", str(event[0])) for event in events]
    if "tolerance" in first:
        return f"number in {heads[0]}"
    if "message does not begin" in first or first.startswith(("error ", "warning ")):
        return f"{first}: {heads[0]}"
    if first in ("missing", "one too many"):
        return f"{first}: {heads[0]}"
    if heads[0] != heads[1]:
        return f"{heads[1]} instead of {heads[0]}"
    return f"{re.sub(r'[-0-9.e]+', '0', first)[:60]} in {heads[0]}"


def smallest(torch: Any, described: Program) -> Program:
    """Make a failing program small."""
    kind = signature(part(torch, described))

    def fails(candidate: Program) -> bool:
        try:
            found = part(torch, candidate)
        except Exception:
            return False
        return bool(found) and signature(found) == kind

    return shrink(described, fails)


def explain(torch: Any, described: Program) -> str:
    """Print a program made small, and where the logs part."""
    small = smallest(torch, described)
    lines = [f"seed {described['seed']}"]
    for key, value in small.items():
        if isinstance(value, list) and key != "shape":
            lines += [f"  {key}:", *(f"    {json.dumps(item)}" for item in value)]
        else:
            lines.append(f"  {key}: {json.dumps(value)}")
    return "\n".join([*lines, *part(torch, small)])


def features(described: Program, log: list[Any]) -> Counter[str]:
    """Count what a program reached: hooks called by kind, modules, errors, warnings."""
    reached: Counter[str] = Counter()
    for event in log:
        head = event[0]
        if isinstance(head, dict):
            reached[f"warning {head['warning']}: {head['message'][:60]}"] += 1
        elif "raised" in head:
            error = event[1]
            reached[f"{head} {error['error']}: {error['message'][:60]}"] += 1
        elif head.startswith("h"):
            words = head.split(" ", 1)[1].split(" on ")
            reached[f"hook {words[0]}"] += 1
        else:
            reached[f"event {head}"] += 1
    for spec in described["modules"]:
        reached[f"module {spec['kind']}"] += 1
    return reached


def search(seed: int, count: int, show: int) -> int:
    """Run programs and print the failures, the first few made small."""
    torch = import_module("torch")
    torch.set_num_threads(1)  # the tensors are small
    failed: dict[str, list[int]] = {}
    reached: Counter[str] = Counter()
    rounding = 0
    for number in range(seed, seed + count):
        # A program that never ends is shown by its traceback.
        faulthandler.dump_traceback_later(30, exit=True)
        described = program(number)
        log = events(torch, described)
        reached.update(features(described, log).keys())
        found = differences(unworded(log), events(minigrad, described))
        if found and not part(torch, described):
            rounding += 1
        elif found:
            failed.setdefault(signature(found)[:150], []).append(number)
    faulthandler.cancel_dump_traceback_later()
    for kind, seeds in sorted(failed.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(seeds):5d} {kind}: {seeds[:10]}")
    for seeds in list(failed.values())[:show]:
        print("-" * 80)
        print(explain(torch, program(seeds[0])))
    print("-" * 80)
    for name, programs in sorted(reached.items(), key=lambda entry: (-entry[1], entry[0])):
        print(f"{programs:6d} {name}")
    lost = sum(map(len, failed.values()))
    print(f"{count - lost} of {count} programs agree ({rounding} of them up to rounding)")
    return 1 if lost else 0
