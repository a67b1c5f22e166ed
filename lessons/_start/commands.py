"""The command `minigrad`: what `python3 lessons` does, wherever the package was installed from."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from . import console, doctor, environment, installed, lessons, progress, review, sites
from .console import say

CHECKOUT = (installed.SHIPPED.parent / "pyproject.toml").is_file()


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    result = argparse.ArgumentParser(
        prog="minigrad",
        description="Lessons on automatic differentiation and hooks, and what belongs to them.",
    )
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, says: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=says, description=f"{says[0].upper()}{says[1:]}.")

    starts = command("lessons", "put the lessons into a folder, or bring them up to date, and open")
    checks = command("check", "do all that `minigrad lessons` does but start JupyterLab")
    shows = command("progress", "show which exercises you have solved")
    again = command("review", "answer five questions again, from the lessons that you have begun")
    again.add_argument("--cards", nargs="?", const=review.CARDS, metavar="FILE", help=lessons.CARDS)
    for each in (starts, checks, shows, again):
        if not CHECKOUT:
            each.add_argument(
                "folder",
                nargs="?",
                help="yours, with the lessons (default: the one you are in, or "
                f"{installed.FOLDER})",
            )
    starts.add_argument("--no-browser", action="store_true", help="only print the address")
    starts.add_argument("--port", type=lessons.port, metavar="N", help="the port of JupyterLab")
    starts.add_argument(
        "--copies", action="store_true", help="only put them there: you start JupyterLab yourself"
    )
    shows.add_argument("--reset", action="store_true", help="forget what is noted about you")
    makes = command("release", "for authors: run solutions and make the learners' notebooks")
    makes.add_argument("lessons", nargs="*", metavar="NN", help="numbers (default: all)")
    makes.add_argument(
        "--nbgrader",
        type=Path,
        metavar="COURSE",
        help="for instructors: instead put them into a course folder of nbgrader's",
    )
    builds = command("book", "build a site of the lessons and the reference, to read")
    builds.add_argument("book", nargs="?", metavar="FOLDER", default="", help="where to")
    computes = command("lite", "build a site of the lessons that computes in a browser")
    computes.add_argument("lite", nargs="?", metavar="FOLDER", default="", help="where to")
    computes.add_argument("--pyodide", type=Path, metavar="FOLDER", help=lessons.PYODIDE)
    grades = command("grade", "for instructors: grade a folder or zip of submissions, in a sandbox")
    grades.add_argument(
        "folder",
        type=Path,
        help="with the submissions: STUDENT/NN_name.ipynb, STUDENT.ipynb or NN/STUDENT.ipynb, or "
        "as Moodle or Canvas name them; also as a zip file",
    )
    grades.add_argument(
        "--nbgrader",
        metavar="ASSIGNMENT",
        help="have nbgrader do it, unguarded, where FOLDER is its course: only --jobs counts then",
    )
    grades.add_argument("--lesson", action="append", default=[], metavar="NN", help="only this one")
    grades.add_argument(
        "--output",
        type=Path,
        default=Path("grades"),
        help="where the pages and grades.csv go (default: grades)",
    )
    grades.add_argument("--jobs", type=_positive(int), metavar="N", help="how many to run at once")
    grades.add_argument(
        "--seconds",
        type=_positive(float),
        default=60.0,
        help="for each cell and each check (default: 60)",
    )
    grades.add_argument(
        "--memory",
        type=_positive(float),
        default=4.0,
        metavar="GB",
        help="for each submission (default: 4)",
    )
    command("doctor", "tell what is installed, what is missing, and what to do")
    return result


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = kind(text)
        if not 0 < number < float("inf"):
            raise ValueError(text)
        return number

    read.__name__ = "positive number"
    return read


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        arguments: What was typed after `minigrad`; by default, what was.

    Returns:
        The exit code: 0 if all went well, 1 if not, 2 if the command line makes no sense.
    """
    options = parser().parse_args(arguments)
    folder = getattr(options, "folder", None)
    console.called_as("minigrad", folder if isinstance(folder, str) else "")
    try:
        return console.guarded(lambda: _run(options))
    finally:
        console.called_as("")


def _run(options: argparse.Namespace) -> int:
    if options.command == "doctor":
        return doctor.main()
    if options.command == "grade":
        return _grade(options)
    if options.command == "release":
        return _release(options.lessons, options.nbgrader)
    if options.command == "book":
        return sites.build(sites.BOOK, _home("book"), options.book)
    if options.command == "lite":
        return lessons.lite(_home("lite"), options)
    own = None
    if not CHECKOUT:
        root = installed.folder(options.folder, Path.cwd())
        if options.command in ("progress", "review"):
            if not installed.is_laid_out(root):
                raise console.Trouble(
                    f"there are no lessons in {root}.",
                    "Change to your folder of lessons, or name it:  "
                    f"minigrad {options.command} FOLDER",
                )
            return _noted(root / "lessons", options)
        own = installed.home(root)
        written = installed.lay_out(root)
        if written:
            say(f"Lessons: {written} files written to {root}.")
    elif options.command in ("progress", "review"):
        return _noted(environment.repository() / "lessons", options)
    told = lessons.parser().parse_args([])
    for name, value in vars(options).items():
        if name in vars(told):
            setattr(told, name, value)
    told.check = options.command == "check"
    return lessons.start(told, own)


def _home(task: str) -> environment.Environment:
    """Find what the packages for a task are installed in."""
    return environment.ensure(task) if CHECKOUT else installed.home(Path.cwd(), task)


def _grade(options: argparse.Namespace) -> int:
    try:
        if options.nbgrader:
            from _tools.nbgrader import batches

            return batches.autograde(options.folder.resolve(), options.nbgrader, options.jobs)
        from _tools.grading import command
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    return command.main(options)


def _missing(error: ModuleNotFoundError) -> console.Trouble:
    return console.Trouble(
        f"this needs a package that is not installed: {error.name}.",
        f"Install it with:  {installed.ADVICE['lessons']}",
    )


def _noted(folder: Path, options: argparse.Namespace) -> int:
    if options.command == "progress":
        return progress.reset(folder) if options.reset else progress.show(folder)
    return review.main(folder, options.cards)


def _release(numbers: Sequence[str], course: Path | None) -> int:
    if course is not None:
        try:
            from _tools.nbgrader import course as courses
        except ModuleNotFoundError as error:
            raise _missing(error) from None
        return courses.lay_out(course, numbers)
    if not CHECKOUT:
        raise console.Trouble(
            "lessons are released where they are written: in a clone of the repository.",
            "Clone it, and run this there.",
        )
    return lessons.tools(environment.ensure("lessons"), "release", numbers)
