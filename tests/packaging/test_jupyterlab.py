"""JupyterLab: it is started once, found again, and shows what is signed."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import webbrowser
from pathlib import Path

import nbformat
import pytest

from _start import environment, server, trust
from _start.console import Trouble

ROOT = Path(__file__).resolve().parents[2]

# ---- starting -----------------------------------------------------------------------------------


def test_jupyterlab_opens_at_the_copy_of_lesson_00(tmp_path):
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    assert "--LabApp.default_url=/lab/tree/lessons" in server.command(home, 8888, True)
    page = tmp_path / "lessons/mine/00_start_here.ipynb"
    page.parent.mkdir(parents=True)
    page.touch()
    parts = server.command(home, 8888, False)
    assert "--LabApp.default_url=/lab/tree/lessons/mine/00_start_here.ipynb" in parts
    assert {"--no-browser", "--port=8888", "--ip=127.0.0.1"} <= set(parts)
    assert "--ServerApp.port_retries=0" in parts  # the port is the one that was named
    assert {"--port=8888", "--ServerApp.port_retries=50"} <= {*server.command(home, None, True)}
    assert "--LanguageServerManager.autodetect=False" in parts  # asks npm, which writes at home
    # others on the machine can read a command line
    assert not any("token" in part for part in parts)


def test_jupyterlab_asks_nothing_of_the_network_unless_the_reader_says_so(tmp_path):
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    server.write_settings(home)
    (place,) = home.venv.rglob("notification.jupyterlab-settings")
    inside = home.variables({})
    assert place.is_relative_to(Path(inside["JUPYTER_CONFIG_DIR"]) / "lab" / "user-settings")
    settings = json.loads(place.read_text(encoding="utf-8"))
    assert settings == {"fetchNews": "false", "checkForUpdates": False}
    place.write_text("{}", encoding="utf-8")
    server.write_settings(home)
    assert place.read_text(encoding="utf-8") == "{}"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has terminal browsers")
def test_without_a_display_there_is_no_browser(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert server.has_browser() is False


PROGRAM = """
import json, os, pathlib, socket
listening = socket.create_server(("127.0.0.1", 0))
told = {"port": listening.getsockname()[1], "token": os.environ["JUPYTER_TOKEN"],
        "root_dir": os.getcwd(), "pid": os.getpid()}
folder = pathlib.Path(os.environ["JUPYTER_RUNTIME_DIR"])
folder.mkdir(parents=True, exist_ok=True)
(folder / f"jpserver-{os.getpid()}.json").write_text(json.dumps(told))
listening.accept()
"""


@pytest.fixture
def home(tmp_path):
    """A repository whose JupyterLab is a small program: it ends when somebody has connected."""
    return environment.Environment(tmp_path, tmp_path / ".venv")


def stand_in(monkeypatch, program=PROGRAM):
    def command(home, port, browser):
        return [sys.executable, "-c", program]

    monkeypatch.setattr(server, "command", command)


def test_the_address_is_told_when_jupyterlab_answers(home, monkeypatch, capsys):
    stand_in(monkeypatch)
    monkeypatch.setenv("JUPYTER_TOKEN", "secret")
    order = []
    code = server.serve(
        home, None, False, lambda: order.append("meanwhile"), lambda: order.append("afterward")
    )
    assert (code, order) == (0, ["meanwhile", "afterward"])
    said = capsys.readouterr().err
    assert re.search(r"http://127.0.0.1:\d+/lab/tree/lessons\?token=secret", said)
    assert said.rstrip().endswith("Ctrl-C here stops JupyterLab.")


def test_a_jupyterlab_that_does_not_start_is_told(home, monkeypatch):
    stand_in(monkeypatch, "import sys; sys.exit(3)")
    with pytest.raises(Trouble, match="did not start"):
        server.serve(home, None, False, lambda: None, lambda: None)


def test_trouble_meanwhile_stops_jupyterlab(home, monkeypatch):
    stand_in(monkeypatch)
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        server.subprocess, "Popen", lambda *a, **o: started.append(popen(*a, **o)) or started[0]
    )

    def meanwhile():
        raise Trouble("the worked example failed", "Report it.")

    with pytest.raises(Trouble, match="worked example"):
        server.serve(home, None, False, meanwhile, lambda: None)
    assert started[0].poll() is not None


# ---- finding the one that runs ------------------------------------------------------------------


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def note(home, listening, number=1, **changes):
    """The note that a server writes when it starts."""
    folder = home.venv / "var" / "jupyter" / "runtime"
    folder.mkdir(parents=True, exist_ok=True)
    told = {"port": listening, "token": "secret", "root_dir": str(home.root), "pid": os.getpid()}
    (folder / f"jpserver-{number}.json").write_text(json.dumps(told | changes), encoding="utf-8")
    opener = folder / f"jpserver-{os.getpid()}-open.html"
    opener.touch()
    return opener


def test_a_server_that_answers_is_found(home, port):
    assert server.find(home) is None
    note(home, port)
    found = server.find(home)
    assert (found["port"], found["token"]) == (port, "secret")


@pytest.mark.parametrize("changes", [{"root_dir": "."}, {"root_dir": "/not/there"}, {"port": 1}])
def test_a_server_of_somebody_else_is_not_ours(home, port, changes):
    note(home, port, **changes)
    assert server.find(home) is None


def test_the_running_one_opens_without_a_token_in_a_command_line(home, port, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    opener = note(home, port)
    assert server.revisit(home, server.find(home), browser=True) == 0
    assert opened == [opener.as_uri()]
    assert "It opens in your browser" in capsys.readouterr().err
    assert server.revisit(home, server.find(home), browser=False) == 0
    opener.unlink()
    assert server.revisit(home, server.find(home), browser=True) == 0
    assert len(opened) == 1
    assert capsys.readouterr().err.count("Open this address in a browser") == 2


# ---- signing ------------------------------------------------------------------------------------


def test_what_is_new_is_signed_once_and_a_rewritten_copy_if_it_was(home):
    lessons = home.root / "lessons"
    (lessons / "mine").mkdir(parents=True)
    for name in ("00_start_here.ipynb", "mine/was.ipynb", "mine/is.ipynb", "mine/foreign.ipynb"):
        path = shutil.copy(ROOT / "lessons" / "01_chain_rule_by_hand.ipynb", lessons / name)
        text = Path(path).read_text(encoding="utf-8")
        Path(path).write_text(text.replace("# 01", f"# {name} 01", 1), encoding="utf-8")
    was, now, foreign = (lessons / "mine" / f"{name}.ipynb" for name in ("was", "is", "foreign"))
    notary = trust.notary(home)

    def trusted(path):
        return trust.notary(home).check_signature(nbformat.read(path, as_version=4))

    trust.sign(notary, home, [(foreign, was)])
    assert trusted(lessons / "00_start_here.ipynb") and not trusted(was)
    notary.sign(nbformat.read(was, as_version=4))
    trust.sign_meanwhile(home, [(was, now)]).join(60)
    assert trusted(now) and not trusted(foreign)
