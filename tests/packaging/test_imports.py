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


@pytest.mark.parametrize("key", ["", "loss", "grad_input", "grad_output", "x", "w0", "b1"])
@pytest.mark.parametrize("kind", ["full", "legacy"])
def test_the_worked_example_agrees_and_a_wrong_number_is_found(kind, key, monkeypatch, capsys):
    from _start import worked_example

    run = worked_example.run

    def planted(register):
        seen = run(register)
        if key and (kind == "full") == ("full" in register):
            seen[key] *= 1 + 1e-5
        return seen

    monkeypatch.setattr(worked_example, "run", planted)
    assert worked_example.main() == bool(key)
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("These do not agree: " if key else "  All agree")
    assert last.count(";") == 0
