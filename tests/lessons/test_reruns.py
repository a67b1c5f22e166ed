"""A cell shows what is stored; with `--all`, also each time that it is run again."""

import pytest
from nbformat import v4

from _tools import canonical, places, reruns
from tests.lessons.drafted import notebook_of


@pytest.mark.parametrize("path", places.solutions(), ids=lambda path: path.stem[:2])
def test_a_lesson_shows_what_is_stored(path, pytestconfig):
    found = reruns.unstable(canonical.read(path), path.parent, again=pytestconfig.option.all)
    assert [str(each) for each in found] == []


UNSTABLE = "# T\n\n" + "\n\n".join(
    f"```python {tag}\n{source}\n```"
    for source, tag in {
        "from minigrad.classroom import compare, predict\nseen, x = [], 3": "",
        'seen.append(1)\nprint("seen", len(seen))': "",
        'predict("demo.a", ...)': "prediction",
        'print("x is", x)\ncompare("demo.a", x)': "",
        "x = 4": "",
        "hooks = []": "",
        "hooks.append(1)": "",
        'from IPython.display import HTML\nHTML(f"<b>{len(hooks)}</b>")': "",
        'raise ValueError(f"no {len(hooks)}")': "raises-exception",
        'del hooks\nprint("gone")': "",
        'print("honest")': "",
        "1 / 0": "",
    }.items()
)


def test_unstable_cells_are_found(tmp_path):
    notebook = notebook_of(UNSTABLE)
    for index, was in ((2, "seen 1\n"), (11, "once honest\n")):
        stored = v4.new_output("stream", name="stdout", text=was)
        notebook.cells[index].update(execution_count=1, outputs=[stored])
    found = reruns.unstable(notebook, tmp_path)
    again, above = "when it is run again", "when all cells are run again, those above twice"
    back = "when the learner goes back to prediction demo.a"
    assert {each.cell: each.says for each in found} == {
        "cell-003": f"{again}, stdout 'seen 1' becomes stdout 'seen 2'",
        "cell-005": f"{back}, stdout 'x is 3' becomes stdout 'x is 4'",
        "cell-009": f"{above}, text/html '<b>1</b>' becomes text/html '<b>2</b>'",
        "cell-010": f"{above}, error 'ValueError: no 1' becomes error 'ValueError: no 2'",
        "cell-011": f"{again}, stdout 'gone' becomes "
        "error \"NameError: name 'hooks' is not defined\"",
        "cell-012": "when all cells are run in a fresh kernel, "
        "stdout 'once honest' becomes stdout 'honest'",
        "cell-013": "fails: error 'ZeroDivisionError: division by zero'",
    }


def test_the_command_prints_the_cells(tmp_path, monkeypatch, capsys):
    path = tmp_path / "lessons" / "solutions" / "demo_unstable.ipynb"
    draft = "# T\n\n```python\ncount = globals().get('count', 0) + 1\nprint(count)\n```\n"
    canonical.write(notebook_of(draft), path)
    monkeypatch.setattr(places, "solution", lambda which: path)
    assert reruns.main(["demo"]) == 1
    told = capsys.readouterr().out
    assert "solutions/demo_unstable: 1\n" in told
    assert told.count("cell-002: when all cells are run again") == 2
