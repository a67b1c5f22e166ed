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
    "erfinv": operation(lambda t, x: t.erfinv(x / 4), V),
    "x.erfinv_()": operation(lambda t, x: (x / 4).erfinv_(), V, dtypes=()),
    "lgamma": operation(lambda t, x: t.lgamma(x), V, positive=True, dtypes=FLOATS),
    "x.lgamma_()": operation(lambda t, x: (x * 1).lgamma_(), V, positive=True, dtypes=()),
    "digamma": operation(lambda t, x: x.digamma(), V, positive=True, dtypes=FLOATS),
    "x.digamma_()": operation(lambda t, x: (x * 1).digamma_(), V, positive=True, dtypes=()),
    "polygamma": operation(
        lambda t, x: t.polygamma(1, x),
        V,
        positive=True,
        dtypes=("float32", "int64", "bool"),  # of float64 PyTorch has ten digits only
        wrong={"a negative order": lambda t, x: t.polygamma(-1, x)},
    ),
    "x.polygamma(2)": operation(lambda t, x: x.polygamma(2), V, positive=True, dtypes=()),
    "x.polygamma_(1)": operation(lambda t, x: (x * 1).polygamma_(1), V, positive=True, dtypes=()),
    "special.expit": operation(lambda t, x: t.special.expit(x), V, dtypes=FLOATS),
    "special.entr": operation(lambda t, x: t.special.entr(x), V, positive=True),
    "special.erfcx": operation(lambda t, x: t.special.erfcx(x), V, dtypes=("float64", "int64")),
    "special.ndtr": operation(lambda t, x: t.special.ndtr(x), V, dtypes=("float64", "int64")),
    "special.log_ndtr": operation(
        lambda t, x: t.special.log_ndtr(x), V, dtypes=("float64", "int64")
    ),
    "special.ndtri": operation(
        lambda t, x: t.special.ndtri(x / 4), V, positive=True, dtypes=("float64",)
    ),
    "special.xlog1py": operation(
        lambda t, x, y: t.special.xlog1py(x, y), M, V, positive=True, dtypes=FLOATS
    ),
}

family = add_all(TABLE)


@family
def at_the_ends(torch, log):
    """Values and gradients at infinities, NaN, poles, and where the domain ends."""
    inf, nan = float("inf"), float("nan")
    for name in ("erf", "erfc", "erfinv", "lgamma", "digamma"):
        x = torch.tensor([0.0, -0.0, 1.0, -1.5, 2.0, inf, nan, 30.0], requires_grad=True)
        y = getattr(torch, name)(x)
        log(name, y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    x = torch.tensor([0.0, -1.0, -2.5, -0.75, inf, nan], dtype=torch.float64)
    log("lgamma, digamma", torch.lgamma(x), torch.digamma(x))
    x = torch.tensor([0.0, -2.5, -0.75, 40.0, nan], dtype=torch.float64)
    log("polygamma", *(torch.polygamma(n, x) for n in (0, 2, 3)), torch.polygamma(1, x.float()))
    x = torch.tensor([0.0, 1.0, 2.0, -0.5, inf, nan], requires_grad=True)
    for name in ("entr", "erfcx", "log_ndtr", "ndtri", "ndtr"):
        y = getattr(torch.special, name)(x)
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
    log("erfinv", torch.erfinv(x)[::80], torch.special.ndtri((x + 1) / 2)[::80])
    x = torch.arange(1, 801).double() / 40
    log("gamma", *(f(x)[::80] for f in (torch.lgamma, torch.digamma)), torch.polygamma(3, x)[::80])


@family
def names(torch, log):
    """The names that `torch.special` has for functions that are elsewhere too."""
    x = torch.tensor([[0.25, 0.5], [0.125, 0.75]])
    for name in ("digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "gammaln", "log1p", "logit",
                 "psi", "round", "sinc"):  # fmt: skip
        log(name, getattr(torch.special, name)(x))
    log("polygamma", torch.special.polygamma(1, x), torch.special.multigammaln(x + 2, 2))
    log("xlogy", torch.special.xlogy(x, x), torch.special.xlog1py(x, 2), torch.mvlgamma(x + 2, 3))
    log("softmax", torch.special.softmax(x, 0), torch.special.log_softmax(x, 1))
    log("logsumexp", torch.special.logsumexp(x, 1))
