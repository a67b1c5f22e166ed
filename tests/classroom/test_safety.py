"""Whatever a learner hands in: it is stopped, explained and undone, and the notebook goes on."""

import itertools
import os
import random
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import nbclient
import numpy as np
import pytest
from nbformat import v4

import minigrad as torch
from minigrad import classroom, nn
from minigrad.classroom import check, execution, exercises_of, judge
from minigrad.classroom.data import CHECKS
from minigrad.classroom.execution import HeldBack, as_usual, put_back, run
from minigrad.nn.modules import module as everywhere

ROOM = Path(classroom.__file__).parent
LESSONS = sorted(path.stem.removeprefix("lesson_") for path in CHECKS.glob("lesson_*"))
EXERCISES = [exercise.id for lesson in LESSONS for exercise in exercises_of(lesson)]


class Awkward:
    """Everything that can be asked of it fails."""

    def __float__(self):
        raise OSError("no float")

    def __str__(self):
        raise OSError("no text")

    __repr__ = __len__ = __iter__ = __eq__ = __bool__ = __str__
    __hash__ = None


def circular():
    result = []
    result.append(result)
    return result


def numbers_for_ever():
    yield from itertools.count()


ODD = {
    "awkward": Awkward(),
    "bytes": b"0.5",
    "circular": circular(),
    "class": Awkward,
    "complex": 1 + 2j,
    "complex tensor": torch.ones(2) * 1j,
    "deep": [[[[[[1.0]]]]]],
    "dict": {"a": 1},
    "empty array": np.zeros((0, 3)),
    "empty list": [],
    "empty tuple": (),
    "endless generator": numbers_for_ever(),
    "error": ValueError("an error as an answer"),
    "exit": lambda *args: sys.exit(3),
    "huge": 10**400,
    "infinity": float("inf"),
    "integer tensor": torch.arange(3),
    "long text": "because " * 2000,
    "minus infinity": -np.inf,
    "module": nn.Linear(2, 2),
    "nan": float("nan"),
    "none in a list": [None, 1.0],
    "object array": np.array([None, "a"], dtype=object),
    "parameter": nn.Parameter(torch.ones(2)),
    "range": range(3),
    "recursion": lambda *args: judge_me_again(*args),
    "returns awkward": lambda *args: Awkward(),
    "set": {1, 2},
    "symbol": ("b",),
    "text": "0.5",
    "true": True,
    "zero": 0,
    "base exception": lambda *args: raise_it(BaseException("all the way")),
    "builtin": len,
    "handle": torch.ones(1, requires_grad=True).register_hook(print),
}


def judge_me_again(*args):
    return judge_me_again(*args)


def raise_it(error):
    raise error


@pytest.mark.parametrize("exercise", EXERCISES)
def test_no_answer_is_too_odd_to_be_judged(exercise, capsys):
    for name, answer in ODD.items():
        verdict = judge(exercise, answer)
        assert verdict.status in ("wrong", "unsolved"), name
        said = " ".join(verdict.message.split()).removeprefix(f"{exercise}: not yet.")
        # More than that it is wrong: what was asked for, and what came instead.
        assert len(said.split()) >= 8, (name, said)
        assert len(said) < 1500, (name, said)
        assert "0x" not in said, (name, said)
    assert capsys.readouterr().out == ""


@pytest.fixture
def doubling(monkeypatch):
    monkeypatch.setattr(classroom.desk, "_registered", {})
    classroom.register(
        classroom.Function(
            id="97.1",
            asks="f(x), which doubles",
            inputs=lambda rng: [(1.0,), (rng.uniform(2, 3),)],
            reference=lambda x: 2 * x,
            right="Yes.",
            hints=("first", "second"),
        )
    )


def hook_everywhere(x):
    everywhere.register_module_forward_hook(lambda *args: None)
    return 2 * x


def default_dtype(x):
    torch.set_default_dtype(torch.float64)
    return 2 * x


def no_recording(x):
    torch.set_grad_enabled(False)
    return 2 * x


def saved_hooks(x):
    torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
    return 2 * x


def anomalies(x):
    torch.autograd.set_detect_anomaly(True)
    return 2 * x


def seeding(x):
    torch.manual_seed(torch.initial_seed() + 1)
    return 2 * x


def everything():
    return (
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_anomaly_enabled(),
        [dict(table) for name, table in vars(everywhere).items() if name.startswith("_global_f")],
        everywhere._global_is_full_backward_hook,
    )


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (hook_everywhere, "left a global hook registered"),
        (default_dtype, "changed the default dtype"),
        (no_recording, "left recording switched"),
        (saved_hooks, "saved-tensor hooks"),
        (anomalies, "anomaly detection"),
        (seeding, "seeded the random numbers"),
    ],
)
def test_what_an_answer_leaves_changed_is_named_and_undone(doubling, answer, says):
    before = everything()
    verdict = judge("97.1", answer)
    said = " ".join(verdict.message.split())
    assert verdict.status == "wrong"
    assert says in said
    assert "put back" in said
    assert everything() == before


def test_random_numbers_go_on_where_they_were(doubling):
    def drawing(x):
        torch.randn(3), np.random.rand(), random.random()
        return 2 * x

    states = torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()
    assert judge("97.1", drawing).status == "right"
    after = torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()
    assert after == states


def test_the_learners_surroundings_do_not_disturb_a_check(doubling, capsys):
    calls, dtypes = [], []
    handle = everywhere.register_module_forward_hook(lambda *args: calls.append(1))
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            layer = nn.Linear(1, 1)

            def answer(x):
                assert torch.is_grad_enabled()
                dtypes.append(torch.tensor(1.0).dtype)
                layer(torch.ones(1, dtype=torch.float64))
                return 2 * x

            assert check("97.1", answer)
            assert dtypes[0] is torch.float32
            assert not torch.is_grad_enabled()
        assert torch.get_default_dtype() is torch.float64
        assert handle.id in everywhere._global_forward_hooks
    finally:
        torch.set_default_dtype(torch.float32)
        handle.remove()
    said = " ".join(capsys.readouterr().out.split())
    assert calls == []
    assert "A global hook from an earlier cell is still registered" in said
    assert "Recording is switched off" in said


def test_after_an_error_too_everything_is_put_back():
    before = everything()
    with pytest.raises(KeyError), put_back() as left:
        torch.set_default_dtype(torch.float64)
        raise KeyError
    assert left
    with pytest.raises(KeyError), as_usual():
        raise KeyError
    assert everything() == before


def slow_lines():
    big = np.ones((300, 300))
    while True:
        np.linalg.inv(big @ big + np.eye(300))


def inside_a_library():
    sorted(itertools.islice(itertools.count(), 10), key=lambda k: slow_lines())


def printing_for_ever():
    while True:
        print("x" * 1000)


def generating_for_ever():
    return sum(k for k in itertools.count())


@pytest.mark.parametrize(
    "function", [slow_lines, inside_a_library, printing_for_ever, generating_for_ever]
)
def test_what_does_not_end_is_stopped(function, capsys, monkeypatch):
    monkeypatch.setattr(execution, "MOST_SECONDS", 0.4)
    outcome = run(function, most_lines=3000)
    assert outcome.endless and "endless loop" in outcome.trouble
    assert capsys.readouterr().out == ""


def test_where_a_watch_stays_on_what_is_stopped_can_close_up():
    """A grader's audit hook keeps Python from taking it off."""
    watch, frame = execution.Watch(-1), sys._getframe()
    with pytest.raises(execution.Endless):
        watch(frame, "line", None)
    with pytest.raises(execution.Endless):
        watch(frame, "line", None)
    code = SimpleNamespace(co_filename=execution.__file__)
    assert watch(SimpleNamespace(f_code=code), "call", None) is None


def test_what_is_stopped_leaves_numpys_settings_as_they_were():
    def silenced():
        np.seterr(all="ignore")
        printing_for_ever()

    before = np.geterr()
    assert run(silenced, most_lines=500).endless
    assert np.geterr() == before


def test_a_readers_own_interrupt_gets_through():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)


def test_in_another_thread_lines_are_counted_all_the_same():
    found = []
    thread = threading.Thread(target=lambda: found.append(run(printing_for_ever, most_lines=500)))
    thread.start()
    thread.join()
    assert "500 lines" in found[0].trouble


def test_recursion_through_compiled_code_is_explained():
    def folding(x):
        return max([x], key=folding)

    assert "RecursionError" in run(folding, 1).trouble


def test_a_flood_of_output_is_counted_and_not_kept(doubling):
    def flooding(x):
        print("line\n" * 100_000)
        return 3 * x

    before = HeldBack.lines
    verdict = judge("97.1", flooding)
    assert HeldBack.lines - before >= 200_000, verdict.message
    assert "What it prints is held back here" in " ".join(verdict.message.split())
    assert len(verdict.message) < 600


IN_A_KERNEL = """\
from minigrad.classroom import check
from minigrad.classroom.execution import run
def forever():
    while True:
        pass
print(run(forever, most_lines=1000).trouble)
from minigrad.classroom.desk import find
from minigrad.classroom.exercises import computed
print(check("01.1", computed(find("01.1").expected)).status)
"""


def test_in_a_notebooks_kernel_loops_are_stopped_and_notes_are_made(tmp_path):
    notebook = v4.new_notebook(
        cells=[v4.new_code_cell(IN_A_KERNEL), v4.new_code_cell("print('still here')")]
    )
    client = nbclient.NotebookClient(
        notebook, timeout=600, extra_arguments=["--IPKernelApp.log_level=ERROR"]
    )
    notes = tmp_path / "notes.json"
    variables = {"MINIGRAD_PROGRESS": str(notes), "PYTHONPATH": str(ROOM.parents[1])}
    client.execute(env=os.environ | variables, cwd=str(tmp_path))
    first, second = [
        "\n".join(o.get("text") or o["data"]["text/plain"] for o in cell.outputs)
        for cell in notebook.cells
    ]
    lines = first.splitlines()
    assert lines[0].startswith("It didn't finish within 1,000 lines")
    assert lines[-1] == "right"
    assert "noted on this machine" in " ".join(lines)
    assert notes.exists()
    assert second == "still here\n"
