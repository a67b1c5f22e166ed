r"""Attention: values averaged with weights that queries and keys agree on.

For queries :math:`Q`, keys :math:`K` and values :math:`V`, one in each row, and a scale
:math:`s`,

.. math:: P = \mathrm{softmax}(s Q K^\top + M), \qquad Y = P V.

It is made of matrix products and a softmax, and so is its derivative.

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
from minigrad.signatures import functional
from minigrad.signatures.arguments import dimension
from minigrad.signatures.variants import in_functional


@operation("SafeSoftmaxBackward0", self=softmax_backward)
@ignore_errstate
def safe_softmax(self: Array, dim: Any) -> Array:
    """Softmax that gives zeros where all scores are minus infinity, instead of NaN."""
    weights = softmax.forward(self, dim)
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    return np.where(largest == -np.inf, 0, weights)


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

    In PyTorch four dimensions, no dropout and a mask without gradient make one node in the graph;
    here that is made of matrix products and a softmax, too.

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
    if enable_gqa:
        raise NotImplementedError(
            "Attention has no enable_gqa=True here. Repeat keys and values with repeat_interleave."
        )
    if is_causal and attn_mask is not None and len(sizes[0]) != 4:
        raise RuntimeError("attention takes a mask or is_causal=True, not both")
    if query._array.dtype.char == "e":  # scores grow beyond what float16 can hold
        wide = [each.float() for each in (query, key, value)]
        attend = in_functional["scaled_dot_product_attention"]
        return attend(*wide, attn_mask, dropout_p, is_causal, scale=scale).half()
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    root = math.sqrt(abs(scale))
    scores = elementwise.mul_number(query, root if scale >= 0 else -root)
    scores = scores @ elementwise.mul_number(key.transpose(-2, -1), root)
    allowed: Any = np.tri(query.shape[-2], key.shape[-2]) > 0 if is_causal else np.array(True)
    if attn_mask is not None and attn_mask.dtype is dtypes.bool:
        allowed = allowed & attn_mask._array
    elif attn_mask is not None:
        scores = scores + attn_mask
    if not allowed.all():
        scores = scores + wrap(np.where(allowed, 0, -np.inf).astype(query._array.dtype))
    weights = safe_softmax(scores, dimension(-1, scores.ndim))
    if dropout_p:
        weights = in_functional["dropout"](weights, dropout_p)
    return weights @ value
