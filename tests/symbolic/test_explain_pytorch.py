"""`explain` tells a run of PyTorch's as one of minigrad's, or says what it does not know."""

import numpy as np
import pytest

import minigrad
from minigrad.symbolic import explain

from .test_explanation import NUMBERS, TEXT

torch = pytest.importorskip("torch")

# Each is run with either library as `torch`; a, b are leaves and c is a constant of one entry.
PROGRAMS = {
    "constants on either side": "((2 * a + 1) / 4 - (3 - b) / a) * (1 / b)",
    "constants under a function": "torch.tanh(a * 2 + 1) * torch.exp(b - 1)",
    "powers": "a**3 + a**-0.5 + 2**b + (a + 2) ** b",
    "a constant tensor, scaled": "c * a + torch.add(a, b, alpha=3) / c",
    "functions": "torch.log(torch.exp(a) + torch.exp(-a)) + torch.sqrt(b + 2) * torch.cos(a)",
    "activations": "F.softplus(a, beta=2) + F.gelu(b) + F.silu(a) * torch.sigmoid(b)",
    "more activations": "F.leaky_relu(-a, 0.2) + F.elu(-b, 0.5) + F.hardtanh(a) + F.logsigmoid(b)",
    "clamped": "F.relu(a - 1) + a.clamp(-1, 0.2) + torch.where(a > b, a * 2, b * 3)",
    "squared error": "F.mse_loss(a, c)",
    "other losses": "F.huber_loss(a, c) + F.smooth_l1_loss(b, c, beta=0.5) + F.l1_loss(a, b)",
    "logistic loss": "F.binary_cross_entropy_with_logits(a, c)",
    "cross entropy": "F.cross_entropy(a.view(1, 1), torch.zeros(1, dtype=torch.int64))",
    "shapes": "(a.view(1, 1).t().squeeze(-1) + a[0]).sum(dim=-1) * b.mean(-1, keepdim=True)[None]",
    "products": "a @ b + (a[None] @ b[None]).sum()",
    "layer without bias, on three": "flat(a[None, None])",
    "layer used twice": "linear(linear(a)) ** 2",
    "network": "((nn.Sequential(linear, nn.Tanh(), flat, nn.ReLU())(a[None]) - c) ** 2).mean()",
    "in place": "torch.mul(a, 2).add_(1).mul_(b)",
    "a result in place": "torch.mul(a, 2).tanh_() * a",
    "other types": "a.float() * b.half()",
    "a second derivative": "torch.autograd.grad(torch.tanh(a * b), a, create_graph=True)[0] ** 2",
}


def parts_of(torch):
    """Make the tensors and layers that programs use."""
    nn = torch.nn
    linear, flat = nn.Linear(1, 1).double(), nn.Linear(1, 1, bias=False).double()
    for parameter, number in ((linear.weight, 0.7), (linear.bias, -0.2), (flat.weight, 1.3)):
        parameter.data.fill_(number)
    a, b, c = (torch.tensor([number], dtype=torch.float64) for number in (0.31, 0.83, 0.4))
    space = {"a": a.requires_grad_(), "b": b.requires_grad_(), "c": c}
    return space | {"linear": linear, "flat": flat, "torch": torch, "nn": nn, "F": nn.functional}


def told(torch, program):
    """Explain a program on a library."""
    space = parts_of(torch)
    names = [space["linear"], {name: space[name] for name in "abc"}]
    return explain(eval(program, space), names=names, digits=5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_libraries_are_told_alike(program):
    ours, theirs = (told(each, PROGRAMS[program]) for each in (minigrad, torch))
    assert str(theirs) == str(ours) and theirs.gradients
    assert theirs.latex() == ours.latex()


def test_the_worked_example_reads_as_on_minigrad():
    layer, inside = torch.nn.Linear, torch.nn.ModuleDict
    model = inside({"f0": layer(1, 1), "f1": inside({"f": layer(1, 1)})}).double()
    for name, parameter in model.named_parameters():
        parameter.data.fill_(NUMBERS[name])
    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    s = model["f1"]["f"](x1 := model["f0"](x))
    loss = ((y := s**2) - 1) ** 2
    explanation = explain(loss, names=[model, {"x": x, "y": y, "s": s, "x_1": x1}])
    assert str(explanation) == TEXT
    assert x.grad is None and model["f0"].weight.grad is None
    loss.backward()  # the graph is still there
    np.testing.assert_array_equal(explanation.gradients["x"], x.grad.numpy())


def double(*given):
    """Double the first gradient that any hook gets."""
    calls.append(1)
    first = given[hasattr(given[0], "parameters")]
    return (first[0] * 2, *first[1:]) if isinstance(first, tuple) else first * 2


calls: list[int] = []
HOOKS = {
    "tensor": lambda a, h, f: h.register_hook(double),
    "leaf": lambda a, h, f: a.register_hook(double),
    "clip": lambda a, h, f: h.register_hook(lambda grad: grad.clamp(-0.1, 0.1)),
    "in place": lambda a, h, f: h.register_hook(lambda grad: grad.mul_(3) and None),
    "node": lambda a, h, f: h.grad_fn.register_hook(double),
    "node, before": lambda a, h, f: h.grad_fn.register_prehook(double),
    "none": lambda a, h, f: h.grad_fn.register_hook(lambda *given: (None,)),
    "retained": lambda a, h, f: h.retain_grad(),
    "module": lambda a, h, f: f.register_full_backward_hook(double),
    "module, before": lambda a, h, f: f.register_full_backward_pre_hook(double),
}


@pytest.mark.parametrize("kind", HOOKS)
def test_hooks_are_told_alike_and_fire_once(kind):
    texts = []
    for library in (minigrad, torch):
        calls.clear()
        a, linear = (parts_of(library)[name] for name in ("a", "linear"))
        h = library.tanh(a[None] * 2)
        HOOKS[kind](a, h, linear)
        texts.append((str(explain((linear(h) - 1) ** 2, names={"a": a, "h": h})), len(calls)))
        assert a.grad is None and (not h.retains_grad or h.grad is None)
    assert texts[0] == texts[1]


class Cube(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x**3)
    backward = staticmethod(lambda ctx, grad: grad)


def changed(space):
    """Change a leaf that nobody saved, after the forward pass."""
    loss = (space["a"] + space["b"]) ** 2
    space["b"].data -= 0.01
    return loss


def freed(space):
    """Leave a graph without what it saved."""
    (loss := space["a"] ** 2).backward()
    return loss


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        (lambda space: Cube.apply(space["a"]) * 2, NotImplementedError, "formula of CubeBackward"),
        (lambda space: torch.hypot(space["a"], space["b"]), NotImplementedError, "HypotBackward0"),
        (lambda space: torch.addmm(*[space["a"][None]] * 3, alpha=2), RuntimeError, "AddmmBackwa"),
        (changed, RuntimeError, "at AddBackward0 minigrad computes 1.13, and PyTorch had 1.14"),
        (freed, RuntimeError, "second time"),
        (lambda space: space["a"].expand(2).sum(), ValueError, r"single numbers.*shape \(2,\)"),
        (lambda space: space["a"].expand(9999).sum(), ValueError, r"shape \(9999,\)"),
        (lambda space: space["a"].expand(2), RuntimeError, "only for scalar outputs"),
        (lambda space: space["c"], RuntimeError, "no graph"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_refused(program, error, words):
    loss = program(parts_of(torch))
    with pytest.raises(error, match=words):
        explain(loss)
