"""Cases for the operations that everything else is made of: arithmetic, sums, parts, products."""

from __future__ import annotations

import numpy as np

from .cases import (
    MASK,
    ONES,
    PLACES,
    TWICE,
    Case,
    M,
    V,
    add_along,
    added,
    case,
    masked,
    norm_of,
    placed,
    put,
    put_along,
    sigmoid_of,
    softmax_of,
    two,
)

CASES: dict[str, list[Case]] = {
    "sgn": [case(np.sign, V)],
    "sign": [case(np.sign, V)],
    "abs": [case(np.abs, V)],
    "masked_fill": [masked(lambda x, v: np.where(MASK.numpy(), v, x), M, ())],
    "masked_fill_number": [masked(lambda x: np.where(MASK.numpy(), 7.0, x), M, then=(7.0,))],
    "where": [
        Case(s, lambda a, b: np.where(MASK.numpy(), a, b), lambda op, a, b: op(MASK, a, b))
        for s in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2, 3)))
    ],
    "maximum": two(np.maximum),
    "minimum": two(np.minimum),
    "clamp": [
        case(lambda x: np.clip(x, -0.9, 1.1), (8,), then=(-0.9, 1.1)),
        case(lambda x: np.clip(x, 0.1, None), (8,), then=(0.1, None)),
        case(lambda x: np.clip(x, None, 0.1), (8,), then=(None, 0.1)),
    ],
    "add": two(np.add),
    "add_scaled": two(lambda a, b: a + 2.5 * b, 2.5),
    "sub": two(np.subtract),
    "sub_scaled": two(lambda a, b: a - 2.5 * b, 2.5),
    "rsub_number": [case(lambda x: 3 - x, V, then=(3,))],
    "mul": two(np.multiply),
    "div": two(np.divide),
    "neg": [case(np.negative, V)],
    "add_number": [case(lambda x: x + 3, V, then=(3,))],
    "sub_number": [case(lambda x: x - 3, V, then=(3,))],
    "mul_number": [case(lambda x: x * 3, V, then=(3,))],
    "div_number": [case(lambda x: x / 3, V, then=(3,))],
    "pow_number": [case(lambda x, n=n: x**n, V, then=(n,)) for n in (1, 2, 3, -1, -2)]
    + [case(lambda x: x**0.5, V, then=(0.5,), positive=True)],
    "pow_tensor": two(np.power, positive=True),
    "pow_of_number": [Case((V,), lambda x: 2.5**x, lambda op, x: op(2.5, x))],
    "sqrt": [case(np.sqrt, V, positive=True)],
    "rsqrt": [case(lambda x: x**-0.5, V, positive=True)],
    "reciprocal": [case(lambda x: 1 / x, V)],
    "exp": [case(np.exp, V)],
    "log": [case(np.log, V, positive=True)],
    "log1p": [case(lambda x: np.log(1 + x), V, positive=True)],
    "expm1": [case(lambda x: np.exp(x) - 1, V)],
    "sin": [case(np.sin, V)],
    "cos": [case(np.cos, V)],
    "select_backward": [case(lambda g: placed(g, M, (..., 1)), (2,), then=(M, 1, 1))],
    "select": [case(lambda x: x[:, 1], M, then=(1, 1))],
    "slice_backward": [
        case(lambda g: placed(g, M, (..., slice(0, 3, 2))), (2, 2), then=(M, 1, 0, 3, 2))
    ],
    "slice_dim": [case(lambda x: x[:, ::2], M, then=(1, 0, 3, 2))],
    "index_add": [case(lambda x, v: added(x, TWICE, v), V, (3,), then=(TWICE,))],
    "index": [
        case(lambda x: x[TWICE], V, then=(TWICE,)),
        case(lambda x: x[MASK.numpy()], M, then=((MASK.numpy(),),)),
    ],
    "index_put": [
        case(lambda x, v: put(x, [3, 1], v), V, shape, then=((np.array([3, 1]),),))
        for shape in ((2,), ())
    ],
    "gather": [case(lambda x: np.take_along_axis(x, PLACES, 1), M, then=(1, PLACES))],
    "scatter_add": [
        Case(
            (M, (2, 2)),
            lambda x, v: add_along(x, PLACES, 1, v),
            lambda op, x, v: op(x, 1, PLACES, v),
        )
    ],
    "scatter": [
        Case((M, (2, 1)), lambda x, v: put_along(x, ONES, 1, v), lambda op, x, v: op(x, 1, ONES, v))
    ],
    "scatter_number": [case(lambda x: put_along(x, ONES, 1, 5.0), M, then=(1, ONES, 5.0))],
    "view": [case(lambda x: x.reshape(3, 2), M, then=((3, 2),))],
    "reshape_alias": [case(lambda x: x.reshape(3, 2), M, then=((3, 2),))],
    "unsafe_view": [case(lambda x: x.reshape(6), M, then=((6,),))],
    "alias": [case(np.copy, M)],
    "clone": [case(np.copy, M)],
    "clone_contiguous": [case(np.copy, M)],
    "to_copy": [case(np.copy, M, then=(np.dtype("float64"),))],
    "copy_values": [case(lambda x, s: s, M, M)],
    "zeros": [case(np.zeros_like, M)],
    "filled": [case(lambda x: np.full(M, 3.0), M, then=(3.0,))],
    "filled_with": [case(lambda x, v: np.full(M, v), M, ())],
    "t": [case(np.transpose, M)],
    "transpose": [case(lambda x: x.swapaxes(0, 2), (2, 1, 3), then=(0, 2))],
    "permute": [case(lambda x: x.transpose(2, 0, 1), (2, 1, 3), then=((2, 0, 1),))],
    "flip": [case(lambda x: x[:, ::-1], M, then=((1,),))],
    "roll": [case(lambda x: np.roll(x, 1, 1), M, then=((1,), (1,)))],
    "squeeze_all": [case(lambda x: x.reshape(2, 3), (1, 2, 1, 3))],
    "squeeze_dim": [
        case(lambda x: x[0], (1, 2, 3), then=(0,)),
        case(np.copy, (1, 2, 3), then=(1,)),
    ],
    "squeeze_product": [case(lambda x: x[0], (1, 3), then=(0,))],
    "unsqueeze": [case(lambda x: x[:, None], M, then=(1,))],
    "expand": [
        case(lambda x: x + np.zeros((2, 4, 3)), (2, 1, 3), then=((2, 4, 3),)),
        case(lambda x: x + np.zeros((2, 3)), (3,), then=((2, 3),)),
        case(lambda x: x + np.zeros(3), (), then=((3,),)),
    ],
    "repeat": [case(lambda x: np.concatenate([np.hstack([x, x])] * 3), M, then=((3, 2),))],
    "tanh_backward": [case(lambda g, y: g * (1 - y**2), V, V)],
    "tanh": [case(np.tanh, V)],
    "sigmoid_backward": [case(lambda g, y: g * y * (1 - y), V, V)],
    "sigmoid": [case(sigmoid_of, V)],
    "threshold_backward": [case(lambda g, y: g * (y > 0), V, V, positive=True)],
    "relu": [case(lambda x: x * (x > 0), (8,))],
    "leaky_relu_backward": [
        case(lambda g, x: g * np.where(x > 0, 1, 0.2), (8,), (8,), then=(0.2,))
    ],
    "leaky_relu": [case(lambda x: x * np.where(x > 0, 1, 0.2), (8,), then=(0.2,))],
    "leaky_relu_in_place": [case(lambda x: x * np.where(x > 0, 1, 0.2), (8,), then=(0.2,))],
    "softplus": [
        case(lambda x: np.where(x > 0.5, x, np.log(1 + np.exp(2 * x)) / 2), (8,), then=(2, 1.0))
    ],
    "silu": [case(lambda x: x * sigmoid_of(x), V)],
    "mm": [case(np.matmul, (2, 3), (3, 2))],
    "addmm": [case(lambda c, a, b: c + a @ b, s, (2, 3), (3, 2)) for s in ((2,), (2, 2), ())],
    "mv": [case(np.matmul, (2, 3), (3,))],
    "dot": [case(np.dot, V, V)],
    "bmm": [case(np.matmul, (2, 2, 3), (2, 3, 1))],
    "mse_loss": [
        case(lambda x, y: (x - y) ** 2, M, M, then=(0,)),
        case(lambda x, y: ((x - y) ** 2).mean(), M, M, then=(1,)),
        case(lambda x, y: ((x - y) ** 2).mean(), M, (3,), then=(1,)),
        case(lambda x, y: ((x - y) ** 2).sum(), M, M, then=(2,)),
    ],
    "sum_all": [case(np.sum, M), case(np.sum, ())],
    "sum_dim": [
        case(lambda x: x.sum((0, 2)), (2, 2, 2), then=((0, 2), False)),
        case(lambda x: x.sum(1, keepdims=True), M, then=((1,), True)),
    ],
    "mean_all": [case(np.mean, M)],
    "mean_dim": [
        case(lambda x: x.mean((0, 2)), (2, 2, 2), then=((0, 2), False)),
        case(lambda x: x.mean(1, keepdims=True), M, then=((1,), True)),
    ],
    "max_all": [case(np.max, M)],
    "min_all": [case(np.min, M)],
    "amax": [
        case(lambda x: x.max(1), M, then=((1,), False)),
        case(lambda x: x.max((0, 1), keepdims=True), M, then=((0, 1), True)),
    ],
    "amin": [
        case(lambda x: x.min(1), M, then=((1,), False)),
        case(lambda x: x.min((0, 1), keepdims=True), M, then=((0, 1), True)),
    ],
    "max_dim": [
        case(lambda x: np.take_along_axis(x, ONES, 1)[:, 0], M, then=(1, False, ONES)),
        case(lambda x: np.take_along_axis(x, ONES, 1), M, then=(1, True, ONES)),
    ],
    "min_dim": [
        case(lambda x: np.take_along_axis(x, ONES, 1)[:, 0], M, then=(1, False, ONES)),
        case(lambda x: np.take_along_axis(x, ONES, 1), M, then=(1, True, ONES)),
    ],
    "vector_norm": [case(norm_of(p), M, then=(p, None, False)) for p in (1, 1.5, 2, 3)]
    + [
        case(lambda x: np.abs(x).max(), M, then=(np.inf, None, False)),
        case(lambda x: np.abs(x).min(1), M, then=(-np.inf, (1,), False)),
        case(lambda x: np.sqrt((x**2).sum(1, keepdims=True)), M, then=(2, (1,), True)),
    ],
    "softmax": [case(lambda x: softmax_of(x, 0), M, then=(0,))],
    "log_softmax": [case(lambda x: np.log(softmax_of(x, 1)), M, then=(1,))],
    "logsumexp": [
        case(lambda x: np.log(np.exp(x).sum(1)), M, then=((1,), False)),
        case(lambda x: np.log(np.exp(x).sum((0, 1), keepdims=True)), M, then=((0, 1), True)),
    ],
}
