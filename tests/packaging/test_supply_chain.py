"""What importing and using minigrad may touch, and whose licenses come with the locks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .licenses import listed, locked

ROOT = Path(__file__).resolve().parents[2]
# Ends the process at once: an exception in an audit hook could be caught.
WATCH = """
import os, sys
REACH = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
         "_thread.start", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.")
CHANGE = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink",
          "os.truncate", "shutil.", "tempfile.")
def watch(event, given):
    wrong = event.startswith(FORBIDDEN)
    if event == "open" and READABLE is not None and isinstance(given[0], (str, bytes)):
        path, mode, flags = os.path.realpath(os.fsdecode(given[0])), given[1], given[2]
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(str(mode)) & set("wxa+")
        wrong = bool(writes) or not path.startswith(READABLE)
    if wrong:
        os.write(2, f"{event}{given!r}".encode())
        os._exit(3)
"""


def watched(forbidden: str, readable: str, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter that ends where it does what it must not."""
    code = f"{WATCH}\nimport sysconfig\nFORBIDDEN, READABLE = {forbidden}, {readable}\n"
    code += f"sys.addaudithook(watch)\n{program}"
    command = [sys.executable, "-B", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


STANDARD = "sysconfig.get_path('stdlib'), sysconfig.get_config_var('DESTSHARED') or sys.prefix"
INSTALLED = "sysconfig.get_path('purelib'), sysconfig.get_path('platlib')"
HERE = "os.path.realpath('minigrad'), os.path.realpath(sys.prefix + '/pyvenv.cfg')"


def paths(*more: str) -> str:
    listed = ", ".join((STANDARD, HERE, *more))
    return f"tuple(os.path.realpath(p) for p in ({listed}))"


NUMPY = "sysconfig.get_path('purelib') + '/numpy'"
MODULES = """
import importlib, pkgutil, minigrad
for module in pkgutil.walk_packages(minigrad.__path__, "minigrad."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def test_importing_minigrad_reads_itself_and_numpy_and_does_nothing_else() -> None:
    done = watched("REACH + CHANGE", paths(NUMPY), "import minigrad")
    assert done.returncode == 0, done.stderr


def test_no_module_does_anything_when_it_is_imported() -> None:
    done = watched("REACH + CHANGE", paths(INSTALLED), MODULES)
    assert done.returncode == 0, done.stderr


USE = """
import tempfile, json
import minigrad as torch
from minigrad import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(16, 2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 4)
for a, b in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()
with tempfile.TemporaryDirectory() as folder:
    torch.save(model.state_dict(), folder + "/model.pt")
    model.load_state_dict(torch.load(folder + "/model.pt"))
sys.path.insert(0, "lessons")
book = json.load(open("lessons/solutions/01_chain_rule_by_hand.ipynb", encoding="utf-8"))
names = {"__name__": "__main__"}
ran = 0
for cell in book["cells"]:
    if cell["cell_type"] == "code" and "%" not in "".join(cell["source"])[:1]:
        exec("".join(cell["source"]), names)
        ran += 1
from _start import worked_example
full = worked_example.run("register_full_backward_hook", "x1")
print(full["loss"], ran)
"""


def test_training_saving_loading_and_a_lesson_reach_for_no_network() -> None:
    done = watched("('socket.', 'urllib.', 'http.')", "None", USE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 10


@pytest.mark.parametrize(
    ("program", "event"),
    [
        ("import socket; socket.socket()", "socket."),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("open('README.md')", "open"),
        ("open('minigrad/planted', 'w')", "open"),
    ],
)
def test_a_forbidden_thing_is_found(program: str, event: str) -> None:
    done = watched("REACH + CHANGE", paths(NUMPY), program)
    assert done.returncode == 3 and done.stderr.startswith(event)
    assert not (ROOT / "minigrad" / "planted").exists()


def test_a_license_is_listed_for_each_pin() -> None:
    """`python3 -m tests.packaging.licenses` writes the list."""
    assert {name: row["version"] for name, row in listed().items()} == locked()
    assert all(row["license"] and row["found"] for row in listed().values())


def test_numpy_is_listed_with_its_license() -> None:
    assert "BSD-3-Clause" in listed()["numpy"]["license"]
