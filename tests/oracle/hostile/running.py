"""Run calls with minigrad and with PyTorch, side by side, and tell what came of each.

    python -m tests.oracle.hostile.running SOURCE SEED COUNT FIRST

writes one line of JSON for each call. The process dies of a call that hangs; who began it goes on
behind that call.
"""

from __future__ import annotations

import ast
import functools
import json
import linecache
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .calls import generate
from .values import names

SECONDS, BYTES = 5, 6 << 30  # what a call may take
THE_CALL = "<the call>"  # the file that a call stands in, in tracebacks


def described(value: Any, depth: int = 0) -> Any:
    """Tell what a result is, so that two can be compared."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        told = {
            "type": type(value).__name__,
            "dtype": str(value.dtype).rpartition(".")[2],
            "shape": list(value.shape),
            "requires_grad": value.requires_grad,
        }
        if value.numel() <= 5000:
            told["values"] = list(map(str, np.ravel(value.detach().resolve_conj().tolist())))
        return told
    if isinstance(value, (tuple, list)) and depth < 3:
        return {"type": type(value).__name__, "parts": [described(v, depth + 1) for v in value]}
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return {"type": type(value).__name__, "value": str(value)}
    if isinstance(value, np.ndarray):
        return {"type": "ndarray", "dtype": str(value.dtype), "values": str(value)}
    if isinstance(value, (dict, set, frozenset)) and depth < 3:
        parts = [*value.items()] if isinstance(value, dict) else sorted(value, key=str)
        return {"type": type(value).__name__, "parts": [described(v, depth + 1) for v in parts]}
    if type(value).__name__ in ("dtype", "device", "range") or hasattr(value, "named_modules"):
        return {"type": type(value).__name__, "value": str(value)}
    return {"type": type(value).__name__}


def as_new(torch: ModuleType) -> None:
    """Undo what an earlier call may have set."""
    torch.manual_seed(0)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.autograd.set_detect_anomaly(False)
    torch.utils.checkpoint.set_checkpoint_early_stop(True)
    for name, table in vars(torch.nn.modules.module).items():
        if name.startswith("_global") and isinstance(table, dict):
            table.clear()


def outcome(call: str, torch: ModuleType) -> dict[str, Any]:
    """Run a call and tell what came of it."""
    as_new(torch)
    known = names(torch)
    try:
        result = eval(compile(call, THE_CALL, "eval"), known)
        told = {"result": described(result)}
    except Exception as error:
        return failure(error, torch)
    try:
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if getattr(first, "requires_grad", False) and first.grad_fn is not None:
            first.backward(torch.ones_like(first))
            told["gradients"] = [described(leaf.grad) for leaf in known["leaves"]]
    except Exception as error:
        told["backward"] = failure(error, torch)
    return told


def failure(error: Exception, torch: ModuleType) -> dict[str, Any]:
    """Tell what an error is, and whether somebody raised it on purpose."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    place = last.filename.rpartition("/minigrad/")[2]
    kinds = [kind.__name__ for kind in type(error).__mro__]
    told: dict[str, Any] = {
        "error": kinds,
        "says": str(error)[:400],
        "place": f"{place}:{last.lineno}",
    }
    if torch.__name__ == "minigrad" and last.filename != THE_CALL:
        told["inside"] = not _raised(last.filename, last.lineno or 0)
    return told


def _raised(file: str, line: int) -> bool:
    return "/hostile/" in file or any(a <= line <= b for a, b in _raises(file))


@functools.cache
def _raises(file: str) -> list[tuple[int, int]]:
    """Find the lines of a file that raise; none are on purpose that are NumPy's or Python's."""
    if "minigrad" not in file or "site-packages" in file:
        return []
    tree = ast.parse("".join(linecache.getlines(file)))
    return [(n.lineno, n.end_lineno or 0) for n in ast.walk(tree) if isinstance(n, ast.Raise)]


def run(source: str, seed: int, count: int, first: int) -> None:
    """Run calls and write what came of them."""
    import torch

    import minigrad

    told_to = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what calls print themselves
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    torch.set_num_threads(1)
    for module in (torch, minigrad):
        outcome("step(o())", module)  # what a first step imports takes long
    for number, call in enumerate(generate(seed, count, source)):
        if number < first:
            continue
        told: dict[str, Any] = {"number": number, "call": call}
        for name, module in (("torch", torch), ("minigrad", minigrad)):
            begun = {"begun": name, "number": number, "call": call}
            print(json.dumps(begun), file=told_to, flush=True)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            told[name] = outcome(call, module)
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(told), file=told_to, flush=True)


def outcomes(source: str, seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Run calls in processes of their own and give what came of each."""
    first = 0
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-m", "oracle.hostile.running", source, str(seed), str(count)]
    paths = [str(tests.parent), str(tests), os.environ.get("PYTHONPATH", "")]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    while first < count:
        last: dict[str, Any] = {"number": first - 1, "begun": "torch", "call": ""}
        full = [*command, str(first)]
        with (
            tempfile.TemporaryDirectory() as folder,  # for files that calls write
            subprocess.Popen(
                full, stdout=subprocess.PIPE, text=True, env=surroundings, cwd=folder
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                last = json.loads(line)
                if "begun" not in last:
                    yield last
        if "begun" in last:
            if not last["call"]:
                raise RuntimeError("the calls could not be begun")
            yield {**last, "died": last["begun"], "code": process.returncode}
        first = last["number"] + 1


if __name__ == "__main__":
    run(sys.argv[1], *map(int, sys.argv[2:]))
