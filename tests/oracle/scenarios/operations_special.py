"""See the error function, the gamma function and others of their kind, and `torch.special`."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (3,), (2, 3)
FLOATS = ("float16", "float64", "int64", "bool")

TABLE = {
    "erf": operation(lambda t, x: t.erf(x), M, wrong={"a number": lambda t, x: t.erf(2.0)}),
    "x.erf_()": operation(lambda t, x: (x * 1).erf_(), V, dtypes=()),
    "erfc": operation(lambda t, x: x.erfc(), V),
    "x.erfc_()": operation(lambda t, x: (x * 1).erfc_(), V, dtypes=()),
    "special.expit": operation(lambda t, x: t.special.expit(x), V, dtypes=FLOATS),
}

family = add_all(TABLE)


@family
def at_the_ends(torch, log):
    """Values and gradients at infinities, NaN, poles, and where the domain ends."""
    inf, nan = float("inf"), float("nan")
    for name in (
        "erf",
        "erfc",
    ):
        x = torch.tensor([0.0, -0.0, 1.0, -1.5, 2.0, inf, nan, 30.0], requires_grad=True)
        y = getattr(torch, name)(x)
        log(name, y, *torch.autograd.grad(y, x, torch.ones_like(y)))


@family
def along_the_line(torch, log):
    """Many numbers at once, which are computed in another way than a few."""
    for dtype in (torch.float32, torch.float64):
        x = torch.arange(-600, 601).to(dtype) / 100
        for name in ("erf", "erfc"):
            y = getattr(torch, name)(x)
            log(name, y[::60], y.double().sum().float(), y.dtype)
    x = torch.arange(-400, 401).double() / 401
    x = torch.arange(1, 801).double() / 40


@family
def names(torch, log):
    """The names that `torch.special` has for functions that are elsewhere too."""
    x = torch.tensor([[0.25, 0.5], [0.125, 0.75]])
    for name in ( "erf", "erfc", "exp2", "expm1",  "log1p", "logit",
                  "round"):  # fmt: skip
        log(name, getattr(torch.special, name)(x))

    log("xlogy", torch.special.xlogy(x, x))
    log("softmax", torch.special.softmax(x, 0), torch.special.log_softmax(x, 1))
    log("logsumexp", torch.special.logsumexp(x, 1))
