"""Models run on symbols: their parameters have names, and their formulas give their numbers."""

import pytest
import sympy

import minigrad as torch
from minigrad import nn
from minigrad.symbolic import (
    equal,
    expression,
    symbolic_like,
    symbols,
)


def real(name):
    return sympy.Symbol(name, real=True)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.f0 = nn.Linear(1, 1)
        self.f1 = nn.Sequential(nn.Tanh(), nn.Linear(1, 2, bias=False))
        self.scale = nn.Parameter(torch.ones(1))


def named(model):
    return {name: str(p._array.flat[0]) for name, p in model.named_parameters()}


def test_names_by_the_rule():
    model = Two()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    symbolic = symbolic_like(model)
    assert named(symbolic) == {
        "scale": "scale_0", "f0.weight": "w_1", "f0.bias": "b_1", "f1.1.weight": "w_{2;0,0}",
    }  # fmt: skip
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())
    assert all(type(p) is nn.Parameter and p.requires_grad for p in symbolic.parameters())


def test_names_by_choice():
    symbolic = symbolic_like(Two(), names={"f0.weight": "v", "scale": "s"}, positive=True)
    assert named(symbolic)["f0.weight"] == "v" and named(symbolic)["scale"] == "s"
    assert symbolic.scale._array.item().is_positive
    with pytest.raises(KeyError, match=r"no parameter 'f0.weigth'"):
        symbolic_like(Two(), names={"f0.weigth": "v"})
    with pytest.raises(ValueError, match="would both be called b_1"):
        symbolic_like(Two(), names={"f0.weight": "b_1"})


def test_names_that_look_the_same_are_refused():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    with pytest.raises(ValueError, match=r"0.weight and 1.weight would both be called w_0"):
        symbolic_like(model, names={"1.weight": "w_0"})
    wide = nn.Sequential(nn.Linear(1, 2, bias=False), nn.Linear(2, 1, bias=False))
    with pytest.raises(ValueError, match="would both be called"):
        symbolic_like(wide, names={"0.weight": "a", "1.weight": "a"})


def test_buffers_stay_numbers_or_become_symbols():
    model = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1, affine=False, momentum=0.5, eps=1))
    x = symbols("x", (2, 1))
    symbolic = symbolic_like(model)
    symbolic(x)
    assert symbolic[1].num_batches_tracked.item() == 1
    mean = (symbolic[0](x).sum() / 2).detach()
    assert equal(symbolic[1].running_mean, [expression(mean) / 2])
    assert model[1].running_mean.item() == 0 and model[1].running_mean.dtype is torch.float32
    symbolic = symbolic_like(model, buffers=True).eval()
    mu, v = symbolic[1].running_mean._array.item(), symbolic[1].running_var._array.item()
    assert (str(mu), str(v)) == ("mu_1", "v_1")
    assert mu.is_real and v.is_positive
    assert symbolic[1].num_batches_tracked.dtype is torch.int64
    w, b = real("w_0"), real("b_0")
    expected = (w * real("x") + b - mu) / sympy.sqrt(v + 1)
    assert equal(symbolic(symbols("x", (1, 1))), [[expected]])
    with pytest.raises(KeyError, match=r"1.running_mean.*\(for its buffers: buffers=True\)"):
        symbolic_like(model, names={"1.running_mean": "m"})
    renamed = symbolic_like(model, names={"1.running_mean": "m"}, buffers=True)
    assert str(renamed[1].running_mean._array.item()) == "m"


def test_shared_parameters_stay_shared():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model[1].weight = model[0].weight
    symbolic = symbolic_like(model)
    assert symbolic[1].weight is symbolic[0].weight
    assert named(symbolic) == {"0.weight": "w_0", "0.bias": "b_0", "1.bias": "b_1"}


def test_hooks_come_along():
    model = nn.Sequential(nn.Linear(1, 1))
    seen = []
    model[0].register_forward_hook(lambda module, args, output: seen.append(output))
    output = symbolic_like(model)(symbols("x", 1))
    assert seen == [output]
    assert expression(output) == real("w_0") * real("x") + real("b_0")


def test_a_shared_parameter_has_its_hooks_once():
    model = nn.ModuleList([nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)])
    model[1].weight = model[0].weight
    calls = []
    model[0].weight.register_hook(calls.append)
    symbolic = symbolic_like(model)
    symbolic[1](symbolic[0](symbols("x", 1))).sum().backward()
    assert len(calls) == 1 and expression(calls[0]) == 2 * real("w_0") * real("x")


ACTIVATIONS = [
    nn.Tanh(),
    nn.Sigmoid(),
    nn.SiLU(),
    nn.Softplus(),
    nn.ReLU(),
    nn.LeakyReLU(),
    nn.ELU(),
]
