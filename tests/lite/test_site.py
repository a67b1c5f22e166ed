"""The site that computes in a browser: what is in it, and that it opens without a network."""

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from _tools import lite, places
from tests.browser.chromium import browser, executable

ROOT = Path(__file__).resolve().parents[2]
LESSONS = {path.name for path in places.learners()}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Give the folder of the whole site, built by the authors' command; no address is reached."""
    folder = tmp_path_factory.mktemp("site") / "lite"
    command = [sys.executable, str(ROOT / "lessons" / "_tools"), "lite", str(folder)]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
    env = os.environ | {"PYTHONPATH": str(ROOT)} | nowhere
    done = subprocess.run(command, env=env, capture_output=True, text=True, encoding="utf-8")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    assert not re.search("warn|error", said, re.I), said
    return folder


@pytest.fixture(scope="module")
def wheel(site):
    """Give minigrad's wheel, open."""
    (path,) = site.glob("pypi/minigrad_lessons-*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_it_has_the_lessons_and_no_solution(site):
    files = site / "files"
    assert {path.relative_to(files).as_posix() for path in files.rglob("*.ipynb")} == LESSONS
    for name in LESSONS:
        notebook = json.loads((files / name).read_text(encoding="utf-8"))
        assert notebook["metadata"]["kernelspec"]["name"] == "python"
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] for cell in cells)
        assert not any("BEGIN SOLUTION" in "".join(cell["source"]) for cell in cells)


def test_links_of_the_lessons_lead_somewhere(site):
    found = 0
    for path in (site / "files").rglob("*"):
        if path.suffix not in (".ipynb", ".md"):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        for target in re.findall(r"\]\(([^)\s#]+)", re.sub(r"`[^`]*`", "", text)):
            if ":" not in target and (found := found + 1):
                assert (path.parent / target).exists(), (path, target)
    assert found > 20


def test_the_wheel_has_the_checks_and_is_whole(wheel):
    names = set(wheel.namelist())
    assert {"minigrad/__init__.py", "minigrad_lessons/data/digits.npz"} <= names
    assert "minigrad_lessons/checks/lesson_06.py" in names
    solved = [name for name in names if name.endswith(".ipynb")]
    assert len(solved) == len(places.solutions())
    for name in solved:  # their code alone, by which answers are checked
        cells = json.loads(wheel.read(name))["cells"]
        assert {cell["cell_type"] for cell in cells} == {"code"}
        assert all(set(cell) == {"cell_type", "source"} for cell in cells)
    assert not [name for name in names if name.endswith(".pyc")]
    (record,) = (name for name in names if name.endswith(".dist-info/RECORD"))
    rows = [line.split(",")[0] for line in wheel.read(record).decode().splitlines()]
    assert sorted(rows) == sorted(names)


def test_what_the_kernel_loads_is_in_the_site_or_pyodides(site):
    found = json.loads((site / lite.MARK).read_text(encoding="utf-8"))["jupyter-config-data"]
    kernel = found["litePluginSettings"][f"{lite.KERNEL}:kernel"]
    assert "pyodideUrl" not in kernel  # the address that the kernel's extension knows
    worker = site / "extensions" / lite.KERNEL / "static" / "worker.js"
    wheels = [name for name in kernel["loadPyodideOptions"]["packages"] if name[:1] == "."]
    assert [Path(os.path.normpath(worker.parent / name)).is_file() for name in wheels] == [True] * 5
    assert list((site / "extensions" / lite.KERNEL / "static").glob("*.worker.*.js"))


def test_no_folder_of_this_machine_is_named(site):
    for path in site.rglob("*"):
        if path.suffix in (".json", ".html", ".ipynb", ".md"):
            assert str(site.parents[1]) not in path.read_text(encoding="utf-8"), path


def test_a_lesson_runs_without_threads(site, wheel, tmp_path):
    wheel.extractall(tmp_path / "packages")
    program = Path(__file__).with_name("as_in_a_browser.py")
    lesson = places.solution("04")
    command = [sys.executable, "-P", str(program), str(tmp_path / "packages"), str(lesson)]
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTEST_VERSION")}
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.findall(r"[✓✗] (04\.\d): (\w+)", done.stdout) == [
        (f"04.{number}", "right") for number in range(1, 7)
    ]


@pytest.mark.parametrize(("platform", "advice"), [("linux", "pip install"), ("emscripten", "Kern")])
def test_without_numpy_it_says_what_is_missing(platform, advice):
    program = (
        "import sys; sys.modules['numpy'] = None; "
        f"sys.platform = {platform!r}\n"
        "try: import minigrad\nexcept ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert said.stdout.startswith("minigrad computes with NumPy, and there is no NumPy here.")
    assert advice in said.stdout


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_):
        pass


@pytest.mark.skipif(
    executable() is None or not sys.platform.startswith("linux"),
    reason="tried with Chromium on Linux",
)
def test_it_opens_and_lists_the_lessons(site):
    serve = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        with browser(1366, 900) as page:
            page.open(address)
            listed = "[...document.querySelectorAll('.jp-DirListing-item')].map(i => i.innerText)"
            page.wait(f"{listed}.filter(name => name.includes('ipynb')).length == {len(LESSONS)}")
            outside = [url for url in page.requests if not url.startswith((address, "data:"))]
            assert outside == []
            assert page.errors == []
        server.shutdown()
