"""Time the code cells of the solution notebooks, on minigrad and on PyTorch.

    python tests/benchmarks/notebooks.py [NN...]

Each notebook runs twice in a process of its own, with one thread: as it is, and with PyTorch's
imports. Its first run also imports and prepares things; importing the library is not counted.
What only minigrad has stays minigrad's; predictions and checks do nothing. Counted are the cells
that print the same on both, and fail on both only where they are meant to.
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import ast
import contextlib
import importlib
import io
import json
import linecache
import re
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "lessons" / "solutions"
PASSES = ("first", "again")
IMPORTS = re.compile(r"^import minigrad as torch|^from minigrad\.autograd import", re.M)
CHECKS = ("check", "compare", "hint", "predict")
ONLY_CHECK = re.compile(rf"(\w+ = .*\n)?({'|'.join(CHECKS)})\(.*\)\s*")
# what pictures and SymPy take is the same on both
OTHERS = re.compile(
    r"\b(draw|play|record|plot_\w+|Plot|beside|watch_modules|use_style|hook_bench|symbols|formula"
    r"|expression|prove|derive|equal)\(|\bplot\b|\bsp\.|minigrad\.(viz|symbolic)"
)


def cells(lesson: str) -> list[tuple[str, bool]]:
    """Give the code of a solution's cells, and whether an error is meant to come."""
    book = json.loads((SOLUTIONS / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    return [
        ("".join(cell["source"]), "raises-exception" in cell["metadata"].get("tags", ()))
        for cell in book["cells"]
        if cell["cell_type"] == "code"
    ]


def show(value: Any) -> None:
    """Make of a cell's last value what a notebook shows."""
    kinds = [f"_repr_{kind}_" for kind in ("mimebundle", "html", "latex")]
    method = next((getattr(value, kind) for kind in kinds if hasattr(value, kind)), None)
    if method is not None:
        method()
    elif value is not None:
        print(value)


def run(lesson: str, library: str) -> list[tuple[float, bool, str]]:
    """Run a notebook; give of each cell its seconds, whether it failed, and what it printed."""
    importlib.import_module(library)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    space, told = main.__dict__, []
    for number, (code, _) in enumerate(cells(lesson)):
        if library == "torch":
            code = IMPORTS.sub(lambda found: found[0].replace("minigrad", "torch"), code)
        name, failed, output = f"<cell {number}>", False, io.StringIO()
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        tree, last = ast.parse(code), ast.parse("None", mode="eval").body
        if isinstance(end := tree.body[-1], ast.Expr):
            last = end.value
            del tree.body[-1]
        steps = compile(tree, name, "exec"), compile(ast.Expression(last), name, "eval")
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            start = time.process_time()
            try:
                exec(steps[0], space)
                show(eval(steps[1], space))
            except Exception:
                failed = True
            seconds = time.process_time() - start
        space.update({check: lambda *_, **__: None for check in CHECKS if check in space})
        told.append((seconds, failed, output.getvalue()))
    return told


def line(name: str, seconds: list[list[float]]) -> str:
    """Write for each pass what minigrad and PyTorch took, and their ratio."""
    each = (f"{ours:8.3f} {theirs:8.3f} {ours / (theirs or 1):6.2f}" for ours, theirs in seconds)
    return f"{name:38} {'   '.join(each)}"


def total(rows: list[list[list[float]]]) -> list[list[float]]:
    """Add up the seconds of cells, by pass and library."""
    return [[sum(row[k][j] for row in rows) for j in (0, 1)] for k in range(len(PASSES))]


def main(wanted: list[str]) -> None:
    """Compare all lessons, or those whose names begin with one of `wanted`."""
    print(f"{'minigrad (s), PyTorch (s), ratio':40}{PASSES[0]:29}{PASSES[1]}")
    found: list[tuple[str, str, list[list[float]]]] = []
    for path in sorted(SOLUTIONS.glob("*.ipynb")):
        if wanted and not path.stem.startswith(tuple(wanted)):
            continue
        told, first = [], len(found)
        for library in ("minigrad", "torch"):
            command = [sys.executable, __file__, "--run", path.stem, library]
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "lessons")
            told.append(json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.stderr))
        for number, (code, raises) in enumerate(cells(path.stem)):
            passes = [(ours[number], theirs[number]) for ours, theirs in zip(*told, strict=True)]
            alike = all(a[1:] == b[1:] and a[1] == raises for a, b in passes)
            if alike and not ONLY_CHECK.fullmatch(code):
                name = f"{path.stem[:2]}, cell {number}: {code.splitlines()[0]}"
                found.append((name, code, [[a[0], b[0]] for a, b in passes]))
        here = [seconds for _, _, seconds in found[first:]]
        print(line(f"{path.stem}, {len(here)} cells", total(here)), flush=True)
    print(line("all", total([seconds for *_, seconds in found])))
    plain = [seconds for _, code, seconds in found if not OTHERS.search(code)]
    print(line("without pictures and SymPy", total(plain)))
    for k, pass_ in enumerate(PASSES):
        print(f"\nWhere minigrad loses most, {pass_}")
        for name, _, seconds in sorted(found, key=lambda row: row[2][k][1] - row[2][k][0])[:10]:
            print(line(name[:38], seconds))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        sys.path[:0] = [str(ROOT), str(ROOT / "lessons")]
        sys.stdout.write(json.dumps([run(*sys.argv[2:]) for _ in PASSES]))
    else:
        main(sys.argv[1:])
