"""An error in a notebook shows the notebook's lines, and says what was left out."""

import re

import pytest

import minigrad as torch
from minigrad.classroom.watching import LEFT_OUT, outside_only, shorten


def names(traceback):
    found = []
    while traceback is not None:
        found.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return found


def fails_in_the_engine():
    x = torch.ones(2, requires_grad=True)
    x.backward()


def test_only_frames_outside_are_left():
    with pytest.raises(RuntimeError) as caught:
        fails_in_the_engine()
    whole = caught.value.__traceback__
    assert names(outside_only(whole))[-1] == "fails_in_the_engine"
    assert len(names(outside_only(whole))) < len(names(whole))


def test_where_nothing_would_be_left_all_is_shown():
    with pytest.raises(RuntimeError) as caught:
        fails_in_the_engine()
    inner = caught.value.__traceback__
    while inner.tb_frame.f_code.co_name != "backward":
        inner = inner.tb_next
    assert outside_only(inner) is inner


def run(shell, source, capsys):
    shell.run_cell(source)
    printed = capsys.readouterr()
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.out + printed.err)


def test_in_a_shell(capsys):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell()
    source = "import minigrad as torch\nx = torch.ones(2, requires_grad=True)\nx.backward()"
    before = run(shell, source, capsys)
    shorten(shell)
    after = run(shell, source, capsys)
    assert "grad can be implicitly created only for scalar outputs" in after
    assert "x.backward()" in after and LEFT_OUT in after
    assert len(after.splitlines()) < 20 and len(before.splitlines()) > 30
    assert "gradients.py" in before and "gradients.py" not in after
    # %tb has all of it
    assert "gradients.py" in run(shell, "%tb", capsys)
    # an error of the learner's own is as it was
    own = run(shell, "def f():\n    return 1 / 0\n\nf()", capsys)
    assert "ZeroDivisionError" in own and "return 1 / 0" in own and LEFT_OUT not in own


def test_without_a_shell_nothing_happens():
    assert shorten(None) is None
