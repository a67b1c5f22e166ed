"""The operations and layers that `operations.py` measures, each with few entries and with many."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

Shape = tuple[int, ...]


class Indices(NamedTuple):
    """An input of whole numbers below a limit."""

    shape: Shape
    limit: int


class Mask(NamedTuple):
    """An input of booleans."""

    shape: Shape


class Positive(NamedTuple):
    """An input of numbers between 0.2 and 0.8, with a gradient."""

    shape: Shape


class Distinct(NamedTuple):
    """An input of numbers no two of which are equal, with a gradient."""

    shape: Shape


class Row(NamedTuple):
    """A call and its inputs, few and many: a shape stands for random numbers with a gradient."""

    name: str
    call: Callable[..., Any]
    small: tuple[Any, ...]
    large: tuple[Any, ...] | None


FEW, MANY = (4, 16), (1000, 1000)


def alike(name: str, call: Callable[..., Any], inputs: int = 1, kind: Any = tuple) -> Row:
    """Give a row whose inputs have one shape."""
    return Row(name, call, (kind(FEW),) * inputs, (kind(MANY),) * inputs)


def unary(name: str, kind: Any = tuple) -> Row:
    """Give the row of a function of one input, of `torch` or of `torch.nn.functional`."""

    def call(torch: ModuleType, x: Any) -> Any:
        return getattr(torch if hasattr(torch, name) else torch.nn.functional, name)(x)

    return alike(name, call, 1, kind)


def layer(torch: ModuleType, name: str) -> Any:
    """Give a function of `nn.functional`."""
    return getattr(torch.nn.functional, name)


ELEMENTWISE = [
    alike("add", lambda torch, x, y: x + y, 2),
    alike("add, broadcast", lambda torch, x, y: x + y[0], 2),
    alike("mul", lambda torch, x, y: x * y, 2),
    alike("mul, number", lambda torch, x: x * 1.5),
    alike("mul, broadcast", lambda torch, x, y: x * y[0], 2),
    alike("div", lambda torch, x, y: x / y, 2, Positive),
    alike("pow 2", lambda torch, x: x**2),
    alike("pow 3", lambda torch, x: x**3),
    *(unary(name) for name in ("exp", "sin", "cos", "tanh", "sigmoid", "erf", "abs", "square")),
    *(unary(name, Positive) for name in ("log", "sqrt", "rsqrt", "reciprocal", "log1p")),
    *(unary(name) for name in ("relu", "gelu", "silu", "elu", "leaky_relu", "softplus")),
    unary("logsigmoid"),
    alike("gelu, tanh", lambda torch, x: layer(torch, "gelu")(x, approximate="tanh")),
    alike("clamp", lambda torch, x: torch.clamp(x, -0.5, 0.5)),
    alike("maximum", lambda torch, x, y: torch.maximum(x, y), 2),
    Row(
        "where",
        lambda torch, c, x, y: torch.where(c, x, y),
        (Mask(FEW), FEW, FEW),
        (Mask(MANY), MANY, MANY),
    ),
    alike("lerp", lambda torch, x, y: torch.lerp(x, y, 0.3), 2),
    alike("addcmul", lambda torch, x, y, z: torch.addcmul(x, y, z), 3),
]

REDUCTIONS = [
    alike("sum", lambda torch, x: x.sum()),
    alike("sum, dim 0", lambda torch, x: x.sum(0)),
    alike("sum, dim 1", lambda torch, x: x.sum(1)),
    alike("mean", lambda torch, x: x.mean()),
    alike("mean, dim 1", lambda torch, x: x.mean(1, keepdim=True)),
    alike("max", lambda torch, x: x.max()),
    alike("max, dim 1", lambda torch, x: x.max(1).values),
    alike("amax, dim 1", lambda torch, x: x.amax(1)),
    alike("var", lambda torch, x: x.var()),
    alike("var, dim 1", lambda torch, x: x.var(1)),
    alike("std, dim 0", lambda torch, x: x.std(0)),
    alike("norm", lambda torch, x: x.norm()),
    alike("linalg.norm, dim 1", lambda torch, x: torch.linalg.vector_norm(x, dim=1)),
    alike("logsumexp", lambda torch, x: torch.logsumexp(x, 1)),
    alike("softmax", lambda torch, x: torch.softmax(x, 1)),
    alike("log_softmax", lambda torch, x: torch.log_softmax(x, 1)),
    alike("cumsum", lambda torch, x: torch.cumsum(x, 1)),
    alike("cumprod", lambda torch, x: torch.cumprod(x, 1), 1, Positive),
    alike("prod, dim 1", lambda torch, x: torch.prod(x, 1), 1, Positive),
    alike("sort", lambda torch, x: torch.sort(x, 1).values, 1, Distinct),
    alike("topk", lambda torch, x: torch.topk(x, 4, 1).values, 1, Distinct),
]

MATRICES = [
    Row("matmul", lambda torch, x, y: x @ y, ((4, 4), (4, 4)), ((512, 512), (512, 512))),
    Row("mv", lambda torch, x, y: torch.mv(x, y), ((4, 16), (16,)), ((1000, 1000), (1000,))),
    Row("bmm", lambda torch, x, y: torch.bmm(x, y), ((2, 4, 4),) * 2, ((64, 128, 128),) * 2),
    Row(
        "matmul, broadcast",
        lambda torch, x, y: x @ y,
        ((2, 4, 4), (4, 4)),
        ((64, 128, 128), (128, 128)),
    ),
    Row(
        "einsum bij,bkj",
        lambda torch, x, y: torch.einsum("bij,bkj->bik", x, y),
        ((2, 4, 4),) * 2,
        ((64, 128, 128),) * 2,
    ),
    Row(
        "einsum ij,j",
        lambda torch, x, y: torch.einsum("ij,j->i", x, y),
        ((4, 16), (16,)),
        ((1000, 1000), (1000,)),
    ),
    Row(
        "linear",
        lambda torch, x, w, b: layer(torch, "linear")(x, w, b),
        ((4, 16), (8, 16), (8,)),
        ((512, 512), (256, 512), (256,)),
    ),
    Row("outer", lambda torch, x, y: torch.outer(x, y), ((8,), (8,)), ((1000,), (1000,))),
]

PARTS = [
    alike("x[i]", lambda torch, x: x[1]),
    alike("x[:, a:b]", lambda torch, x: x[:, 1:9]),
    Row(
        "x[indices]",
        lambda torch, i, x: x[i],
        (Indices((8,), 4), FEW),
        (Indices((1000,), 1000), MANY),
    ),
    Row(
        "x[rows, columns]",
        lambda torch, i, j, x: x[i, j],
        (Indices((8,), 4), Indices((8,), 16), FEW),
        (Indices((100000,), 1000), Indices((100000,), 1000), MANY),
    ),
    Row("x[mask]", lambda torch, m, x: x[m], (Mask(FEW), FEW), (Mask(MANY), MANY)),
    Row(
        "gather",
        lambda torch, i, x: torch.gather(x, 1, i),
        (Indices(FEW, 16), FEW),
        (Indices(MANY, 1000), MANY),
    ),
    Row(
        "scatter_add",
        lambda torch, i, x, y: torch.scatter_add(x, 1, i, y),
        (Indices(FEW, 16), FEW, FEW),
        (Indices(MANY, 1000), MANY, MANY),
    ),
    Row(
        "index_select",
        lambda torch, i, x: torch.index_select(x, 1, i),
        (Indices((8,), 16), FEW),
        (Indices((1000,), 1000), MANY),
    ),
    Row(
        "index_add",
        lambda torch, i, x, y: torch.index_add(x, 0, i, y),
        (Indices((4,), 4), FEW, FEW),
        (Indices((1000,), 1000), MANY, MANY),
    ),
    Row(
        "embedding",
        lambda torch, i, w: layer(torch, "embedding")(i, w),
        (Indices((4, 2), 8), (8, 8)),
        (Indices((64, 128), 10000), (10000, 128)),
    ),
    Row(
        "masked_fill",
        lambda torch, m, x: x.masked_fill(m, 0.0),
        (Mask(FEW), FEW),
        (Mask(MANY), MANY),
    ),
    alike("cat", lambda torch, x, y: torch.cat([x, y], 1), 2),
    alike("stack", lambda torch, x, y: torch.stack([x, y]), 2),
    alike("split", lambda torch, x: torch.split(x, x.shape[1] // 2, 1)[1]),
    alike("transpose, reshape", lambda torch, x: x.T.reshape(-1)),
    alike("repeat", lambda torch, x: x.repeat(2, 1)),
    alike("flip", lambda torch, x: x.flip(1)),
    alike("pad", lambda torch, x: layer(torch, "pad")(x, (1, 1, 1, 1))),
]


def scores(torch: ModuleType, target: Any, x: Any) -> Any:
    """Give the cross-entropy of scores."""
    return torch.nn.functional.cross_entropy(x, target)


LAYERS = [
    Row(
        "layer_norm",
        lambda torch, x, w, b: layer(torch, "layer_norm")(x, (x.shape[1],), w, b),
        ((4, 16), (16,), (16,)),
        (MANY, (1000,), (1000,)),
    ),
    Row(
        "batch_norm",
        lambda torch, x, w, b: layer(torch, "batch_norm")(x, None, None, w, b, True),
        ((4, 16), (16,), (16,)),
        (MANY, (1000,), (1000,)),
    ),
    Row(
        "batch_norm, images",
        lambda torch, x, w, b: layer(torch, "batch_norm")(x, None, None, w, b, True),
        ((2, 4, 3, 3), (4,), (4,)),
        ((32, 32, 32, 32), (32,), (32,)),
    ),
    Row(
        "group_norm",
        lambda torch, x, w, b: layer(torch, "group_norm")(x, 2, w, b),
        ((2, 4, 3, 3), (4,), (4,)),
        ((32, 32, 32, 32), (32,), (32,)),
    ),
    Row("cross_entropy, 64x10", scores, (Indices((64,), 10), (64, 10)), None),
    Row(
        "cross_entropy",
        scores,
        (Indices((4,), 10), (4, 10)),
        (Indices((512,), 1000), (512, 1000)),
    ),
    alike("mse_loss", lambda torch, x, y: layer(torch, "mse_loss")(x, y), 2),
    alike("l1_loss", lambda torch, x, y: layer(torch, "l1_loss")(x, y), 2),
    alike("smooth_l1_loss", lambda torch, x, y: layer(torch, "smooth_l1_loss")(x, y), 2),
    alike(
        "bce_with_logits",
        lambda torch, x, y: layer(torch, "binary_cross_entropy_with_logits")(x, y.detach()),
        2,
        Positive,
    ),
    alike(
        "binary_cross_entropy",
        lambda torch, x, y: layer(torch, "binary_cross_entropy")(x, y.detach()),
        2,
        Positive,
    ),
    alike(
        "kl_div",
        lambda torch, x, y: layer(torch, "kl_div")(x, y.detach(), reduction="sum"),
        2,
        Positive,
    ),
    Row(
        "conv2d, 1 to 8",
        lambda torch, x, w, b: layer(torch, "conv2d")(x, w, b, padding=2),
        ((1, 1, 4, 4), (2, 1, 3, 3), (2,)),
        ((32, 1, 28, 28), (8, 1, 5, 5), (8,)),
    ),
    Row(
        "conv2d, 8 to 16",
        lambda torch, x, w, b: layer(torch, "conv2d")(x, w, b),
        ((1, 2, 4, 4), (2, 2, 3, 3), (2,)),
        ((32, 8, 14, 14), (16, 8, 5, 5), (16,)),
    ),
    Row(
        "max_pool2d",
        lambda torch, x: layer(torch, "max_pool2d")(x, 2),
        ((1, 2, 4, 4),),
        ((32, 8, 28, 28),),
    ),
    Row(
        "avg_pool2d",
        lambda torch, x: layer(torch, "avg_pool2d")(x, 2),
        ((1, 2, 4, 4),),
        ((32, 8, 28, 28),),
    ),
    Row(
        "attention",
        lambda torch, q, k, v: layer(torch, "scaled_dot_product_attention")(q, k, v),
        ((1, 2, 4, 4),) * 3,
        ((8, 4, 128, 16),) * 3,
    ),
]


ROWS = [*ELEMENTWISE, *REDUCTIONS, *MATRICES, *PARTS, *LAYERS]


def entries(row: Row) -> str:
    """Tell how many numbers the large inputs of a row have, of the largest."""
    assert row.large is not None
    shapes = [getattr(given, "shape", given) for given in row.large]
    return f"{max(map(math.prod, shapes)):,} entries"
