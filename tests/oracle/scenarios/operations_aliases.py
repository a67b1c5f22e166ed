"""See the other names of the usual operations, and operations in place by function and method."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (3,), (2, 3)

TABLE = {
    "absolute": operation(lambda t, x: t.absolute(x), V),
    "x.absolute_": operation(lambda t, x: (x * 1).absolute_(), V, dtypes=()),
    "x.negative_": operation(lambda t, x: (x * 1).negative_(), V, dtypes=()),
    "negative": operation(lambda t, x: t.negative(x), V, dtypes=()),
    "subtract": operation(lambda t, x, y: t.subtract(x, y, alpha=2), M, V),
    "x.subtract_": operation(lambda t, x, y: (x * 1).subtract_(y), V, V, dtypes=()),
    "multiply": operation(lambda t, x, y: t.multiply(x, y), M, V),
    "x.multiply_": operation(lambda t, x: (x * 1).multiply_(3), V, dtypes=()),
    "divide": operation(lambda t, x, y: t.divide(x, y), M, V, positive=True),
    "x.divide": operation(lambda t, x: x.divide(0.75, rounding_mode="floor"), V),
    "x.divide_": operation(lambda t, x: (x * 1).divide_(0.75, rounding_mode="trunc"), V, dtypes=()),
    "true_divide": operation(lambda t, x, y: t.true_divide(x, y), M, V, positive=True),
    "x.true_divide_": operation(lambda t, x: (x * 1).true_divide_(4), V, dtypes=()),
    "x.sgn_": operation(lambda t, x: (x * 1).sgn_(), V, dtypes=()),
}

family = add_all(TABLE)


@family
def in_place_by_name(torch, log):
    """The function and the method with the underscore do the same."""
    for name in [
        "acos_",
        "arccos_",
        "asin_",
        "arcsin_",
        "atan_",
        "arctan_",
        "cosh_",
        "sinh_",
        "deg2rad_",
        "rad2deg_",
        "cos_",
        "ceil_",
        "fix_",
        "frac_",
        "trunc_",
        "negative_",
        "absolute_",
        "sgn_",
    ]:
        for act in (getattr(torch, name, None), getattr(torch.Tensor, name)):
            x = torch.tensor([0.25, -0.5, 0.75])
            if act is not None:
                log(name, act(x) is x, x, x._version)
    x = torch.tensor([0.0, -1.0, 2.0])


@family
def shifts(torch, log):
    """Bits are shifted by a function and by a method."""
    y = torch.tensor([1, 0, 5])
    log("bitwise_right_shift", torch.bitwise_right_shift(y, 1), y.bitwise_right_shift(y))
