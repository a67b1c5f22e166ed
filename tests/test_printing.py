"""Check that arrays are written as PyTorch writes them: by recorded forms and, if possible, live.

The recorded cases hold each array exactly (floats in hexadecimal) beside the form PyTorch 2.13.0
gave it. After adding a case, `python3 tests/test_printing.py` asks an installed PyTorch again.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from minigrad.creation import printing
from minigrad.creation.printing import (
    PARAMETER_HEADING,
    PrintOptions,
    format_tensor,
    set_printoptions,
)

RECORDED = Path(__file__).parent / "recorded" / "printing.json"
CASES: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))

SERIES = {
    "count": lambda size: np.arange(size),
    "sevenths": lambda size: (np.arange(size) - size // 2) / 7,
    "parity": lambda size: np.arange(size) % 2,
}


def get_printoptions() -> dict[str, Any]:
    """Give the choices as they are now."""
    return printing._current._asdict()


@contextmanager
def printoptions(**choices: Any) -> Iterator[None]:
    """Print with other choices in a block, and with the earlier ones after it."""
    before = get_printoptions()
    set_printoptions(**choices)
    try:
        yield
    finally:
        set_printoptions(**before)


@dataclass
class Case:
    """A tensor to print: its array, its place in a graph and the options in force.

    `grad` is empty, `"leaf"` for a leaf that requires a gradient, or the name of a node.
    """

    array: np.ndarray
    grad: str = ""
    default_dtype: str = "float32"
    type_name: str = "tensor"
    options: dict[str, Any] = field(default_factory=dict)


def read_case(entry: dict[str, Any]) -> Case:
    """Build the case that an entry of the recorded file describes."""
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    if "series" in entry:
        values = SERIES[entry["series"]](int(np.prod(shape)))
    elif dtype.kind == "c":
        values = [complex(*map(float.fromhex, pair)) for pair in entry["values"]]
    elif dtype.kind == "f":
        values = [float.fromhex(value) for value in entry["values"]]
    else:
        values = entry["values"]
    options = dict(entry.get("options", {}))
    if options.get("threshold") == "inf":
        options["threshold"] = float("inf")
    return Case(
        np.array(values, dtype=dtype).reshape(shape),
        entry.get("grad", ""),
        entry.get("default_dtype", "float32"),
        entry.get("type_name", "tensor"),
        options,
    )


def ours(case: Case) -> str:
    """Write the case with minigrad."""
    with printoptions(**case.options):
        is_parameter = case.type_name == "Parameter"
        return PARAMETER_HEADING * is_parameter + format_tensor(
            case.array,
            requires_grad=case.grad != "",
            grad_fn=case.grad if case.grad not in ("", "leaf") else None,
            default_dtype=case.default_dtype,
            prefix="tensor(" if is_parameter else f"{case.type_name}(",
        )


def theirs(case: Case, torch: ModuleType) -> str:
    """Write the case with PyTorch."""
    tensor = torch.from_numpy(case.array.copy())
    if case.type_name == "Parameter":
        tensor = torch.nn.Parameter(tensor, requires_grad=False)
    elif case.type_name != "tensor":
        tensor = tensor.as_subclass(type(case.type_name, (torch.Tensor,), {}))
    if case.grad:
        tensor.requires_grad_()
    if case.grad == "Invalid":
        with torch.no_grad():
            tensor = tensor[...]
            tensor.copy_(tensor.clone())  # arithmetic would not keep every -0 and infinity
    elif case.grad == "ViewBackward0":
        tensor = tensor.view(tensor.shape)
    elif case.grad == "CloneBackward0":
        tensor = tensor.clone()
    elif case.grad.endswith("Backward"):
        methods = {"forward": staticmethod(lambda ctx, x: x.clone())}
        name = case.grad.removesuffix("Backward")
        function: Any = type(name, (torch.autograd.Function,), methods)
        tensor = function.apply(tensor)
    with pytorch_state(torch, case):
        return repr(tensor)


@contextmanager
def pytorch_state(torch: ModuleType, case: Case) -> Iterator[None]:
    """Put the case's options and default dtype in force in PyTorch."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, case.default_dtype))
    torch.set_printoptions(**case.options)
    try:
        yield
    finally:
        torch.set_default_dtype(default)
        torch.set_printoptions(profile="default")


@pytest.mark.parametrize("entry", CASES, ids=[entry["about"] for entry in CASES])
def test_recorded_form(entry: dict[str, Any]) -> None:
    assert ours(read_case(entry)) == entry["prints"]


def test_recorded_forms_are_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    wrong = [
        entry["about"] for entry in CASES if theirs(read_case(entry), torch) != entry["prints"]
    ]
    assert wrong == []


def test_strided_arrays_print_like_their_copies() -> None:
    rng = np.random.default_rng(3)
    whole = rng.normal(size=(6, 4, 5)).astype(np.float32)
    for view in (whole.T, whole[::-1], whole[1::2, :, ::-2], np.broadcast_to(whole[0, 0], (2, 5))):
        assert format_tensor(view) == format_tensor(view.copy())


def test_byte_order_is_not_shown() -> None:
    assert format_tensor(np.array([1.5, 2.5], dtype=">f4")) == "tensor([1.5000, 2.5000])"
    assert format_tensor(np.array([1, 2], dtype=">i8")) == "tensor([1, 2])"


def test_printing_leaves_the_array_as_it_was() -> None:
    array = np.array([1.0, -0.0, np.nan, 1e-30], dtype=np.float32)
    before = array.tobytes()
    array.flags.writeable = False
    assert format_tensor(array, requires_grad=True).startswith("tensor([")
    assert array.tobytes() == before


def test_numpy_scalar_prints_like_an_array_without_dimensions() -> None:
    assert format_tensor(np.float32(2.5)) == "tensor(2.5000)"  # type: ignore[arg-type]


def test_objects_are_laid_out_like_integers() -> None:
    thirds = np.array(
        [[Fraction(1, 3), Fraction(2)], [Fraction(-22, 7), Fraction(0)]], dtype=object
    )
    assert format_tensor(thirds) == "tensor([[  1/3,     2],\n        [-22/7,     0]])"
    assert format_tensor(thirds[0, 0], grad_fn="DivBackward0") == (
        "tensor(1/3, grad_fn=<DivBackward0>)"
    )
    assert format_tensor(np.empty((0, 2), dtype=object)) == "tensor([], size=(0, 2))"
    assert format_tensor(np.empty(0, dtype=object)) == "tensor([])"


def test_long_objects_take_a_line_each_without_padding() -> None:
    long = "x" * 70
    column = np.array(["y", long, "z"], dtype=object)
    assert format_tensor(column) == f"tensor([y,\n        {long},\n        z])"
    assert format_tensor(np.array([column, column]), requires_grad=True) == (
        f"tensor([[y,\n         {long},\n         z],\n"
        f"        [y,\n         {long},\n         z]], requires_grad=True)"
    )


def test_many_objects_are_summarized() -> None:
    many = np.array([Fraction(n, 2) for n in range(1001)], dtype=object)
    assert format_tensor(many) == "tensor([    0,   1/2,     1,  ...,   499, 999/2,   500])"


def test_expressions_of_sympy() -> None:
    sympy = pytest.importorskip("sympy")
    w, x = sympy.symbols("w x")
    array = np.array([[w * x, sympy.tanh(w * x)], [sympy.Rational(1, 3), 2 * w]], dtype=object)
    assert format_tensor(array, grad_fn="MulBackward0") == (
        "tensor([[      w*x, tanh(w*x)],\n        [      1/3,       2*w]], grad_fn=<MulBackward0>)"
    )
    assert format_tensor(np.array(w + x, dtype=object)) == "tensor(w + x)"


def test_profiles() -> None:
    with printoptions():
        set_printoptions(profile="short")
        assert get_printoptions() == PrintOptions(precision=2, edgeitems=2)._asdict()
        set_printoptions(profile="full", precision=7)
        assert get_printoptions() == PrintOptions(precision=7, threshold=float("inf"))._asdict()
        set_printoptions(profile="unheard of")
        assert get_printoptions() == PrintOptions(precision=7, threshold=float("inf"))._asdict()
        set_printoptions(profile="default")
        assert get_printoptions() == PrintOptions()._asdict()


def test_sci_mode_lasts_until_the_next_call() -> None:
    with printoptions():
        set_printoptions(sci_mode=True)
        assert get_printoptions()["sci_mode"] is True
        set_printoptions(precision=3)
        assert get_printoptions()["sci_mode"] is None


def test_choices_passed_along_count_more_than_those_set() -> None:
    third = np.array(1 / 3)
    with printoptions(precision=6):
        text = format_tensor(third, default_dtype=np.float64, options=PrintOptions(precision=2))
    assert text == "tensor(0.33)"


def record() -> None:
    """Ask PyTorch for the form of every case and write the file again, one case a line."""
    import torch

    for entry in CASES:
        entry["prints"] = theirs(read_case(entry), torch)
    lines = ",\n".join(json.dumps(entry) for entry in CASES)
    RECORDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")
    sys.stdout.write(f"{len(CASES)} cases recorded with PyTorch {torch.__version__}\n")


if __name__ == "__main__":
    record()
