"""The operations that are loaded late: what is promised is there, and each of them is tested."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import minigrad as torch
from minigrad.signatures.lazy_loading import INDEX, load_all
from minigrad.signatures.variants import said_in
from tests.operations.running import LAYERS, OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "oracle" / "scenarios"

LINES = [line.split() for line in Path(INDEX).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file, kind, names", [(f, k, n) for f, k, *n in LINES])
def test_what_waits_comes(file: str, kind: str, names: list[str]) -> None:
    """Each name is there, listed, and said in the file that is promised."""
    owner: Any = torch if kind == "functions" else torch.Tensor
    for name in names:
        assert hasattr(owner, name) and name in dir(owner)
    said = said_in[f"minigrad.{file}"][kind == "methods"]
    assert set(names) == set(said)


def test_the_index_says_what_the_faces_say() -> None:
    """`python -m minigrad.signatures` would write what is there."""
    program = (
        "from pathlib import Path\nfrom minigrad.signatures.__main__ import INDEX, index\n"
        "assert index() == Path(INDEX).read_text()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def ours() -> list[tuple[list[str], list[str]]]:
    """Give what minigrad's files say: tests that ran before may have said something, too."""
    return [said for file, said in said_in.items() if file.startswith("minigrad.")]


def test_nothing_is_said_twice() -> None:
    """A name has one meaning: one file says it."""
    load_all()
    for kind in (0, 1):
        names = [name for said in ours() for name in said[kind]]
        assert sorted(names) == sorted(set(names))


def test_a_method_that_waits_is_there_when_it_is_asked_for() -> None:
    """In a fresh interpreter, on the class and on a tensor, and by NumPy's name."""
    program = (
        "import sys, numpy as np, minigrad as torch\n"
        "assert 'minigrad.ops.special_functions' not in sys.modules\n"
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
    """Each function and method that waits is called in the table or in a scenario of the oracle.

    Operators are called by their signs, and are not looked for.
    """
    load_all()
    words = set().union(*map(words_of, SCENARIOS.glob("*.py")))
    calls = [each for o in (*OPERATIONS.values(), *LAYERS.values()) for each in (*o.calls, o.name)]
    words |= set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", " ".join(calls)))
    names = {name for said in ours() for kind in said for name in kind}
    hidden = {name for name in names if name.startswith("_")}
    assert names - hidden - words == set()
