"""The command `minigrad`, which is also what runs for `python3 lessons`."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from . import console, copies, doctor, installed, progress, review, server
from .console import Trouble, say
from .environment import REPOSITORY, settings

CHECKOUT = installed.IN_A_CLONE
PYTHON = "python" if os.name == "nt" else "python3"  # a stock system has no other
POSITIVE: dict[str, Any] = {"min": 0, "min_open": True}
# in a checkout the lessons are where it is; else they are laid out in a folder of the reader's
WHERE = (lambda made: made) if CHECKOUT else click.argument("folder", required=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Lessons on automatic differentiation and hooks, and what belongs to them."""


@cli.command()
@WHERE
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port of JupyterLab.")
@click.option("--copies", "only_copies", is_flag=True, help="Only make or update the copies.")
def lessons(
    no_browser: bool, port: int | None, only_copies: bool, folder: str | None = None
) -> int:
    """Make copies of the lessons to work in, or bring them up to date, and open JupyterLab."""
    from . import trust, worked_example  # nbformat and SymPy take seconds to load

    root = _root(folder)
    there = server.find(root)
    if only_copies:
        copies.bring(root / "lessons", rewrite=there is None)
        return 0
    browser = server.has_browser() and not no_browser
    done = _prepare(root, rewrite=there is None)
    if there:
        return server.revisit(root, there, browser)
    worked_example.main()
    server.quiet_kernels()
    trust.notary()
    signing = (root / "lessons", done.rewritten)
    threading.Thread(target=trust.sign, args=signing, daemon=True).start()  # it takes seconds
    say("JupyterLab is starting. Ctrl-C here stops it.")
    return console.call(server.command(root, port, browser), cwd=root)


@cli.command()
@WHERE
def check(folder: str | None = None) -> int:
    """Do all that `minigrad lessons` does but start JupyterLab."""
    from . import trust, worked_example  # nbformat and SymPy take seconds to load

    root = _root(folder)
    done = _prepare(root, rewrite=server.find(root) is None)
    worked_example.main()
    trust.sign(root / "lessons", done.rewritten)
    words = [PYTHON, "lessons"] if CHECKOUT else ["minigrad", "lessons", *filter(None, [folder])]
    say(f"Everything is in place. Start the lessons with:  {shlex.join(words)}")
    return 0


@cli.command("progress")
@WHERE
@click.option("--reset", is_flag=True, help="Forget your progress.")
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
        from _tools.nbgrader import course

        return course.lay_out(nbgrader, numbers)
    return _work("release", *numbers)


@cli.command()
@click.argument("folder", default="")
def book(folder: str) -> int:
    """Build a site of the lessons and the reference, to read."""
    return _work("book", _site("book", folder))


@cli.command()
@click.argument("folder", default="")
@click.option("--pyodide", type=Path, metavar="FOLDER", help="A folder with Pyodide to include.")
def lite(folder: str, pyodide: Path | None) -> int:
    """Build a site of the lessons that computes in a browser."""
    site = _site("lite", folder)
    if pyodide is None:
        return _work("lite", site)
    return _work("lite", site, "--pyodide", pyodide.expanduser().resolve())


@cli.command()
@click.argument("folder", type=Path)
@click.option("--nbgrader", metavar="ASSIGNMENT", help="Let nbgrader do it, without a sandbox.")
@click.option("--lesson", multiple=True, metavar="NN", help="Only this one.")
@click.option("--output", type=Path, default=Path("grades"), help="Where pages and tables go.")
@click.option("--jobs", type=click.IntRange(1), help="How many to run at once.")
@click.option("--seconds", type=click.FloatRange(**POSITIVE), default=60.0, help="For each cell.")
@click.option("--memory", type=click.FloatRange(**POSITIVE), default=4.0, help="GB for each.")
@click.option("--collect", type=Path, metavar="FILE", help=progress.COLLECT)
def grade(folder: Path, nbgrader: str | None, **options: Any) -> int:
    """For instructors: grade a folder or zip of submissions, in a sandbox."""
    if nbgrader:
        from _tools.nbgrader import course

        return course.autograde(folder.resolve(), nbgrader, options["jobs"])
    from _tools.grading import command

    return command.main(folder, **options)


@cli.command("doctor")
def look() -> int:
    """Show what is installed, what is missing, and what to do."""
    return doctor.main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What was typed after `minigrad`; by default, the command line's.

    Returns:
        The exit code: 0 if all went well, 1 if not, 2 if the command line makes no sense.
    """
    return console.guarded(lambda: _invoke(arguments))


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        return int(cli.main(arguments, prog_name="minigrad", standalone_mode=False) or 0)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        if CHECKOUT and where and where.parent and where.info_name not in ("grade", "doctor"):
            where.parent.info_name, where.info_name = PYTHON, "lessons"  # in a clone, that's typed
        error.show()
        return error.exit_code


def _root(folder: str | None) -> Path:
    """Find the folder with the lessons, and give Jupyter a place for its own notes."""
    root, own = REPOSITORY, Path(sys.prefix)
    if not CHECKOUT:
        installed.require("lessons")
        root = installed.folder(folder, Path.cwd())
        own = root / installed.OWN
        if written := installed.lay_out(root):
            say(f"Lessons: {written} files written to {root}.")
    os.environ.update(settings(own / "var", os.environ))
    return root


def _noted(command: str, folder: str | None) -> Path:
    """Find the folder of lessons whose progress is recorded."""
    if CHECKOUT:
        return REPOSITORY / "lessons"
    root = installed.folder(folder, Path.cwd())
    if not (root / installed.LAID_OUT).is_file():
        advice = f"Change to your folder of lessons, or name it:  minigrad {command} FOLDER"
        raise Trouble(f"there are no lessons in {root}.", advice)
    return root / "lessons"


def _work(*words: str | Path) -> int:
    """Run one of the authors' tools."""
    return console.call([sys.executable, installed.SHIPPED / "_tools", *words])


def _site(kind: str, named: str) -> Path:
    """Return a site's folder; make sure that the packages to build it are installed."""
    installed.require(kind)
    default = REPOSITORY / "lessons" / kind if CHECKOUT else f"minigrad-{kind}"
    return Path(named or default).expanduser().resolve()


def _prepare(root: Path, rewrite: bool) -> copies.Outcome:
    """Make or update the copies to work in; if that fails, say so and continue."""
    try:
        return copies.bring(root / "lessons", rewrite)
    except OSError as error:
        say(f"The copies of the lessons that you work in can't be kept here: {error}")
        return copies.Outcome()
