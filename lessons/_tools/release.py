"""Release lessons: run the solution notebook, make the learner's notebook from it, run that too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import nbclient
from nbformat import NotebookNode

from _tools import canonical, lesson, places, stubs

_SECONDS_A_CELL = 120
FAILS = (nbclient.exceptions.CellExecutionError, ValueError, TimeoutError)
"""What goes wrong where a solution does not run, or does not pass its check."""


def client(notebook: NotebookNode, folder: Path) -> nbclient.NotebookClient:
    """Make what runs the cells of a notebook in a fresh kernel, and writes outputs into them.

    Args:
        notebook: what to run.
        folder: where the kernel runs, so that relative paths work.
    """
    return nbclient.NotebookClient(
        notebook,
        timeout=_SECONDS_A_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
        # else each kernel warns that messages within this machine are not encrypted
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )


def environment() -> dict[str, str]:
    """Make the environment variables of a kernel that runs a lesson."""
    # The package is found in the repository where it is not installed.
    paths = [str(places.ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "MINIGRAD_PROGRESS": "",  # what a release runs is nobody's progress
    }


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run a notebook from top to bottom in a fresh kernel, and give it with its outputs.

    Args:
        notebook: what to run; it stays as it is.
        folder: where the kernel runs, so that relative paths work.

    Raises:
        nbclient.exceptions.CellExecutionError: where a cell fails that is not tagged
            `raises-exception`.
    """
    fresh = canonical.canonical(notebook)
    client(fresh, folder).execute(env=environment())
    return canonical.canonical(fresh)


def solved(path: Path) -> NotebookNode:
    """Run a solution notebook, and see that each of its solutions passes its check.

    Args:
        path: of the solution notebook.

    Returns:
        The notebook with its outputs.

    Raises:
        ValueError: where a solution does not pass; it names lesson and exercise.
        nbclient.exceptions.CellExecutionError: where a cell fails.
    """
    solution = executed(stubs.retitled(canonical.read(path)), path.parent)
    failing = lesson.checks_unlike(solution, lesson.RIGHT)
    wrong = [f"lesson {path.stem}, exercise {name}:\n{told}" for _, name, told in failing]
    if wrong:
        listed = "\n".join(wrong)
        raise ValueError(f"The solution doesn't pass its own check. Nothing is written.\n{listed}")
    return solution


def release(path: Path) -> tuple[Path, Path]:
    """Run a solution notebook, make and run the learner's notebook, and write both canonically.

    Args:
        path: of the solution notebook.

    Returns:
        The paths of the two notebooks.

    Raises:
        ValueError: where a solution does not pass its check.
    """
    learner = places.learner_of(path)
    solution = solved(path)
    exercise = executed(stubs.learner_from(solution), learner.parent)
    # Only when both have run are they written: a failed release leaves the old ones.
    canonical.write(solution, path)
    canonical.write(exercise, learner)
    return path, learner


def main(lessons: Sequence[str] = ()) -> int:
    """Release some lessons, or all of them.

    Args:
        lessons: their numbers or names.

    Returns:
        0 where all went well, 1 otherwise: an exit code.
    """
    failed = False
    for path in places.chosen(lessons):
        print(f"{path.stem} ...", end=" ", flush=True)
        try:
            release(path)
            print("released")
        except FAILS as error:
            failed = True
            print(f"failed\n{error}")
    return int(failed)
