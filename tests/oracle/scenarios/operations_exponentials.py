"""See powers of 2, logarithms, and sums of powers in logarithms."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (3,), (2, 3)

TABLE = {
    "exp2": operation(lambda t, x: t.exp2(x), V, wrong={"a number": lambda t, x: t.exp2(2.0)}),
    "x.exp2()": operation(lambda t, x: x.exp2(), M, dtypes=()),
    "x.exp2_()": operation(lambda t, x: (x * 1).exp2_(), V, dtypes=()),
    "log2": operation(lambda t, x: t.log2(x), V, positive=True),
    "x.log2_()": operation(lambda t, x: (x * 1).log2_(), V, positive=True, dtypes=()),
    "log10": operation(lambda t, x: x.log10(), V, positive=True),
    "x.log10_()": operation(lambda t, x: (x * 1).log10_(), V, positive=True, dtypes=()),
    "x.log1p_()": operation(lambda t, x: (x * 1).log1p_(), V, positive=True, dtypes=()),
    "x.expm1_()": operation(lambda t, x: (x * 1).expm1_(), V, dtypes=()),
    "x.rsqrt_()": operation(lambda t, x: (x * 1).rsqrt_(), V, positive=True, dtypes=()),
    "x.square_()": operation(lambda t, x: (x * 1).square_(), V),
    "xlogy": operation(lambda t, x, y: t.xlogy(x, y), M, V, positive=True),
    "x.xlogy_": operation(lambda t, x, y: (x * 1).xlogy_(y), V, V, positive=True, dtypes=()),
    "logit": operation(lambda t, x: t.logit(x / 4), V, positive=True),
    "logit with eps": operation(lambda t, x: t.logit(x / 4, 0.3), V, positive=True, dtypes=()),
    "x.logit(eps=)": operation(lambda t, x: (x / 4).logit(eps=0.3), M, positive=True, dtypes=()),
    "x.logit_()": operation(lambda t, x: (x / 4).logit_(), V, positive=True, dtypes=()),
}

family = add_all(TABLE)


@family
def at_the_ends(torch, log):
    """Values and gradients at infinities, NaN and 0."""
    inf, nan = float("inf"), float("nan")
    for name in ("exp2", "log2", "log10"):
        x = torch.tensor([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e30], requires_grad=True)
        y = getattr(torch, name)(x)
        log(name, y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    x = torch.tensor([0.0, 1.0, 0.5, -1.0, 2.0, nan], requires_grad=True)
    for eps in (None, 0.25):
        y = torch.logit(x, eps)
        log(f"logit {eps}", y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    for name in ("xlogy",):
        x = torch.tensor([0.0, 0.0, 0.0, 1.0, inf, -inf, inf, nan], requires_grad=True)
        y = torch.tensor([0.0, nan, -1.0, 0.0, inf, -inf, -inf, 1.0], requires_grad=True)
        z = getattr(torch, name)(x, y)
        log(name, z, *torch.autograd.grad(z, (x, y), torch.ones_like(z)))


@family
def functions_in_place(torch, log):
    """`torch.exp_(x)` is `x.exp_()`."""
    for name in ("exp_", "exp2_", "log_", "log2_", "tan_", "sqrt_", "neg_", "zero_", "floor_"):
        x = torch.tensor([0.5, 2.0])
        log(name, getattr(torch, name)(x) is x, x, x._version)
    log("settings", torch.clamp_(torch.tensor([0.5, 2.0]), max=1.0), torch.nan_to_num_(x, nan=2.0))
    log.raises("a number", lambda: torch.exp_(2.0))
    log.raises("a leaf", lambda: torch.exp_(torch.tensor([1.0], requires_grad=True)))
