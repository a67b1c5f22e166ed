"""Time the code cells of the solution notebooks, on minigrad and on PyTorch.

    python tests/benchmarks/notebooks.py            (all lessons)
    python tests/benchmarks/notebooks.py 05 16      (those whose names begin so)

Each notebook runs in a process of its own for either library, with one thread, in one namespace, as
it is and with PyTorch's imports. What only minigrad has stays minigrad's; predictions and checks do
nothing on either, as they run minigrad's code in both. A cell counts where it runs on both.
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
LIBRARIES = ("minigrad", "torch")
PASSES = ("first", "again")
IMPORTS = re.compile(r"^import minigrad as torch|^from minigrad\.autograd import", re.M)
CHECKS = ("check", "compare", "hint", "predict")
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
    for kind in ("mimebundle", "html", "latex"):
        if (method := getattr(value, f"_repr_{kind}_", None)) is not None:
            method()
            return
    if value is not None:
        print(value)


def run(lesson: str, library: str) -> list[tuple[float, str, str]]:
    """Run a notebook; give of each cell its seconds, its error and what it printed."""
    importlib.import_module(library)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    space, told = main.__dict__, []
    for number, (code, _) in enumerate(cells(lesson)):
        if library == "torch":
            code = IMPORTS.sub(lambda found: found[0].replace("minigrad", "torch"), code)
        name, error, output = f"<cell {number}>", "", io.StringIO()
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else ast.parse("None").body[0]
        steps = compile(tree, name, "exec"), compile(ast.Expression(last.value), name, "eval")
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            start = time.process_time()
            try:
                exec(steps[0], space)
                show(eval(steps[1], space))
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"
            seconds = time.process_time() - start
        space.update({check: lambda *_, **__: None for check in CHECKS if check in space})
        told.append((seconds, error, output.getvalue()))
    return told


def ratio(seconds: list[float]) -> str:
    """Write what minigrad and PyTorch took, and what part of PyTorch's time that is."""
    ours, theirs = seconds
    return f"{ours:8.3f} s {theirs:8.3f} s {ours / theirs if theirs else 1:6.2f}  "


def main(wanted: list[str]) -> None:
    """Compare all lessons, or those whose names begin with one of `wanted`."""
    print(f"{'':36}" + "".join(f"{pass_:7}  minigrad    PyTorch  ratio" for pass_ in PASSES))
    rows, sums = (
        [],
        {what: [[0.0, 0.0] for _ in PASSES] for what in ("all", "no pictures or SymPy")},
    )
    for path in sorted(SOLUTIONS.glob("*.ipynb")):
        if wanted and not path.stem.startswith(tuple(wanted)):
            continue
        told = []
        for library in LIBRARIES:
            command = [sys.executable, __file__, "--run", path.stem, library]
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "lessons")
            told.append(json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.stderr))
        here, counted = [[0.0, 0.0] for _ in PASSES], 0
        for number, (code, raises) in enumerate(cells(path.stem)):
            runs = [[pass_[number] for pass_ in library] for library in told]
            checks = re.fullmatch(rf"(\w+ = .*\n)?({'|'.join(CHECKS)})\(.*\)\s*", code)
            alike = all(a[2] == b[2] and bool(a[1]) == bool(b[1]) == raises for a, b in zip(*runs))
            if checks or not alike:
                continue
            counted += 1
            totals = [here, sums["all"]]
            if not OTHERS.search(code):
                totals.append(sums["no pictures or SymPy"])
            for pass_ in range(len(PASSES)):
                seconds = [each[pass_][0] for each in runs]
                for total in totals:
                    total[pass_] = [a + b for a, b in zip(total[pass_], seconds, strict=True)]
                rows.append(
                    (pass_, seconds, f"{path.stem[:2]}, cell {number}: {code.splitlines()[0]}")
                )
        print(f"{path.stem:30} {counted:3}  " + "".join(map(ratio, here)), flush=True)
    for name, totals in sums.items():
        print(f"{name:36}" + "".join(map(ratio, totals)))
    for k, pass_ in enumerate(PASSES):
        print(f"\nWhere minigrad loses most, {pass_}")
        here = [(seconds, name) for number, seconds, name in rows if number == k]
        for seconds, name in sorted(here, key=lambda row: row[0][1] - row[0][0])[:10]:
            print(ratio(seconds) + name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        sys.path[:0] = [str(ROOT), str(ROOT / "lessons")]
        told = [run(*sys.argv[2:]) for _ in PASSES]
        sys.stdout.write(json.dumps(told))
    else:
        main(sys.argv[1:])
