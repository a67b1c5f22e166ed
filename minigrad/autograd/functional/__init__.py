"""Differentiate a function as a whole: `vjp`, `jvp`, `jacobian`, `hessian`, `vhp`, `hvp`.

With J the Jacobian of a function and H the Hessian of one that gives a single number:

| call       | gives                      | cost, in backward passes      |
|------------|----------------------------|-------------------------------|
| `vjp`      | v J, one row at a time     | one                           |
| `jvp`      | J v, one column at a time  | two                           |
| `jacobian` | J, row by row              | one for each entry of outputs |
| `vhp`      | v H                        | two                           |
| `hvp`      | H v                        | three                         |
| `hessian`  | H, row by row              | one for each entry of inputs  |
"""

from minigrad.autograd.functional.matrices import hessian, jacobian
from minigrad.autograd.functional.products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
