"""The page "Your own model" shows what its code does on PyTorch."""

import contextlib
import re
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import pytest

from _tools import own_model

STORED = own_model.PAGE.read_text(encoding="utf-8")
needs_torch = pytest.mark.skipif(
    not own_model.is_here(), reason=f"PyTorch {own_model.VERSION} is not installed"
)
AGAIN = "write the page again: python3 lessons/_tools own-model (needs PyTorch)"


@needs_torch
def test_the_page_and_its_pictures_are_what_a_run_gives() -> None:
    text, drawn = own_model.written(STORED)
    assert text == STORED, AGAIN
    assert len(drawn) == 2
    for name, svg in drawn.items():
        assert (own_model.PAGE.parent / name).read_text(encoding="utf-8") == svg, AGAIN


def test_minigrad_gives_what_pytorch_gave() -> None:
    """Text and pictures that a run on PyTorch left, up to nodes of which attention has fewer."""
    recorded = STORED.partition("## Which hook do I use?")[0]
    imports = "import torch\nfrom torch import nn"
    assert recorded.count(imports) == 1
    text, drawn = own_model.written(
        recorded.replace(imports, "import minigrad as torch\nfrom minigrad import nn")
    )
    text = text.replace("import minigrad as torch\nfrom minigrad import nn", imports)
    assert re.sub(r"\d+\s+nodes", "", text) == re.sub(r"\d+\s+nodes", "", recorded)
    assert sorted(drawn) == ["own_model.svg", "own_model_played.svg"]
    for name, svg in drawn.items():
        assert (own_model.PAGE.parent / name).read_text(encoding="utf-8") == svg


def told(given: Any) -> str:
    """Write what a hook was given; of tensors the shape."""
    if isinstance(given, tuple | list):
        return f"({', '.join(map(told, given))}{',' * (len(given) == 1)})"
    if hasattr(given, "shape"):
        return "x".join(map(str, given.shape))
    return type(given).__name__ if given else str(given)


def called_with(code: str, library: str) -> str:
    """Register a hook on a small model, train it for one step, and tell what the hook was given."""
    torch, calls = import_module(library), []
    nn = torch.nn
    model = nn.ModuleDict({"fc1": nn.Linear(2, 3), "fc2": nn.Linear(3, 1)})
    space = {"fc1": model.fc1, "fc2": model.fc2, "weight": model.fc1.weight}
    space |= {"every": nn.modules.module, "graph": torch.autograd.graph}
    space |= {"hook": lambda *given: calls.append(given), "unpack": lambda kept: kept}
    space |= {"pack": lambda tensor: calls.append((tensor,)) or tensor}
    space["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    inner = re.search(r"\bh\b", code) is not None
    with contextlib.ExitStack() as stack:
        for is_there in (False, True):  # whether h is there, on which some hooks are
            if is_there:
                space["h"] = torch.tanh(model.fc1(torch.ones(4, 2)))
            if is_there == inner and (handle := eval(code, space)) is not None:
                stack.enter_context(handle)
        model.fc2(space["h"]).sum().backward()
        space["optimizer"].step()
    return f"gets `{', '.join(map(told, calls[0]))}`" if calls else "calls no hook"


ROWS = re.findall(r"^\| [^|]+ \| `([^`|]+)`<br>([^|<]+)<br>", STORED, re.M)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize("library", ["minigrad", pytest.param("torch", marks=needs_torch)])
def test_each_hook_of_the_table_gets_what_the_page_says(library: str) -> None:
    assert len(ROWS) > 10
    assert {code: called_with(code, library) for code, _ in ROWS} == dict(ROWS)
    assert called_with("optimizer.register_state_dict_pre_hook(hook)", library) == "calls no hook"


def test_the_pictures_have_words() -> None:
    for words, name in re.findall(r"!\[([^\]]*)\]\((\w+\.svg)\)", STORED):
        assert len(words) > 20
        svg = (own_model.PAGE.parent / name).read_text(encoding="utf-8")
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_without_pytorch_the_page_stays(monkeypatch, capsys) -> None:
    monkeypatch.setattr(own_model, "VERSION", "0.0")
    assert own_model.main(check=True) == 0
    assert own_model.main() == 1
    assert "stays as it is" in capsys.readouterr().out
    assert own_model.PAGE.read_text(encoding="utf-8") == STORED
