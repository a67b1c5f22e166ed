"""Work on lessons: drafts, release, lint, reference, proofs, pictures. See lessons/AUTHORING.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):  # run as a folder: this package and minigrad are found around it
    sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])

try:
    from _tools import (
        canonical,
        drafts,
        lint,
        own_model,
        pictures,
        places,
        proofs,
        reference,
        release,
        reruns,
        slides,
    )
except ModuleNotFoundError as error:
    sys.exit(
        f"{error.name} is not installed here. Activate the environment first "
        "(source .venv/bin/activate); step 0 in lessons/AUTHORING.md makes it."
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the commands.

    Args:
        argv: the command and its arguments.

    Returns:
        An exit code.
    """
    parser = argparse.ArgumentParser(prog="python3 lessons/_tools", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    taking = commands.add_parser("import", help="make a solution notebook out of a draft")
    taking.add_argument("draft", type=Path)
    taking.add_argument("name", help="the lesson's file name, such as 06_full_backward_hooks")
    giving = commands.add_parser("export", help="write a solution notebook as a draft")
    giving.add_argument("lesson", help="its number, such as 06")
    giving.add_argument("draft", type=Path)
    for name, says in (
        ("release", "run and write lessons"),
        ("lint", "look for slips"),
        ("reruns", "run cells again, and tell which then show something else"),
    ):
        command = commands.add_parser(name, help=says)
        command.add_argument("lessons", nargs="*", help="numbers such as 06; all by default")
        if name == "release":
            command.add_argument("--check", action="store_true", help="compare, write nothing")
    showing = commands.add_parser("slides", help="make slides of a learner's notebook")
    showing.add_argument("lesson", help="its number, such as 06")
    showing.add_argument("folder", type=Path, help="where the HTML file goes")
    showing.add_argument("--reveal", help="where the browser finds reveal.js (else: the network)")
    building = commands.add_parser("book", help="build the book (Sphinx has to be installed)")
    building.add_argument("folder", type=Path, help="where to")
    building.add_argument("lessons", nargs="*", help="numbers such as 06; all by default")
    computing = commands.add_parser("lite", help="build the site that computes in a browser")
    computing.add_argument("folder", type=Path, help="where to")
    computing.add_argument("lessons", nargs="*", help="numbers such as 06; all by default")
    computing.add_argument("--pyodide", type=Path, help="a folder with Pyodide, to go into it")
    comparing = commands.add_parser("reference", help="compare minigrad's names with PyTorch's")
    comparing.add_argument("--check", action="store_true", help="compare the page, write nothing")
    proving = commands.add_parser("proofs", help="prove the rules, and tell what is proved")
    proving.add_argument("--check", action="store_true", help="compare the page, write nothing")
    drawing = commands.add_parser("pictures", help="draw the pictures of the README")
    drawing.add_argument("--check", action="store_true", help="compare pictures, write nothing")
    owning = commands.add_parser("own-model", help='run the page "Your own model" on PyTorch')
    owning.add_argument("--check", action="store_true", help="compare, write nothing")
    given = parser.parse_args(argv)
    if given.command == "reference":
        return reference.main(check=given.check)
    if given.command == "proofs":
        return proofs.main(check=given.check)
    if given.command == "own-model":
        return own_model.main(check=given.check)
    if given.command == "pictures":
        return pictures.main(check=given.check)
    if given.command == "release":
        return release.main([*given.lessons, *(["--check"] if given.check else [])])
    if given.command == "book":
        from _tools import book  # it loads all of minigrad

        return book.main(given.folder, tuple(given.lessons))
    if given.command == "lite":
        from _tools import lite

        return lite.main(given.folder, tuple(given.lessons), given.pyodide)
    if given.command == "slides":
        return slides.main(given.lesson, given.folder, given.reveal)
    if given.command == "reruns":
        return reruns.main(given.lessons)
    if given.command == "lint":
        return lint.main(given.lessons)
    try:
        if given.command == "import":
            places.number_of(given.name)
            path = places.LESSONS / "solutions" / f"{Path(given.name).stem}.ipynb"
            notebook = drafts.notebook_from(given.draft.read_text(encoding="utf-8"))
            canonical.write(notebook, path)
        else:
            path = given.draft
            source = canonical.read(places.solution(given.lesson))
            path.write_text(drafts.draft_from(source), encoding="utf-8", newline="\n")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
