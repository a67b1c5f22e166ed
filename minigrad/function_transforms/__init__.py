"""Make functions of functions: derivatives (`grad`, `vjp`, `jacrev`, ...) and batches (`vmap`).

`minigrad.func` has them, under PyTorch's names.
"""

from minigrad.function_transforms.gradients import grad, grad_and_value, vjp
from minigrad.function_transforms.jacobians import hessian, jacfwd, jacrev
from minigrad.function_transforms.mapping import vmap
from minigrad.function_transforms.pushing import jvp, linearize

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]
