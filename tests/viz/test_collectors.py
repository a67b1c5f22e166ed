"""Collectors: they see the right numbers, and change none."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.classroom.data import digits
from minigrad.nn import functional as F
from minigrad.viz import Distributions, GradientFlow
from minigrad.viz.collectors import MOST_VALUES, FlowStep, Values


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


def train(model, optimizer, steps=4, clip=None):
    torch.manual_seed(1)
    images, labels = digits()
    losses = []
    for step in range(steps):
        part = slice(32 * step, 32 * step + 32)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[part]), labels[part])
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
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
    with GradientFlow(watched, optimizer) as flow, Distributions(watched) as seen:
        assert train(watched, optimizer) == losses
    assert everything(watched) == everything(plain)
    assert len(flow.steps) == seen.steps == 4
    assert hooks_on(watched) == 0
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks


def test_after_the_block_nothing_is_collected():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientFlow(model, optimizer) as flow, Distributions(model) as seen:
        train(model, optimizer, steps=2)
    before = list(flow.steps), seen.steps, repr(seen)
    train(model, optimizer, steps=1)
    assert (flow.steps, seen.steps, repr(seen)) == before
    assert not flow.attached


def test_a_collector_is_attached_once():
    model = network()
    flow = GradientFlow(model).attach()
    with pytest.raises(RuntimeError, match="this GradientFlow is attached already"):
        flow.attach()
    flow.remove()
    assert hooks_on(model) == 0
    assert flow.attach() is flow
    flow.remove()


def test_an_error_in_the_block_takes_the_hooks_off():
    model = network()
    with pytest.raises(ZeroDivisionError), GradientFlow(model):
        1 / 0  # noqa: B018
    assert hooks_on(model) == 0


# ------------------------------------------------------------------ GradientFlow


def two_layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()


def norm_of(tensors):
    return math.sqrt(sum((tensor.detach().numpy() ** 2).sum() for tensor in tensors))


def test_norms_and_ratios_are_those_of_the_gradients_and_updates():
    model, x = two_layers(), torch.randn(5, 3, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    norms, ratios = [], []
    with GradientFlow(model, optimizer) as flow:
        for _ in range(3):
            optimizer.zero_grad()
            (model(x) ** 2).sum().backward()
            layers = [list(model[0].parameters()), list(model[2].parameters())]
            norms.append([norm_of(p.grad for p in layer) for layer in layers])
            sizes = [norm_of(layer) for layer in layers]
            ratios.append([0.25 * g / w for g, w in zip(norms[-1], sizes, strict=True)])
            optimizer.step()
    assert flow.layers == ["0 Linear", "2 Linear"]
    # sums of float64 in another order
    assert np.allclose(list(flow.norms.values()), np.transpose(norms), rtol=1e-13, atol=0)
    # the update is read off the weights, where the last digits of w - g are lost
    assert np.allclose(list(flow.ratios.values()), np.transpose(ratios), rtol=1e-12, atol=0)
    assert flow.reference == "2 Linear"


def test_norms_are_those_before_clipping():
    flows = []
    for clip in (None, 1e-3):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with GradientFlow(model, optimizer) as flow:
            train(model, optimizer, steps=1, clip=clip)
        flows.append(flow)
    plain, clipped = flows
    assert plain.norms == clipped.norms
    assert clipped.ratios["5 Linear"][0] < 0.01 * plain.ratios["5 Linear"][0]


def test_parts_of_a_batch_add_up_to_one_step():
    """Gradients accumulate; a unit is dead if it was silent in all parts."""
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU()).double()
    model[0].weight.data = torch.eye(2, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientFlow(model, optimizer) as flow:
        for row in ([[3.0, -1.0]], [[-1.0, -1.0]]):
            model(torch.tensor(row, dtype=torch.float64)).sum().backward()
        optimizer.step()
    # of the first unit only, from the first part only: (3, -1)
    assert flow.norms["0 Linear"] == [math.sqrt(10)]
    assert flow.dead == {"1 ReLU": [0.5]}


def test_without_an_optimizer_a_step_ends_where_the_next_forward_begins():
    model, x = two_layers(), torch.ones(1, 3, dtype=torch.float64)
    with GradientFlow(model) as flow:
        for scale in (1.0, 10.0):
            model.zero_grad()
            (model(x) * scale).sum().backward()
        assert len(flow.steps) == 1
    first, second = flow.norms["2 Linear"]
    assert second == pytest.approx(10 * first, rel=1e-14)  # two rounded multiplications
    assert all(math.isnan(ratio) for ratio in flow.ratios["2 Linear"])
    assert "-" in flow.table


def test_passes_without_gradients_are_not_counted():
    model, x = two_layers(), torch.ones(1, 3, dtype=torch.float64)
    with GradientFlow(model) as flow, Distributions(model) as seen:
        model(x).sum().backward()
        with torch.no_grad():
            model(-100 * x)
    assert len(flow.steps) == seen.steps == 1
    with GradientFlow(two_layers()) as empty:
        pass
    assert empty.steps == []
    assert repr(empty).startswith("GradientFlow over 0 steps\n")


@pytest.mark.parametrize(
    ("shape", "units"),
    [
        ((2, 4), 1),  # features
        ((2, 3, 4), 2),  # (batch, length, features)
        ((2, 4, 3, 3), 1),  # channels
    ],
)
def test_a_unit_is_dead_if_it_is_zero_for_the_whole_batch(shape, units):
    values = np.ones(shape)
    index = [slice(None)] * len(shape)
    index[units] = 2
    values[tuple(index)] = -1.0
    index[units] = 3
    values[tuple(index)][..., :1] = -1.0  # silent here and there only
    x = torch.tensor(values, requires_grad=True)
    model = nn.Sequential(nn.ReLU(), Scale())
    with GradientFlow(model) as flow:
        model(x).sum().backward()
    assert flow.dead == {"0 ReLU": [0.25]}


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

    def forward(self, x):
        return x * self.factor


class Twice(nn.Module):
    """Uses one ReLU at two places."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.second(self.act(self.first(x))))


def test_a_relu_in_two_places_has_two_rows():
    torch.manual_seed(0)
    model = Twice()
    model.second.bias.data = torch.tensor([-100.0, 100.0, 100.0])
    with GradientFlow(model) as flow, Distributions(model) as seen:
        model(torch.ones(4, 2)).sum().backward()
    assert list(flow.dead) == ["act", "act (2)"]
    assert flow.dead["act (2)"] == [1 / 3]
    assert list(seen.activations) == ["first", "act", "second", "act (2)"]
    # the gradient that arrives at the last is that of the sum
    assert seen.gradients["act (2)"][0].mean == 1.0


def test_a_gradient_that_another_hook_used_up_is_left_out():
    model = two_layers()

    def use_up(parameter):
        parameter.grad = None

    model[0].weight.register_post_accumulate_grad_hook(use_up)
    model[0].bias.register_post_accumulate_grad_hook(use_up)
    with GradientFlow(model) as flow:
        model(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
    assert list(flow.steps[0].norms) == ["2 Linear"]
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


@pytest.mark.parametrize(
    ("norms", "mark"),
    [
        ([0.5, 0.5, 0.5, 0.5], ""),
        ([0.9e-3, 0.9e-3, 1.0, 1.0], "vanishing"),
        ([0.9e-3, 1.0, 1.0, 1.0], ""),
        ([1.1e-3] * 4, ""),
        ([0.0, 0.0, 1.0, 0.5], "zero"),
        ([1001.0, 1e9, 1.0, 1.0], "exploding"),
        ([999.0] * 4, ""),
        ([1.0, math.nan, 1.0, 1.0], "not finite"),
        ([1.0, 1.0, 1.0, math.inf], "not finite"),
        ([None, None, 1.0, 1.0], "no gradient"),
    ],
)
def test_marks(norms, mark):
    flow = GradientFlow(two_layers())
    first, last = flow.layers
    flow.steps = [
        FlowStep({last: 1.0} if norm is None else {first: norm, last: 1.0}) for norm in norms
    ]
    assert flow.mark(first) == mark
    assert flow.mark(last) == ""
    assert flow.table.splitlines()[1].endswith(mark)


def test_large_gradients_explode_wherever_they_are():
    flow = GradientFlow(two_layers())
    flow.steps = [FlowStep(dict.fromkeys(flow.layers, 1e7))]
    assert [flow.mark(name) for name in flow.layers] == ["exploding", "exploding"]
    # far from the loss a thousand times as much explodes, however little it is
    flow.steps = [FlowStep(dict(zip(flow.layers, (2e-3, 1e-6), strict=True)))]
    assert [flow.mark(name) for name in flow.layers] == ["exploding", ""]


@pytest.mark.parametrize(
    ("kind", "marks"),
    [
        ("healthy", {"1 Linear": "", "3 Linear": "", "11 Linear": ""}),
        ("sigmoid", {"1 Linear": "vanishing", "3 Linear": "vanishing", "11 Linear": ""}),
        ("dead", {"1 Linear": "zero", "5 Linear": "zero", "11 Linear": ""}),
    ],
)
def test_networks_that_do_not_learn_are_told_from_one_that_does(kind, marks):
    torch.manual_seed(0)
    sizes = [64, 32, 32, 32, 32, 32, 10]
    layers = [nn.Flatten()]
    for n_in, n_out in pairwise(sizes):
        layer = nn.Linear(n_in, n_out)
        if kind != "sigmoid":
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
        layers += [layer, nn.Sigmoid() if kind == "sigmoid" else nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    if kind == "dead":
        model[5].bias.data.fill_(-5.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with GradientFlow(model, optimizer) as flow:
        train(model, optimizer, steps=10)
    assert {name: flow.mark(name) for name in marks} == marks
    if kind == "dead":
        assert set(flow.dead["6 ReLU"]) == {1.0}
    if kind == "healthy":
        assert max(map(max, flow.dead.values())) < 0.6


# ------------------------------------------------------------------ Distributions


def test_values_are_counted_and_thinned_out():
    values = Values.of(np.array([[0.0, -1.0, 2.0], [np.nan, np.inf, 0.0]], np.float32))
    assert (values.count, values.zeros, values.not_finite) == (6, 2 / 6, 2)
    assert values.sample.tolist() == [-1.0, 2.0]
    assert values.mean == 0.25
    assert values.std == np.std([0.0, -1.0, 2.0, 0.0])
    many = Values.of(np.arange(1.0, 10 * (MOST_VALUES - 1) + 2)[::-1])
    assert many.sample.tolist() == list(range(1, 10 * (MOST_VALUES - 1) + 2, 10))
    empty = Values.of(np.zeros((0, 3)))
    assert (empty.count, empty.zeros) == (0, 0.0)
    assert math.isnan(empty.mean)


def test_a_mean_that_is_rounding_is_not_told():
    values = Values.of(np.array([1.0, -1.0 + 1e-9]))
    assert values.mean != 0
    assert values.mean_text == "~0"
    assert Values.of(np.array([1.0, 3.0])).mean_text == "2.00"


def test_activations_and_gradients_are_those_of_the_layers():
    model, x = two_layers(), torch.randn(5, 3, dtype=torch.float64)
    hidden = model[0](x).detach().requires_grad_()
    out = model[1](hidden)
    out.retain_grad()
    model[2](out).square().sum().backward()
    with Distributions(model) as seen:
        model(x).square().sum().backward()
    assert (
        seen.activations["0 Linear"][0].sample.tolist()
        == np.sort(hidden.detach().numpy().ravel()).tolist()
    )
    gradients = out.grad.numpy().ravel()
    assert seen.gradients["1 ReLU"][0].sample.tolist() == np.sort(gradients).tolist()
    zero = float((hidden.grad.numpy() == 0).mean())
    assert seen.gradients["0 Linear"][0].zeros == zero > 0


def test_a_layer_that_writes_in_place_does_not_disturb_the_one_before():
    torch.manual_seed(0)
    x = torch.randn(6, 3)
    seen = []
    for inplace in (False, True):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=inplace), nn.Linear(4, 1))
        with Distributions(model) as found:
            model(x).sum().backward()
        seen.append(found)
    assert repr(seen[0]) == repr(seen[1])
    before, after = (found.gradients["0 Linear"][0].sample.tolist() for found in seen)
    assert before == after


def test_which_layers_and_how_often():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Distributions(model, ["0", "8"], every=3) as seen:
        train(model, optimizer, steps=5)
    assert seen.layers == list(seen.activations) == ["0 Conv2d", "8 Linear"]
    assert list(seen.activations["0 Conv2d"]) == list(seen.gradients["0 Conv2d"]) == [0, 3]
    assert not any("Flatten" in name or "Dropout" in name for name in Distributions(model).layers)
    with pytest.raises(ValueError, match="no module named 'head', 'neck'"):
        Distributions(model, ["0", "head", "neck"])
    with pytest.raises(ValueError, match="every must be at least 1, but it is 0"):
        Distributions(model, every=0)
    with pytest.raises(ValueError, match="no module to watch"):
        Distributions(model, [])


def test_of_several_results_the_first_tensor_counts():
    torch.manual_seed(0)
    model = nn.LSTM(2, 3)
    with Distributions(model) as seen:
        out, _ = model(torch.ones(4, 1, 2))
        out.sum().backward()
    assert seen.activations["LSTM"][0].count == seen.gradients["LSTM"][0].count == 12
