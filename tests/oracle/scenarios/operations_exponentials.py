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
    "logaddexp": operation(
        lambda t, x, y: t.logaddexp(x, y),
        M,
        V,
        wrong={"a number": lambda t, x, y: t.logaddexp(x, 2.0)},
    ),
    "x.logaddexp": operation(lambda t, x, y: x.logaddexp(y), V, (), dtypes=()),
    "logaddexp2": operation(lambda t, x, y: t.logaddexp2(x, y), M, V),
    "x.logaddexp2": operation(lambda t, x, y: x.logaddexp2(y), V, (), dtypes=()),
    "xlogy": operation(lambda t, x, y: t.xlogy(x, y), M, V, positive=True),
    "x.xlogy_": operation(lambda t, x, y: (x * 1).xlogy_(y), V, V, positive=True, dtypes=()),
    "xlogy of a number": operation(lambda t, x: t.xlogy(3, x), V, positive=True),
    "xlogy by a number": operation(lambda t, x: t.xlogy(x, 3.5), V, positive=True),
    "logit": operation(lambda t, x: t.logit(x / 4), V, positive=True),
    "logit with eps": operation(lambda t, x: t.logit(x / 4, 0.3), V, positive=True, dtypes=()),
    "x.logit(eps=)": operation(lambda t, x: (x / 4).logit(eps=0.3), M, positive=True, dtypes=()),
    "x.logit_()": operation(lambda t, x: (x / 4).logit_(), V, positive=True, dtypes=()),
    "ldexp": operation(
        lambda t, x, y: t.ldexp(x, y), M, V, wrong={"a number": lambda t, x, y: t.ldexp(x, 2)}
    ),
    "ldexp by whole numbers": operation(
        lambda t, x: x.ldexp(t.tensor([1, 0, 3])), V, dtypes=("float16", "float64", "int64")
    ),
    "x.ldexp_": operation(lambda t, x: (x * 1).ldexp_(t.tensor([1, 0, 3])), V, dtypes=()),
    "float_power": operation(lambda t, x: t.float_power(x, 3), V),
    "x.float_power of tensors": operation(
        lambda t, x, y: x.float_power(y), V, V, positive=True, dtypes=("float64", "int64")
    ),
    "float_power of a number": operation(lambda t, x: t.float_power(2, x), V, dtypes=("int32",)),
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
    x = torch.tensor([0.0, -0.0, 1.0, 0.5, -1.0, 2.0, nan], requires_grad=True)
    for eps in (None, 0.25):
        y = torch.logit(x, eps)
        log(f"logit {eps}", y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    for name in ("xlogy", "logaddexp", "logaddexp2"):
        x = torch.tensor([0.0, 0.0, 0.0, 1.0, inf, -inf, inf, nan], requires_grad=True)
        y = torch.tensor([0.0, nan, -1.0, 0.0, inf, -inf, -inf, 1.0], requires_grad=True)
        z = getattr(torch, name)(x, y)
        log(name, z, *torch.autograd.grad(z, (x, y), torch.ones_like(z)))
    for number in (0, -1.0, 2.0, nan):
        x = torch.tensor([0.0, 1.0, -2.0, inf], requires_grad=True)
        z = torch.xlogy(x, number)
        log(f"xlogy(x, {number})", z, *torch.autograd.grad(z, x, torch.ones_like(z)))
        z = torch.xlogy(number, x)
        log(f"xlogy({number}, x)", z, *torch.autograd.grad(z, x, torch.ones_like(z)))


@family
def float_power_in_place(torch, log):
    """The tensor must be of float64 already."""
    x = torch.tensor([2.0, 3.0])
    log.raises("float32", lambda: x.float_power_(2))
    log.raises("int64", lambda: torch.tensor([1]).float_power_(2))
    log("float64", x.double().float_power_(2))


@family
def functions_in_place(torch, log):
    """`torch.exp_(x)` is `x.exp_()`."""
    for name in ("exp_", "exp2_", "log_", "log2_", "tan_", "sqrt_", "neg_", "zero_", "floor_"):
        x = torch.tensor([0.5, 2.0])
        log(name, getattr(torch, name)(x) is x, x, x._version)
    log("settings", torch.clamp_(torch.tensor([0.5, 2.0]), max=1.0), torch.nan_to_num_(x, nan=2.0))
    log.raises("a number", lambda: torch.exp_(2.0))
    log.raises("a leaf", lambda: torch.exp_(torch.tensor([1.0], requires_grad=True)))
