"""See sums, products, quotients and powers: with tensors, with numbers on either side, with
broadcasting.
"""

from __future__ import annotations

from .tools_operations import add_all

V, M, S = (3,), (2, 3), ()

TABLE = {
    "x + y": (lambda t, x, y: x + y, V, V),
    "x - y": (lambda t, x, y: x - y, V, V),
    "x * y": (lambda t, x, y: x * y, V, V),
    "x / y": (lambda t, x, y: x / y, V, V),
    "-x": (lambda t, x: -x, V),
    "x + 2": (lambda t, x: x + 2, V),
    "2.5 + x": (lambda t, x: 2.5 + x, V),
    "x - 2": (lambda t, x: x - 2, V),
    "2 - x": (lambda t, x: 2 - x, V),
    "x * 3": (lambda t, x: x * 3, V),
    "0.5 * x": (lambda t, x: 0.5 * x, V),
    "x / 4": (lambda t, x: x / 4, V),
    "1 / x": (lambda t, x: 1 / x, V),
    "3 / x": (lambda t, x: 3 / x, V),
    "x ** 2": (lambda t, x: x**2, V),
    "x ** 3.0": (lambda t, x: x**3.0, V),
    "x ** 1": (lambda t, x: x**1, V),
    "x ** 0": (lambda t, x: x**0, V),
    "x ** -1": (lambda t, x: x**-1, V),
    "x.pow(2)": (lambda t, x: x.pow(2), V),
    "torch.pow(x, 3)": (lambda t, x: t.pow(x, 3), M),
    "2 ** x": (lambda t, x: 2**x, V),
    "x * x": (lambda t, x: x * x, V),
    "x + x": (lambda t, x: x + x, V),
    "matrix + row": (lambda t, x, y: x + y, M, V),
    "row - matrix": (lambda t, x, y: x - y, V, M),
    "matrix * column": (lambda t, x, y: x * y, M, (2, 1)),
    "column * row": (lambda t, x, y: x * y, (2, 1), (1, 3)),
    "matrix / row": (lambda t, x, y: x / y, M, V),
    "scalar * matrix": (lambda t, x, y: x * y, S, M),
    "matrix + scalar": (lambda t, x, y: x + y, M, S),
    "matrix - scalar": (lambda t, x, y: x - y, M, S),
    "scalar / vector": (lambda t, x, y: x / y, S, V),
    "scalar + scalar": (lambda t, x, y: x + y, S, S),
    "torch.add with alpha": (lambda t, x, y: t.add(x, y, alpha=0.5), V, V),
    "torch.sub with alpha": (lambda t, x, y: t.sub(x, y, alpha=3), M, V),
    "torch.mul": (lambda t, x, y: t.mul(x, y), V, V),
    "torch.div": (lambda t, x, y: t.div(x, y), V, V),
    "x.add(1)": (lambda t, x: x.add(1), V),
    "three axes": (lambda t, x, y: x * y, (2, 1, 3), (4, 1)),
    "a polynomial": (lambda t, x: 3 * x**2 - 2 * x + 1, V),
    "no input needs grad but one": (
        lambda t, x: t.tensor([1.0, 2.0, 3.0]) * x / t.tensor([2.0, 4.0, 5.0]),
        V,
    ),
}

family = add_all(TABLE)
