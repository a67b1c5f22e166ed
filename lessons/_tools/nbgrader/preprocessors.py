"""What else nbgrader does to a notebook: our stubs, cells that are gone, cells that never end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearSolutions, Execute, NbGraderPreprocessor
from traitlets import Integer

from _tools import canonical, stubs
from _tools.canonical import mark_of

TEMPLATES = Path(__file__).with_name("templates")
"""For pages of feedback that fetch nothing."""
Resources = dict[str, Any]
_OUTPUTS = ("stream", "display_data", "execute_result", "update_display_data")


class LessonStubs(ClearSolutions):
    """Replace each solution by the stub that the lesson was written with."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Make the learner's cells; outputs and other metadata are left to nbgrader."""
        made = stubs.learner_from(nb)
        for cell, learners in zip(nb.cells, made.cells, strict=True):
            cell.source = learners.source
        return nb, resources


class RestoreCells(NbGraderPreprocessor):
    """Put the marks of cells in order, and answer cells and checks back that a student deleted."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Compare with the released notebook; nbgrader does this in the course's folder."""
        own = resources["nbgrader"]
        path = Path("release", own["assignment"], f"{own['notebook']}.ipynb")
        if path.is_file():
            nb.cells = restored(nb.cells, canonical.read(path).cells)
        return nb, resources


def restored(cells: Sequence[NotebookNode], released: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Mark each exercise's cells once, as they were, and add those that are missing.

    Of cells with the same mark the last one keeps it. An answer comes right after what stood
    above it; a check as late as it can, so that an answer that was written elsewhere is above it.

    Args:
        cells: What a student has handed in.
        released: What the student had got.
    """
    marks = {mark_of(cell): cell.metadata.nbgrader for cell in released if mark_of(cell)}
    last = {mark_of(cell): place for place, cell in enumerate(cells)}
    for place, cell in enumerate(cells):
        if mark_of(cell) in marks and place == last[mark_of(cell)]:
            cell.metadata.nbgrader = from_dict(marks[mark_of(cell)])
        else:
            cell.metadata.pop("nbgrader", None)
    result, keys = list(cells), [_key(cell) for cell in released]
    here = {_key(cell) for cell in cells}
    for number, cell in enumerate(released):
        if not mark_of(cell) or keys[number] in here:
            continue
        places = {_key(each): place for place, each in enumerate(result)}
        if mark_of(cell).endswith("-check"):
            below = [places[key] for key in keys[number + 1 :] if key in places]
            at = min(below, default=len(result))
        else:
            above = [places[key] for key in keys[:number] if key in places]
            at = max(above, default=-1) + 1
        result.insert(at, from_dict(cell))
    return result


def _key(cell: NotebookNode) -> str:
    """Tell a cell from others: by its mark, else by what it says."""
    return mark_of(cell) or cell.source.strip()


class RunToTheEnd(Execute):
    """Run a notebook whatever its cells do: one that never ends, or ends the kernel, is left out.

    Such a cell gets an error that says so, and the notebook is run again without it.
    """

    timeout = Integer(60, help="Seconds for a cell.").tag(config=True)
    most_runs = Integer(6, help="Of a notebook; then the rest is left out.").tag(config=True)
    most_output = Integer(2_000_000, help="Characters that a cell may show.").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: Resources, km: Any = None
    ) -> tuple[NotebookNode, Resources]:
        """Run the notebook, again where that has to be."""
        self.interrupt_on_timeout, self.shutdown_kernel = False, "immediate"
        self._left_out: dict[int, str] = {}
        self._number = 0
        for _ in range(self.most_runs):
            try:
                return super().preprocess(nb, resources, km)
            except CellTimeoutError:
                why = f"This cell ran longer than {self.timeout} s, and was left out."
            except DeadKernelError:
                why = "This cell ended the program, and was left out."
            self._left_out[self._number] = why
            self.log.warning("Cell %s: %s", self._number, why)
        for number in range(self._number + 1, len(nb.cells)):
            self._left_out[number] = "Not run: too many cells above never end, or end the program."
        return super().preprocess(nb, resources, km)

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> tuple[NotebookNode, Resources]:
        """Run a cell, unless it is one to be left out."""
        self._number, self._shown = index, 0
        if index not in self._left_out or cell.cell_type != "code":
            return super().preprocess_cell(cell, resources, index)
        why = self._left_out[index]
        cell.outputs = [new_output("error", ename="LeftOut", evalue=why, traceback=[why])]
        return cell, resources

    def on_cell_executed(self, **kwargs: Any) -> None:
        """Note an error as nbgrader does; and `exit()`, which ends the kernel a moment later."""
        super().on_cell_executed(**kwargs)
        payload = kwargs["execute_reply"]["content"].get("payload", ())
        if any(each.get("source") == "ask_exit" for each in payload):
            raise DeadKernelError("It was asked to end.")

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take what a cell shows, up to a certain length; a loop may print without end."""
        if msg["msg_type"] in _OUTPUTS:
            content = msg["content"]
            shown = content.get("text") or "".join(map(str, content.get("data", {}).values()))
            if self._shown > self.most_output:
                return None
            self._shown += len(shown)
            if self._shown > self.most_output:
                words = "... The rest of what this cell shows was left out ...\n"
                cell.outputs.append(new_output("stream", text=words))
                return None
        return super().process_message(msg, cell, cell_index)
