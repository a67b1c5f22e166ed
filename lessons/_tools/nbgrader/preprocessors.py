"""What else nbgrader does to a notebook: our stubs, cells that are gone, cells that never end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearSolutions, Execute, NbGraderPreprocessor
from traitlets import Integer

from _tools import canonical, stubs
from _tools.grading.submissions import merged

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
    """Put what is a student's into the released notebook: nothing of that is gone, or changed."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Merge with the released notebook; nbgrader does this in the course's folder."""
        own = resources["nbgrader"]
        path = Path("release", own["assignment"], f"{own['notebook']}.ipynb")
        if path.is_file():
            released = canonical.read(path)
            nb.cells = [cell for _, cell in merged(released.cells, nb.cells)]
            nb.nbformat_minor = released.nbformat_minor
        return nb, resources


class RunToTheEnd(Execute):
    """Run a notebook whatever its cells do: one that never ends, or ends the kernel, is left out.

    Such a cell gets an error that says so, and the notebook is run again without it.
    """

    timeout = Integer(60, help="Seconds for a cell.").tag(config=True)
    most_runs = Integer(6, help="For a notebook; then the rest is left out.").tag(config=True)
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
        if msg["msg_type"] in _OUTPUTS and self._shown <= self.most_output:
            self._shown += len(str(msg["content"]))
            if self._shown > self.most_output:
                words = "... The rest of this cell's output was left out ...\n"
                cell.outputs.append(new_output("stream", text=words))
        if msg["msg_type"] in _OUTPUTS and self._shown > self.most_output:
            return None
        return super().process_message(msg, cell, cell_index)
