"""Make functions of functions and modules: `grad`, `vmap`, `jacrev`, ..., `functional_call`."""

from minigrad.breadth.batches import vmap
from minigrad.breadth.derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from minigrad.breadth.stateless import functional_call, stack_module_state

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip
