"""In JupyterLab a person sees a bar while a cell runs, and measured numbers in full."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from .chromium import PATIENCE, Page, browser, executable

pytestmark = [
    pytest.mark.skipif(executable() is None, reason="Chromium is not installed"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tried on Linux only"),
]

ROOT = Path(__file__).parents[2]
CELL = """\
import time
from minigrad.classroom.watching import measured, progress
for _ in progress(range(10), "counting"):
    time.sleep(0.2)
measured("right answers", 98.6, at_least=97, unit=" %")"""
NOTEBOOK = "[...window.jupyterapp.shell.widgets('main')].find(each => each.sessionContext)"
TEXTS = f"({NOTEBOOK}).content.model.cells.get(0).outputs.toJSON().map(each => each.text)"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """Open a notebook with the cell in JupyterLab, its kernel ready."""
    pytest.importorskip("jupyterlab")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel  # else JupyterLab asks for one
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", str(tmp_path), "--no-browser", "--allow-root"),
            *(f"--port={port}", "--ip=127.0.0.1", "--IdentityProvider.token=test"),
            "--LabApp.expose_app_in_browser=True",
        ],
        env=clean | {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "MINIGRAD_PROGRESS": "none"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < end, "no JupyterLab"
                time.sleep(0.1)
        with browser() as opened:
            opened.open(f"http://127.0.0.1:{port}/lab/tree/lesson.ipynb?reset&token=test")
            ready = f"(window.jupyterapp && {NOTEBOOK})?.sessionContext.session?.kernel?.status"
            opened.wait(f"({ready}) === 'idle'")
            yield opened
    finally:
        server.terminate()
        server.wait(20)


def test_a_bar_comes_and_goes_and_a_number_stays(page: Page) -> None:
    page.ask("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait(f"({TEXTS}).join('').includes('counting')")
    page.wait(f"({TEXTS}).join('').includes('right answers')")
    shown = json.loads(page.ask(f"JSON.stringify({TEXTS})"))
    assert "".join(shown).strip() == "right answers: at least 97 %  (98.6 % in this run)"
