"""Work on lessons: drafts, release, lint, reference, proofs, pictures. See lessons/AUTHORING.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):  # run as a folder: the package is found beside it
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import click

    from _tools import canonical, drafts, lint, places, release, reruns, slides, table
except ModuleNotFoundError as error:
    sys.exit(
        f"{error.name} is not installed here. Activate the environment first "
        "(source .venv/bin/activate); step 0 in lessons/AUTHORING.md makes it."
    )

LESSONS = click.argument("lessons", nargs=-1, metavar="[NN]...")
FOLDER = click.argument("folder", type=Path)
CHECK = click.option("--check", is_flag=True, help="Compare, and write nothing.")


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Hold the commands."""


@cli.command("import")
@click.argument("draft", type=Path)
@click.argument("name")
def take(draft: Path, name: str) -> int:
    """Make a solution notebook, such as 06_full_backward_hooks, out of a draft."""
    places.number_of(name)
    path = places.LESSONS / "solutions" / f"{Path(name).stem}.ipynb"
    canonical.write(drafts.notebook_from(draft.read_text(encoding="utf-8")), path)
    return _written(path)


@cli.command()
@click.argument("lesson")
@click.argument("draft", type=Path)
def export(lesson: str, draft: Path) -> int:
    """Write a solution notebook as a draft."""
    text = drafts.draft_from(canonical.read(places.solution(lesson)))
    draft.write_text(text, encoding="utf-8", newline="\n")
    return _written(draft)


def _written(path: Path) -> int:
    print(f"written: {path}")
    return 0


cli.command("release", help="Run and write lessons.")(LESSONS(CHECK(release.main)))
cli.command("lint", help="Look for slips.")(LESSONS(lint.main))
cli.command("reruns", help="Run cells again; tell which show something else.")(LESSONS(reruns.main))
cli.command("table", help="Measure lessons.")(LESSONS(table.main))


@cli.command("slides")
@click.argument("lesson")
@FOLDER
@click.option("--reveal", help="Where the browser finds reveal.js (else: the network).")
def make_slides(lesson: str, folder: Path, reveal: str | None) -> int:
    """Make slides of a learner's notebook."""
    return slides.main(lesson, folder, reveal)


@cli.command()
@FOLDER
@LESSONS
def book(folder: Path, lessons: Sequence[str]) -> int:
    """Build the book (Sphinx has to be installed)."""
    from _tools import book as builder

    return builder.main(folder, tuple(lessons))


@cli.command()
@FOLDER
@LESSONS
@click.option("--pyodide", type=Path, help="A folder with Pyodide, to go into it.")
def lite(folder: Path, lessons: Sequence[str], pyodide: Path | None) -> int:
    """Build the site that computes in a browser."""
    from _tools import lite as builder

    return builder.main(folder, tuple(lessons), pyodide)


@cli.command()
@CHECK
@click.option("--as-told", is_flag=True, help="Leave how many scenarios use a name; run none.")
def reference(check: bool, as_told: bool) -> int:
    """Compare minigrad with PyTorch by name."""
    from _tools import reference as maker

    return maker.main(check=check, as_told=as_told)


@cli.command()
@CHECK
def proofs(check: bool) -> int:
    """Prove the rules, and tell what is proved."""
    from _tools import proofs as maker

    return maker.main(check=check)


@cli.command()
@CHECK
def pictures(check: bool) -> int:
    """Draw the pictures of the README."""
    from _tools import pictures as maker

    return maker.main(check=check)


@cli.command()
@CHECK
@click.option("--times", is_flag=True, help="Measure what hooks cost, too.")
def own_model(check: bool, times: bool) -> int:
    """Run the page "Your own model" on PyTorch."""
    from _tools import own_model as maker

    return maker.main(check=check, measure=times)


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
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
