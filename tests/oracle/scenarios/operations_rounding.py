"""See rounding, remainders, and quotients that are rounded."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

V, M = (5,), (2, 3)


def _whole(name):
    return {
        name: operation(lambda t, x: getattr(t, name)(x), V),
        f"x.{name}()": operation(lambda t, x: getattr(x, name)(), M, dtypes=()),
        f"x.{name}_()": operation(lambda t, x: getattr(x * 1, f"{name}_")(), V, dtypes=()),
    }


TABLE = {
    **_whole("floor"),
    **_whole("ceil"),
    **_whole("trunc"),
    **_whole("fix"),
    **_whole("round"),
    **_whole("frac"),
    **_whole("sgn"),
    **_whole("sign"),
    "x.sign_()": operation(lambda t, x: (x * 1).sign_(), V),
    "x % y": operation(
        lambda t, x, y: x % y,
        M,
        (3,),
        positive=True,
        wrong={
            "shapes": lambda t, x, y: x % t.ones(2),
            "a text": lambda t, x, y: x % "a",
            "nothing": lambda t, x, y: x % None,
        },
    ),
    "remainder": operation(lambda t, x, y: t.remainder(x, y), V, V, dtypes=("float64",)),
    "x.remainder_(y)": operation(lambda t, x, y: (x * 1).remainder_(y), V, V, dtypes=()),
    "x // y": operation(
        lambda t, x, y: x // y,
        M,
        (3,),
        positive=True,
        differentiable=False,
        wrong={"a text": lambda t, x, y: x // "a", "shapes": lambda t, x, y: x // t.ones(2)},
    ),
    "x // 2": operation(lambda t, x: x // 2, V, differentiable=False),
    "x // -0.75": operation(lambda t, x: x // -0.75, V, differentiable=False),
    "7 // x": operation(lambda t, x: 7 // x, V, positive=True, differentiable=False),
    "div floor": operation(
        lambda t, x, y: t.div(x, y, rounding_mode="floor"),
        M,
        (3,),
        positive=True,
        wrong={"another mode": lambda t, x, y: t.div(x, y, rounding_mode="up")},
    ),
    "div trunc": operation(lambda t, x, y: x.div(y, rounding_mode="trunc"), M, (3,), positive=True),
    "div trunc, a number": operation(lambda t, x: x.div(-0.75, rounding_mode="trunc"), V),
    "x.div_ floor": operation(
        lambda t, x, y: (x * 1).div_(y, rounding_mode="floor"), V, V, dtypes=()
    ),
    "nan_to_num": operation(lambda t, x: t.nan_to_num(x), V),
    "x.nan_to_num_()": operation(lambda t, x: (x * 1).nan_to_num_(1.0), V, dtypes=()),
}

family = add_all(TABLE)


@family
def edge_values(torch, log):
    """Infinities, NaN, zeros of both signs and halves."""
    inf, nan = float("inf"), float("nan")
    values = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1e30, inf, -inf, nan]
    x = torch.tensor(values)
    for name in ("floor", "ceil", "trunc", "round", "frac", "sgn", "nan_to_num"):
        log(name, getattr(torch, name)(x), getattr(torch, name)(x.double()))
    log("nan_to_num", torch.nan_to_num(x, 1.0, 2.0, 3.0), torch.nan_to_num(x.half()))
    for y in (1.0, -1.0, 0.0, -0.0, 2.0, -0.3, inf, -inf, nan):
        for name in ("remainder", "floor_divide"):
            log(f"{name} {y}", getattr(torch, name)(x, y))
        for mode in ("floor", "trunc"):
            log(f"div {mode} {y}", torch.div(x, torch.tensor(y), rounding_mode=mode))


@family
def whole_numbers(torch, log):
    """Signs of quotients and remainders of whole numbers."""
    x = torch.tensor([7, -7, 7, -7, 6, 0])
    y = torch.tensor([2, 2, -2, -2, 3, 5])
    log("floored", x // y, x % y)
    log("truncated", torch.div(x, y, rounding_mode="trunc"))
    for dtype in (torch.int8, torch.int32, torch.uint8):
        a, b = x.abs().to(dtype), y.abs().to(dtype)
        log("types", a // b, a % b, a // 2.0, a % 2, a // True)
    log("numbers", 7 // y, -7 % y, 7.5 % y, 7.5 // y)
    zero = torch.tensor([1, 0])
    for label, call in {
        "//": lambda: x[:2] // zero,
        "// 0": lambda: x // 0,
        "%": lambda: x[:2] % zero,
        "% 0": lambda: x % 0,
        "div floor": lambda: torch.div(x, 0, rounding_mode="floor"),
        "div trunc": lambda: torch.div(x[:2], zero, rounding_mode="trunc"),
        "//= 0": lambda: x.floor_divide_(0),
        "%= 2.5": lambda: x.remainder_(2.5),
        "//= 2.5": lambda: x.floor_divide_(2.5),
    }.items():
        log.raises(label, call)


@family
def no_derivative(torch, log):
    """A quotient rounded down by `//` can't be differentiated."""
    x, y = leaf(torch, (3,), 1), leaf(torch, (3,), 2)
    for name, call in {
        "x // y": lambda: x // y,
        "x // 2": lambda: x // 2,
        "2 // x": lambda: 2 // x,
    }.items():
        z = call()
        log(name, z, graph(z), type(z.grad_fn).__name__, repr(z))
        log.raises(name, lambda z=z: z.sum().backward())
    z = x * 1
    z //= y
    log("in place", z, graph(z))


@family
def operators_in_place(torch, log):
    """`x %= y` and `x //= y`."""
    x = torch.tensor([7.0, -7.0])
    address = x.data_ptr()
    x %= 4
    x //= 2
    log("numbers", x, x.data_ptr() == address, x._version)
    x = torch.tensor([7, -7])
    x //= torch.tensor([2, 2])
    x %= torch.tensor([3, 3])
    log("tensors", x, x._version)
