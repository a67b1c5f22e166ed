"""Work on lessons: drafts, release, lint, reference, proofs, pictures. See lessons/AUTHORING.md."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a folder: this package and minigrad are found around it
    sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])

try:
    import click

    from _tools import canonical, drafts, places
except ModuleNotFoundError as error:
    sys.exit(
        f"{error.name} is not installed here. Activate the environment first "
        "(source .venv/bin/activate); step 0 in lessons/AUTHORING.md makes it."
    )

Decorator = Callable[[Any], Any]
LESSON = click.argument("lesson")
LESSONS = click.argument("lessons", nargs=-1, metavar="[NN]...")
ONLY = click.argument("only", nargs=-1, metavar="[NN]...")
FOLDER = click.argument("folder", type=Path)
CHECK = click.option("--check", is_flag=True, help="Compare, and write nothing.")
PYODIDE = click.option("--pyodide", type=Path, help="A folder with Pyodide, to go into it.")
REVEAL = click.option("--reveal", help="Where the browser finds reveal.js (else: the network).")
# Each is a module here, whose `main` does it.
COMMANDS: dict[str, tuple[str, tuple[Decorator, ...]]] = {
    "release": ("Run and write lessons.", (LESSONS, CHECK)),
    "lint": ("Look for slips.", (LESSONS,)),
    "reruns": ("Run cells again, and tell which then show something else.", (LESSONS,)),
    "slides": ("Make slides of a learner's notebook.", (LESSON, FOLDER, REVEAL)),
    "book": ("Build the book (Sphinx has to be installed).", (FOLDER, ONLY)),
    "lite": ("Build the site that computes in a browser.", (FOLDER, ONLY, PYODIDE)),
    "reference": ("Compare minigrad with PyTorch by name.", (CHECK,)),
    "proofs": ("Prove the rules, and tell what is proved.", (CHECK,)),
    "pictures": ("Draw the pictures of the README.", (CHECK,)),
    "own-model": ('Run the page "Your own model" on PyTorch.', (CHECK,)),
}


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Hold the commands."""


def _add(name: str, says: str, parameters: Sequence[Decorator]) -> None:
    def run(**given: Any) -> int:
        return int(importlib.import_module(f"_tools.{name.replace('-', '_')}").main(**given))

    for parameter in reversed(parameters):
        run = parameter(run)
    cli.command(name, help=says)(run)


for _name, (_says, _parameters) in COMMANDS.items():
    _add(_name, _says, _parameters)


@cli.command("import")
@click.argument("draft", type=Path)
@click.argument("name")
def take(draft: Path, name: str) -> None:
    """Make a solution notebook, such as 06_full_backward_hooks, out of a draft."""
    with _troubles():
        places.number_of(name)
        path = places.LESSONS / "solutions" / f"{Path(name).stem}.ipynb"
        canonical.write(drafts.notebook_from(draft.read_text(encoding="utf-8")), path)
    print(f"written: {path}")


@cli.command()
@LESSON
@click.argument("draft", type=Path)
def export(lesson: str, draft: Path) -> None:
    """Write a solution notebook as a draft."""
    with _troubles():
        text = drafts.draft_from(canonical.read(places.solution(lesson)))
        draft.write_text(text, encoding="utf-8", newline="\n")
    print(f"written: {draft}")


@contextlib.contextmanager
def _troubles() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands.

    Args:
        argv: the command and its arguments.

    Returns:
        An exit code.
    """
    try:
        return int(cli.main(argv, prog_name="python3 lessons/_tools", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
