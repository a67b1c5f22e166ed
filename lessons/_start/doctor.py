"""Tell what is installed, what is missing, and what to do about it: `minigrad doctor`."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import sys

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from .installed import IN_A_CLONE, SHIPPED
from .python_version import NEWEST, OLDEST

DISTRIBUTION = "minigrad-lessons"
# what each package is for
NEEDED = {
    "numpy": "all numbers",
    "sympy": "formulas and proofs",
    "matplotlib": "plots",
    "jupyterlab": "the lessons in a browser",
    "ipykernel": "running cells",
}
OPTIONAL = {
    "tqdm": "progress bars",
    "mpi4py": "lesson 16; without it, recorded results are shown",
    "nbgrader": "grading a class with nbgrader",
    "torch": "comparing with PyTorch itself",
}
Row = tuple[str, str, str, str]


def main() -> int:
    """Print a table; return 0 if the lessons can run, 1 if something has to be done."""
    wanted = {
        each.name: each.specifier
        for own in importlib.metadata.distributions(name=DISTRIBUTION)
        for each in map(Requirement, own.requires or ())
    }
    rows = [_package(name, wanted.get(name)) for name in NEEDED | OPTIONAL]
    fits, python = OLDEST <= sys.version_info[:2] <= NEWEST, platform.python_version()
    advice = "use a Python from 3.11 to 3.14: https://www.python.org/downloads"
    rows.append(("ok" if fits else "WRONG", "Python", f"{python}, {sys.executable}", advice))
    rows.append(("ok", "lessons", str(SHIPPED), ""))
    wide = max(len(what) for _, what, _, _ in rows)
    for state, what, said, _ in rows:
        print(f"{state:<8} {what:<{wide}}  {said}")
    for advice in dict.fromkeys(todo for state, *_, todo in rows if state != "ok" and todo):
        print(f"\nWhat to do: {advice}")
    bad = any(state == "WRONG" for state, *_ in rows)
    print("\nThe lessons can't run like this." if bad else "\nThe lessons can run.")
    return int(bad)


def _package(name: str, wanted: SpecifierSet | None) -> Row:
    """Look for a package: is it here, does it import, is its version one that we know?"""
    what = '-e ".[lessons]", in the clone' if IN_A_CLONE else '"minigrad-lessons[lessons]"'
    extra = f"pip install {what}"
    try:
        version = importlib.metadata.version(name)
        if wanted is not None and version not in wanted:
            return "WRONG", name, f"{version}, and {wanted} is needed", extra
        importlib.import_module(name)
    except importlib.metadata.PackageNotFoundError:
        said = f"not installed; for {(NEEDED | OPTIONAL)[name]}"
        return ("WRONG", name, said, extra) if name in NEEDED else ("optional", name, said, "")
    except Exception as error:  # a broken package may raise anything, and this is to say so
        first = f"{type(error).__name__}: {error}".partition("\n")[0]
        said = f"{version}, but it can't be imported: {first}"
        bad = "WRONG" if name in NEEDED else "missing"
        return bad, name, said, f"pip install --force-reinstall {name}"
    return "ok", name, version, ""
