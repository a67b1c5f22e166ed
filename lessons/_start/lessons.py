"""Run `python lessons`: environment, worked example, trust, JupyterLab."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Sequence

from . import console, environment, progress, server
from .console import Trouble, say

TRUST = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()"


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    result = argparse.ArgumentParser(
        prog="python lessons",
        description="Make the environment, check the worked example, open JupyterLab at lesson 00.",
    )
    result.add_argument("--check", action="store_true", help="do everything but start JupyterLab")
    result.add_argument(
        "--no-browser", action="store_true", help="start JupyterLab and only print its address"
    )
    result.add_argument(
        "--port",
        type=_port,
        metavar="N",
        help=f"the port of JupyterLab (default: {server.FIRST_PORT})",
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
        "--table",
        nargs="*",
        metavar="NN",
        help="for authors: measure the lessons (all, or those with these numbers), and run them",
    )
    return result


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; a port is a number from 1 to 65535")
    return int(text)


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit code."""
    described = parser()
    options = described.parse_args(arguments)
    if options.reset and not options.progress:
        described.error("--reset goes with --progress")
    return console.guarded(lambda: start(options))


def start(options: argparse.Namespace) -> int:
    """Prepare the lessons, then start JupyterLab unless only the check was asked for."""
    if options.progress:
        folder = environment.repository() / "lessons"
        return progress.reset(folder) if options.reset else progress.show(folder)
    if options.release is not None:
        return tools(environment.ensure("lessons"), "release", options.release)
    if options.table is not None:
        return tools(environment.ensure("lessons"), "table", options.table)
    port = None if options.check else server.choose_port(options.port)
    home = environment.ensure("lessons")
    check_worked_example(home)
    trust_notebooks(home)
    if port is None:
        say("Everything is in place. Start the lessons with:  python lessons")
        return 0
    return server.serve(home, port, server.has_browser() and not options.no_browser)


def tools(home: environment.Environment, command: str, numbers: Sequence[str]) -> int:
    """Run one of the authors' tools on lessons; return the exit code."""
    program = home.root / "lessons" / "_tools"
    parts = [str(home.python), str(program), command, *numbers]
    return subprocess.run(parts, env=home.variables(os.environ), cwd=home.root).returncode


def check_worked_example(home: environment.Environment) -> None:
    """Run the worked example in the environment."""
    program = home.root / "lessons" / "_start" / "worked_example.py"
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


def trust_notebooks(home: environment.Environment) -> None:
    """Sign the notebooks, so that JupyterLab runs the small scripts in their stored outputs."""
    notebooks = sorted((home.root / "lessons").glob("*.ipynb"))
    if not notebooks:
        return
    command = [str(home.python), "-c", TRUST, *map(str, notebooks)]
    done = subprocess.run(
        command, env=home.variables(os.environ), cwd=home.root, capture_output=True, text=True
    )
    if done.returncode:
        say(
            "The notebooks could not be signed as trusted; JupyterLab will ask. "
            + done.stderr.strip()[-300:]
        )
    else:
        say(f"Trusted: {len(notebooks)} notebook{'s' * (len(notebooks) != 1)}.")
