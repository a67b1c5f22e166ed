"""Collectors: they see the right numbers, and change none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.classroom.data import digits
from minigrad.nn import functional as F
from minigrad.viz import Distributions, GradientFlow
from minigrad.viz.collectors import MOST_VALUES, Values


def network():
    """A small network with all that could be disturbed: in-place layers, dropout, batch norm."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 16),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(16, 10),
    )


def train(model, optimizer, steps=4):
    torch.manual_seed(1)
    images, labels = digits()
    losses = []
    for step in range(steps):
        part = slice(32 * step, 32 * step + 32)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[part]), labels[part])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def everything(model):
    tensors = [*model.parameters(), *model.buffers(), *(p.grad for p in model.parameters())]
    return [tensor.detach().numpy().tobytes() for tensor in tensors]


def hooks_on(model):
    """Count the hooks of all kinds on modules and parameters."""
    tables = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    count = sum(len(getattr(module, table)) for module in model.modules() for table in tables)
    metas = [p._meta for p in model.parameters() if p._meta is not None]
    return count + sum(len(meta.post_accumulate_hooks or ()) for meta in metas)


# ------------------------------------------------------------------ they change nothing


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_a_watched_run_equals_its_unwatched_twin_to_the_last_bit(kind):
    plain = network()
    losses = train(plain, kind(plain.parameters(), lr=0.05))
    watched = network()
    optimizer = kind(watched.parameters(), lr=0.05)
    with GradientFlow(watched) as flow, Distributions(watched) as seen:
        assert train(watched, optimizer) == losses
    assert everything(watched) == everything(plain)
    assert len(flow.steps) == seen.steps == 4
    assert hooks_on(watched) == 0


def test_a_collector_is_attached_once_and_collects_nothing_after_its_block():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientFlow(model) as flow, Distributions(model) as seen:
        train(model, optimizer, steps=2)
        with pytest.raises(RuntimeError, match="this GradientFlow is attached already"):
            flow.attach()
    before = list(flow.steps), seen.steps, repr(seen)
    train(model, optimizer, steps=1)
    assert (flow.steps, seen.steps, repr(seen)) == before
    assert hooks_on(model) == 0
    assert flow.attach() is flow
    flow.remove()


def test_an_error_in_the_block_takes_the_hooks_off():
    model = network()
    with pytest.raises(ZeroDivisionError), GradientFlow(model):
        1 / 0  # noqa: B018
    assert hooks_on(model) == 0


# ------------------------------------------------------------------ on PyTorch's models


@pytest.fixture
def twins():
    """Give a model and PyTorch's with the same weights, each with a function that trains it."""
    other = pytest.importorskip("torch")
    ours, theirs = (
        each.Sequential(
            each.Linear(3, 4), each.Tanh(), each.Dropout(0.0), each.Identity(), each.Linear(4, 2)
        ).double()
        for each in (nn, other.nn)
    )
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    for one, another in pairs:
        another.data = other.tensor(one.tolist(), dtype=other.float64)

    def step(library, model):
        for scale in (1.0, 2.0):
            model.zero_grad()
            x = library.tensor([[scale, -1.0, 0.5], [0.0, 2.0, scale]], dtype=library.float64)
            (model(x) ** 2).sum().backward()

    return (torch, ours, step), (other, theirs, step)


def test_on_a_model_of_pytorchs_both_collect_the_same_numbers(twins):
    found = []
    for library, model, step in twins:
        with GradientFlow(model) as flow, Distributions(model) as seen:
            step(library, model)
        found.append((flow, seen))
    (our_flow, our_seen), (flow, seen) = found
    assert repr(flow) == repr(our_flow)
    assert repr(seen) == repr(our_seen)
    assert len(flow.steps) == seen.steps == 2
    assert list(seen.activations) == ["0 Linear", "1 Tanh", "4 Linear"]
    for ours, theirs in zip(our_flow.steps, flow.steps, strict=True):
        assert theirs == pytest.approx(ours, rel=1e-13)  # sums of float64 in another order
    for layer, steps in our_seen.activations.items():
        for number, values in steps.items():
            sample = seen.activations[layer][number].sample
            assert np.allclose(sample, values.sample, rtol=1e-13, atol=0)


def test_gradients_in_a_type_that_numpy_lacks(twins):
    _, (other, model, _) = twins
    model.to(other.bfloat16)
    with GradientFlow(model) as flow, Distributions(model) as seen:
        model(other.ones(1, 3, dtype=other.bfloat16)).sum().backward()
    parameters = model[4].parameters()
    norm = math.sqrt(sum(float(p.grad.double().square().sum()) for p in parameters))
    assert flow.steps[0]["4 Linear"] == pytest.approx(norm, rel=1e-12)
    assert len(seen.activations["4 Linear"][0].sample) == 2


# ------------------------------------------------------------------ GradientFlow


def two_layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()


def norm_of(tensors):
    return math.sqrt(sum((tensor.detach().numpy() ** 2).sum() for tensor in tensors))


def test_norms_are_those_of_the_gradients():
    model, x = two_layers(), torch.randn(5, 3, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    norms = []
    with GradientFlow(model) as flow:
        for _ in range(3):
            optimizer.zero_grad()
            (model(x) ** 2).sum().backward()
            layers = [list(model[0].parameters()), list(model[2].parameters())]
            norms.append([norm_of(p.grad for p in layer) for layer in layers])
            nn.utils.clip_grad_norm_(model.parameters(), 1e-3)  # what it reports is from before
            optimizer.step()
    assert flow.layers == ["0 Linear", "2 Linear"]
    found = [[step[layer] for layer in flow.layers] for step in flow.steps]
    # sums of float64 in another order
    assert np.allclose(found, norms, rtol=1e-13, atol=0)


def test_without_a_backward_pass_there_is_no_step():
    model, x = two_layers(), torch.ones(1, 3, dtype=torch.float64)
    with GradientFlow(model) as flow:
        for scale in (1.0, 10.0):  # a step ends where the next forward begins
            model.zero_grad()
            (model(x) * scale).sum().backward()
        assert len(flow.steps) == 1
        with torch.no_grad():
            model(-100 * x)
    first, second = (step["2 Linear"] for step in flow.steps)
    assert second == pytest.approx(10 * first, rel=1e-14)  # two rounded multiplications
    with GradientFlow(two_layers()) as empty:
        pass
    assert empty.steps == []
    assert repr(empty).startswith("GradientFlow over 0 steps\n")


def test_a_gradient_that_another_hook_used_up_is_left_out():
    model = two_layers()

    def use_up(parameter):
        parameter.grad = None

    model[0].weight.register_post_accumulate_grad_hook(use_up)
    model[0].bias.register_post_accumulate_grad_hook(use_up)
    with GradientFlow(model) as flow:
        model(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
    assert list(flow.steps[0]) == ["2 Linear"]
    assert flow.mark("0 Linear") == "no gradient"


def test_frozen_layers_are_left_out_and_shared_weights_count_once():
    model = two_layers()
    model[0].requires_grad_(False)
    assert GradientFlow(model).layers == ["2 Linear"]
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter that requires a gradient"):
        GradientFlow(model)
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    assert GradientFlow(tied).layers == ["0 Linear"]


MARKS = [
    ([0.5, 0.5, 0.5, 0.5], 1.0, ""),
    ([0.9e-3, 0.9e-3, 1.0, 1.0], 1.0, "vanishing"),
    ([0.9e-3, 1.0, 1.0, 1.0], 1.0, ""),
    ([1.1e-3] * 4, 1.0, ""),
    ([0.0, 0.0, 1.0, 0.5], 1.0, "zero"),
    ([1001.0, 1e9, 1.0, 1.0], 1.0, "exploding"),
    ([999.0] * 4, 1.0, ""),
    ([2e-3], 1e-6, "exploding"),  # a thousand times the last layer's, however little
    ([1.0, math.nan, 1.0, 1.0], 1.0, "not finite"),
    ([1.0, 1.0, 1.0, math.inf], 1.0, "not finite"),
    ([None, None, 1.0, 1.0], 1.0, "no gradient"),
]


@pytest.mark.parametrize(("norms", "least", "mark"), MARKS)
def test_marks(norms, least, mark):
    flow = GradientFlow(two_layers())
    first, last = flow.layers
    flow.steps = [{last: least} | ({} if norm is None else {first: norm}) for norm in norms]
    assert flow.mark(first) == mark
    assert flow.mark(last) == ""
    assert repr(flow).splitlines()[2].endswith(mark)
    flow.steps = [{first: 1.0, last: 1e7}]
    assert flow.mark(last) == "exploding"  # wherever it is


# ------------------------------------------------------------------ Distributions


def test_values_are_counted_and_thinned_out():
    values = Values.of(np.array([[0.0, -1.0, 2.0], [np.nan, np.inf, 0.0]], np.float32))
    assert values.zeros == 2 / 6
    assert values.sample.tolist() == [-1.0, 2.0]
    assert values.mean == 0.25
    assert values.std == np.std([0.0, -1.0, 2.0, 0.0])
    many = Values.of(np.arange(1.0, 10 * (MOST_VALUES - 1) + 2)[::-1])
    assert many.sample.tolist() == list(range(1, 10 * (MOST_VALUES - 1) + 2, 10))
    rounding = Values.of(np.array([1.0, -1.0 + 1e-9]))
    assert rounding.mean != 0 and rounding.cells[0] == "~0"
    empty = Values.of(np.zeros((0, 3)))
    assert empty.zeros == 0.0
    assert math.isnan(empty.mean)


def test_activations_are_those_of_the_layers_before_another_writes_in_place():
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True)), torch.randn(6, 3)
    expected = np.sort(model[0](x).detach().numpy().ravel()).tolist()
    with Distributions(model) as seen:
        model(x).sum().backward()
    assert seen.activations["0 Linear"][0].sample.tolist() == expected


def test_modules_that_only_pass_values_on_are_left_out_and_twice_called_have_two_rows():
    relu = nn.ReLU()
    with Distributions(nn.Sequential(nn.Linear(2, 2), relu, nn.Flatten(), relu)) as seen:
        seen.model(torch.ones(4, 2))
    assert list(seen.activations) == ["0 Linear", "1 ReLU", "1 ReLU (2)"]
    with pytest.raises(ValueError, match="no module to watch"):
        Distributions(nn.Sequential(nn.Flatten()))


def test_of_several_results_the_first_tensor_counts():
    torch.manual_seed(0)
    with Distributions(nn.LSTM(2, 3)) as seen:
        out, _ = seen.model(torch.ones(4, 1, 2))
    assert len(seen.activations["LSTM"][0].sample) == out.numel()
