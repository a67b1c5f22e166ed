"""The operations that are loaded late: what is promised is there, and each of them is tested."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import minigrad as torch
from minigrad.ops import methods
from minigrad.ops.later import ROOMS

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "oracle" / "scenarios"

# Operations that the scenarios call by other means than their name, and by which.
CALLED_OTHERWISE: dict[str, str] = {
    "set_num_interop_threads": "PyTorch allows it once in a process",
}


def room(name: str) -> Any:
    """Give the module of a room."""
    return import_module(f"minigrad.ops.calling.{name}")


@pytest.mark.parametrize("name", ROOMS)
def test_the_table_says_what_is_in_the_room(name: str) -> None:
    """What waits is what comes."""
    promised, module = ROOMS[name], room(name)
    assert sorted(promised.functions.split()) == sorted(module.__all__)
    assert sorted(promised.methods.split()) == sorted(module.methods)
    for function in module.__all__:
        assert getattr(torch, function) is getattr(module, function)
        assert function in dir(torch)
    for method in module.methods:
        assert hasattr(torch.Tensor, method) and method in dir(torch.Tensor)


def test_nothing_waits_in_two_rooms() -> None:
    """A name has one meaning, and none that is loaded at once waits as well."""
    for kind in ("functions", "methods"):
        names = [name for each in ROOMS.values() for name in getattr(each, kind).split()]
        assert sorted(names) == sorted(set(names))
    at_once = {*methods.at_once()}
    assert at_once & {name for each in ROOMS.values() for name in each.methods.split()} == set()


def test_a_method_that_waits_is_there_when_it_is_asked_for() -> None:
    """In a fresh interpreter, on the class and on a tensor, and by NumPy's name."""
    program = (
        "import sys, numpy as np, minigrad as torch\n"
        "assert 'minigrad.ops.calling.trigonometry' not in sys.modules\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "assert np.tan(x).grad_fn.name() == x.tan().grad_fn.name() == 'TanBackward0'\n"
        "assert torch.Tensor.tan(x).tolist() == torch.tan(x).tolist()\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr


def words_of(path: Path) -> set[str]:
    """Give the attributes that a file asks for, and the words of its texts, but not of its prose.

    Some scenarios are tables of expressions written as texts; comments and docstrings do not count.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and isinstance(node.body[0], ast.Expr)
    }
    words = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            words |= set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", node.value))
    return words


def test_every_operation_is_held_against_pytorch() -> None:
    """Each function and method that waits is called in a scenario of the oracle.

    Operators are called by their signs, and are not looked for.
    """
    words = set().union(*map(words_of, SCENARIOS.glob("*.py")))
    names = {n for each in ROOMS.values() for n in (each.functions + " " + each.methods).split()}
    operators = {name for name in names if name.startswith("__")}
    assert names - operators - words == set(CALLED_OTHERWISE)
