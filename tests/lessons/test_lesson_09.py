"""What lesson 09 says that PyTorch 2.13 did is what it does."""

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from _tools import canonical, places
from minigrad import viz

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    version("torch").split("+")[0] != "2.13.0", reason="the lesson tells of PyTorch 2.13.0"
)


def cells_with(text):
    return [each for each in canonical.read(places.solution("09")).cells if text in each.source]


def shown(start, language="py"):
    """Give the program that is shown, and not run, by how it starts."""
    (cell,) = cells_with(f"```{language}\n{start}")
    (program,) = re.findall(rf"```{language}\n({re.escape(start)}.*?)\n```", cell.source, re.S)
    return program


def test_the_comparison_prints_what_the_lesson_shows() -> None:
    (code,) = cells_with("def program(torch):")
    space = {"torch": torch, "record": viz.record}
    exec(code.source, space)
    said = shown("35 events", "text")
    assert str(viz.compare(space["program"])) == said
    assert code.outputs[0].text == f"{said.split()[0]} events\n"


@pytest.mark.live
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_model_calls_hooks_as_often_as_the_lesson_tells() -> None:
    (cell,) = cells_with("calls_in_the_second_run = ")
    space = {"compare": lambda *_: None}
    exec(cell.source, space)
    expected = space["calls_in_the_second_run"]
    early, late = "# register a hook on model[0] here ...", "# ... or here"
    program = shown("model = nn.Sequential(nn.Linear(2, 3)")
    register = "model[0].register_forward_hook(lambda *_: calls.append(1))"
    for place, times in zip((early, late), expected.values(), strict=True):
        torch.compiler.reset()
        calls = []
        counted = program.replace(late, f"calls.clear()\n{late}").replace(place, register)
        exec(counted, {"torch": torch, "nn": torch.nn, "x": torch.ones(4, 2), "calls": calls})
        assert len(calls) == times, place


@pytest.mark.live
def test_the_hook_on_a_changed_view_ends_pytorch() -> None:
    program = shown("x = torch.ones(2, requires_grad=True).clone()")
    for read, ended_well in (("", False), ("_ = x.grad_fn\n", True)):
        source = program.replace("x.register_hook", f"{read}x.register_hook")
        command = [sys.executable, "-c", f"import torch\n{source}"]
        code = subprocess.run(command, capture_output=True, check=False).returncode
        assert code not in (1, 2), "an exception of Python's, and no crash"
        assert (code == 0) == ended_well, code
