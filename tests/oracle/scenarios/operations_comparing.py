"""See comparisons under all their names and in place, logic, tests of numbers, and bits."""

from __future__ import annotations

from .tools_operations import add_all, operation

V = (4,)
NAMES = ("eq", "ne", "lt", "le", "gt", "ge")
LONG = {
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _value(call, *shapes, **more):
    return operation(call, *shapes, differentiable=False, **more)


TABLE = {
    "bitwise_and": _value(lambda t, x, y: t.bitwise_and(x, y), V, V),
    "x | y": _value(lambda t, x, y: x | y, V, V),
    "x ^ 3": _value(lambda t, x: x ^ 3, V),
    "3 & x": _value(lambda t, x: 3 & x, V),
    "~x": _value(lambda t, x: ~x, V),
    "bitwise_not": _value(lambda t, x: t.bitwise_not(x), V),
    "x << 2": _value(lambda t, x: x << 2, V, positive=True),
    "x >> y": _value(lambda t, x, y: x >> y, V, V, positive=True),
    "5 << x": _value(lambda t, x: 5 << x, V, positive=True),
    "bitwise_left_shift": _value(lambda t, x: t.bitwise_left_shift(x, 70), V, positive=True),
    "logical_and": _value(
        lambda t, x, y: t.logical_and(x, y),
        V,
        V,
        wrong={"a number": lambda t, x, y: t.logical_and(x, True)},
    ),
    "logical_xor": _value(lambda t, x, y: x.logical_xor(y), V, V),
    "logical_or": _value(lambda t, x, y: t.logical_or(x, y > 0), V, V),
    "logical_not": _value(lambda t, x: x.logical_not(), V),
    "isreal": _value(lambda t, x: t.isreal(x), V),
    "signbit": _value(lambda t, x: t.signbit(x), V),
    "isclose": _value(
        lambda t, x: t.isclose(x, x),
        V,
        wrong={
            "types": lambda t, x: t.isclose(x, x.double()),
            "a number": lambda t, x: t.isclose(x, 2.0),
            "shapes": lambda t, x: t.allclose(x, t.ones(3)),
        },
    ),
    "positive": _value(lambda t, x: t.positive(x), V, dtypes=("float32", "int64")),
    "+x": _value(lambda t, x: +x, V, dtypes=("float32", "int64")),
    "eq": _value(
        lambda t, x, y: t.eq(x, y), V, V, wrong={"shapes": lambda t, x, y: t.eq(x, t.ones(3))}
    ),
}
TABLE |= {
    long: _value(lambda t, x, y, long=long: getattr(t, long)(x, y), V, V) for long in LONG.values()
}

family = add_all(TABLE)


@family
def methods(torch, log):
    """The methods, with tensors and numbers."""
    x, y = torch.tensor([1, -2, 3]), torch.tensor([1.0, 0.0, 3.5])
    for name in NAMES:
        log(name, getattr(x, name)(y), getattr(x, name)(1), getattr(x, name)(1.5))
    for name in LONG.values():
        log(name, getattr(x, name)(y), getattr(x, name)(1))
    log("nothing", x == "a", x != None)  # noqa: E711


@family
def operators_in_place(torch, log):
    """`x &= y` and the like."""
    x = torch.tensor([6, -3, 1])
    address = x.data_ptr()
    x &= 7
    x |= torch.tensor([8, 0, 1])
    x ^= 1
    x <<= 2
    x >>= 1
    log("bits", x, x._version, x.data_ptr() == address)
    mask = torch.tensor([True, False])
    mask &= torch.tensor([True, True])
    mask |= True
    mask ^= torch.tensor([True, False])
    log("booleans", mask)
    log("reversed", 6 | x, 6 ^ x, True & mask, True | mask, 1 << torch.tensor([3]), 9 >> mask.int())


@family
def edge_values(torch, log):
    """Infinities, NaN and zeros of both signs; shifts that are too far."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, -0.0, inf, -inf, nan, -1.0])
    for name in ("signbit", "isnan", "isinf", "isfinite", "logical_not"):
        log(name, getattr(torch, name)(x), getattr(torch, name)(x.half()))
    log("close", torch.isclose(x, x), torch.isclose(x, x, equal_nan=True), x.isclose(-x))
    log("all close", torch.allclose(x, x), torch.allclose(x, x, equal_nan=True))
    near = torch.tensor([1.0, 1.0 + 1e-6, 1.0 + 1e-4, 100.0, 100.001])
    log("tolerance", torch.isclose(near, torch.ones(5)), near.isclose(near + 0.01, 0, 0.02))
    whole = torch.tensor([100, 101, 200])
    log("whole", torch.isclose(whole, torch.tensor([100, 100, 100]), rtol=0.01))
    log("equal", torch.equal(near, near), torch.equal(near, near[:2]), torch.equal(x, x))
    log("shifts", whole << 70, whole >> 70, -whole >> 70, whole << -1)
    log("types", whole & torch.tensor(3), whole.int() & 1, (whole > 100) & 1, whole.byte() | 1)
