"""Run the worked example's program on minigrad and on torch: both print the seed text's lines, one
for one.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import minigrad

FOLDER = Path(__file__).parent / "transcript"
PROGRAM = (FOLDER / "worked_example.py").read_text(encoding="utf-8")
IMPORT = "import minigrad as torch"
VARIANTS = ("full", "doubled", "legacy")
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


def expected(name: str) -> list[str]:
    """Give the lines that are expected."""
    return (FOLDER / "expected" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def program_output(program: Path, variant: str) -> tuple[list[str], list[str]]:
    """Run a program in a process of its own; give the lines it prints and the lines of its
    warnings.
    """
    environment = dict(
        os.environ, PYTHONPATH=str(Path(minigrad.__file__).parents[1]), PYTHONIOENCODING="utf-8"
    )
    command = [sys.executable, "-W", "default", str(program), variant]
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


def check(program: Path, variant: str, version: str) -> None:
    """Compare a program's output with the expected lines; the first one is the version in use."""
    printed, warned = program_output(program, variant)
    assert printed == [version, *expected(variant)]
    if variant == "legacy":
        # "file:line: Category: text", then the line of code that warned.
        assert warned[0].partition(": ")[2].startswith(expected("warning")[0])
        assert len(warned) <= 2
    else:
        assert warned == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_on_minigrad(variant: str) -> None:
    """The program as it stands prints the seed's lines."""
    check(FOLDER / "worked_example.py", variant, minigrad.__version__)


@pytest.mark.live
@needs_torch
@pytest.mark.parametrize("variant", VARIANTS)
def test_on_torch(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same program with its import changed prints them on PyTorch, here in this process."""
    torch = pytest.importorskip("torch")
    assert PROGRAM.count(IMPORT) == 1
    space: dict[str, Any] = {"__name__": "worked_example"}
    exec(PROGRAM.replace(IMPORT, "import torch"), space)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        space["main"](variant)
    assert capsys.readouterr().out.splitlines() == [torch.__version__, *expected(variant)]
    said = [f"{each.category.__name__}: {each.message}" for each in warned]
    assert len(said) == (variant == "legacy")
    assert all(each.startswith(expected("warning")[0]) for each in said)


def test_the_variants_differ() -> None:
    """The three expected transcripts are not one and the same, and each has the lines of
    the text.
    """
    texts = [expected(variant) for variant in VARIANTS]
    assert len({tuple(text) for text in texts}) == 3
    assert {len(text) for text in texts} == {10}
    assert "grad_input:  (tensor([-1.0199]),)" in texts[2]
