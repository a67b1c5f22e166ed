"""Run `python3 lessons`: environment, copies to work in, JupyterLab, worked example, trust."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import console, copies, environment, progress, review, running, server, sites, trust
from .console import Trouble, python_command, say
from .environment import Environment

HERE = Path(__file__).resolve().parent
CARDS = f"write these questions as cards for Anki (default: {review.CARDS})"
PYODIDE = "Pyodide, unpacked, to go into the site (else it comes from the network)"


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    result = argparse.ArgumentParser(
        prog=python_command("lessons"),
        description="Make the environment, make copies of the lessons to work in or bring them up "
        "to date, check the worked example, open JupyterLab at lesson 00.",
    )
    result.add_argument("--check", action="store_true", help="do everything but start JupyterLab")
    result.add_argument(
        "--no-browser", action="store_true", help="start JupyterLab and only print its address"
    )
    result.add_argument(
        "--port",
        type=port,
        metavar="N",
        help=f"the port of JupyterLab (default: {server.FIRST_PORT})",
    )
    result.add_argument(
        "--copies",
        action="store_true",
        help="only make the copies in lessons/mine or bring them up to date: for those who start "
        "JupyterLab themselves (conda, Binder)",
    )
    result.add_argument(
        "--release",
        nargs="*",
        metavar="NN",
        help="for authors: run solution notebooks and make the learners' from them "
        "(all of them, or those with these numbers)",
    )
    result.add_argument(
        "--progress", action="store_true", help="show which exercises you have solved"
    )
    result.add_argument(
        "--reset", action="store_true", help="with --progress: forget what is noted about you"
    )
    result.add_argument(
        "--review",
        action="store_true",
        help="answer five questions again, from the lessons that you have begun",
    )
    result.add_argument("--cards", nargs="?", const=review.CARDS, metavar="FILE", help=CARDS)
    result.add_argument(
        "--book",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="build a site of the lessons and the reference, to read (default: lessons/book)",
    )
    result.add_argument(
        "--lite",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="build a site of the lessons that computes in a browser (default: lessons/lite)",
    )
    result.add_argument("--pyodide", type=Path, metavar="FOLDER", help=f"with --lite: {PYODIDE}")
    return result


def port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; a port is a number from 1 to 65535")
    return int(text)


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit code."""
    described = parser()
    options = described.parse_args(arguments)
    if options.reset and not options.progress:
        described.error("--reset goes with --progress")
    if options.pyodide and options.lite is None:
        described.error("--pyodide goes with --lite")
    return console.guarded(lambda: start(options))


def start(options: argparse.Namespace, own: Environment | None = None) -> int:
    """Prepare the lessons, then start JupyterLab unless only a part of that was asked for.

    Args:
        options: What the command line said.
        own: Where the lessons are and what runs them, if not a repository and its environment.

    Returns:
        The exit code.
    """
    root = own.root if own else environment.repository()
    folder = root / "lessons"
    if options.progress:
        return progress.reset(folder) if options.reset else progress.show(folder)
    if options.cards or options.review:
        return review.main(folder, options.cards)
    if options.release is not None:
        return tools(environment.ensure("lessons"), "release", options.release)
    if options.book is not None:
        return sites.build(sites.BOOK, own or environment.ensure("book"), options.book)
    if options.lite is not None:
        return lite(own or environment.ensure("lite"), options)
    there = own or environment.locate(root, os.environ)
    server_there = running.find(there)
    if options.copies:
        tell(copies.bring(folder, rewrite=server_there is None))
        return 0
    browser = server.has_browser() and not options.no_browser
    if server_there and not options.check:
        prepare_copies(folder, rewrite=False)
        return server.revisit(there, server_there, browser)
    port = None if options.check else server.choose_port(options.port)
    home = own or environment.ensure("lessons")
    done = prepare_copies(folder, rewrite=server_there is None)
    again = [(each.older, each.place) for each in done.updates if each.older]
    if port is None:
        check_worked_example(home)
        signed = trust.sign(home, again)
        if signed:
            say(f"Trusted: {signed} notebook{'s' * (signed != 1)}.")
        say(f"Everything is in place. Start the lessons with:  {python_command('lessons')}")
        return 0
    trust.keep_secret(home)
    return server.serve(
        home,
        port,
        browser,
        meanwhile=lambda: check_worked_example(home),
        afterward=lambda: trust.sign_meanwhile(home, again),
    )


def lite(home: Environment, options: argparse.Namespace) -> int:
    """Build the site that computes in a browser.

    Args:
        home: What JupyterLite is installed in.
        options: What the command line said.
    """
    more = ["--pyodide", options.pyodide.expanduser().resolve()] if options.pyodide else []
    return sites.build(sites.LITE, home, options.lite, more)


def prepare_copies(folder: Path, rewrite: bool) -> copies.Outcome:
    """Look after the copies to work in; where none can be kept, go on with a word about it."""
    try:
        outcome = copies.bring(folder, rewrite)
    except Trouble as trouble:
        say(f"Mind: {trouble.happened}\n{trouble.advice}")
        return copies.Outcome()
    tell(outcome)
    return outcome


def tell(outcome: copies.Outcome) -> None:
    """Say what was done to the copies."""
    for line in outcome.lines():
        say(line)


def tools(home: Environment, command: str, numbers: Sequence[str]) -> int:
    """Run one of the authors' tools on lessons; return the exit code."""
    program = HERE.parent / "_tools"
    parts = [str(home.python), str(program), command, *numbers]
    return subprocess.run(parts, env=home.variables(os.environ), cwd=home.root).returncode


def check_worked_example(home: Environment) -> None:
    """Run the worked example in the environment."""
    program = HERE / "worked_example.py"
    # -P: the directory of the program stays off the import path
    code = subprocess.run(
        [home.python, "-P", program], env=home.variables(os.environ), cwd=home.root
    ).returncode
    if code:
        raise Trouble(
            "the worked example failed; see above.",
            f"If a package is missing, delete {home.venv} and run this again. "
            "If numbers do not agree, minigrad has a bug: please report it.",
        )
