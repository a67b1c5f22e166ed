"""No cell lies: what is stored is what it shows at first, and each time that it is run again."""

import pytest
from nbformat import v4

from _tools import canonical, drafts, places, reruns

SOLUTIONS = places.solutions()
EACH = [*SOLUTIONS[7:], *SOLUTIONS[:7]]  # the first and the thirteenth are run always, and short


@pytest.mark.examples
@pytest.mark.parametrize("path", EACH, ids=lambda path: path.stem)
def test_a_lesson_shows_the_same_each_time(path):
    assert [str(slip) for slip in reruns.lies(canonical.read(path), path.parent)] == []


LYING = """
# T

```python
from minigrad.classroom import compare, predict

seen = []
x = 3
```

```python
seen.append(1)
print("seen", len(seen))
```

```python prediction
predict("demo.a", ...)
```

```python
print("x is", x)
compare("demo.a", x)
```

```python
x = 4
```

```python
hooks = []
```

```python
hooks.append(1)
```

```python
from IPython.display import HTML

HTML(f"<b>{len(hooks)}</b>")
```

```python raises-exception
raise ValueError(f"no {len(hooks)}")
```

```python
del hooks
print("gone")
```

```python
print("honest")
```

```python
1 / 0
```
"""


def test_a_notebook_that_lies_is_caught(tmp_path):
    notebook = drafts.notebook_from(LYING)
    for index, was in ((2, "seen 1\n"), (11, "once honest\n")):
        stored = v4.new_output("stream", name="stdout", text=was)
        notebook.cells[index].update(execution_count=1, outputs=[stored])
    found = reruns.lies(notebook, tmp_path)
    assert [str(slip).removeprefix("[rerun] ") for slip in found] == [
        "cell-003: when it is run again, 'seen 1' becomes 'seen 2' (stdout)",
        "cell-005: when the learner goes back to prediction demo.a, "
        "'x is 3' becomes 'x is 4' (stdout)",
        "cell-009: when all cells are run again, those above twice, "
        "'<b>1</b>' becomes '<b>2</b>' (text/html)",
        "cell-010: when all cells are run again, those above twice, "
        "'ValueError: no 1' becomes 'ValueError: no 2' (error)",
        "cell-011: when it is run again, "
        "it shows error \"NameError: name 'hooks' is not defined\" where it showed stdout 'gone'",
        "cell-012: when all cells are run in a fresh kernel, "
        "'once honest' becomes 'honest' (stdout)",
        "cell-013: fails: ZeroDivisionError: division by zero",
    ]


def test_the_command_prints_the_cells(tmp_path, monkeypatch, capsys):
    path = tmp_path / "lessons" / "solutions" / "demo_lies.ipynb"
    draft = "# T\n\n```python\ncount = globals().get('count', 0) + 1\nprint(count)\n```\n"
    canonical.write(drafts.notebook_from(draft), path)
    monkeypatch.setattr(places, "solution", lambda which: path)
    assert reruns.main(["demo"]) == 1
    told = capsys.readouterr().out
    assert "solutions/demo_lies: 1 (" in told
    assert told.count("cell-002: when all cells are run again") == 2
