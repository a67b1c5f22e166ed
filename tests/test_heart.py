"""The heart stays small, alone and quick to follow: its size, its imports, what a run reaches."""

from __future__ import annotations

import ast
import inspect
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import minigrad
from minigrad import nn
from minigrad.autograd.rules import attach
from minigrad.core import Extensions, extensions
from minigrad.core.operation import operation
from tests.budgets import (
    GOAL_OF_HOUSE,
    GOALS,
    HOUSE,
    ROOMS,
    SLACK,
    WORKED_EXAMPLE,
    Size,
    complaints,
)
from tests.tracing import traced

PACKAGE = Path(minigrad.__file__).resolve().parent
HEART = sorted((PACKAGE / "core").glob("*.py"))

# What a small model with both kinds of hooks may run into beside the heart. These are all that may
# be asked of `autograd`, each for a reason; the rooms that hold operations and layers are slimmed
# by themselves.
VISITED = ("core", "creation", "signatures", "fast", "nn", "ops")
BESIDE = {
    "autograd/attributes.py": "a first gradient is laid out as its leaf",
    "autograd/gradients.py": "`backward` may start elsewhere",
    "autograd/messages.py": "legacy hooks warn of what they miss",
    "autograd/rules.py": "NumPy must not warn",
    "autograd/views.py": "identity nodes give views",
    "random.py": "parameters are drawn",
}


@cache
def code_lines(path: Path) -> int:
    """Count the lines that hold code: no comments, no docstrings, no blank lines."""
    text = path.read_text(encoding="utf-8")
    found: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.strip().startswith("#"):
            found.add(number)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            if isinstance(node.value.value, str):
                found -= set(range(node.lineno, node.end_lineno + 1))
    return len(found)


def test_the_heart_is_small():
    assert len(HEART) <= 8
    assert sum(map(code_lines, HEART)) <= 900
    readme = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    assert f"at most 900 lines of code in {len(HEART)} files" in readme


def imported(path: Path) -> Iterator[str]:
    """Give the modules that a file imports anywhere, for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", HEART, ids=lambda path: path.stem)
def test_the_heart_imports_numpy_and_the_standard_library_alone(path):
    others = {name for name in imported(path) if not f"{name}.".startswith("minigrad.core.")}
    assert {name.split(".")[0] for name in others} <= {"numpy", *sys.stdlib_module_names}


def test_the_heart_has_no_circle_for_types_either():
    left = {path.stem: {n.rpartition(".")[2] for n in imported(path)} for path in HEART}
    while left:
        ends = {name for name, needs in left.items() if not needs & left.keys()}
        assert ends, f"a circle among {sorted(left)}"
        left = {name: needs for name, needs in left.items() if name not in ends}


# ------------------------------------------------------------------ the worked example


def layer(weight: float, bias: float) -> nn.Module:
    linear = nn.Linear(1, 1)
    nn.init.constant_(linear.weight, weight)
    nn.init.constant_(linear.bias, bias)
    return linear


class Squared(nn.Module):
    """The second half of the worked example."""

    def __init__(self):
        super().__init__()
        self.f = layer(0.4, 0.2)

    def forward(self, x):
        return self.f(x) ** 2


class Net(nn.Module):
    """The worked example."""

    def __init__(self):
        super().__init__()
        self.f0 = layer(0.3, 0.1)
        self.f1 = Squared()

    def forward(self, x):
        return self.f1(self.f0(x))


def run_hooked() -> float:
    """Build the model, hook it in both ways, run it forward and backward."""
    net = Net()
    net.f1.register_full_backward_hook(lambda module, grad_input, _: (grad_input[0] * 2,))
    net.f0.register_backward_hook(lambda module, grad_input, grad_output: None)
    x = minigrad.tensor([0.3], requires_grad=True)
    y = net(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    ((y - 1) ** 2).sum().backward()
    return x.grad.item()


def touched() -> set[tuple[str, int]]:
    """Run the worked example, and give the lines of the package that it touches."""
    found: set[tuple[str, int]] = set()
    start = f"{PACKAGE}/"

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(start):
            return None
        if event == "line":
            found.add((file.removeprefix(start), frame.f_lineno))
        return trace

    with traced(trace):
        run_hooked()
    return found


@pytest.fixture(scope="module")
def lines() -> set[tuple[str, int]]:
    with warnings.catch_warnings(action="ignore"):  # of what legacy hooks miss
        run_hooked()  # the functions of the operations are written at their first call
        return touched()


def test_the_worked_example_runs_into_no_other_room(lines):
    for file in {file for file, _ in lines}:
        assert file.split("/")[0] in VISITED or file in BESIDE, file


def test_the_worked_example_loads_nothing(lines):
    before = set(sys.modules)
    with warnings.catch_warnings(action="ignore"):
        assert run_hooked() == pytest.approx(-0.2448, abs=1e-4)
    assert set(sys.modules) == before


def test_the_worked_example_touches_few_lines_in_few_files(lines):
    assert len(lines) <= WORKED_EXAMPLE.lines
    assert len({file for file, _ in lines}) <= WORKED_EXAMPLE.files


# ------------------------------------------------------------------ extension points


def test_an_extension_point_that_is_not_there_cannot_be_filled():
    with pytest.raises(TypeError, match="there is no extension point 'brake'"):
        extensions.register(brake=print)


def test_every_extension_point_is_described_and_has_a_default():
    points = Extensions.__annotations__
    assert not [point for point in points if not hasattr(Extensions(), point)]
    told = inspect.getdoc(Extensions) or ""  # from 3.13 on, Python keeps no indentation there
    assert not [point for point in points if f"    {point}: " not in told]


def test_attached_members_are_members():
    class Host:
        """Has nothing."""

    @attach(Host)
    class Guest:
        __slots__ = ()

        def answer(self) -> int:
            """Give the answer."""
            return 42

    assert Host().answer() == 42
    assert Host.__doc__ == "Has nothing."
    assert Guest.__name__ == "Guest"


# ------------------------------------------------------------------ the house around it

SHIMS = {"utils"}  # only PyTorch's paths


def size(paths: list[Path]) -> Size:
    """Count the lines of code and the files."""
    return Size(sum(map(code_lines, paths)), len(paths))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_does_not_grow(room):
    found = size(sorted((PACKAGE / room).rglob("*.py")))
    assert not complaints(room, ROOMS[room], found)


def test_the_house_does_not_grow():
    lines, files = size(sorted(PACKAGE.rglob("*.py")))
    assert lines <= HOUSE.lines
    assert files <= HOUSE.files
    rooms = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert rooms == {*ROOMS, *SHIMS}


def test_each_room_has_a_goal():
    assert sorted(room for rooms in GOALS for room in rooms) == sorted(ROOMS)
    assert GOAL_OF_HOUSE.lines < HOUSE.lines  # that of the files is reached


def test_a_figure_that_no_longer_holds_is_told():
    recorded = Size(100, 5)
    for fits in (recorded, Size(100 - SLACK, 5)):
        assert not complaints("core", recorded, fits)
    for grown in (Size(101, 5), Size(90, 6)):
        assert "take out as many" in complaints("core", recorded, grown)[0]
    for smaller in (Size(99 - SLACK, 5), Size(100, 4)):
        assert "lower the figures" in complaints("core", recorded, smaller)[0]


# ------------------------------------------------------------------ the book


def test_a_rule_that_names_what_is_not_there_is_told():
    def double(self):
        return self * 2

    known = r"known are \['self', 'result'"
    for rules, wrong in (
        ({"self": lambda grad, weight, bias: grad}, "'bias', 'weight'"),
        ({"other": lambda grad: grad}, "'other'"),
        ({"other": lambda grad, bias: grad}, "'bias', 'other'"),
    ):
        with pytest.raises(TypeError, match=rf"a rule of double names \[{wrong}\], {known}"):
            operation("DoubleBackward0", **rules)(double)
