"""Call the special functions of mathematics by the names that SciPy and PyTorch have for them.

They are loaded when `minigrad.special` is first asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import activations, elementwise, exponentials, special
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.arithmetic import expm1 as _expm1
from minigrad.ops.calling.arithmetic import log1p as _log1p
from minigrad.ops.calling.entrywise import as_floats, of_floats
from minigrad.ops.calling.exponentials import by_either, exp2, logit, xlogy
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.rounding import round
from minigrad.ops.calling.special import digamma, erf, erfc, erfinv, lgamma, mvlgamma, polygamma
from minigrad.ops.calling.trigonometry import sinc
from minigrad.tensor import Tensor, wrap

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]

expm1, log1p = with_out(_expm1), with_out(_log1p)
expit = with_out(of_floats(activations.sigmoid, "expit"))
entr, erfcx = with_out(of_floats(exponentials.entr)), with_out(of_floats(special.erfcx, half=False))
log_ndtr = with_out(of_floats(special.log_ndtr, half=False))
ndtri = with_out(of_floats(special.ndtri, half=False))
gammaln, psi, multigammaln = lgamma, digamma, mvlgamma


@with_out
def ndtr(input: Tensor) -> Tensor:
    r"""Give the normal distribution :math:`\Phi(x)`: how probable it is to be below each entry.

    Example:
        >>> import minigrad as torch
        >>> torch.special.ndtr(torch.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
    """
    check_tensor("special_ndtr", input)
    scaled = elementwise.mul_number(as_floats(input), 0.5**0.5)
    return elementwise.mul_number(elementwise.add_number(special.erf(scaled), 1), 0.5)  # type: ignore[no-any-return]


def _beside(number: Any, tensor: Tensor) -> Tensor:
    return wrap(np.array(number, tensor._array.dtype))


xlog1py = with_out(
    by_either(
        "special_xlog1py",
        exponentials.xlog1py,
        lambda tensor, number: exponentials.xlog1py(tensor, _beside(number, tensor)),
        lambda number, tensor: exponentials.xlog1py(_beside(number, tensor), tensor),
    )
)


def softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """Give the softmax along a dimension, as `minigrad.softmax` does."""
    return input.softmax(dim, dtype=dtype)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """Give the logarithm of the softmax along a dimension, as `minigrad.log_softmax` does."""
    return input.log_softmax(dim, dtype=dtype)  # type: ignore[no-any-return]


@with_out
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Give the logarithm of the sum of powers of e, as `minigrad.logsumexp` does."""
    return input.logsumexp(dim, keepdim)  # type: ignore[no-any-return]
