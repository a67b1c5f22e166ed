"""Work on lessons: release, lint, reference, proofs, pictures. See lessons/AUTHORING.md."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a folder: this package and minigrad are found around it
    sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])

try:
    import click

    from _tools import canonical  # noqa: F401 - it needs what all of them need
except ModuleNotFoundError as error:
    sys.exit(
        f"{error.name} isn't installed here. Activate the environment first "
        "(source .venv/bin/activate); step 0 in lessons/AUTHORING.md makes it."
    )

LESSONS = click.argument("lessons", nargs=-1, metavar="[NN]...")
FOLDER = click.argument("folder", type=Path)
CHECK = click.option("--check", is_flag=True, help="Compare, and write nothing.")
PYODIDE = click.option("--pyodide", type=Path, help="A folder with Pyodide to include.")
# Each is a module here, whose `main` does it.
COMMANDS: dict[str, tuple[str, tuple[Callable[[Any], Any], ...]]] = {
    "release": ("Run and write lessons.", (LESSONS,)),
    "lint": ("Check lessons against the rules.", (LESSONS,)),
    "reruns": ("Run cells again, and report those whose output changes.", (LESSONS,)),
    "book": ("Build the book (Sphinx has to be installed).", (FOLDER, LESSONS)),
    "lite": ("Build the site that computes in a browser.", (FOLDER, LESSONS, PYODIDE)),
    "reference": ("Compare minigrad with PyTorch by name.", (CHECK,)),
    "proofs": ("Prove the rules, and list what is proved.", (CHECK,)),
    "pictures": ("Draw the pictures of the README.", (CHECK,)),
    "own-model": ('Run the page "Your own model" on PyTorch.', (CHECK,)),
}
cli = click.Group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})


def _add(name: str, says: str, parameters: Sequence[Callable[[Any], Any]]) -> None:
    def run(**given: Any) -> None:
        sys.exit(importlib.import_module(f"_tools.{name.replace('-', '_')}").main(**given))

    for parameter in reversed(parameters):
        run = parameter(run)
    cli.command(name, help=says)(run)


for _name, (_says, _parameters) in COMMANDS.items():
    _add(_name, _says, _parameters)

if __name__ == "__main__":
    cli(prog_name="python3 lessons/_tools")
