"""Settings for nbgrader; `minigrad release --nbgrader COURSE` puts them into a course folder.

With them learners get the notebooks that the lessons are, a submission is run to its end whatever
its cells do, and feedback opens without a network.
"""

import os
import sys
from pathlib import Path

import nbgrader

import minigrad

BESIDE = Path(minigrad.__file__).resolve().parents[1]  # a clone, or where pip puts packages
FOLDERS = [BESIDE / "lessons", BESIDE / "minigrad_lessons"]
if "MINIGRAD_REPOSITORY" in os.environ:  # the lessons of another clone
    FOLDERS = [Path(os.environ["MINIGRAD_REPOSITORY"]).resolve() / "lessons"]
sys.path[:0] = [str(folder) for folder in FOLDERS if folder.is_dir()]

from _tools.nbgrader.preprocessors import (  # noqa: E402
    TEMPLATES,
    LessonStubs,
    RestoreCells,
    RunToTheEnd,
)

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "gradients"
# Several processes write into the gradebook: each waits for its turn.
GRADEBOOK = Path(__file__).resolve().with_name("gradebook.db")
c.CourseDirectory.db_url = f"sqlite:///{GRADEBOOK.as_posix()}?timeout=120"

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

c.RunToTheEnd.timeout = 60  # seconds for a cell
c.RunToTheEnd.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    RestoreCells,  # does what DeduplicateIds does besides
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    RunToTheEnd,
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# What `nbgrader zip_collect` finds in a zip of Moodle's: a folder for each student.
c.FileNameCollectorPlugin.named_regexp = (
    r".*[/\\](?P<student_id>[^/\\]+)_\d+_assignsubmission_file_?[/\\](?P<file_id>.+)"
)

# Without these two lines, pages of feedback have formulas set by MathJax, which each reader's
# browser fetches. With them they ask nothing of the network, and formulas stay as they are typed.
FEEDBACK = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(FEEDBACK)]
