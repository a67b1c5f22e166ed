"""Write `minigrad/_functions.pyi`, which editors read: the functions, with what they take.

Each has the first sentence of its docstring. The file is not kept under version control: setting up
makes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":  # before anything is installed
    sys.path[:0] = [str(ROOT)]

from minigrad.signatures.lazy_loading import load_all  # noqa: E402
from minigrad.signatures.signature import Argument, listed  # noqa: E402
from minigrad.signatures.variants import VARIANTS, Variants, functions  # noqa: E402

STUBS = ROOT / "minigrad" / "_functions.pyi"
_TYPES = {
    "Operand": "Tensor | Number",
    "Dim": "int",
    "Sizes": "Sequence[int]",
    **{name: name for name in ("Tensor", "int", "bool", "float", "str")},
}
_OPENING = """# What functions of minigrad take; written by `lessons/_tools/signature_stubs.py`.

from builtins import complex as Number
from collections.abc import Sequence
from math import inf
from typing import Any

from minigrad.core.tensor import Tensor
"""


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
    load_all()
    STUBS.write_text(stubs(), encoding="utf-8")
