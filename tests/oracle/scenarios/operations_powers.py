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


@family
def of_zero_and_of_complex_numbers(torch, log):
    """Zero to the power of a tensor; whole powers of complex numbers."""
    exponent = torch.tensor([0.0, 1.0, 2.5, -1.0], requires_grad=True)
    for base in (0, 0.0, 2.0):
        powers = torch.pow(base, exponent)
        weights = torch.tensor([2.0, 3.0, -4.0, 5.0])
        log("power", powers, torch.autograd.grad(powers, exponent, weights))
    z = torch.tensor([1 + 2j, -2j])
    log("complex", (z**4).real, (z**5).imag)
    many = torch.complex(torch.arange(70.0) % 4, torch.arange(70.0) % 3)
    log("many", (many**4).real, (many**5).imag)
