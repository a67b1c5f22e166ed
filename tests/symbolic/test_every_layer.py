"""Every layer is played under every kind of hook; its formulas give the numbers of the run.

Where all tensors have one entry, `explain` and `derive` follow it as well.

Each layer has a run under all hooks that change what they see; of four layers one has another
under all that watch, or under those of the old kind, which do not go with the full ones.
"""

import inspect
import re

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn.modules import module as everywhere
from minigrad.symbolic import derive, evaluate, explain, symbolic_like
from minigrad.symbolic.naming import symbol_name
from minigrad.symbolic.writing import decimal
from minigrad.viz import play, record

from .sameness import all_tensors, inputs, numbered, numbers
from .test_layers import LAYERS, LOSSES, PROBABLE

# what is not the matter here is tested elsewhere
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")
    for warning in (
        "Using .*non-full backward hook", "Full backward hook is firing", "enable_nested_tensor",
        "kl_div's 'mean' divides",
    )
]  # fmt: skip

# ---------------------------------------------------------------------- layers


class Behind(nn.Module):
    """A layer for which its inputs are made ready."""

    def __init__(self, layer, ready):
        super().__init__()
        self.layer, self.ready = layer, ready

    def forward(self, *given):
        return self.layer(*self.ready(*given))


# what the other tables have not, or too large for three runs of less than a second
MORE = {
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(2), (1, 1, 4)),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), (1, 1, 4)),
    "MaxPool2d": (lambda: nn.MaxPool2d(2, stride=1), (1, 1, 2, 3)),
    "MaxPool3d": (lambda: nn.MaxPool3d((1, 2, 1)), (1, 1, 1, 2, 2)),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((1, 2)), (1, 1, 2, 2)),
    "GLU": (nn.GLU, (1, 2)),
    "Hardshrink": (lambda: nn.Hardshrink(0.1), (1, 1)),
    "Mish": (nn.Mish, (1, 1)),
    "Softshrink": (lambda: nn.Softshrink(0.1), (1, 1)),
    "GRU": (lambda: nn.GRU(1, 1), (1, 1)),
    "LSTM": (lambda: nn.LSTM(1, 1), (1, 1)),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(2, 2), (1, 1, 2), (2, 1, 2), (2, 1, 2)
    ),
    # with its encoder, its decoder, their layers and their attention
    "Transformer": (lambda: nn.Transformer(1, 1, 1, 1, 1, dropout=0.0), *[(1, 1, 1)] * 2),
    "ConstantPad1d": (lambda: nn.ConstantPad1d(1, 0.5), (1, 2)),
    "ConstantPad3d": (lambda: nn.ConstantPad3d((1, 0, 0, 0, 0, 0), 0.5), (1, 1, 1, 2)),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d((1, 0, 0, 0)), (1, 1, 1, 2)),
    "ReflectionPad3d": (lambda: nn.ReflectionPad3d((1, 0, 0, 0, 0, 0)), (1, 1, 1, 1, 2)),
    "ReplicationPad1d": (lambda: nn.ReplicationPad1d((1, 0)), (1, 1, 2)),
    "ReplicationPad3d": (lambda: nn.ReplicationPad3d((1, 0, 0, 0, 0, 0)), (1, 1, 1, 1, 2)),
    "ZeroPad1d": (lambda: nn.ZeroPad1d(1), (1, 2)),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), (1, 1, 2)),
    "BCELoss": (lambda: Behind(nn.BCELoss(), lambda x: (x.sigmoid(), PROBABLE)), (2, 3)),
}  # fmt: skip
# told as a part of the Transformer; by itself its formulas take longer than those of all others
IN_ANOTHER = {"TransformerDecoderLayer"}
ALL = {
    **{
        name: case
        for name, case in LAYERS.items()
        if name.split()[1:] in ([], ["evaluated"]) and name not in IN_ANOTHER
    },
    **{
        name: (lambda make=make: make(reduction="mean"), *shapes, *given)
        for name, (make, shapes, *given) in LOSSES.items()
        if " " not in name
    },
    **MORE,
}
# what formulas can't say, and the words of the error
REFUSED = {
    name: "which is larger, .*Put numbers in first"
    for name in ("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "MaxPool1d", "MaxPool2d", "MaxPool3d")
}
# give back what they are given, so that there is no node that a hook of the old kind could sit on
SILENT_FOR_OLD = {"Identity", "Dropout evaluated"}
# no layers by themselves: what others are made of, and what holds modules or parameters
NO_LAYERS = {"Module", "ModuleDict", "ParameterDict", "ParameterList"}


def test_no_layer_is_left_out():
    told = {type(part).__name__ for make, *_ in ALL.values() for part in make().modules()}
    modules = {
        name for name, found in vars(nn).items()
        if inspect.isclass(found)
        and issubclass(found, nn.Module)
        and found.__module__.startswith("minigrad.nn.")  # others are loaded when they are asked for
        and not name.startswith("Lazy")
    }  # fmt: skip
    assert modules - told == NO_LAYERS


# ---------------------------------------------------------------------- hooks

# kind: how a hook is put on a module, and which of its arguments is to be changed
ON_MODULES = {
    "forward pre-hook": (nn.Module.register_forward_pre_hook, 1),
    "forward hook": (nn.Module.register_forward_hook, 2),
    "full backward pre-hook": (nn.Module.register_full_backward_pre_hook, 1),
    "full backward hook": (nn.Module.register_full_backward_hook, 1),
    "legacy backward hook": (nn.Module.register_backward_hook, 1),
}
ON_ALL_MODULES = {
    "global forward pre-hook": (everywhere.register_module_forward_pre_hook, 1),
    "global forward hook": (everywhere.register_module_forward_hook, 2),
    "global full backward pre-hook": (everywhere.register_module_full_backward_pre_hook, 1),
    "global full backward hook": (everywhere.register_module_full_backward_hook, 1),
    "global legacy backward hook": (everywhere.register_module_backward_hook, 1),
}
ON_TENSORS = ["tensor hook on an input", "tensor hook on a parameter", "tensor hook on an output"]
KINDS = [*ON_MODULES, *ON_ALL_MODULES, *ON_TENSORS, "node pre-hook", "node hook"]
OLD = ["legacy backward hook", "global legacy backward hook"]
NEW = [kind for kind in KINDS if kind not in OLD]


def write(value):
    return value.mul_(0.5)


CHANGES = {
    "watching": None,
    "scaling": lambda value: value * 0.75,
    "clamping": lambda value: value.clamp(-0.02, 0.03),
    "zeroing": lambda value: value * 0,
    "writing": write,
}


def changed(change, value):
    """Let a change act on the tensors in what a hook saw, but on none of integers."""
    if isinstance(value, tuple):
        return tuple(changed(change, each) for each in value)
    acts = isinstance(value, torch.Tensor) and "int" not in str(value.dtype)
    return change(value) if acts else value


def acting(change, place=0):
    """Make a hook that changes one of its arguments, or only watches."""

    def act(*given):
        result = None if change is None else changed(change, given[place])
        return None if change is write else result

    return act


def prepared(model, kinds, *changes):
    """Put hooks on a model and its parameters."""
    for change in changes:
        for kind in ON_MODULES.keys() & {*kinds}:
            register, place = ON_MODULES[kind]
            register(model, acting(change, place))
        for parameter in model.parameters() if "tensor hook on a parameter" in kinds else ():
            parameter.register_hook(acting(change))
    return model


def loss_of(model, given, kinds, *changes):
    """Run a model under the other hooks, and give a loss in which all entries count differently."""
    torch.manual_seed(0)
    everywhere._global_is_full_backward_hook = None  # no other sort was there before
    handles = [
        ON_ALL_MODULES[kind][0](acting(change, ON_ALL_MODULES[kind][1]))
        for change in changes
        for kind in ON_ALL_MODULES.keys() & {*kinds}
    ]
    try:
        outputs = [each for each in all_tensors(model(*given)) if each.requires_grad]
    finally:
        for handle in handles:
            handle.remove()
    places = {"tensor hook on an input": [x.register_hook for x in given if is_leaf(x)]}
    places["tensor hook on an output"] = [output.register_hook for output in outputs]
    nodes = [output.grad_fn for output in outputs if output.grad_fn is not None]
    places["node pre-hook"] = [node.register_prehook for node in nodes]
    places["node hook"] = [node.register_hook for node in nodes]
    for change in changes:
        for register in (each for kind in kinds for each in places.get(kind, ())):
            register(acting(change))
    total = 0.0
    for seed, output in enumerate(outputs):
        weights = torch.tensor(numbers(*output.shape, seed=seed + 1), dtype=torch.float64)
        total = total + ((output + 0.3) ** 2 * weights).sum()
    return total


def is_leaf(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


@pytest.fixture(autouse=True)
def one_sort_of_global_hooks(monkeypatch):
    """Let other tests find what they left: a program can have one sort of global hooks only."""
    monkeypatch.setattr(everywhere, "_global_is_full_backward_hook", None)


# ---------------------------------------------------------------------- what is compared


def printed(explanation):
    """Read the last number of each line, by what stands at its beginning."""
    lines = re.findall(r"^  (\S+) .*= (\S+)(?:   .*)?$", str(explanation), re.MULTILINE)
    return {left: number for left, number in lines if re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", number)}


def told(make, given, kinds, *changes, run=lambda model: model):
    """Explain, play and derive a layer under hooks and compare; give the gradients and the texts.

    Args:
        make: Makes the layer.
        given: The shapes of its inputs.
        kinds: Where hooks are put.
        *changes: What they do, each at all those places.
        run: Gives what is called of the layer.
    """
    model = prepared(numbered(make()), kinds, *changes)
    symbolic = symbolic_like(model)
    formulas, data = inputs(given)
    both = zip([*formulas, *symbolic.parameters()], [*data, *model.parameters()], strict=True)
    pairs = [(formula, number) for formula, number in both if is_leaf(number)]
    named = {f"p_{k}": number for k, (_, number) in enumerate(pairs)}
    loss = loss_of(run(model), data, kinds, *changes)
    with record(named) as log:
        found = torch.autograd.grad(loss, [*named.values()], retain_graph=True, allow_unused=True)
    gradients = {n: g.numpy() for n, g in zip(named, found, strict=True) if g is not None}
    player = play(log, limit=1000)
    assert gradients
    assert player.steps and all(step.title and step.lines for step in player.steps)
    formula_loss = loss_of(run(symbolic), formulas, kinds, *changes)
    leaves = [formula for formula, _ in pairs]
    derived = torch.autograd.grad(formula_loss, leaves, retain_graph=True, allow_unused=True)
    values = {formula: number.detach() for formula, number in pairs}
    # evaluated exactly; the run rounds after each of its dozens of operations, and PyTorch's
    # sixth in hardsigmoid has seven digits in all dtypes
    digits = 1e-7 if any(isinstance(m, nn.Hardsigmoid) for m in model.modules()) else 1e-9
    for (name, number), formula in zip(named.items(), derived, strict=True):
        if name in gradients:
            right = evaluate(formula, values).numpy().reshape(number.shape)
            np.testing.assert_allclose(right, gradients[name], digits, 1e-11, err_msg=name)
    if any(each.numel() > 1 for each in (*data, *model.parameters())):
        with pytest.raises(ValueError, match="follow single numbers"):
            derive(formula_loss)
        return gradients, "", "", player
    explanation = explain(loss, names={symbol_name(f._array): n for f, n in pairs})
    assert explanation.latex() and printed(explanation)
    derivation = derive(formula_loss)
    assert derivation.latex()
    for (name, gradient), (formula, _) in zip(gradients.items(), pairs, strict=True):
        own = symbol_name(formula._array)
        np.testing.assert_array_equal(explanation.gradients[own], gradient, name)
        assert printed(explanation)[f"dL/d{own}"] == decimal(gradient.item(), 6)
        right = evaluate(derivation.gradients[own], values).numpy().reshape(gradient.shape)
        np.testing.assert_allclose(right, gradient, digits, 1e-11, err_msg=name)
    return gradients, str(explanation), str(derivation), player


def differ(one, other):
    return one.keys() != other.keys() or any(not np.allclose(one[n], other[n]) for n in one)


def without_hooks(make, given):
    """Give the gradients of a run without hooks."""
    model, (_, data) = numbered(make()), inputs(given)
    loss = loss_of(model, data, ())
    leaves = [each for each in (*data, *model.parameters()) if is_leaf(each)]
    found = torch.autograd.grad(loss, leaves, allow_unused=True)
    return [each.numpy() for each in found if each is not None]


RUNS = {
    "all changing": (NEW, CHANGES["scaling"]),
    "all watching": (NEW, None),
    "of the old kind": (OLD, None, CHANGES["scaling"]),
}


def runs_of(name):
    """Give each layer hooks that change something, and of four layers one another run."""
    place, turn = divmod([*ALL].index(name), 4)
    return ["all changing", *([[*RUNS][1 + place % 2]] if turn == 1 else [])]


@pytest.mark.examples
@pytest.mark.parametrize("name", ALL)
def test_every_layer_is_told_under_every_kind_of_hook(name):
    make, *given = ALL[name]
    if name in REFUSED:
        with pytest.raises(TypeError, match=REFUSED[name]):
            told(make, given, NEW, None)
        return
    plain = without_hooks(make, given)
    for run in runs_of(name):
        kinds, *changes = RUNS[run]
        gradients, *_ = told(make, given, kinds, *changes)
        if name in SILENT_FOR_OLD and run == "of the old kind":
            continue
        same = [np.array_equal(*pair) for pair in zip(gradients.values(), plain, strict=True)]
        assert all(same) == (run == "all watching"), run


# ---------------------------------------------------------------------- one kind of hook at a time


class Twice(nn.Module):
    """A layer that is used twice, with its weight once more by itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.again = self.layer.weight

    def forward(self, x):
        return self.layer(self.layer(x).tanh()) @ self.again


class Pair(nn.Module):
    """Several inputs, an output that is a tuple, and no parameters."""

    def forward(self, x, y):
        return x * y, x + y


ROWS = [
    (lambda: nn.Linear(1, 1), [(1, 1)]),
    (lambda: nn.Linear(1, 1), [(1,)]),
    (lambda: nn.Conv1d(1, 1, 1), [(1, 1, 1)]),
    (Twice, [(1, 1)]),
    (Pair, [(1,), ()]),
]
SINGLE = [
    (*ROWS[(place + step) % len(ROWS)], kind, how)
    for place, kind in enumerate(KINDS)
    for step, how in enumerate(CHANGES)
    # what a program may not write into: its own inputs
    if not (how == "writing" and "forward pre-hook" in kind)
]


@pytest.mark.examples
@pytest.mark.parametrize(("make", "given", "kind", "how"), SINGLE)
def test_each_hook_alone_is_told_by_its_kind(make, given, kind, how):
    gradients, *texts, _ = told(make, given, [kind], CHANGES[how])
    plain = without_hooks(make, given)
    same = [np.array_equal(*pair) for pair in zip(gradients.values(), plain, strict=True)]
    without_place = make is Pair and kind == "tensor hook on a parameter"
    assert all(same) == (how == "watching" or without_place)
    said = kind.removeprefix("global ").partition(" on ")[0]
    if how != "watching" and "forward" not in kind and not without_place:
        assert all(f"{said} act" in text for text in texts)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_rows_are_played_under_two_hooks_of_each_kind(rows):
    *_, player = told(Twice, [(rows, 1)], NEW, None, CHANGES["zeroing"])
    assert player.html().count("<tr data-place=") == len(player.steps)
    told(lambda: nn.LayerNorm(2), [(rows, 2)], OLD, None, CHANGES["scaling"])


def test_a_lazy_layer_is_told_once_it_knows_its_shape():
    with pytest.raises(RuntimeError, match="has no shape and no numbers yet"):
        symbolic_like(nn.LazyLinear(1))

    def make():
        layer = nn.LazyLinear(1)
        layer(torch.ones(1, 1))
        return layer

    told(make, [(1, 1)], NEW, CHANGES["scaling"])
