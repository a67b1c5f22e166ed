"""The page "Your own model" shows what its code does on PyTorch, and its figures were measured."""

import re
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
    recorded = STORED.partition("## Which hook do I use on Monday?")[0]
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


def test_every_row_of_hooks_and_of_times_has_its_figures() -> None:
    rows = re.findall(r"^\| [^|]+ \| `[^`|]+`<br>([^|<]+)<br>", STORED, re.M)
    assert len(rows) > 10
    assert [row for row in rows if not row.startswith("gets `")] == ["calls no hook"]  # retain_grad
    assert "| a full backward hook on each layer | 6 |" in STORED


def test_the_pictures_have_words() -> None:
    for words, name in re.findall(r"!\[([^\]]*)\]\((\w+\.svg)\)", STORED):
        assert len(words) > 20
        svg = (own_model.PAGE.parent / name).read_text(encoding="utf-8")
        assert ElementTree.fromstring(svg).tag.endswith("svg")


@needs_torch
def test_a_row_whose_hook_is_never_called_is_noticed() -> None:
    assert own_model.called_with("fc1.bias.register_hook(hook)") == "gets `3`"
    assert own_model.called_with("optimizer.register_state_dict_pre_hook(hook)") == "calls no hook"


@needs_torch
def test_times_are_least_times_of_each_kind() -> None:
    found = own_model.least((2, 3, 1), 2, 1)
    assert found["a full backward hook on each layer"][0] == 4
    assert found["a global full backward hook"][0] == 5
    assert all(took > 0 for _, took in found.values())


def test_without_pytorch_the_page_stays(monkeypatch, capsys) -> None:
    monkeypatch.setattr(own_model, "VERSION", "0.0")
    assert own_model.main(check=True) == 0
    assert own_model.main() == 1
    assert "stays as it is" in capsys.readouterr().out
    assert own_model.PAGE.read_text(encoding="utf-8") == STORED
