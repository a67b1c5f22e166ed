"""What lesson 09 says that PyTorch did with its last program is what PyTorch does."""

import re
from importlib.metadata import version

import pytest

from _tools import canonical, places
from minigrad import viz


def test_the_comparison_prints_what_the_lesson_shows() -> None:
    torch = pytest.importorskip("torch")
    if version("torch").split("+")[0] != "2.13.0":
        pytest.skip("the lesson tells of PyTorch 2.13.0")
    cells = canonical.read(places.solution("09")).cells
    code = next(cell for cell in cells if cell.source.startswith("def program(torch):"))
    told = next(cell for cell in cells if "viz.compare(program)" in cell.source)
    space = {"watch": lambda module, *gradients: None, "torch": torch, "record": viz.record}
    exec(code.source, space)
    (shown,) = re.findall(r"```text\n(.*?)\n```", told.source, re.S)
    assert str(viz.compare(space["program"])) == shown
    assert code.outputs[0].text == f"{shown.split()[0]} events\n"
