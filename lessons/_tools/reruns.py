"""Run the cells of a lesson again, and tell which of them then show something else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from nbformat import NotebookNode

from _tools import canonical, places, release, stubs
from _tools.lesson import predictions_of, tags
from _tools.lint import Slip

_LONG = 0.5  # seconds that a cell takes which is run again once only
_NOT_COMPARED = {"image/png", "image/jpeg"}  # they differ between matplotlib versions
_FRESH = "when all cells are run in a fresh kernel"
_AGAIN, _ALL = "when it is run again", "when all cells are run again, those above twice"
_BACK = "when the learner goes back to prediction {}"


def lies(notebook: NotebookNode, folder: Path) -> list[Slip]:
    """Run a notebook, go back to its predictions, run it all again with each cell twice.

    A cell that takes long is run again once only. All of it happens in one fresh kernel. Whatever a
    cell shows at first, it has to show each time: what it prints and displays, and the name and
    message of its error. In a notebook that was run before, it has to be what is stored (nbval
    compares the same, and runs it once more).

    Args:
        notebook: what to run; it stays as it is.
        folder: where the kernel runs, so that relative paths work.

    Returns:
        A slip for each cell that shows something else, with what differs, where that is seen first.
    """
    fresh = canonical.canonical(notebook)
    code = [index for index, cell in enumerate(fresh.cells) if cell.cell_type == "code"]
    predictions = predictions_of(fresh)
    client = release.client(fresh, folder)
    client.allow_errors = True  # an error is an output like others; stray ones are told below
    slips: dict[int, Slip] = {}

    def run(index: int) -> list[str]:
        client.execute_cell(fresh.cells[index], index)
        return _shown(fresh.cells[index])

    def note(index: int, says: str) -> None:
        if says and index not in slips:
            slips[index] = Slip("rerun", fresh.cells[index].id, says)

    def run_again(index: int, when: str) -> None:
        note(index, _difference(first[index], run(index), when))

    with client.setup_kernel(env=release.environment()):
        client.reset_execution_trackers()
        first = {}
        for index in code:
            was_run, stored = fresh.cells[index].execution_count, _shown(fresh.cells[index])
            first[index] = run(index)
            if was_run:
                note(index, _difference(stored, first[index], _FRESH))
            failed = [line for line in first[index] if line.startswith("error ")]
            if failed and "raises-exception" not in tags(fresh.cells[index]):
                note(index, f"fails: {failed[0]}")
        for prediction in predictions:
            for where in (prediction.asked, prediction.compared):
                if where is not None:
                    run_again(where, _BACK.format(prediction.name))
        for index in code:
            started = time.perf_counter()
            run_again(index, _ALL)
            if time.perf_counter() - started < _LONG:
                run_again(index, _AGAIN)
    return [slips[index] for index in sorted(slips)]


def main(lessons: Sequence[str] = ()) -> int:
    """Print which cells of some lessons, or of all, lie when they are run again.

    Args:
        lessons: their numbers; all by default.

    Returns:
        1 where a cell lies, otherwise 0: an exit code.
    """
    count = 0
    for path in places.chosen(lessons):
        solution = canonical.read(path)
        made = {f"solutions/{path.stem}": solution, path.stem: stubs.learner_from(solution)}
        for name, notebook in made.items():
            try:
                found = lies(notebook, path.parent)
            except release.FAILS as error:
                found = [Slip("rerun", "", f"failed: {error}")]
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
    """Say how the lines differ that a cell shows, by the first that do; nothing where none does."""
    for old, new in zip_longest(first, again, fillvalue="nothing"):
        if old != new:
            pairs = enumerate(zip(old, new, strict=False))
            same = next((at for at, (one, two) in pairs if one != two), 0)
            part = slice(max(0, same - 40), same + 70)
            return f"{when}, {old[part]} becomes {new[part]}"
    return ""
