"""Cases for every operation in the book of derivatives: inputs, settings, and NumPy's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.ops.tape import book

# Not the operations that other tests make.
BOOK = {name: o for name, o in book.items() if o.__module__.startswith("minigrad.")}


@dataclass
class Case:
    """One call of an operation.

    Attributes:
        shapes: The shapes of its differentiable inputs.
        reference: What it should give, as a formula of NumPy arrays.
        call: Calls the operation with the inputs, settings and constants in their places.
        positive: Whether the inputs must be positive.
    """

    shapes: tuple[tuple[int, ...], ...]
    reference: Callable[..., Any]
    call: Callable[..., Any]
    positive: bool = False

    def inputs(self, seed: int = 0) -> list[np.ndarray[Any, Any]]:
        """Draw inputs with sizes from 0.3 to 1.7, so that none is near a kink at 0."""
        draw = np.random.default_rng((len(self.shapes), seed))
        arrays = [np.asarray(draw.uniform(0.3, 1.7, shape)) for shape in self.shapes]
        if self.positive:
            return arrays
        return [np.asarray(a * draw.choice([-1.0, 1.0], a.shape)) for a in arrays]


def case(reference: Callable[..., Any], *shapes: Any, then: Any = (), **options: Any) -> Case:
    """Make a case whose settings come after the inputs."""
    return Case(shapes, reference, lambda op, *inputs: op(*inputs, *then), **options)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def _placed(values: Any, shape: Any, key: Any) -> Any:
    whole = np.zeros(shape)
    whole[key] = values
    return whole


def _added(whole: Any, key: Any, values: Any) -> Any:
    whole = whole.copy()
    np.add.at(whole, key, values)
    return whole


def _put(whole: Any, key: Any, values: Any) -> Any:
    whole = whole.copy()
    whole[key] = values
    return whole


def _put_along(whole: Any, positions: Any, axis: int, values: Any) -> Any:
    whole = whole.copy()
    np.put_along_axis(whole, positions, values, axis)
    return whole


def _add_along(whole: Any, positions: Any, axis: int, values: Any) -> Any:
    whole = whole.copy()
    for place, position in np.ndenumerate(positions):
        target = list(place)
        target[axis] = position
        whole[tuple(target)] += values[place]
    return whole


def _norm(order: float) -> Callable[[Any], Any]:
    return lambda x: (np.abs(x) ** order).sum() ** (1 / order)


def _picked(x: Any) -> Any:
    return -x[np.arange(2), TARGET.numpy()]


V, M = (4,), (2, 3)
DOUBLE = np.dtype(np.float64)
MASK = torch.tensor([[True, False, True], [False, False, True]])
TARGET = torch.tensor([2, 0])
TWICE = (np.array([0, 2, 2]),)
PLACES = np.array([[0, 2], [1, 1]])
ONES = np.array([[2], [0]])
BROADCAST = ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (4,)), ((4,), (4,))


def _two(reference: Any, *then: Any, **options: Any) -> list[Case]:
    return [case(reference, *shapes, then=then, **options) for shapes in BROADCAST]


def _masked(reference: Any, *shapes: Any, then: Any = ()) -> Case:
    def call(op: Any, self: Any, *others: Any) -> Any:
        return op(self, MASK, *others, *then)

    return Case(shapes, reference, call)


CASES: dict[str, list[Case]] = {
    "sgn": [case(np.sign, V)],
    "sign": [case(np.sign, V)],
    "abs": [case(np.abs, V)],
    "masked_select": [_masked(lambda x: x[MASK.numpy()], M)],
    "placed_under": [_masked(lambda x: _put(np.zeros(M), MASK.numpy(), x), (3,))],
    "masked_fill_number": [_masked(lambda x: np.where(MASK.numpy(), 7.0, x), M, then=(7.0,))],
    "masked_fill": [_masked(lambda x, v: np.where(MASK.numpy(), v, x), M, ())],
    "where": [
        Case(s, lambda a, b: np.where(MASK.numpy(), a, b), lambda op, a, b: op(MASK, a, b))
        for s in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2, 3)))
    ],
    "maximum": _two(np.maximum),
    "minimum": _two(np.minimum),
    "clamp": [
        case(lambda x: np.clip(x, -0.9, 1.1), (8,), then=(-0.9, 1.1)),
        case(lambda x: np.clip(x, 0.1, None), (8,), then=(0.1, None)),
        case(lambda x: np.clip(x, None, 0.1), (8,), then=(None, 0.1)),
    ],
    "add": _two(np.add),
    "add_scaled": _two(lambda a, b: a + 2.5 * b, 2.5),
    "sub": _two(np.subtract),
    "sub_scaled": _two(lambda a, b: a - 2.5 * b, 2.5),
    "rsub_number": [case(lambda x: 3 - x, V, then=(3,))],
    "mul": _two(np.multiply),
    "div": _two(np.divide),
    "neg": [case(np.negative, V)],
    "add_number": [case(lambda x: x + 3, V, then=(3,))],
    "sub_number": [case(lambda x: x - 3, V, then=(3,))],
    "mul_number": [case(lambda x: x * 3, V, then=(3,))],
    "div_number": [case(lambda x: x / 3, V, then=(3,))],
    "pow_number": [case(lambda x, n=n: x**n, V, then=(n,)) for n in (1, 2, 3, -1, -2)]
    + [case(lambda x: x**0.5, V, then=(0.5,), positive=True)],
    "pow_tensor": _two(np.power, positive=True),
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
    "select_backward": [case(lambda g: _placed(g, M, (..., 1)), (2,), then=(M, 1, 1))],
    "select": [case(lambda x: x[:, 1], M, then=(1, 1))],
    "slice_backward": [
        case(lambda g: _placed(g, M, (..., slice(0, 3, 2))), (2, 2), then=(M, 1, 0, 3, 2))
    ],
    "slice_dim": [case(lambda x: x[:, ::2], M, then=(1, 0, 3, 2))],
    "index_add": [case(lambda x, v: _added(x, TWICE, v), V, (3,), then=(TWICE,))],
    "index": [
        case(lambda x: x[TWICE], V, then=(TWICE,)),
        case(lambda x: x[MASK.numpy()], M, then=((MASK.numpy(),),)),
    ],
    "index_put": [
        case(lambda x, v: _put(x, [3, 1], v), V, shape, then=((np.array([3, 1]),),))
        for shape in ((2,), ())
    ],
    "gather": [case(lambda x: np.take_along_axis(x, PLACES, 1), M, then=(1, PLACES))],
    "scatter_add": [
        Case(
            (M, (2, 2)),
            lambda x, v: _add_along(x, PLACES, 1, v),
            lambda op, x, v: op(x, 1, PLACES, v),
        )
    ],
    "scatter": [
        Case(
            (M, (2, 1)), lambda x, v: _put_along(x, ONES, 1, v), lambda op, x, v: op(x, 1, ONES, v)
        )
    ],
    "scatter_number": [case(lambda x: _put_along(x, ONES, 1, 5.0), M, then=(1, ONES, 5.0))],
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
    "sigmoid": [case(_sigmoid, V)],
    "threshold_backward": [case(lambda g, y: g * (y > 0), V, V, positive=True)],
    "relu": [case(lambda x: x * (x > 0), (8,))],
    "leaky_relu_backward": [
        case(lambda g, x: g * np.where(x > 0, 1, 0.2), (8,), (8,), then=(0.2,))
    ],
    "leaky_relu": [case(lambda x: x * np.where(x > 0, 1, 0.2), (8,), then=(0.2,))],
    "leaky_relu_in_place": [case(lambda x: x * np.where(x > 0, 1, 0.2), (8,), then=(0.2,))],
    "elu_in_place": [case(lambda x: np.where(x > 0, x, 0.7 * np.exp(x) - 0.7), (8,), then=(0.7,))],
    "elu_backward_from_result": [
        case(lambda g, y: g * np.where(y > 0, 1, y + 0.7), (8,), (8,), then=(0.7,))
    ],
    "elu_backward": [
        case(lambda g, x: g * np.where(x > 0, 1, 0.7 * np.exp(x)), (8,), (8,), then=(0.7,))
    ],
    "elu": [case(lambda x: np.where(x > 0, x, 0.7 * np.exp(x) - 0.7), (8,), then=(0.7,))],
    "softplus_backward": [
        case(lambda g, x: g * np.where(x > 0.5, 1, _sigmoid(2 * x)), (8,), (8,), then=(2, 1.0))
    ],
    "softplus": [
        case(lambda x: np.where(x > 0.5, x, np.log(1 + np.exp(2 * x)) / 2), (8,), then=(2, 1.0))
    ],
    "silu": [case(lambda x: x * _sigmoid(x), V)],
    "mm": [case(np.matmul, (2, 3), (3, 2))],
    "addmm": [case(lambda c, a, b: c + a @ b, s, (2, 3), (3, 2)) for s in ((2,), (2, 2), ())],
    "addmm_scaled": [
        case(lambda c, a, b: 3 * c + 0.5 * a @ b, (2,), (2, 3), (3, 2), then=(3, 0.5))
    ],
    "mv": [case(np.matmul, (2, 3), (3,))],
    "dot": [case(np.dot, V, V)],
    "bmm": [case(np.matmul, (2, 2, 3), (2, 3, 1))],
    "mse_loss_backward": [
        case(lambda g, x, y: g * 2 * (x - y) / 6, (), M, M, then=(1,)),
        case(lambda g, x, y: g * 2 * (x - y), (), M, M, then=(2,)),
        case(lambda g, x, y: g * 2 * (x - y), M, M, M, then=(0,)),
    ],
    "mse_loss": [
        case(lambda x, y: (x - y) ** 2, M, M, then=(0,)),
        case(lambda x, y: ((x - y) ** 2).mean(), M, M, then=(1,)),
        case(lambda x, y: ((x - y) ** 2).mean(), M, (3,), then=(1,)),
        case(lambda x, y: ((x - y) ** 2).sum(), M, M, then=(2,)),
    ],
    "nll_loss_backward": [
        case(lambda g, x, n=n: _placed(-g / n, M, ([0, 1], [2, 0])), s, M, then=(TARGET, kind))
        for s, n, kind in (((2,), 1, 0), ((), 2, 1), ((), 1, 2))
    ],
    "nll_loss": [
        case(_picked, M, then=(TARGET, 0)),
        case(lambda x: _picked(x).mean(), M, then=(TARGET, 1)),
        case(lambda x: _picked(x).sum(), M, then=(TARGET, 2)),
    ],
    "sum_all": [case(np.sum, M), case(np.sum, ())],
    "sum_all_as": [case(np.sum, M, then=(DOUBLE,))],
    "sum_dim_as": [case(lambda x: x.sum((0, 2)), (2, 2, 2), then=((0, 2), False, DOUBLE))],
    "mean_all_as": [case(np.mean, M, then=(DOUBLE,))],
    "mean_dim_as": [case(lambda x: x.mean(1, keepdims=True), M, then=((1,), True, DOUBLE))],
    "vector_norm_as": [case(_norm(p), M, then=(p, None, False, DOUBLE)) for p in (1, 2, 3)],
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
    "vector_norm": [case(_norm(p), M, then=(p, None, False)) for p in (1, 1.5, 2, 3)]
    + [
        case(lambda x: np.abs(x).max(), M, then=(np.inf, None, False)),
        case(lambda x: np.abs(x).min(1), M, then=(-np.inf, (1,), False)),
        case(lambda x: np.sqrt((x**2).sum(1, keepdims=True)), M, then=(2, (1,), True)),
    ],
    "softmax_backward": [
        case(lambda g, y: y * (g - (g * y).sum(1, keepdims=True)), M, M, then=(1,))
    ],
    "softmax": [case(lambda x: _softmax(x, 0), M, then=(0,))],
    "log_softmax_backward": [
        case(lambda g, y: g - np.exp(y) * g.sum(1, keepdims=True), M, M, then=(1,))
    ],
    "log_softmax": [case(lambda x: np.log(_softmax(x, 1)), M, then=(1,))],
    "logsumexp": [
        case(lambda x: np.log(np.exp(x).sum(1)), M, then=((1,), False)),
        case(lambda x: np.log(np.exp(x).sum((0, 1), keepdims=True)), M, then=((0, 1), True)),
    ],
}
