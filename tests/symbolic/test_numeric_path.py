"""Numbers pay nothing for symbols: no rule, no forward, no engine asks which of the two it serves.

Symbols answer to NumPy's functions, and to those of minigrad's own that NumPy has not. Where
somebody asks all the same whether entries are symbols, it is listed below, with the reason; numbers
have gone their way before.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "minigrad"
ROOMS = ("core", "ops", "autograd", "nn", "optim")

EXPRESSION = "what is no number, array nor tensor may be a SymPy expression: asked of it alone"

# where the code asks, and why
ALLOWED = {
    "ops/elementwise.py": EXPRESSION,
    "ops/type_promotion.py": f"{EXPRESSION}; before an error, of dtypes that differ",
}

_LETTERS = "[\"'][a-zA-Z]*O[a-zA-Z]*[\"']"  # of kinds of dtypes: "O", "fO"
_ALL = "".join(rf"(?=[a-z]*{kind})" for kind in "biufc")  # all kinds of numbers there are
_ASKS = re.compile(
    rf"kind\b[^#\n]*[\"']{_ALL}[a-z]+[\"']|kind\b[^#\n]*{_LETTERS}|{_LETTERS}\s+(not\s+)?in\b[^#\n]*kind"
    r"|\bobject_\b|==\s*object\b|free_symbols|\bsympy\b|[sS]ymbolicArray|of_symbols\("
    r"|dtypes\.symbolic|minigrad\.symbolic\s+import|import\s+minigrad\.symbolic"
)


def files():
    found = []
    for room in ROOMS:
        found += sorted((PACKAGE / room).rglob("*.py"))
    return found


def asks(source):
    """Give the lines of code, not of prose, that ask whether something is symbolic."""
    prose = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, node.end_lineno + 1))
    return [
        line.strip()
        for number, line in enumerate(source.splitlines(), 1)
        if number not in prose and _ASKS.search(line.partition("  # ")[0])
    ]


FOUND = {
    path.relative_to(PACKAGE).as_posix(): found
    for path in files()
    if (found := asks(path.read_text(encoding="utf-8")))
}


def test_whoever_asks_whether_entries_are_symbols_has_a_reason():
    unknown = {name: lines for name, lines in FOUND.items() if name not in ALLOWED}
    assert not unknown, "teach SymbolicArray the NumPy function instead, or give a reason here"


def test_no_reason_is_left_over():
    assert not ALLOWED.keys() - FOUND.keys()


def rules_and_forwards(source):
    """Give the source of each forward with its decorators, of each rule, and of nodes' methods."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names = {
                getattr(d.func if isinstance(d, ast.Call) else d, "id", "")
                for d in node.decorator_list
            }
            first = node.args.args[0].arg if node.args.args else ""
            if names & {"operation", "overridable"} or first == "grad":
                start = min([d.lineno for d in node.decorator_list], default=node.lineno)
                yield "\n".join(source.splitlines()[start - 1 : node.end_lineno])
        elif isinstance(node, ast.ClassDef) and "Node" in {
            getattr(b, "id", "") for b in node.bases
        }:
            yield ast.get_source_segment(source, node)


def test_no_rule_and_no_forward_asks():
    found = [
        part
        for room in ("ops", "nn/functional")
        for path in (PACKAGE / room).rglob("*.py")
        for part in rules_and_forwards(path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 180
    assert not [part for part in found if asks(part)]


# What every operation, every node and every step goes through.
ALWAYS = (
    "core/engine.py", "core/module_hooks.py", "core/node.py",
    "core/operation.py", "core/tensor.py",
    "nn/modules/module.py",
    "ops/reduction.py", "ops/linear.py", "ops/linear_algebra.py",
    "ops/convolution.py",
    "ops/losses.py",
    "ops/softmax.py",
    "optim/each_parameter.py", "optim/optimizer.py",
)  # fmt: skip


@pytest.mark.parametrize("name", ALWAYS)
def test_engine_and_everyday_rules_never_ask(name):
    assert (PACKAGE / name).is_file()
    assert name not in FOUND


@pytest.mark.parametrize(
    "line",
    [
        'if x.dtype.kind == "O":', "y = a if dtype.kind in 'fO' else b", "if dtype == object:",
        'if "O" in (a.dtype.kind, b.dtype.kind):', 'if hasattr(x, "free_symbols"):',
        "import sympy", "if isinstance(x, SymbolicArray):", "if d is np.object_: pass",
        'if x.dtype.kind not in "iubfc":',
    ],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(line):
    source = f"def f():\n    {line}\n" + ("        pass\n" if line.endswith(":") else "")
    assert len(asks(source)) == 1
    assert asks('"""Symbols: kind == \'O\'."""\nx = 1  # sympy\n') == []


def test_a_training_step_loads_no_sympy():
    program = (
        "import sys, minigrad as torch\n"
        "m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.LayerNorm(2))\n"
        "o = torch.optim.Adam(m.parameters())\n"
        "scores, classes = m(torch.randn(3, 2)), torch.tensor([0, 1, 1])\n"
        "torch.nn.functional.cross_entropy(scores, classes).backward()\n"
        "o.step()\n"
        "print(sorted(n for n in sys.modules if n.startswith(('sympy', 'minigrad.symbolic'))))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=PACKAGE.parent
    )
    assert answer.stdout == "[]\n", answer.stderr
