"""The command `minigrad`, which is also what runs for `python3 lessons`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from . import boot, console, copies, doctor, installed, progress, review, server, sites, trust
from .console import Trouble, python_command, say
from .environment import Environment, repository

CHECKOUT = installed.in_a_clone()
PORT = click.IntRange(1, 65535)
POSITIVE: dict[str, Any] = {"min": 0, "min_open": True}
# in a checkout the lessons are where it is; else they are laid out in a folder of the reader's
WHERE = (lambda made: made) if CHECKOUT else click.argument("folder", required=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Lessons on automatic differentiation and hooks, and what belongs to them."""


@cli.command()
@WHERE
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--port", type=PORT, help="The port of JupyterLab.")
@click.option("--copies", "only_copies", is_flag=True, help="Only make or update the copies.")
def lessons(
    no_browser: bool, port: int | None, only_copies: bool, folder: str | None = None
) -> int:
    """Make copies of the lessons to work in, or bring them up to date, and open JupyterLab."""
    home = _home(folder)
    there = server.find(home)
    if only_copies:
        copies.bring(home.root / "lessons", rewrite=there is None)
        return 0
    browser = server.has_browser() and not no_browser
    done = _prepare(home, rewrite=there is None)
    if there:
        return server.revisit(home, there, browser)
    trust.notary(home)  # its secret is made here: two programs could want to make it at once
    return server.serve(
        home,
        port,
        browser,
        meanwhile=_check_worked_example,
        afterward=lambda: trust.sign_meanwhile(home, done.rewritten),
    )


@cli.command()
@WHERE
def check(folder: str | None = None) -> int:
    """Do all that `minigrad lessons` does but start JupyterLab."""
    home = _home(folder)
    done = _prepare(home, rewrite=server.find(home) is None)
    _check_worked_example()
    trust.sign(trust.notary(home), home, done.rewritten)
    say(f"Everything is in place. Start the lessons with:  {python_command('lessons')}")
    return 0


@cli.command("progress")
@WHERE
@click.option("--reset", is_flag=True, help="Forget what is noted about you.")
@click.option("--collect", is_flag=True, help=progress.COLLECT)
def show_progress(reset: bool, collect: bool, folder: str | None = None) -> int:
    """Show which exercises you have solved."""
    place = _noted("progress", folder)
    if collect:
        return progress.collect(place)
    return progress.reset(place) if reset else progress.show(place)


@cli.command("review")
@WHERE
@click.option(
    "--cards", is_flag=False, flag_value=review.CARDS, metavar="FILE", help="Write cards for Anki."
)
def ask_again(cards: str | None, folder: str | None = None) -> int:
    """Answer five questions again, from the lessons that you have begun."""
    place = _noted("review", folder)
    if cards:
        return review.write(place, Path(cards).expanduser().absolute())
    return review.show(place, date.today())


@cli.command()
@click.argument("numbers", nargs=-1, metavar="[NN]...")
@click.option("--nbgrader", type=Path, metavar="COURSE", help="Fill a course folder of nbgrader's.")
def release(numbers: tuple[str, ...], nbgrader: Path | None) -> int:
    """For authors: run solutions and make the learners' notebooks."""
    if nbgrader is not None:
        return int(_tool("nbgrader.course").lay_out(nbgrader, numbers))
    if not CHECKOUT:
        raise Trouble(
            "lessons are released where they are written: in a clone of the repository.",
            "Clone it, and run this there.",
        )
    return console.call([sys.executable, repository() / "lessons/_tools", "release", *numbers])


@cli.command()
@click.argument("folder", default="")
def book(folder: str) -> int:
    """Build a site of the lessons and the reference, to read."""
    return sites.build("book", folder)


@cli.command()
@click.argument("folder", default="")
@click.option("--pyodide", type=Path, metavar="FOLDER", help="Pyodide, unpacked, to go into it.")
def lite(folder: str, pyodide: Path | None) -> int:
    """Build a site of the lessons that computes in a browser."""
    more: list[str | Path] = ["--pyodide", pyodide.expanduser().resolve()] if pyodide else []
    return sites.build("lite", folder, more)


@cli.command()
@click.argument("folder", type=Path)
@click.option("--nbgrader", metavar="ASSIGNMENT", help="Have nbgrader do it, unguarded.")
@click.option("--lesson", multiple=True, metavar="NN", help="Only this one.")
@click.option("--output", type=Path, default=Path("grades"), help="Where pages and tables go.")
@click.option("--jobs", type=click.IntRange(1), help="How many to run at once.")
@click.option("--seconds", type=click.FloatRange(**POSITIVE), default=60.0, help="For each cell.")
@click.option("--memory", type=click.FloatRange(**POSITIVE), default=4.0, help="GB for each.")
@click.option("--collect", type=Path, metavar="FILE", help=progress.COLLECT)
def grade(folder: Path, nbgrader: str | None, **options: Any) -> int:
    """For instructors: grade a folder or zip of submissions, in a sandbox."""
    if nbgrader:
        course = _tool("nbgrader.course")
        return int(course.autograde(folder.resolve(), nbgrader, options["jobs"]))
    return int(_tool("grading.command").main(folder, **options))


@cli.command("doctor")
def look() -> int:
    """Tell what is installed, what is missing, and what to do."""
    return doctor.main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        arguments: What was typed after `minigrad`; by default, what was.

    Returns:
        The exit code: 0 if all went well, 1 if not, 2 if the command line makes no sense.
    """
    typed = os.environ.pop(boot.TYPED, None)
    console.called_as("" if typed else "minigrad")
    return console.guarded(lambda: _invoke(arguments))


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        return int(cli.main(arguments, prog_name="minigrad", standalone_mode=False) or 0)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show()
        return error.exit_code


def _home(folder: str | None) -> Environment:
    """Find the lessons, and what runs them: the Python that runs this."""
    if CHECKOUT:
        return Environment(repository(), Path(sys.prefix))
    if folder:
        console.called_as("minigrad", folder)
    installed.require("lessons")
    root = installed.folder(folder, Path.cwd())
    home = installed.Installed(root, root / installed.OWN)
    if written := installed.lay_out(home.root):
        say(f"Lessons: {written} files written to {home.root}.")
    return home


def _noted(command: str, folder: str | None) -> Path:
    """Find the folder of lessons about which something is noted."""
    if CHECKOUT:
        return repository() / "lessons"
    root = installed.folder(folder, Path.cwd())
    if not installed.is_laid_out(root):
        advice = f"Change to your folder of lessons, or name it:  minigrad {command} FOLDER"
        raise Trouble(f"there are no lessons in {root}.", advice)
    return root / "lessons"


def _tool(name: str) -> Any:
    """Load a tool; say which package is missing where it cannot be loaded."""
    try:
        return importlib.import_module(f"_tools.{name}")
    except ModuleNotFoundError as error:
        raise Trouble(
            f"this needs a package that is not installed: {error.name}.",
            f"Install it with:  {installed.ADVICE['lessons']}",
        ) from None


def _prepare(home: Environment, rewrite: bool) -> copies.Outcome:
    """Look after the copies to work in; where none can be kept, go on with a word about it."""
    try:
        return copies.bring(home.root / "lessons", rewrite)
    except Trouble as trouble:
        say(f"Mind: {trouble.happened}\n{trouble.advice}")
        return copies.Outcome()


def _check_worked_example() -> None:
    from . import worked_example

    if worked_example.main():
        raise Trouble(
            "the worked example failed; see above.",
            "The numbers do not agree, so minigrad has a bug: please report it.",
        )
