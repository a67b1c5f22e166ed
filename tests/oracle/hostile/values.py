"""The hostile values: what one might hand to a function by mistake, as source."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from .objects import tools

# Each row is drawn as often as any other; within a row, each value.
VALUES = {
    "nothing": "None",
    "booleans": "True|False|np.bool_(True)|torch.tensor(True)|torch.tensor([True])",
    "whole": "0|1|-1|2|3|-2|5|-3|100",
    "huge": "2**31|2**63|-2**63-1|2**62|2**63-1|10**30|2**40|-2**31|2**64",
    "floats": "0.5|1.0|-1.5|2.0|nan|inf|-inf|1e300|-0.0",
    "complex": "1j|1+2j|complex(2)|torch.tensor(1j)|c(2,3)|c(3)|c(2,2)",
    "texts": "'a'|'mean'|''|b'x'|'cpu'|'float32'|'cuda'|'none'",
    "sequences": "[]|()|[1]|(1,2)|(0,)|(-1,)|[2,2]|(1,1)|[1.5]|['a']|[None]|[True]|"
    "range(2)|(2**40,2**40)|"
    "(-1,-1)|(1,2,3)|[torch.tensor(1)]|[np.int64(1)]|(2**63,)|torch.Size([2])|[0,0]|(2,(3,))",
    "sequences of tensors": "[t(2)]|(t(2,3),t(2,3))|[t(2),None]|[t(2,3),i(2,3)]|"
    "(t(0),t(2,3))|[t()]|[1,t(2)]",
    "others": "object()|{}|{1}|...|slice(1)|len|iter([1])|Fraction(1,2)|Index(1)|"
    "Float(0.5)|Whole(2)|int|float",
    "numpy numbers": "np.float64(1.5)|np.float32(0.5)|np.int64(1)|np.int32(2)|np.uint8(3)|"
    "np.complex64(1j)|"
    "np.float16(2)|np.int64(-1)|np.float64(2.0)",
    "arrays": "np.array(2)|np.array([1.,2.])|np.array(['a'],dtype=object)|np.ones((2,3))|"
    "np.array([1,2])|"
    "np.array(0.5)|np.zeros((0,3))|np.array(['a'])",
    "numbers in tensors": "torch.tensor(1)|torch.tensor(2.)|torch.tensor([1])|torch.tensor([2.])|"
    "torch.tensor(-1)|torch.tensor(0.5,requires_grad=True)|torch.tensor([[1]])|torch.tensor(0)",
    "shapes": "t()|t(0)|t(2,0)|t(0,3)|t(1)|t(3)|t(2)|t(2,3)|t(3,2)|t(2,3,4)|t(4,4)|t(3,3)|"
    "t(1,2,3)|t(1,1,3,3)|"
    "t(0,1,3,3)|t(1,0,3)",
    "dtypes": "i(2,3)|i(3)|i(3,3)|b(2,3)|b(3)|d(2,3)|d(3)|d(3,3)|u(2,3)|"
    "torch.tensor([1,2,3],dtype=torch.int32)|"
    "t(2,3).half()|i()|b()|d()|torch.zeros(2,3,dtype=torch.int16)|z(2)|z(2,3)|-i(2)|i(2)*100",
    "memory": "t(3,2).t()|t(3,1).expand(3,3)|t(2,6)[:,::2]|t(1,3).expand(2,3)|g(3,2).t()|"
    "g(2,3)|g(3)|"
    "torch.as_tensor(read_only)|t(6)[::2]|torch.zeros(()).expand(2,3)|torch.nn.Parameter(t(2,3))",
    "not finite": "torch.full((2,3),nan)|torch.full((2,3),inf)|torch.full((3,),-inf)|"
    "torch.tensor(nan)|t(2,3)/0",
    "kinds": "torch.float32|torch.int64|torch.bool|torch.float16|torch.complex64|"
    "torch.float64|torch.uint8|"
    "torch.device('cpu')|np.float32|torch.strided|torch.Tensor|torch.contiguous_format",
}


class Index:
    """A whole number that is no `int`."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        """Give the number."""
        return self.value


class Float:
    """A number that is no `float`."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        """Give the number."""
        return self.value


class Whole(int):
    """A kind of `int`."""


def names(torch: ModuleType) -> dict[str, Any]:
    """Give what calls refer to.

    Args:
        torch: PyTorch, or minigrad in its place.
    """

    def t(*sizes: int) -> Any:
        count = int(np.prod(sizes, dtype=int))
        numbers = ((np.arange(count) * 37 % 41 + 1) / 42).astype(np.float32)
        return torch.tensor(numbers.reshape(sizes))

    def g(*sizes: int) -> Any:
        leaf = t(*sizes).requires_grad_()
        known["leaves"].append(leaf)
        return leaf

    def e(size: int) -> Any:
        return torch.eye(size) * 2 + t(size, size).t() @ t(size, size) / 4

    def m() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))

    read_only = np.ones((2, 3), dtype=np.float32)
    read_only.flags.writeable = False
    known: dict[str, Any] = {
        "torch": torch, "np": np, "nan": float("nan"), "inf": float("inf"), "Fraction": Fraction,
        "Index": Index, "Float": Float, "Whole": Whole, "read_only": read_only,
        "leaves": [], "t": t, "g": g, "e": e,
        "i": lambda *sizes: (t(*sizes) * 4).long(), "b": lambda *sizes: t(*sizes) > 0.5,
        "d": lambda *sizes: t(*sizes).double(), "u": lambda *sizes: (t(*sizes) * 4).byte(),
        "z": lambda *sizes: torch.zeros(sizes, dtype=torch.int64),
        "c": lambda *sizes: torch.complex(t(*sizes), t(*sizes)),
        "m": m,
    }  # fmt: skip
    return known | tools(torch, known)
