"""Lesson 16: what is recorded for those without MPI is what its programs give."""

import importlib.util
import re
from time import perf_counter

import numpy as np
import pytest

import minigrad
from _tools import canonical, places
from minigrad.classroom.data import digits
from minigrad.classroom.desk import checks
from tests.lessons.test_ranks import MODE, RanksError, needs_mpi, ranks, run_ranks

RUNS = [
    ("hello", 4, {}),
    ("train", 4, {}),
    ("train", 2, {"width": 384, "depth": 5, "steps": 2}),
    ("sometimes", 2, {"seconds": 2}),
    ("sometimes", 2, {"find_unused": True}),
]


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """The functions of the solution notebook, as a module."""
    cells = canonical.read(places.solution("16")).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    folder = tmp_path_factory.mktemp("lesson")
    names = "network|hello|reduce_in_backward|shard|train|sometimes|unused"
    path = folder / "programs.py"
    path.write_text("\n\n\n".join(cell for cell in code if re.match(rf"def (?:{names})\(", cell)))
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    module.np, module.torch, module.nn = np, minigrad, minigrad.nn
    module.F, module.digits, module.perf_counter = minigrad.nn.functional, digits, perf_counter
    spec.loader.exec_module(module)
    return module


def gave(function, many, options):
    """What a run gave, as far as it is the same on each machine."""
    try:
        results = run_ranks(function, many, **options)
    except RanksError as error:
        return str(error)
    if function.__name__ == "train":
        assert all(gap <= 1e-12 for gap, _, _ in results)
        assert all(bits == results[0][1] for _, bits, _ in results)
        kinds = ("gradient", "start")
        return [[e[:2] for e in events if e[0] in kinds] for _, _, events in results]
    if function.__name__ == "sometimes":
        return [len(norms) for norms in results], results[0] == results[1]
    return list(results)


@needs_mpi
@pytest.mark.parametrize(("name", "many", "options"), RUNS, ids=str)
def test_a_run_gives_what_is_recorded(lesson, monkeypatch, capsys, name, many, options):
    monkeypatch.delenv(MODE, raising=False)
    function = getattr(lesson, name)
    live = gave(function, many, options)
    heard = capsys.readouterr().out
    monkeypatch.setenv(MODE, "recorded")
    assert gave(function, many, options) == live
    assert capsys.readouterr().out == heard  # nor does it say that the program is another


@pytest.mark.parametrize(("name", "many", "options"), RUNS, ids=str)
def test_the_lesson_works_without_an_mpi(lesson, monkeypatch, capsys, name, many, options):
    monkeypatch.setattr(ranks, "_live", None)
    monkeypatch.setenv(MODE, "recorded")
    gave(getattr(lesson, name), many, options)
    assert "not from yours" not in capsys.readouterr().out


def test_the_recorded_timeline_shows_what_its_sentence_says(lesson, monkeypatch):
    monkeypatch.setenv(MODE, "recorded")
    run = run_ranks(lesson.train, 2, width=384, depth=5, steps=2)
    for _, _, events in run:
        at = {(what, str(name)): when for what, name, when in events}
        backward, over = at["backward", ""], at["over", ""]
        assert backward < at["gradient", "12.bias"] and at["gradient", "0.weight"] < over
        # the first message leaves while most of backward is still to come, the last at its end
        assert at["start", "0"] - backward < (over - backward) / 3
        assert over - at["start", "3"] < (over - backward) / 10
    plot = checks("16").pictures.plot_messages([events for _, _, events in run])
    texts = [text.get_text().strip() for text in plot.axes.texts]
    assert texts.count("backward begins") == texts.count("backward over") == 2


def test_megabytes_are_counted_of_minigrads_memory_only():
    meters, others = checks("16").meters, [np.zeros(3)]  # no tensors of minigrad, like PyTorch's
    with pytest.raises(TypeError, match="this cell needs minigrad"):
        meters.cost(others, lambda: None)
    owner = type("Model", (), {"parameters": lambda self: others})()
    with pytest.raises(TypeError, match="this cell needs minigrad"):
        meters.course_of(owner, lambda model: None)
