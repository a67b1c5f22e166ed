"""Linear algebra under the names of `torch.linalg`: `minigrad.linalg.solve(A, B)`.

All functions take batches of matrices in the last two dimensions. `LinAlgError`, a `RuntimeError`,
says that a matrix is singular.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from minigrad.ops import decompositions as _decompositions  # noqa: F401 - says variants
from minigrad.ops import linear_algebra as _linear_algebra  # noqa: F401 - says variants
from minigrad.ops.decompositions import LinAlgError as LinAlgError
from minigrad.signatures import VARIANTS as _VARIANTS
from minigrad.signatures import lazy_loading as _lazy_loading

_lazy_loading.load("extra.composed")
_functions = {
    name.removeprefix("linalg_"): variants.function
    for name, variants in _VARIANTS.items()
    if name.startswith("linalg_")
}
_functions["matmul"] = _VARIANTS["matmul"].function
globals().update(_functions)
if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...


__all__ = ["LinAlgError", *sorted(_functions)]
