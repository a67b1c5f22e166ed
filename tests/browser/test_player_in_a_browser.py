"""The player works where learners see it, and a cell that takes long shows how far it is."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

import minigrad
from _start import server
from _start.environment import settings
from minigrad.viz import Player, play

from .axe import violations
from .chromium import Page, browser
from .test_what_is_seen import in_view_at_each_step, on_a_page

SOURCE = """
import minigrad as torch
from minigrad.viz import play, record
x = torch.tensor([3.0], requires_grad=True)
def double(grad):
    return grad * 2
y = x.exp()
handle = y.register_hook(double)
loss = (y * x).sum()
with record({"x": x, "y": y}) as log:
    loss.backward()
play(log)
"""
WATCHED = """
import time
from minigrad.classroom.watching import measured, progress
for _ in progress(range(10), "counting"):
    time.sleep(0.2)
measured("right answers", 98.6, at_least=97, unit=" %")
"""
SHOWN = """
from minigrad.classroom.watching import tell
from minigrad.viz import draw, plot_chain, use_style
use_style()
for status in ("right", "wrong", "unsolved"):
    tell(status, "06.1: told.", ["You gave 5."])
display(draw(loss, names={"x": x, "y": y}))
plot_chain([("a", 2.0), ("b", 0.5)], title="A chain")
"""
WORDS = """
# A lesson

Links are [underlined](https://example.org), and $x^2$ is a formula.

## A section

| name | value |
|---|---|
| `x` | 3 |
"""


def player() -> Player:
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    return play(names["log"])


SAID = "document.querySelector('.minigrad-player [aria-live]')"
LAYER = "document.querySelector('.minigrad-player img.minigrad-player-layer')"


def said(page: Page) -> str:
    return str(page.ask(f"{SAID}.innerText"))


def press(page: Page, *keys: str) -> str:
    page.ask("document.querySelector('.minigrad-player').focus()")
    page.press(*keys)
    return said(page)


def step_through(page: Page) -> None:
    """Step through the player that the page shows, by keys, buttons and slider."""
    page.wait(SAID)
    assert "buttons step through it" not in page.ask("document.body.innerText")
    assert said(page) == "Before the first of 5 steps"
    first = press(page, "ArrowRight")
    assert first.splitlines()[0] == "Step 1 of 5. SumBackward0 applies its rule"
    assert page.ask(f"getComputedStyle({LAYER}).visibility") == "visible"
    one = page.ask(f"{LAYER}.src")
    hook = press(page, "ArrowRight", "ArrowRight")
    assert hook.splitlines()[1:] == ["it sees 3.0000", "it returns 6.0000, which replaces it"]
    assert page.ask(f"{LAYER}.src") != one
    assert press(page, "ArrowLeft").startswith("Step 2 of 5. MulBackward0")
    assert "x adds to .grad" in press(page, "End", "ArrowRight")
    assert press(page, "Home") == "Before the first of 5 steps"
    page.ask("[...document.querySelectorAll('.minigrad-player button')]"
             ".find(each => each.textContent === 'Next').click()")  # fmt: skip
    assert said(page) == first
    page.ask(
        "(slider => { slider.value = 3; slider.dispatchEvent(new Event('input')); })"
        "(document.querySelector('.minigrad-player input[type=range]'))"
    )
    assert said(page) == hook
    # the layer lies exactly over the picture
    places = page.ask(
        "[...document.querySelectorAll('.minigrad-player-base, .minigrad-player-layer')]"
        ".filter(e => e.offsetParent).map(e => e.getBoundingClientRect())"
        ".map(r => [r.left, r.top, r.width, r.height].map(Math.round).join())"
    )
    assert len(places) == 2 and len(set(places)) == 1, places
    assert page.ask(f"{LAYER}.naturalWidth") > 100
    assert page.errors == []


def outside(page: Page) -> list[str]:
    near = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost", "about:", "ws:")
    return [address for address in page.requests if not address.startswith(near)]


def test_on_a_page_of_its_own(page: Page, tmp_path: Path) -> None:
    page.open(on_a_page(player(), tmp_path).as_uri())
    step_through(page)
    assert outside(page) == []


# As VS Code shows an output: put into the page, its scripts made again, and nothing from elsewhere.
WEBVIEW = """<!DOCTYPE html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
  script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<body class="vscode-body vscode-dark"><div></div><script>
var refused = [], output = document.querySelector("div");
document.addEventListener("securitypolicyviolation", each => refused.push(each.blockedURI));
output.innerHTML = SHOWN;
output.querySelectorAll("script").forEach(old => {
  var made = document.createElement("script");
  made.textContent = old.textContent;
  old.replaceWith(made);
});
</script>
"""


def test_in_an_output_of_vs_code(page: Page, tmp_path: Path) -> None:
    path, shown = tmp_path / "output.html", json.dumps(player().html()).replace("</", r"<\/")
    path.write_text(WEBVIEW.replace("SHOWN", shown), encoding="utf-8")
    page.requests.clear()
    page.open(path.as_uri())
    step_through(page)
    assert outside(page) == [] and page.ask("refused") == []
    assert "invert" in page.ask(f"getComputedStyle({LAYER}).filter")


def write_notebook(path: Path) -> None:
    """Write a notebook: the player, a cell that takes long, and all else we show."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in (SOURCE, WATCHED, SHOWN)]
    cells.append(nbformat.v4.new_markdown_cell(WORDS.strip()))
    notebook = nbformat.v4.new_notebook(cells=cells)
    for cell, name in zip(cells, ("player", "watched", "shown", "words"), strict=True):
        cell.id = name
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


def test_where_scripts_do_not_run(tmp_path: Path) -> None:
    with browser() as without:
        without.call("Emulation.setScriptExecutionDisabled", value=True)
        without.call("Page.navigate", url=on_a_page(player(), tmp_path).as_uri())
        time.sleep(0.5)  # nothing can be asked of a page without scripts: wait, then look again
        without.call("Emulation.setScriptExecutionDisabled", value=False)
        without.wait("document.querySelector('img.minigrad-player-still')")
        still = "document.querySelector('img.minigrad-player-still')"
        assert without.ask(f"{still}.offsetParent !== null && {still}.naturalWidth > 100")
        assert "At the end of the pass" in without.ask(f"{still}.alt")
        assert without.ask("document.querySelectorAll('tbody tr').length") == 5
        assert not without.ask("document.querySelector('.minigrad-player button')")
        assert "buttons step through it" in without.ask("document.body.innerText")


def environment(home: Path) -> dict[str, str]:
    """Give an environment in which Jupyter writes nothing outside of a directory."""
    places = settings(home / "var", os.environ)
    root = str(Path(minigrad.__file__).parents[1])
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_VERSION"}
    return kept | places | {"HOME": str(home), "PYTHONPATH": root}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Start JupyterLab over a directory with the notebook; give the address of it there."""
    pytest.importorskip("jupyterlab")
    pytest.importorskip("matplotlib")
    write_notebook(tmp_path / "player.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [
        *server.command(tmp_path, port, browser=False),
        f"--IdentityProvider.token={token}",
        "--LabApp.expose_app_in_browser=True",
    ]
    with (tmp_path / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=environment(tmp_path), stdout=log, stderr=log)
        try:
            end = time.monotonic() + 90
            while not server.answers(port):
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/lab/tree/player.ipynb?reset&token={token}"
        finally:
            process.terminate()
            process.wait(20)


# What the notebook shows. Editors, numbers of cells and the buttons beside them are JupyterLab's,
# and in them axe finds fields without names, a feed of what is no article, and pale grey.
OURS = "{include: [['.jp-OutputArea-output'], ['.jp-MarkdownOutput']]}"


def test_in_jupyterlab(lab: str, page: Page) -> None:
    page.requests.clear()
    page.open(lab)
    app = "window.jupyterapp"
    notebook = f"[...{app}.shell.widgets('main')].find(each => each.sessionContext)"
    page.wait(f"{app}?.shell && {notebook}?.sessionContext.session?.kernel?.status === 'idle'")
    page.ask(f"{app}.shell.activateById({notebook}.id), true")
    page.ask(f"{app}.commands.execute('notebook:run-all-cells'), true")
    printed = f"{notebook}.content.model.cells.get(1).outputs.toJSON().map(e => e.text).join('')"
    page.wait(f"({printed}).includes('counting')")  # a bar comes and goes, and the number stays
    page.wait(f"({printed}).includes('right answers')")
    assert page.ask(printed).strip() == "right answers: at least 97 %  (98.6 % in this run)"
    page.wait(SAID)
    page.ask(f"{SAID}.scrollIntoView(), true")
    step_through(page)
    page.size(1366, 768)
    press(page, "Home")
    in_view_at_each_step(page, count=5)
    look = f"getComputedStyle({LAYER}).filter"
    assert page.ask(look) == "none"
    light, dark = "{theme: 'JupyterLab Light'}", "{theme: 'JupyterLab Dark'}"
    page.ask(f"{app}.commands.execute('apputils:change-theme', {dark}), true")
    page.wait(f"{look} !== 'none'")
    assert outside(page) == []

    page.wait(f"{notebook}.content.model.cells.get(2).outputs.length >= 6")
    page.wait("document.querySelectorAll('.minigrad-feedback').length === 3")
    page.wait("document.querySelector('.jp-RenderedImage img')?.alt.startsWith('Products along')")
    assert violations(page, OURS) == []
    page.ask(f"{app}.commands.execute('apputils:change-theme', {light}), true")
    page.wait(f"{look} === 'none'")
    assert violations(page, OURS) == []
