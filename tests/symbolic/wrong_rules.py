"""Mistakes that are easily made in backward rules: each is planted, and has to be refuted.

A row says which rule of the book is replaced and by what. The wrong rule gets the right rule's
result, and then what the right rule gets: the gradient of the result, and what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Wrong(NamedTuple):
    """A wrong rule.

    Attributes:
        operation: The operation of the book.
        argument: The input whose rule is replaced.
        rule: The wrong rule; None where only the sum over what was broadcast is left out.
        case: Which of the operation's cases it is run on.
    """

    operation: str
    argument: str = "self"
    rule: Callable[..., Any] | None = None
    case: int = 0


def w(operation: str, argument: str, rule: Callable[..., Any], case: int = 0) -> Wrong:
    return Wrong(operation, argument, rule, case)


def times(factor: Any) -> Callable[..., Any]:
    return lambda right, *_: right * factor


def rolled(axis: int = -1, by: int = 1) -> Callable[..., Any]:
    return lambda right, *_: np.roll(right, by, axis)


def flipped(axis: int = -1) -> Callable[..., Any]:
    return lambda right, *_: np.flip(right, axis)


def turned(right: Any, *_: Any) -> Any:
    return np.swapaxes(right, -1, -2)


def untouched(right: Any, grad: Any, *_: Any) -> Any:
    return grad


def other_side(right: Any, grad: Any, *_: Any) -> Any:
    """Let through what the right rule holds back, and the reverse."""
    return grad - right


def like(right: Any, grad: Any) -> Any:
    """Spread a gradient over the shape that is due."""
    return np.zeros_like(right) + grad


minus = times(-1)

SIGN = [
    w("sub", "other", untouched),
    w("sub_scaled", "other", minus),
    w("rsub_number", "self", untouched),
    w("neg", "self", untouched),
    w("cos", "self", minus),
    w("acos", "self", minus),
    w("reciprocal", "self", minus),
    w("div", "other", minus),
    w("rsqrt", "self", minus),
    w("erfc", "self", minus),
    w("inv", "self", minus),
    w("nll_loss", "self", minus),
    w("log_sigmoid", "self", minus),
    w("mse_loss", "target", minus),
    w("cosh", "self", minus),
]
FACTOR = [
    w("mul", "self", times(2)),
    w("pow_number", "self", lambda right, grad, self, *_: grad * self, 2),
    w("sqrt", "self", times(2)),
    w("log2", "self", lambda right, grad, self: grad / self),
    w("log10", "self", lambda right, grad, self: grad / self),
    w("exp2", "self", lambda right, grad, result: grad * result),
    w("deg2rad", "self", untouched),
    w("add_scaled", "other", untouched),
    w("lerp_number", "self", untouched),
    w("mse_loss", "self", times(0.5), 0),
    w("var", "self", times(0.5)),
    w("erf", "self", times(0.5)),
    w("index_add_dim", "source", times(2), 1),
    w("scaled_elu", "self", times(0.5)),
    w("rad2deg", "self", untouched),
    w("div_number", "self", untouched),
    w("trace", "self", times(2)),
    w("scatter", "src", times(2)),
    w("prod_dim", "self", times(2)),
    w("exp", "self", times(2)),
    w("min_all", "self", times(2)),
    w("sum_all", "self", times(2)),
    w("index_add", "values", times(2)),
    w("masked_fill_number", "self", times(2)),
    w("copy_values", "src", times(2)),
    w("filled_with", "value", times(2)),
    w("select_backward", "grad_output", times(2)),
    w("slice_backward", "grad_output", times(2)),
    w("diagonal_copy", "self", times(2)),
    w("pow_of_number", "exponent", times(2)),
    w("sinh", "self", times(2)),
    w("log", "self", times(2)),
    w("sin", "self", times(2)),
    w("asin", "self", times(2)),
    w("unsqueeze", "self", times(2)),
]
MISSING_TERM = [
    w("tanh", "self", untouched),
    w("sigmoid", "self", lambda right, grad, output: grad * output),
    w("silu", "self", lambda right, grad, self: grad / (1 + np.exp(-self))),
    w("tan", "self", lambda right, grad, result: grad * result**2),
    w("asinh", "self", lambda right, grad, self: grad / np.sqrt(self * self)),
    w("atan", "self", lambda right, grad, self: grad / self**2),
    w("softmax", "self", lambda right, grad, output, dim: grad * output),
    w("softmax", "self", lambda right, grad, output, dim: grad * output * (1 - output)),
    w("log_softmax", "self", untouched),
    w("logsumexp", "self", lambda right, grad, *_: like(right, grad)),
    w("xlogy", "self", lambda right, grad, self, other: grad * np.log(other) + grad),
    w("prod_all", "self", lambda right, grad, self, result: grad * result + self * 0),
    w("det", "A", lambda right, grad, A, result: like(right, grad) * result),
    w("logit", "self", lambda right, grad, self, eps: grad / self),
    w("expm1", "self", lambda right, grad, result: grad * result),
    w("log1p", "self", lambda right, grad, self: grad / self),
]
TRANSPOSED = [
    w("t", "self", untouched),
    w("transpose", "self", untouched),
    w("permute", "self", lambda right, grad, dims: np.transpose(grad, (2, 0, 1))),
    w("mm", "self", lambda right, grad, mat2, *_: np.swapaxes(right, 0, 1)),
    w("mm", "mat2", turned),
    w("addmm", "mat1", turned),
    w("bmm", "self", turned),
    w("mv", "self", turned),
    w("inv", "self", turned),
    w("solve", "A", turned),
    w("bmm", "mat2", turned),
    w("addmm", "mat2", turned),
    w("tril", "self", lambda right, grad, diagonal: np.triu(grad)),
]
WRONG_AXIS = [
    w("flip", "self", lambda right, grad, dims: np.flip(grad, 0), 1),
    w("cumsum", "self", lambda right, grad, dim: np.cumsum(grad[::-1], 0)[::-1]),
    w("cumprod", "self", lambda right, *_: np.flip(right, 1)),
    w("softmax", "self", lambda right, grad, output, dim: (
        output * (grad - np.sum(grad * output, axis=0, keepdims=True))), 1),
    w("log_softmax", "self", lambda right, grad, output, dim: (
        grad - np.exp(output) * np.sum(grad, axis=0, keepdims=True)), 1),
    w("index_select", "self", flipped(0)),
    w("sum_dim", "self", lambda right, grad, *_: like(right, np.sum(grad, axis=0)), 1),
    w("mean_dim", "self", lambda right, grad, *_: like(right, np.sum(grad, axis=0) / 2), 1),
    w("expand", "self", lambda right, grad, sizes: grad[:, :1], 1),
    w("sort", "self", flipped(0)),
    w("gather", "self", flipped(0)),
    w("amax", "self", flipped(0)),
    w("unfold_dim", "self", flipped(0), 1),
    w("amin", "self", flipped(0)),
    w("min_dim", "self", flipped(0)),
    w("max_dim", "self", flipped(0)),
]  # fmt: skip
EXCHANGED = [
    w("mul", "self", lambda right, grad, other: grad * (right / other) * 0 + other),
    w("div", "self", lambda right, grad, other: grad * other),
    w("where", "self", other_side),
    w("where", "other", other_side),
    w("lerp", "self", lambda right, grad, weight: grad * weight),
    w("lerp", "end", lambda right, grad, weight: grad * (1 - weight)),
    w("masked_fill", "self", other_side),
    w("maximum", "self", other_side),
    w("minimum", "other", other_side),
    w("dot", "self", lambda right, grad, tensor: right[::-1]),
    w("xlogy", "self", lambda right, grad, self, other: grad * self / other),
]
COUNT = [
    w("mean_all", "self", lambda right, *_: right * right.size),
    w("mean_dim", "self", times(2)),
    w("mse_loss", "self", times(3), 1),
    w("nll_loss", "self", times(2), 1),
    w("smooth_l1_loss", "self", times(3), 1),
    w("huber_loss", "self", times(3), 1),
    w("nll_loss2d", "self", times(2)),
    w("im2col", "self", times(2)),
    w("var", "self", times(1.5)),
    w("std", "self", times(2)),
    w("avg_pool2d", "self", times(2)),
    w("avg_pool2d", "self", times(0.75), 1),
    w("avg_pool3d", "self", times(2)),
    w("repeat", "self", times(0.5)),
    w("binary_cross_entropy_with_logits", "self", times(3), 1),
]
KINK = [
    w("clamp_from_number", "self", other_side),
    w("clamp_to_number", "self", other_side),
    w("threshold_in_place", "self", other_side),
    w("relu", "self", other_side),
    w("leaky_relu", "self", lambda right, grad, self, slope: grad * (1 + slope) - right),
    w("abs", "self", minus),
    w("clamp", "self", other_side),
    w("hardtanh", "self", other_side),
    w("threshold", "self", other_side),
    w("softshrink", "self", untouched),
    w("prelu_kernel", "weight", lambda right, grad, self: grad * self - right),
    w("huber_loss", "self", lambda right, grad, self, target, *_: grad * (self - target)),
    w("max_all", "self", lambda right, grad, *_: like(right, grad) - right),
    w("softplus", "self", untouched),
    w("celu", "self", untouched),
]
OFF_BY_ONE = [
    w("select", "self", rolled()),
    w("slice_dim", "self", rolled()),
    w("constant_pad_nd", "self", rolled()),
    w("diagonal", "self", rolled()),
    w("index", "self", rolled()),
    w("index_put", "values", rolled()),
    w("scatter_add", "src", rolled()),
    w("topk", "self", rolled()),
    w("kthvalue", "self", rolled()),
    w("cumsum", "self", lambda right, grad, dim: right - grad),
    w("embedding", "weight", rolled(0)),
    w("unfold_dim", "self", rolled()),
    w("as_strided", "self", rolled()),
    w("im2col", "self", rolled()),
    w("max_pool2d_with_indices", "self", rolled()),
    w("median_all", "self", rolled()),
    w("tril", "self", lambda right, grad, diagonal: np.tril(grad, diagonal - 1)),
    w("triu", "self", lambda right, grad, diagonal: np.triu(grad, diagonal + 1)),
    w("diag_embed", "self", rolled()),
]
CHAIN = [
    w("convolution", "input", flipped()),
    w("convolution", "input", rolled(), 1),
    w("convolution", "weight", flipped()),
    w("convolution", "weight", rolled(0), 4),
    w("convolution", "bias", lambda right, grad, *_: grad[0, :, 0]),
    w("convolution_backward_weight", "grad_output", flipped()),
    w("col2im", "self", rolled()),
    w("native_batch_norm", "input", lambda right, grad, input, weight, layout, eps, statistics: (
        grad * weight * statistics.rstd)),
    w("native_batch_norm", "weight", lambda right, grad, input, *_: np.sum(grad * input, axis=0)),
    w("native_layer_norm", "input", lambda right, grad, input, weight, layout, eps, statistics: (
        right / statistics.rstd)),
    w("native_layer_norm", "weight", flipped()),
    w("native_group_norm", "input", lambda right, grad, input, weight, *_: right / weight),
    w("native_group_norm", "bias", lambda right, grad, *_: right * 2),
    w("vector_norm", "self", lambda right, grad, self, *_: grad * self, 4),
    w("tanh_backward", "grad_output", untouched),
]  # fmt: skip
UNREDUCED = [
    Wrong(name, argument, None, case)
    for name, argument, case in (
        ("add", "other", 0), ("add", "self", 1), ("sub", "other", 0), ("mul", "self", 1),
        ("mul", "other", 0), ("div", "other", 0), ("add_scaled", "other", 0),
        ("pow_tensor", "exponent", 0), ("maximum", "other", 0), ("minimum", "other", 0),
        ("where", "other", 0), ("mse_loss", "target", 4),
        ("lerp_number", "end", 0),
    )
]  # fmt: skip

WRONG = {
    "sign": SIGN,
    "factor": FACTOR,
    "missing term": MISSING_TERM,
    "transposed": TRANSPOSED,
    "wrong axis": WRONG_AXIS,
    "inputs exchanged": EXCHANGED,
    "forgotten count": COUNT,
    "wrong side of a kink": KINK,
    "off by one": OFF_BY_ONE,
    "chain factor": CHAIN,
    "missing unbroadcast": UNREDUCED,
}
