"""See powers and logarithms where the inputs must be positive, and the same in double precision."""

from __future__ import annotations

from .tools_operations import add_all, add_operation

V, M, S = (3,), (2, 3), ()

TABLE = {
    "x ** y": (lambda t, x, y: x**y, V, V),
    "x ** 0.5": (lambda t, x: x**0.5, V),
    "x ** -1.5": (lambda t, x: x**-1.5, V),
    "matrix ** row": (lambda t, x, y: x**y, M, V),
    "scalar ** vector": (lambda t, x, y: x**y, S, V),
    "log": (lambda t, x: x.log(), V),
    "torch.log": (lambda t, x: t.log(x), M),
    "sqrt": (lambda t, x: x.sqrt(), V),
    "torch.sqrt": (lambda t, x: t.sqrt(x), S),
    "log of sum of exp": (lambda t, x: x.exp().sum().log(), V),
    "geometric mean": (lambda t, x: x.log().mean().exp(), M),
}

family = add_all(TABLE, positive=True)

for _name in ("x ** y", "log", "sqrt"):
    _function, *_shapes = TABLE[_name]
    add_operation(family, f"{_name}, float64", _function, *_shapes, positive=True, dtype="float64")
