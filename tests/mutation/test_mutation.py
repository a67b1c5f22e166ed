"""The tool itself: a mutant that changes something dies, one that changes nothing survives."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from . import places
from .mutants import mutants

TOP = Path(__file__).resolve().parents[2]
LITTLE = """
def larger(a, b):
    return a if a > b else b


def lost(a):
    return -a


def down(a):
    while a > 0:
        a -= 1
    return a
"""
TEST = """
import pathlib
from minigrad.little import down, larger

def test_it():
    assert larger(2, 1) == 2
    assert larger(1, 2) == 2

def test_down():
    assert down(2) == 0

def test_that_passes_once():
    larger(2, 2)
    pathlib.Path("once").touch(exist_ok=False)
"""
SCRIPT = """
import os, pathlib, pytest, sys
from tests.mutation import mutants, places, running
os.chdir(sys.argv[1])
places.TOP = top = pathlib.Path.cwd()
sys.path.insert(0, str(top))
for name in [name for name in sys.modules if name.startswith("minigrad")]:
    del sys.modules[name]
options = ["-q", "-p", "no:cacheprovider", "--rootdir=.", "-c", os.devnull, "test_it.py"]
pytest.main(options, plugins=[running.Reached(top / "reached.json")])
chosen = mutants.mutants("minigrad/little.py", open("minigrad/little.py").read())
running.COMPUTING = 0.5
tell = lambda mutant, end, *_: print(f"{end}: {mutant.change}") or True
pytest.main(options, plugins=[running.Planter(chosen, top / "reached.json", 9, tell)])
"""


def test_loading_runs_no_file_twice():
    """As `minigrad.ops.__init__`, a package would give its methods to `Tensor` once more."""
    places.load()
    assert not [name for name in sys.modules if name.endswith(".__init__")]


def test_a_mutant_dies_if_it_matters(tmp_path):
    (tmp_path / "minigrad").mkdir()
    (tmp_path / "minigrad" / "__init__.py").touch()
    (tmp_path / "minigrad" / "little.py").write_text(LITTLE)
    (tmp_path / "test_it.py").write_text(TEST)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(TOP)},
        cwd=TOP,
        capture_output=True,
        text=True,
    )
    told = run.stdout
    assert "survived: `a > b` -> `a >= b`" in told, run.stderr
    assert "killed: `a > b` -> `a <= b`" in told
    assert "killed: `if a > b` -> `if False`" in told
    assert "killed: `return a if a > b else b` -> None" in told
    assert "not reached: `-a` -> `a`" in told
    assert "killed: `a -= 1` -> nothing" in told  # it would not end
    assert "fails without a mutant: test_it.py::test_that_passes_once" in told


def test_messages_and_types_are_left_alone():
    text = """
        def f(a: list[1], b=1):
            "Give 1."
            if a:
                raise ValueError(f"{a + 1}")
            g(a)
    """
    found = mutants("f.py", textwrap.dedent(text))
    assert [each.change for each in found] == [
        "`if a` -> `if False`",
        "`if a` -> `if True`",
        "`g(a)` -> nothing",
    ]
