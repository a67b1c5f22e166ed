"""Describe an operation: its calls, its inputs, and what it refuses.

A call is an expression of the inputs `x`, `y`, `z` and `w`. Besides `torch`, `F`, `nn` and `np` it
may use `op`, the operation of that name in the book of derivatives, and the constants of
`running.py`. Everything that checks operations takes them from here: see `OPERATIONS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]
DTYPES = ("float16", "float64", "int64", "uint8", "bool")
FLOATS = ("float16", "float64", "int64")

# Shapes of inputs: entry by entry, a vector, a matrix, one with three axes, a square, a batch.
E: Shape = (8,)
V: Shape = (4,)
M: Shape = (2, 3)
T: Shape = (2, 3, 2)
Q: Shape = (3, 3)
B: Shape = (2, 2, 2)
BROADCAST: tuple[tuple[Shape, Shape], ...] = (
    ((4,), (4,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (4,)),
)  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """An operation with inputs of certain shapes.

    Attributes:
        name: Its name in the book of derivatives, or another if it is made of several.
        shapes: The shapes of its inputs.
        calls: Expressions that call it.
        faults: Expressions that must raise.
        positive: Whether the inputs must be positive.
        dtypes: The dtypes that the first call is tried with, all inputs alike.
        proof: The shapes of the symbols that the calls are proved for, "" for the same ones; or
            why there is no proof.
        checked: Whether gradients are compared with differences.
        twice: Whether PyTorch differentiates it twice.
        edges: Whether what it gives at infinities and NaN is PyTorch's.
    """

    name: str
    shapes: tuple[Shape, ...]
    calls: tuple[str, ...]
    faults: tuple[str, ...] = ()
    positive: bool = False
    dtypes: tuple[str, ...] = DTYPES
    proof: tuple[Shape, ...] | str = ""
    checked: bool = True
    twice: bool = True
    edges: bool = True

    @property
    def symbols(self) -> tuple[Shape, ...]:
        """The shapes that it is proved for."""
        if self.proof and not isinstance(self.proof, str):
            return self.proof
        return ((2,),) * len(self.shapes) if set(self.shapes) == {E} else self.shapes

    @property
    def is_of_the_book(self) -> bool:
        """Whether it is called as a part of minigrad, which PyTorch does not have."""
        return any("op(" in call for call in self.calls)


def several(shapes: Any) -> tuple[Shape, ...]:
    """Take one shape for a list of one."""
    return shapes if shapes and isinstance(shapes[0], tuple) else (shapes,)


def op(
    name: str, shapes: Any, *calls: str, faults: Iterable[str] = (), proof: Any = "", **more: Any
) -> Operation:
    """Describe an operation; see `Operation`. One shape may stand for a tuple of one."""
    proof = proof if isinstance(proof, str) else several(proof)
    return Operation(name, several(shapes), calls, tuple(faults), proof=proof, **more)


@dataclass(frozen=True)
class Layer:
    """A layer, as it is written after `nn.`; its calls name it `m`.

    Attributes:
        name: How it is made.
        shapes: The shapes of its inputs.
        calls: Expressions that call it.
        faults: Expressions that must raise.
    """

    name: str
    shapes: tuple[Shape, ...]
    calls: tuple[str, ...]
    faults: tuple[str, ...] = ()


def layer(
    name: str, *shapes: Shape, calls: Iterable[str] = (), faults: Iterable[str] = ()
) -> Layer:
    """Describe a layer; see `Layer`. Without calls it is called with its inputs."""
    usual = f"m({', '.join('xyzw'[: len(shapes)])})"
    return Layer(name, shapes, tuple(calls) or (usual,), tuple(faults))
