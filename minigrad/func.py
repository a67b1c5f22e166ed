"""Make functions of functions and modules: `grad`, `vmap`, `jacrev`, ..., `functional_call`."""

from minigrad.extra.transforms import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
)
from minigrad.extra.transforms import vmap as vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "vjp", "vmap",
]  # fmt: skip
