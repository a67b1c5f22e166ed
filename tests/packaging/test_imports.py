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


@pytest.mark.parametrize("key", ["", "loss", "x1", "s", "y", "x", "w0", "b1"])
@pytest.mark.parametrize("kind", ["full", "legacy"])
def test_the_worked_example_agrees_and_a_wrong_number_is_found(kind, key, monkeypatch, capsys):
    from _start import console, worked_example

    run = worked_example.run

    def planted(register, before):
        seen = run(register, before)
        if key in seen and (kind == "full") == ("full" in register):
            seen[key] *= 1 + 1e-5
            wrong.append(key)
        return seen

    wrong: list[str] = []
    monkeypatch.setattr(worked_example, "run", planted)
    code = console.guarded(lambda: worked_example.main() or 0)
    heard = capsys.readouterr()
    assert code == len(wrong) and ("All agree" in heard.out) == (not wrong)
    assert heard.err.count("don't agree") == len(wrong) and ";" not in heard.err
