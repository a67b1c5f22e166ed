"""Run the cells of a lesson again, and report those whose output changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from nbformat import NotebookNode

from _tools import canonical, places, release, stubs
from _tools.lesson import predictions_of, tags
from _tools.lint import Violation

_LONG = 0.5  # seconds; a cell that takes longer is run again only once
_NOT_COMPARED = {"image/png", "image/jpeg"}  # they differ between matplotlib versions
_FRESH = "when all cells are run in a fresh kernel"
_AGAIN, _ALL = "when it is run again", "when all cells are run again, those above twice"
_BACK = "when the learner goes back to prediction {}"


def unstable(notebook: NotebookNode, folder: Path, *, again: bool = True) -> list[Violation]:
    """Run a notebook, go back to its predictions, run it all again with each cell twice.

    A slow cell is run again only once. Everything runs in one fresh kernel. A cell has to show the
    same every time: what it prints and displays, and the name and message of its error. If the
    notebook was run before, that has to be the stored output (nbval compares the same, in a run of
    its own).

    Args:
        notebook: what to run; it stays as it is.
        folder: where the kernel runs, so that relative paths work.
        again: whether to run cells again, or only to compare with what is stored.

    Returns:
        A violation for each cell whose output changes, with the first difference.
    """
    fresh = canonical.canonical(notebook)
    code = [index for index, cell in enumerate(fresh.cells) if cell.cell_type == "code"]
    expected = {k: _shown(fresh.cells[k]) for k in code if fresh.cells[k].execution_count}
    predictions = predictions_of(fresh)
    client = release.client(fresh, folder)
    client.allow_errors = True  # an error is an output like others; unexpected ones are reported
    violations: dict[int, Violation] = {}

    def run(index: int, when: str) -> float:
        """Run a cell, note what is wrong with its output, and give the seconds it took."""
        cell, started = fresh.cells[index], time.perf_counter()
        client.execute_cell(cell, index)
        shown = _shown(cell)
        says = _difference(expected.setdefault(index, shown), shown, when)
        if not says and "raises-exception" not in tags(cell):
            says = next((f"fails: {line}" for line in shown if line.startswith("error ")), "")
        if says:
            violations.setdefault(index, Violation("rerun", cell.id, says))
        return time.perf_counter() - started

    with client.setup_kernel(env=release.environment()):
        client.reset_execution_trackers()
        for index in code:
            run(index, _FRESH)
        for prediction in predictions if again else ():
            back = _BACK.format(prediction.name)
            run(prediction.asked, back)
            run(prediction.compared or prediction.asked, back)
        for index in code if again else ():
            if run(index, _ALL) < _LONG:
                run(index, _AGAIN)
    return [violations[index] for index in sorted(violations)]


def main(lessons: Sequence[str] = ()) -> int:
    """Print which cells of some lessons, or of all, are unstable when they are run again.

    Args:
        lessons: their numbers; all by default.

    Returns:
        An exit code: 1 if a cell is unstable, otherwise 0.
    """
    count = 0
    for path in places.chosen(lessons):
        solution = canonical.read(path)
        made = {f"solutions/{path.stem}": solution, path.stem: stubs.learner_from(solution)}
        for name, notebook in made.items():
            try:
                found = unstable(notebook, path.parent)
            except release.FAILS as error:
                found = [Violation("rerun", "", f"failed: {error}")]
            count += len(found)
            print("\n  ".join([f"{name}: {len(found)}", *map(str, found)]), flush=True)
    return int(count > 0)


def _shown(cell: NotebookNode) -> list[str]:
    """List the lines that a cell shows, each with its kind."""
    lines: list[str] = []
    for output in canonical.canonical_outputs(cell.outputs):
        if output.output_type == "stream":
            shown = {output.name: output.text}
        elif output.output_type == "error":
            shown = {"error": f"{output.ename}: {output.evalue}"}
        else:
            shown = {kind: output.data[kind] for kind in {*output.data} - _NOT_COMPARED}
        for kind in sorted(shown, reverse=True):  # text before pictures
            lines += [f"{kind} {line!r}" for line in str(shown[kind]).split("\n")]
    return lines


def _difference(first: list[str], again: list[str], when: str) -> str:
    """Describe the first difference between what a cell showed first and later; "" if none."""
    for old, new in zip_longest(first, again, fillvalue="nothing"):
        if old != new:
            pairs = enumerate(zip(old, new, strict=False))
            same = next((at for at, (one, two) in pairs if one != two), 0)
            part = slice(max(0, same - 40), same + 70)
            return f"{when}, {old[part]} becomes {new[part]}"
    return ""
