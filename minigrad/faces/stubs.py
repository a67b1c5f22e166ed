"""Tell editors what the functions of `minigrad` take, which are only written when they are called.

`python -m minigrad.faces stubs` writes `minigrad/_functions.pyi` from the faces, with the first
sentence of each docstring. The file is not kept under version control: setting up makes it.
"""

from __future__ import annotations

from pathlib import Path

from minigrad.faces.face import FACES, Face, functions
from minigrad.faces.signature import Argument

STUBS = Path(__file__).parents[1] / "_functions.pyi"

_TYPES = {
    "Tensor": "Tensor",
    "Operand": "Tensor | Number",
    "Scalar": "Tensor | Number",
    "Dim": "int",
    "Dims": "int | Sequence[int]",
    "Sizes": "Sequence[int]",
    "int": "int",
    "bool": "bool",
    "float": "float",
    "str": "str",
}
_OPENING = """# What the functions of minigrad take; written by `python -m minigrad.faces stubs`.

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


def _result(face: Face) -> str:
    if face.signature.results:
        return f"tuple[{', '.join(['Tensor'] * len(face.signature.results))}]"
    told = getattr(face.body, "__annotations__", {}).get("return")
    return told if told in ("bool", "tuple[Tensor, ...]") else "Tensor"


def stub(name: str, face: Face) -> str:
    """Write the stub of a function.

    Args:
        name: The function's name, which may be another one of its names.
        face: Its face.

    Example:
        >>> import minigrad as torch
        >>> stub("equal", torch.faces.FACES["equal"]).splitlines()[0]
        'def equal(input: Tensor, other: Tensor) -> bool:'
    """
    signature = face.signature
    parts = [_written(each) for each in signature.arguments if not each.by_name]
    more = [_written(each) for each in signature.arguments if each.by_name]
    kinds = {each.name: _TYPES.get(each.kind, "Any") for each in signature.arguments}
    more += ["out: Tensor | None = None"] if signature.takes_out else []
    more += [
        f"{theirs}: {kinds[ours]} | None = None" for ours, theirs in signature.numpy_names.items()
    ]
    starred = any(part.startswith("*") for part in parts)
    given = ", ".join([*parts, *(["*"] if more and not starred else []), *more])
    first = (face.body.__doc__ or "...").strip().partition("\n\n")[0].replace("\n", " ")
    says = f'    """{first}"""' if face.body.__doc__ else "    ..."
    return f"def {name}({given}) -> {_result(face)}:\n{says.replace(chr(92), chr(92) * 2)}\n"


def stubs() -> str:
    """Write the stubs of all functions that have a face."""
    found = {name: FACES[name] for name in sorted(functions) if name in FACES}
    return "\n".join([_OPENING, *(stub(name, face) for name, face in found.items())])
