"""Call the error function, the gamma function and their kind, as functions and methods."""

from __future__ import annotations

from typing import Any

from minigrad.ops import special
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.entrywise import as_floats, of_floats, with_in_place
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor

__all__ = ["digamma", "erf", "erfc", "erfinv", "lgamma", "mvlgamma", "polygamma"]

_erf, _erfc, _erfinv = map(of_floats, (special.erf, special.erfc, special.erfinv))
_lgamma, _digamma = map(of_floats, (special.lgamma, special.digamma))


def _polygamma(n: int, input: Tensor, operation: Any = special.polygamma) -> Tensor:
    """Check the arguments, and call one of the two operations."""
    if not isinstance(n, int):
        raise TypeError(
            f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}"
        )
    check_tensor("polygamma", input, "input", 2)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return operation(as_floats(input), n)  # type: ignore[no-any-return]


def _mvlgamma(input: Tensor, p: int) -> Tensor:
    r"""Give the logarithm of the multivariate gamma function of dimension `p` of each entry.

    .. math:: \frac{p (p - 1)}{4} \ln\pi + \sum_{j=0}^{p-1} \ln\Gamma\!\left(x - \frac{j}{2}\right)

    Example:
        >>> import minigrad as torch
        >>> torch.mvlgamma(torch.tensor([3.0]), 2)
        tensor([1.5502])
    """
    check_tensor("mvlgamma", input)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    return special.mvlgamma(as_floats(input), p)  # type: ignore[no-any-return]


_mvlgamma.__name__ = "mvlgamma"

erf, erfc, erfinv, lgamma, digamma = map(with_out, (_erf, _erfc, _erfinv, _lgamma, _digamma))
mvlgamma = with_out(_mvlgamma)


@with_out
def polygamma(n: int, input: Tensor) -> Tensor:
    r"""Give the derivative of order `n` of the digamma function at each entry.

    Args:
        n: The order, from 0 on.
        input: The tensor.

    Raises:
        RuntimeError: If `n` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.polygamma(1, torch.tensor([1.0, 0.5]))
        tensor([1.6449, 4.9348])
    """
    return _polygamma(n, input)


def _method_polygamma(self: Tensor, n: int) -> Tensor:
    """Give the derivative of order `n` of the digamma function at each entry."""
    return _polygamma(n, self)


def _polygamma_in_place(self: Tensor, n: int) -> Tensor:
    return _polygamma(n, self, special.polygamma_in_place)


_method_polygamma.__name__ = _polygamma_in_place.__name__ = "polygamma"

methods: dict[str, Any] = {
    **with_in_place((_erf, _erfc, _erfinv, _lgamma, _digamma, _mvlgamma)),
    "polygamma": _method_polygamma,
    "polygamma_": in_place(_polygamma_in_place),
}
