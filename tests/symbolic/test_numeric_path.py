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


def test_asking_whether_entries_are_symbols_needs_a_reason():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in files()
        if asks(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


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
