"""Write `index.txt`, what waits in which file; or, if asked for `stubs`, what editors read.

`python -m minigrad.signatures stubs` writes `minigrad/_functions.pyi`, with the first
sentence of each docstring. That file is not kept under version control: setting up makes it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from minigrad.signatures.lazy_loading import INDEX, load_all
from minigrad.signatures.signature import Argument, listed
from minigrad.signatures.variants import VARIANTS, Variants, functions, said_in

# Where functions and methods stand.
PACKAGE = Path(__file__).parents[1]
STUBS = PACKAGE / "_functions.pyi"
ROOMS = ("creation", "ops")
_TYPES = {
    "Operand": "Tensor | Number",
    "Dim": "int",
    "Sizes": "Sequence[int]",
    **{name: name for name in ("Tensor", "int", "bool", "float", "str")},
}
_OPENING = """# What functions of minigrad take; written by `python -m minigrad.signatures stubs`.

from builtins import complex as Number
from collections.abc import Sequence
from math import inf
from typing import Any

from minigrad.core.tensor import Tensor
"""


def index() -> str:
    """Give a line for each file that importing minigrad does not load, and each kind of form."""
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("[a-z]*.py"))]
    files = [f"{path.parent.name}.{path.stem}" for path in paths] + ["extra.composed"]
    late = [file for file in files if f"minigrad.{file}" not in sys.modules]
    for file in late:
        import_module(f"minigrad.{file}")
    lines = []
    for file in late:
        said = zip(("functions", "methods"), said_in.get(f"minigrad.{file}", ()), strict=False)
        lines += [" ".join([file, kind, *sorted(set(names))]) for kind, names in said if names]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------ stubs


def _written(argument: Argument) -> str:
    kind = _TYPES.get(argument.kind, "Any")
    if (argument.optional or argument.default == "None") and kind != "Any":
        kind += " | None"
    default = "" if argument.default is None else f" = {argument.default}"
    return f"{argument.name}: {kind}{default}"


def _result(variants: Variants) -> str:
    annotation = getattr(variants.body, "__annotations__", {}).get("return")
    several = "tuple[Tensor, ...]" if variants.signature.results else "Tensor"
    return annotation if annotation in ("bool", "tuple[Tensor, ...]") else several


def stub(name: str, variants: Variants) -> str:
    """Write the stub of a function.

    Args:
        name: The function's name, which may be another one of its names.
        variants: The function, and what else is made of it.

    Example:
        >>> import minigrad as torch
        >>> stub("equal", torch.signatures.VARIANTS["equal"]).splitlines()[0]
        'def equal(input: Tensor, other: Tensor) -> bool:'
    """
    kinds = {each.name: _TYPES.get(each.kind, "Any") for each in variants.signature.arguments}
    others = [("out", "Tensor")] if variants.signature.takes_out else []
    others += [(theirs, kinds[ours]) for ours, theirs in variants.signature.numpy_names.items()]
    more = [f"{other}: {kind} | None = None" for other, kind in others]
    given = listed(variants.signature.arguments, _written, more)
    first = (variants.body.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    says = f'"""{first}"""'.replace("\\", "\\\\")
    return f"def {name}({given}) -> {_result(variants)}:\n    {says}\n"


def stubs() -> str:
    """Write the stubs of all public functions."""
    found = {name: VARIANTS[name] for name in sorted(functions) if name in VARIANTS}
    return "\n".join([_OPENING, *(stub(name, variants) for name, variants in found.items())])


if __name__ == "__main__":
    if sys.argv[1:] == ["stubs"]:
        load_all()
        STUBS.write_text(stubs(), encoding="utf-8")
    else:
        Path(INDEX).write_text(index(), encoding="utf-8")
