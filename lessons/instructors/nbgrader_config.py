"""Settings for nbgrader: copy this file into your course folder.

With it, `nbgrader generate_assignment` gives learners the same notebooks as `lessons/` holds: each
solution becomes the stub that the lesson was written with. Without it nbgrader puts
`raise NotImplementedError()` there, and a learner's notebook does not run to the end.
"""

import os
import sys
from pathlib import Path

from nbgrader.preprocessors import ClearSolutions

# Where minigrad's repository is: set the variable, or write the path here.
REPOSITORY = Path(os.environ.get("MINIGRAD_REPOSITORY", ".")).resolve()
sys.path.insert(0, str(REPOSITORY / "lessons"))

from _tools import stubs  # noqa: E402


class LessonStubs(ClearSolutions):
    """Replace each solution by the lesson's own stub."""

    def preprocess(self, nb, resources):
        """Make the learner's cells; outputs and other metadata are left to nbgrader."""
        made = stubs.learner_from(nb)
        for cell, learners in zip(nb.cells, made.cells, strict=True):
            cell.source = learners.source
        return nb, resources


c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "gradients"
c.ExecutePreprocessor.timeout = 180
c.ClearSolutions.enforce_metadata = False
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    LessonStubs,
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]
