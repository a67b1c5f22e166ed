"""JupyterLab: it is started once, found again, and shows what is signed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import nbformat
import pytest

from _start import environment, server, trust

ROOT = Path(__file__).resolve().parents[2]

# ---- starting -----------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder of lessons, with settings of Jupyter's beside it."""
    for name, value in environment.settings(tmp_path / "var", os.environ).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def test_jupyterlab_opens_at_the_copy_of_lesson_00(root):
    assert "--LabApp.default_url=/lab/tree/lessons" in server.command(root, 8888, True)
    page = root / "lessons/mine/00_start_here.ipynb"
    page.parent.mkdir(parents=True)
    page.touch()
    parts = server.command(root, 8888, False)
    assert "--LabApp.default_url=/lab/tree/lessons/mine/00_start_here.ipynb" in parts
    assert {"--no-browser", "--port=8888", "--ip=127.0.0.1"} <= set(parts)
    assert "--ServerApp.port_retries=0" in parts  # the port is the one that was named
    assert {"--port=8888", "--ServerApp.port_retries=50"} <= {*server.command(root, None, True)}
    assert "--LanguageServerManager.autodetect=False" in parts  # asks npm, which writes at home
    # others on the machine can read a command line
    assert not any("token" in part for part in parts)


def test_jupyterlab_starts_says_where_it_is_and_asks_nothing_of_the_network(root, tmp_path):
    from jupyterlab.labapp import LabApp

    server.quiet_kernels()
    (place,) = tmp_path.rglob("ipython_kernel_config.json")
    assert json.loads(place.read_text())["IPKernelApp"]["log_level"] > 30
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(server.command(root, port, False), stderr=file, stdout=file)
        end = time.monotonic() + 90
        while "?token=" not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        found = server.find(root)
        process.send_signal(signal.SIGINT)  # Ctrl-C
        assert process.wait(60) == 0
    said = log.read_text()
    assert found["port"] == port and f"127.0.0.1:{port}/lab/tree/lessons?token=" in said
    assert "not recognized" not in said
    app = LabApp()
    app.parse_command_line([each for each in server.command(root, port, False) if "LabApp" in each])
    assert app.news_url is None and app.check_for_updates_class.__name__ == "NeverCheckForUpdate"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has terminal browsers")
def test_without_a_display_there_is_no_browser(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert server.has_browser() is False


# ---- finding the one that runs ------------------------------------------------------------------


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def note(root, listening, **changes):
    """The note that a server writes when it starts."""
    folder = Path(os.environ["JUPYTER_RUNTIME_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    told = {"port": listening, "token": "secret", "root_dir": str(root), "pid": os.getpid()}
    (folder / "jpserver-1.json").write_text(json.dumps(told | changes), encoding="utf-8")
    opener = folder / f"jpserver-{os.getpid()}-open.html"
    opener.touch()
    return opener


def test_a_server_that_answers_is_found(root, port):
    assert server.find(root) is None
    note(root, port)
    found = server.find(root)
    assert (found["port"], found["token"]) == (port, "secret")


@pytest.mark.parametrize("changes", [{"root_dir": "."}, {"root_dir": "/not/there"}, {"port": 1}])
def test_a_server_of_somebody_else_is_not_ours(root, port, changes):
    note(root, port, **changes)
    assert server.find(root) is None


def test_the_running_one_opens_without_a_token_in_a_command_line(root, port, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    opener = note(root, port)
    for browser in (True, False):
        assert server.revisit(root, server.find(root), browser) == 0
    assert opened == [opener.as_uri()]
    assert capsys.readouterr().err.count("Open this address in a browser") == 2


# ---- signing ------------------------------------------------------------------------------------


def test_what_is_published_is_signed_and_a_rewritten_copy_if_it_was(root):
    lessons = root / "lessons"
    (lessons / "mine").mkdir(parents=True)
    for name in ("00_start_here.ipynb", "mine/was.ipynb", "mine/is.ipynb", "mine/foreign.ipynb"):
        path = shutil.copy(ROOT / "lessons" / "01_chain_rule_by_hand.ipynb", lessons / name)
        text = Path(path).read_text(encoding="utf-8")
        Path(path).write_text(text.replace("# 01", f"# {name} 01", 1), encoding="utf-8")
    was, now, foreign = (lessons / "mine" / f"{name}.ipynb" for name in ("was", "is", "foreign"))
    notary = trust.notary()

    def trusted(path):
        return trust.notary().check_signature(nbformat.read(path, as_version=4))

    trust.sign(lessons, [(foreign, was)])
    assert trusted(lessons / "00_start_here.ipynb") and not trusted(was)
    notary.sign(nbformat.read(was, as_version=4))
    trust.sign(lessons, [(was, now)])
    assert trusted(now) and not trusted(foreign)
