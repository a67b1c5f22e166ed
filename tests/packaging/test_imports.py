"""What `import minigrad` loads, and that the worked example's check can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def ask(program: str) -> str:
    """Run a program in a fresh interpreter at the repository's root."""
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_importing_minigrad_loads_nothing_but_numpy():
    others = {"sympy", "matplotlib", "IPython", "torch"}
    assert ask(f"import sys, minigrad; print({others} & set(sys.modules))") == "set()\n"


def test_the_worked_example_agrees_with_sympy():
    from _start import worked_example

    full = worked_example.run("register_full_backward_hook")
    with pytest.warns(FutureWarning, match="deprecated"):
        legacy = worked_example.run("register_backward_hook")
    rows, wrong = worked_example.compare(full, legacy, worked_example.derive())
    assert wrong == []
    assert len(rows) == 10


@pytest.mark.parametrize("key", ["loss", "grad_input", "grad_output", "x", "w0", "b0", "w1", "b1"])
@pytest.mark.parametrize("kind", ["full", "legacy"])
def test_one_wrong_number_is_found_and_named(kind, key):
    from _start import worked_example

    exact = worked_example.derive()
    seen = {
        kind: {**exact, "grad_input": exact[symbol], "grad_output": exact["y"]}
        for kind, symbol in (("full", "x1"), ("legacy", "s"))
    }
    assert worked_example.compare(**seen, exact=exact)[1] == []
    seen[kind][key] *= 1 + 1e-5
    wrong = worked_example.compare(**seen, exact=exact)[1]
    assert len(wrong) == 1 and f"with the {kind} hook" in wrong[0]
    seen[kind][key] = float("nan")
    assert len(worked_example.compare(**seen, exact=exact)[1]) == 1
