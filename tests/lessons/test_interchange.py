"""What lesson 14 trains opens in PyTorch with the same numbers, and PyTorch's networks here."""

import importlib.util

import numpy as np
import pytest

import minigrad
from _tools import canonical, places

LESSON = next(path for path in places.solutions() if path.stem.startswith("14"))
READER = places.LESSONS / "data" / "reader.npz"


@pytest.fixture(scope="module")
def reader():
    """The program that recorded what PyTorch computes."""
    spec = importlib.util.spec_from_file_location("reader", READER.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lesson():
    """The names of the lesson, from its own cells up to the trained model."""
    before = minigrad.get_default_dtype()
    names = {}
    try:
        for cell in canonical.read(LESSON).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)
            if "model" in names:
                return names
    finally:
        minigrad.set_default_dtype(before)
    raise AssertionError("the lesson trains no model")


def test_the_lesson_reads_more_than_97_percent(lesson):
    assert lesson["read_right"](lesson["model"]).item() > 97


def test_the_lessons_model_gives_the_same_scores_in_pytorch(lesson, tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.npz"
    model, images = lesson["model"], lesson["images"]
    minigrad.save(model.state_dict(), path)
    with np.load(path) as file:
        state = {name: torch.from_numpy(file[name]) for name in model.state_dict()}
    twin = lesson["network"](torch.nn).double()
    twin.load_state_dict(state)
    x = torch.from_numpy(images.numpy())
    assert np.allclose(twin(x).detach().numpy(), model(images).detach().numpy(), atol=1e-9)


def test_what_pytorch_saves_gives_the_same_scores_here(lesson, tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs = lesson["network"](torch.nn).double()
    torch.save(theirs.state_dict(), tmp_path / "model.pt")
    ours = lesson["network"](minigrad.nn).double()
    ours.load_state_dict(minigrad.load(tmp_path / "model.pt"))
    images = lesson["images"][:50]
    x = torch.from_numpy(images.numpy())
    assert np.allclose(theirs(x).detach().numpy(), ours(images).detach().numpy(), atol=1e-12)


def test_the_recorded_results_are_pytorchs(reader):
    torch = pytest.importorskip("torch")
    with np.load(READER, allow_pickle=False) as file:
        recorded = {name: file[name] for name in file.files}
    names = reader.network(torch.nn, *reader.WIDTHS).state_dict()
    state = {name: torch.from_numpy(recorded[name]) for name in names}
    for name, result in reader.results(torch, state).items():
        assert np.allclose(result, recorded[name], atol=1e-12), name


def test_the_recorder_runs_on_minigrad_as_well(reader):
    """So the program that recorded is checked where there is no PyTorch."""
    with np.load(READER, allow_pickle=False) as file:
        recorded = {name: file[name] for name in file.files}
    names = reader.network(minigrad.nn, *reader.WIDTHS).state_dict()
    state = {name: minigrad.from_numpy(recorded[name]) for name in names}
    for name, result in reader.results(minigrad, state).items():
        assert np.allclose(result, recorded[name], atol=1e-12), name
    right = reader.digits(minigrad)[1][: reader.SHOWN].numpy()
    assert (recorded["scores"].argmax(1) == right).mean() >= 0.9
