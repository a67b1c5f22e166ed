"""JupyterLab: it is started once, found again, and shows what is signed."""

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

import pytest

from _start import environment, running, server, trust
from _start.console import Trouble

ROOT = Path(__file__).resolve().parents[2]

# ---- starting -----------------------------------------------------------------------------------


def test_a_port_in_use_is_told_and_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Trouble, match=str(port)):
            server.choose_port(port)
    assert server.choose_port(port) == port


def test_no_free_port_is_told(monkeypatch):
    monkeypatch.setattr(server, "is_free", lambda port: False)
    with pytest.raises(Trouble, match="no port from 8888") as trouble:
        server.choose_port(None)
    assert "--port" in trouble.value.advice


def test_jupyterlab_opens_at_the_copy_of_lesson_00(tmp_path):
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    assert "--LabApp.default_url=/lab/tree/lessons" in server.command(home, 8888, True)
    for page in ("lessons/00_start_here.ipynb", "lessons/mine/00_start_here.ipynb"):
        (tmp_path / page).parent.mkdir()
        (tmp_path / page).touch()
        parts = server.command(home, 8888, False)
        assert f"--LabApp.default_url=/lab/tree/{page}" in parts
    assert {"--no-browser", "--port=8888", "--ip=127.0.0.1"} <= set(parts)
    assert "--LanguageServerManager.autodetect=False" in parts  # asks npm, which writes at home
    # others on the machine can read a command line
    assert not any("token" in part for part in parts)


def test_jupyterlab_is_told_to_ask_nothing_of_the_network(tmp_path):
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    server.write_settings(home)
    text = (home.venv / "share/jupyter/lab/settings/overrides.json").read_text(encoding="utf-8")
    settings = json.loads(text)["@jupyterlab/apputils-extension:notification"]
    assert settings == {"fetchNews": "false", "checkForUpdates": False}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has terminal browsers")
def test_without_a_display_there_is_no_browser(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert server.has_browser() is False


PROGRAM = """
import http.server, sys
handler = http.server.BaseHTTPRequestHandler
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), handler).handle_request()
"""


@pytest.fixture
def home(tmp_path):
    """A repository whose JupyterLab is a small program: it ends when somebody has connected."""
    return environment.Environment(tmp_path, tmp_path / ".venv")


def stand_in(monkeypatch, program=PROGRAM):
    def command(home, port, browser):
        return [sys.executable, "-c", program, str(port)]

    monkeypatch.setattr(server, "command", command)


def test_the_address_is_told_when_jupyterlab_answers(home, monkeypatch, capsys):
    stand_in(monkeypatch)
    monkeypatch.setenv("JUPYTER_TOKEN", "secret")
    port, order = server.choose_port(None), []
    code = server.serve(
        home, port, False, lambda: order.append("meanwhile"), lambda: order.append("afterward")
    )
    assert (code, order) == (0, ["meanwhile", "afterward"])
    said = capsys.readouterr().err
    assert f"http://127.0.0.1:{port}/lab/tree/lessons?token=secret" in said
    assert said.rstrip().endswith("Ctrl-C here stops JupyterLab.")


def test_a_jupyterlab_that_does_not_start_is_told(home, monkeypatch):
    stand_in(monkeypatch, "import sys; sys.exit(3)")
    port = server.choose_port(None)
    with pytest.raises(Trouble, match="did not start"):
        server.serve(home, port, False, lambda: None, lambda: None)


def test_trouble_meanwhile_stops_jupyterlab(home, monkeypatch):
    stand_in(monkeypatch)
    port = server.choose_port(None)

    def meanwhile():
        raise Trouble("the worked example failed", "Report it.")

    with pytest.raises(Trouble, match="worked example"):
        server.serve(home, port, False, meanwhile, lambda: None)
    assert server.is_free(port)


# ---- finding the one that runs ------------------------------------------------------------------


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers as Jupyter does to those who know the token."""

    def do_GET(self):
        known = self.headers["Authorization"] == "token secret"
        self.send_response(200 if known and self.path == "/api/status" else 403)
        self.end_headers()

    def log_message(self, *_):
        return


@pytest.fixture
def port():
    with http.server.HTTPServer(("127.0.0.1", 0), Answering) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served.server_address[1]
        served.shutdown()


def note(home, port, number=1, **changes):
    """The note that a server writes when it starts."""
    folder = home.venv / "var" / "jupyter" / "runtime"
    folder.mkdir(parents=True, exist_ok=True)
    told = {"port": port, "token": "secret", "root_dir": str(home.root)} | changes
    (folder / f"jpserver-{number}.json").write_text(json.dumps(told), encoding="utf-8")
    opener = folder / f"jpserver-{number}-open.html"
    opener.touch()
    return opener


def test_a_server_that_answers_is_found(home, port, monkeypatch):
    assert running.find(home) is None
    opener = note(home, port)
    found = running.find(home)
    assert found == running.Running(port, "secret", opener)
    assert found.address("/lab") == f"http://127.0.0.1:{port}/lab?token=secret"
    opener.unlink()
    assert running.find(home) == running.Running(port, "secret", None)


@pytest.mark.parametrize(
    "changes",
    [{"token": "of another"}, {"root_dir": "."}, {"root_dir": "/not/there"}, {"port": "8888"}],
)
def test_a_server_of_somebody_else_is_not_ours(home, port, changes):
    opener = note(home, **{"port": port, **changes})
    assert running.find(home) is None
    assert opener.exists()


def test_the_note_of_a_server_that_was_killed_is_removed(home, port):
    gone = note(home, server.choose_port(None), number=1)
    there = note(home, port, number=2)
    assert running.find(home).opener == there
    assert sorted(path.name for path in gone.parent.iterdir()) == [
        "jpserver-2-open.html",
        "jpserver-2.json",
    ]
    running.forget(home, port)
    assert list(gone.parent.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"port": 1}'])
def test_a_note_that_cannot_be_read_is_passed_over(home, port, text):
    opener = note(home, port)
    opener.with_name("jpserver-0.json").write_text(text, encoding="utf-8")
    assert running.find(home) is not None


def test_the_running_one_opens_without_a_token_in_a_command_line(home, port, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    opener = note(home, port)
    assert server.revisit(home, running.find(home), browser=True) == 0
    assert opened == [opener.as_uri()]
    assert "It opens in your browser" in capsys.readouterr().err
    assert server.revisit(home, running.find(home), browser=False) == 0
    opener.unlink()
    assert server.revisit(home, running.find(home), browser=True) == 0
    assert len(opened) == 1
    assert capsys.readouterr().err.count("Open this address in a browser") == 2


# ---- signing ------------------------------------------------------------------------------------


@pytest.fixture
def signed(home, monkeypatch):
    """A repository with a lesson, its solution and a copy; and what the signer is asked to do."""
    lessons = home.root / "lessons"
    for folder in (lessons, lessons / "solutions", lessons / "mine"):
        folder.mkdir()
        shutil.copy(ROOT / "lessons" / "00_start_here.ipynb", folder)
    (lessons / "00_start_here.ipynb").write_text(
        (lessons / "solutions" / "00_start_here.ipynb").read_text(encoding="utf-8") + "\n",
        encoding="utf-8",
    )
    orders = []

    def run(command, input, **options):
        orders.append(json.loads(input))
        (home.venv / "var" / "jupyter" / "data" / trust.SIGNATURES).touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(trust.subprocess, "run", run)
    return lessons, orders


def test_what_is_new_is_signed_once(home, signed):
    lessons, orders = signed
    both = [str(lessons / "00_start_here.ipynb"), str(lessons / "solutions/00_start_here.ipynb")]
    assert [trust.sign(home), trust.sign(home)] == [2, 0]
    assert orders == [{"sign": both, "again": []}]
    with (lessons / "00_start_here.ipynb").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert trust.sign(home) == 1
    assert orders[1]["sign"] == both[:1]
    (home.venv / "var/jupyter/data" / trust.SIGNATURES).unlink()
    assert trust.sign(home) == 2


def test_copies_that_were_rewritten_are_signed_if_they_were(home, signed):
    lessons, orders = signed
    trust.sign(home)
    older, place = lessons / "mine/older/a.ipynb", lessons / "mine/a.ipynb"
    trust.sign_meanwhile(home, [(older, place)]).join(30)
    assert orders[1] == {"sign": [], "again": [[str(older), str(place)]]}


def test_a_signer_that_fails_is_told_and_tried_again(home, signed, monkeypatch, capsys):
    failed = subprocess.CompletedProcess([], 1, "", "no nbformat")
    monkeypatch.setattr(trust.subprocess, "run", lambda *_, **__: failed)
    assert trust.sign(home) == 0
    assert "could not be signed as trusted; JupyterLab will ask. no nb" in capsys.readouterr().err
    assert len(trust.unsigned(home)) == 2


def test_the_secret_is_made_once(home):
    place = home.venv / "var" / "jupyter" / "data" / trust.SECRET
    trust.keep_secret(home)
    secret = place.read_bytes()
    trust.keep_secret(home)
    assert place.read_bytes() == secret and len(secret) > 1000
    assert os.name == "nt" or place.stat().st_mode & 0o077 == 0


def test_jupyter_takes_the_signatures(home, monkeypatch):
    from nbformat import read
    from nbformat.sign import NotebookNotary

    lessons = home.root / "lessons"
    (lessons / "mine").mkdir(parents=True)
    for name in ("00_start_here.ipynb", "mine/was.ipynb", "mine/is.ipynb", "mine/foreign.ipynb"):
        shutil.copy(ROOT / "lessons" / "01_chain_rule_by_hand.ipynb", lessons / name)
    own = environment.Environment(home.root, Path(sys.prefix))
    variables = home.variables(os.environ)
    monkeypatch.setattr(environment.Environment, "variables", lambda *_: variables)
    for name, text in (("was", "x = 1"), ("is", "x = 2"), ("foreign", "x = 3")):
        path = lessons / "mine" / f"{name}.ipynb"
        whole = path.read_text(encoding="utf-8").replace("# 01", f"# {text} 01", 1)
        path.write_text(whole, encoding="utf-8")
    data = Path(variables["JUPYTER_DATA_DIR"])

    def trusted(path):
        notary = NotebookNotary(data_dir=str(data))
        return notary.check_signature(read(path, as_version=4))

    monkeypatch.setattr(trust, "RECORD", str(home.venv / "var" / "signed.json"))
    was, now, foreign = (lessons / "mine" / f"{name}.ipynb" for name in ("was", "is", "foreign"))
    assert trust.sign(own, [(foreign, was)]) == 1
    assert trusted(lessons / "00_start_here.ipynb")
    assert not trusted(was)
    NotebookNotary(data_dir=str(data)).sign(read(was, as_version=4))
    assert trust.sign(own, [(was, now)]) == 0
    assert trusted(now) and not trusted(foreign)
