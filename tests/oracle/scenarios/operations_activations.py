"""See activation functions made of pieces or smooth, as functions, in place and as layers."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

V, M = (4,), (2, 3)
FLOATS = ("float16", "float64", "int64", "bool")
ODD: tuple[str, ...] = ()


def F(t):
    return t.nn.functional


def kinks(t):
    """Give places where pieces meet, and beyond all bounds."""
    bound = float("inf")
    return t.tensor(
        [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, -6.0, 20.0, -bound], requires_grad=True
    )


def once(call, *shapes, **more):
    """A row that is not tried with other dtypes."""
    return operation(call, *shapes, dtypes=ODD, **more)


def on(call, *shapes, dtypes=FLOATS, **more):
    return operation(call, *shapes, dtypes=dtypes, **more)


TABLE = {
    "relu6": on(
        lambda t, x: F(t).relu6(x),
        V,
        dtypes=FLOATS[:-1],
        wrong={"none": lambda t, x: F(t).relu6(None)},
    ),
    "relu6 in place": once(lambda t, x: F(t).relu6(x * 1, inplace=True), V),
    "hardtanh": on(
        lambda t, x: F(t).hardtanh(x, -0.5, 1.0),
        V,
        dtypes=FLOATS[:-1],
        wrong={"order": lambda t, x: F(t).hardtanh(x, 1.0, -1.0)},
    ),
    "hardswish": on(lambda t, x: F(t).hardswish(x), V),
    "hardswish in place": once(lambda t, x: F(t).hardswish(x * 1, inplace=True), V),
    "selu": on(lambda t, x: t.selu(x), V),
    "selu_": once(lambda t, x: t.selu_(x * 1), V),
    "celu": on(lambda t, x: t.celu(x, 1.5), V, wrong={"alpha": lambda t, x: t.celu(x, alpha=0.0)}),
    "celu_": once(lambda t, x: t.celu_(x * 1, alpha=0.5), V),
    "F.elu": on(lambda t, x: F(t).elu(x, 0.5), V),
    "gelu": on(
        lambda t, x: F(t).gelu(x), V, wrong={"way": lambda t, x: F(t).gelu(x, approximate="x")}
    ),
    "gelu by tanh": on(lambda t, x: F(t).gelu(x, approximate="tanh"), V),
    "silu": on(lambda t, x: F(t).silu(x), V),
    "tanhshrink": on(lambda t, x: F(t).tanhshrink(x), V),
    "softsign": on(lambda t, x: F(t).softsign(x), V),
    "logsigmoid": on(lambda t, x: F(t).logsigmoid(x), V),
    "softplus": on(lambda t, x: F(t).softplus(x, 2.0, 1.5), V),
    "threshold": on(lambda t, x: t.threshold(x, 0.25, 7), V),
    "threshold_": once(lambda t, x: t.threshold_(x * 1, 0.25, 7), V),
    "softmin": on(lambda t, x: F(t).softmin(x, 1), M),
    "hardshrink": on(lambda t, x: F(t).hardshrink(x, 0.25), V),
    "softshrink": on(
        lambda t, x: F(t).softshrink(x, 0.25),
        V,
        wrong={"negative": lambda t, x: F(t).softshrink(x, -1)},
    ),
    "mish": on(lambda t, x: F(t).mish(x), V),
    "mish in place": once(lambda t, x: F(t).mish(x * 1, inplace=True), V),
}

family = add_all(TABLE)


@family
def gated(torch, log):
    """Values and gradients of glu, along both dimensions; halves that are not there."""
    for dim in (0, 1, -1):
        x = leaf(torch, M if dim == 0 else (3, 4), 1)
        y = F(torch).glu(x, dim)
        log("value", y.detach())
        log("gradient", *torch.autograd.grad(y, x, leaf(torch, tuple(y.shape), 2).detach()))
    log.raises("odd", lambda: F(torch).glu(x[0, :3]))
    log.raises("none", lambda: F(torch).glu(x[0, 0]))


@family
def prelu(torch, log):
    """prelu with one slope and with several: values, gradients, what it refuses."""
    x = torch.tensor([[-1.0, 0.0, 2.0], [0.5, -0.25, -3.0]], requires_grad=True)
    for slopes in (torch.tensor([0.25]), torch.tensor([0.5, 1.0, 2.0]), torch.tensor(0.5)):
        weight = slopes.requires_grad_()
        result = torch.prelu(x, weight)
        weights = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        log("prelu", result, *torch.autograd.grad(result, (x, weight), weights))
    log.raises("channels", lambda: torch.prelu(x, torch.ones(2)))
    log.raises("matrix", lambda: torch.prelu(x, torch.ones(1, 3)))
    log.raises("dtype", lambda: torch.prelu(x, torch.ones(3).double()))
    log.raises("scalar", lambda: torch.prelu(torch.tensor(1.0), torch.ones(2)))
    log.raises("number", lambda: torch.prelu(x, 0.25))


@family
def at_kinks(torch, log):
    """Values and gradients where pieces meet."""
    f = torch.nn.functional
    calls = (
        f.relu, f.relu6, f.hardtanh, f.elu, f.selu, f.celu, f.leaky_relu, f.gelu, f.silu,
        f.softplus, f.logsigmoid, f.hardsigmoid, f.hardswish,
        lambda x: f.threshold(x, 0.5, 5.0),
    )  # fmt: skip
    for number, call in enumerate(calls):
        x = kinks(torch)
        y = call(x)
        (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y) * 0.75)
        log(number, y, gradient)


@family
def layers(torch, log):
    """Printed forms, settings and results of the layers."""
    nn = torch.nn
    x = torch.tensor([[-2.0, -0.25, 0.25, 2.0], [0.5, 1.0, -1.0, 0.0]])
    made = (
        nn.ReLU6(), nn.ReLU6(True),
        nn.Hardtanh(), nn.Hardtanh(-2, 3, True), nn.CELU(), nn.CELU(2.0, True), nn.SELU(),
        nn.SELU(True), nn.GELU(), nn.GELU("tanh"),
        nn.PReLU(), nn.PReLU(4, 0.5), nn.LogSigmoid(),
        nn.Softsign(), nn.Tanhshrink(), nn.Threshold(0.1, 20),
        nn.Threshold(0, 1, True), nn.Softmin(1), nn.ELU(0.5, True), nn.Softplus(2, 10),
    )  # fmt: skip
    for layer in made:
        settings = {
            name: value
            for name, value in vars(layer).items()
            if not name.startswith("_") and name != "training"
        }
        log(repr(layer), layer(x.clone()), sorted(settings.items()), list(layer.state_dict()))
    log.raises("order", lambda: nn.Hardtanh(1, -1))
