r"""Attention and its derivative: values averaged with weights that queries and keys agree on.

For queries :math:`Q`, keys :math:`K` and values :math:`V`, one in each row, and a scale
:math:`s`,

.. math:: P = \mathrm{softmax}(s Q K^\top + M), \qquad Y = P V.

With :math:`\bar Y` for the gradient of the result, the gradient of the weights is
:math:`\bar P = \bar Y V^\top`, that of the scores :math:`\bar S = P \circ (\bar P - \langle P,
\bar P \rangle)`, where the bracket is the sum over a row, and

.. math:: \bar Q = s \bar S K, \qquad \bar K = s \bar S^\top Q, \qquad \bar V = P^\top \bar Y.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.ops import dropout as dropout  # says what drops weights
from minigrad.ops import elementwise
from minigrad.ops.softmax import softmax, softmax_backward
from minigrad.ops.type_promotion import rounded_once
from minigrad.signatures import functional
from minigrad.signatures.arguments import dimension
from minigrad.signatures.variants import in_functional


class Kept:
    """What a forward keeps for its rules: the weights :math:`P`."""

    __slots__ = ("weights",)

    weights: Any


def _turned(array: Any) -> Any:
    return np.swapaxes(array, -2, -1)


def _total(array: Any) -> Any:
    return np.add.reduce(array, axis=-1, keepdims=True)


def _compute_weights(query: Any, key: Any, mask: Any, scale: float) -> Any:
    """Compute the weights; a row in which everything is masked gets zeros."""
    scores = np.matmul(query * scale, _turned(key))
    if mask is not None:
        scores = scores + mask
    plain: Any = getattr(scores, "_array", scores)
    largest = np.maximum.reduce(plain, axis=-1, keepdims=True)
    if mask is not None:
        largest = np.where(largest == -np.inf, 0, largest)
    powers = np.exp(scores - largest)
    totals = _total(powers)
    return powers / (totals if mask is None else np.where(totals == 0, 1, totals))


def _weights(query: Any, key: Any, mask: Any, scale: float, kept: Kept) -> Any:
    """Give the weights for a rule: those of the forward, or recorded from queries and keys."""
    return _compute_weights(query, key, mask, scale) if isinstance(query, Tensor) else kept.weights


def _score_gradient(
    grad: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, kept: Kept
) -> Any:
    """Give the gradient of the scores, which keys and queries need, times the scale."""
    weights = _weights(query, key, mask, scale, kept)
    gradient = np.matmul(grad, _turned(value))
    return (gradient - _total(gradient * weights)) * weights * scale


@operation(
    "ScaledDotProductFlashAttentionForCpuBackward0",
    query=rounded_once(
        lambda grad, query, key, value, mask, scale, kept: np.matmul(
            _score_gradient(grad, query, key, value, mask, scale, kept), key
        )
    ),
    key=rounded_once(
        lambda grad, query, key, value, mask, scale, kept: np.matmul(
            _turned(_score_gradient(grad, query, key, value, mask, scale, kept)), query
        )
    ),
    value=rounded_once(
        lambda grad, query, key, mask, scale, kept: np.matmul(
            _turned(_weights(query, key, mask, scale, kept)), grad
        )
    ),
)
@ignore_errstate
def attention(query: Array, key: Array, value: Array, mask: Any, scale: Any, kept: Kept) -> Array:
    r"""Attention :math:`\mathrm{softmax}(s Q K^\top + M) V`; the mask has no gradient here."""
    kept.weights = _compute_weights(query, key, mask, scale)
    if type(query) is np.ndarray and query.shape[-1] == value.shape[-1]:  # laid out as queries are
        return np.matmul(kept.weights, value, out=np.empty_like(query))
    return np.matmul(kept.weights, value)


@operation("SafeSoftmaxBackward0", self=softmax_backward)
@ignore_errstate
def safe_softmax(self: Array, dim: Any) -> Array:
    """Softmax that gives zeros where all scores are minus infinity, instead of NaN."""
    weights = softmax.forward(self, dim)
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    return np.where(largest == -np.inf, 0, weights)


# ---------------------------------------------------------------------- what is called


@functional()
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    r"""Average values with weights: $\mathrm{softmax}(s Q K^\top + M) V$.

    Four dimensions, no dropout and a mask without gradient make one node in the graph; anything
    else is made of matrix products and a softmax, as in PyTorch.

    Args:
        query: What each place asks for, $Q$.
        key: What each place offers to be found by, $K$.
        value: What each place has to say, $V$.
        attn_mask: True where a query may look, or a number to add to each score. It broadcasts.
        dropout_p: The probability with which weights are dropped.
        is_causal: Whether each place may only look at itself and those before it.
        scale: The factor $s$; $1 / \sqrt{E}$ if None.
        enable_gqa: Must be False: each head of the query has its own key and value.

    Returns:
        For each query the average of the values. A query that may look nowhere gets zeros.

    Raises:
        NotImplementedError: If `enable_gqa` is set.
        RuntimeError: If dtypes or shapes do not fit, or a mask is given and `is_causal` is set.

    Shape:
        - query: (N, ..., L, E); key: (N, ..., S, E); value: (N, ..., S, Ev)
        - attn_mask: broadcasts to (N, ..., L, S)
        - output: (N, ..., L, Ev)

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> x = torch.rand(1, 2, 3, 4)
        >>> y = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        >>> torch.allclose(y[..., 0, :], x[..., 0, :])  # the first place sees only itself
        True
    """
    sizes = [each._array.shape for each in (query, key, value)]
    if min(map(len, sizes)) < 2 or not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "queries, keys and values have two dimensions at least, and one dtype; got "
            f"{sizes} and {query.dtype}, {key.dtype}, {value.dtype}"
        )
    if attn_mask is not None and attn_mask.dtype not in (dtypes.bool, dtypes.float32, query.dtype):
        raise RuntimeError(f"a mask is of bool or of the dtype of queries, not {attn_mask.dtype}")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    if enable_gqa:
        raise NotImplementedError(
            "Attention has no enable_gqa=True here. Repeat keys and values with repeat_interleave."
        )
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    if _is_one_node(query, key, value, attn_mask, dropout_p):
        mask = _additive(query, key, attn_mask, is_causal)
        return attention(query, key, value, mask, scale, Kept())
    return _composed(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _is_one_node(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float
) -> bool:
    """Tell whether PyTorch computes this in one operation on the CPU."""
    sizes = [each._array.shape for each in (query, key, value)]
    if dropout_p or any(len(size) != 4 or 0 in size for size in sizes):
        return False
    first, second, third = sizes
    alike = first[:2] == second[:2] == third[:2] and first[3] == second[3] == third[3]
    rows = all(each._array.strides[-1] == each._array.itemsize for each in (query, key, value))
    fits = mask is None or (not mask.requires_grad and mask.ndim in (2, 4))
    return alike and second[2] == third[2] and rows and fits


def _additive(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Any:
    """Give what to add to the scores: 0 where a query may look, else minus infinity."""
    dtype = query._array.dtype
    allowed = None if mask is None else mask._array
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        if allowed is not None and allowed.dtype.kind != "b":
            return np.where(causal, allowed, -np.inf).astype(dtype)
        allowed = causal if allowed is None else causal & allowed
    if allowed is None:
        return None
    if allowed.dtype.kind != "b":
        return allowed.astype(dtype, copy=False)
    return np.where(allowed, 0, -np.inf).astype(dtype)


def _composed(query: Tensor, key: Tensor, value: Tensor, *settings: Any) -> Tensor:
    """Compute attention by matrix products and a softmax."""
    if query._array.dtype.char == "e":  # scores grow beyond what float16 can hold
        wide = [each.float() for each in (query, key, value)]
        return _composed(*wide, *settings).half()
    mask, dropout_p, is_causal, scale = settings
    if is_causal and mask is not None:
        raise RuntimeError("attention takes a mask or is_causal=True, not both")
    if is_causal:
        mask = wrap(np.tri(query.shape[-2], key.shape[-2], dtype=bool))
    root = math.sqrt(abs(scale))
    scores = elementwise.mul_number(query, root if scale >= 0 else -root)
    scores = scores @ elementwise.mul_number(key.transpose(-2, -1), root)
    if mask is not None:
        if mask._array.dtype.kind == "b":
            mask = wrap(np.where(mask._array, 0, -np.inf).astype(query._array.dtype))
        scores = scores + mask
    weights = safe_softmax(scores, dimension(-1, scores.ndim))
    if dropout_p:
        weights = in_functional["dropout"](weights, dropout_p)
    return weights @ value
