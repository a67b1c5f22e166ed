"""Cases for the operations that everything else is made of: arithmetic, sums, parts, products."""

import numpy as np

from minigrad.creation.from_data import tensor

from .regions import (
    PLACES,
    SYMBOLS,
    D,
    E,
    a,
    beta,
    broadcast,
    high,
    larger_and_smaller,
    largest_in_size,
    low,
    matrix,
    n,
    nll,
    on_both_sides,
    orders,
    pair,
    positive,
    rows_and_columns,
    rows_ordered,
    stretched,
    t,
    vector,
    x,
    y,
)

# name: cases (inputs, settings, regions). Inputs are names and shapes; a dict holds assumptions.

CASES = {
    "add": [(broadcast, ()), (stretched, ())],
    "add_scaled": [(broadcast, (a,)), (stretched, (0.1,))],
    "sub": [(broadcast, ()), (stretched, ())],
    "pow_of_number": [(vector, lambda op, p, base=base: op(base, p)) for base in (2, 10)],
    "sub_scaled": [(broadcast, (a,)), (stretched, (3,))],
    "rsub_number": [(vector, (0.3,))],
    "mul": [(broadcast, ()), (stretched, ())],
    "div": [(broadcast, ()), (stretched, ())],
    "neg": [(vector, ())],
    "pow_number": [(vector, (k,)) for k in (0, 1, 2, 3, -2)]
    + [([("x", 2, positive)], (k,)) for k in (0.5, -1.5, n)],
    "pow_tensor": [
        ([("x", 2, positive), ("y", positive)], ()),
        ([("x", positive), ("y", 2, {"negative": True})], ()),
    ],
    "add_number": [(vector, (0.3,))],
    "sub_number": [(vector, (0.3,))],
    "mul_number": [(vector, (0.3,))],
    "div_number": [(vector, (3,))],
    "sqrt": [([("x", 2, positive)], ())],
    "rsqrt": [([("x", 2, positive)], ())],
    "reciprocal": [(vector, ())],
    "exp": [(vector, ())],
    "log": [([("x", 2, positive)], ())],
    "log1p": [([("x", 2, positive)], ())],
    "expm1": [(vector, ())],
    "sin": [(vector, ())],
    "cos": [(vector, ())],
    "tanh": [(vector, ())],
    "sigmoid": [(vector, ())],
    "silu": [(vector, ())],
    "relu": [(vector, (), on_both_sides(x(0), x(1)))],
    "leaky_relu": [(vector, (a,), on_both_sides(x(0), x(1)))],
    "softplus": [([("x",)], (beta, t), [{t: beta * x() + D}, {t: beta * x() - D}])],
    "tanh_backward": [(pair, ())],
    "sigmoid_backward": [(pair, ())],
    "threshold_backward": [(pair, (), [{y(0): D, y(1): E}, {y(0): 0, y(1): D}])],
    "leaky_relu_backward": [(pair, (a,), on_both_sides(y(0), y(1)))],
    "leaky_relu_in_place": [(vector, (beta,), on_both_sides(x(0), x(1)))],
    "softplus_backward": [
        ([("x",), ("y",)], (beta, t), [{t: beta * y() + D}, {t: beta * y() - D}])
    ],
    "sgn": [(vector, (), on_both_sides(x(0), x(1)))],
    "abs": [(vector, (), on_both_sides(x(0), x(1)))],
    "sign": [(vector, (), on_both_sides(x(0), x(1)))],
    "maximum": [(broadcast, (), larger_and_smaller)],
    "minimum": [(broadcast, (), larger_and_smaller)],
    "clamp": [
        (
            [("x",)],
            (low, high),
            [
                {low: x() - D, high: x() + E},
                {low: x() + D, high: x() + D + E},
                {low: x() - D - E, high: x() - E},
            ],
        ),
        ([("x",)], (low, None), [{low: x() - D}, {low: x() + D}]),
        ([("x",)], (None, high), [{high: x() - D}, {high: x() + D}]),
    ],
    "where": [
        (broadcast, lambda op, p, q: op(tensor([True, False]), p, q)),
        (stretched, lambda op, p, q: op(tensor([[True], [False]]), p, q)),
    ],
    "masked_fill": [(broadcast, lambda op, p, q: op(p, tensor([True, False]), q))],
    "masked_fill_number": [(vector, lambda op, p: op(p, tensor([True, False]), 0.5))],
    "masked_select": [([("x", 3)], lambda op, p: op(p, tensor([True, False, True])))],
    "masked_scatter": [
        ([("x", 3), ("y", 4)], lambda op, p, q: op(p, tensor([True, False, True]), q))
    ],
    "masked_scatter_backward": [
        ([("x", 3)], lambda op, p: op(p, tensor([True, False, True]), (4,)))
    ],
    "view": [(matrix, ((3, 2),))],
    "reshape_alias": [(matrix, ((3, 2),))],
    "unsafe_view": [(matrix, ((6,),))],
    "alias": [(matrix, ())],
    "clone": [(matrix, ())],
    "clone_contiguous": [(matrix, ())],
    "to_copy": [(matrix, (np.dtype(object),))],
    "copy_values": [([("x", 2), ("y", 2)], ())],
    "t": [(matrix, ())],
    "transpose": [(matrix, (0, 1))],
    "permute": [([("x", 2, 1, 2)], ((2, 0, 1),))],
    "flip": [(matrix, ((0, 1),)), (matrix, ((1,),))],
    "squeeze_all": [([("x", 1, 2, 1)], ())],
    "squeeze_dim": [([("x", 1, 2)], (0,)), ([("x", 1, 2)], (1,))],
    "squeeze_product": [([("x", 1, 2)], (0,))],
    "unsqueeze": [(matrix, (1,))],
    "expand": [([("x", 3)], ((2, 3),)), ([("x", 2, 1)], ((2, 3),)), ([("x",)], ((2,),))],
    "repeat": [(vector, ((2, 3),)), (matrix, ((2, 1),))],
    "select": [(matrix, (0, 1)), (matrix, (1, 2))],
    "slice_dim": [(matrix, (1, 0, 3, 2))],
    "index": [
        (matrix, (([0, 0, 1],),)),
        (matrix, ((np.array([[True, False, True], [False, True, True]]),),)),
    ],
    "select_backward": [(vector, ((2, 2), 1, 0)), ([("x",)], ((3,), 0, 1))],
    "slice_backward": [([("x", 2, 2)], ((2, 3), 1, 0, 3, 2))],
    "index_add": [([("x", 2), ("y", 3)], (([0, 0, 1],),))],
    "gather": [(matrix, (1, PLACES))],
    "scatter_add": [([("x", 2, 3), ("y", 2, 2)], lambda op, p, q: op(p, 1, PLACES, q))],
    "scatter": [
        ([("x", 2, 3), ("y", 2, 2)], lambda op, p, q: op(p, 1, np.array([[0, 1], [2, 1]]), q))
    ],
    "scatter_number": [(matrix, (1, PLACES, 0.5))],
    "zeros": [(vector, ())],
    "filled": [(vector, (0.5,))],
    "filled_with": [(broadcast, ())],
    "index_put": [([("x", 3), ("y", 2)], (([2, 0],),)), ([("x", 3), ("y",)], (([2, 0],),))],
    "mm": [(rows_and_columns, ())],
    "addmm": [([("x", 2), ("y", 2, 3), ("z", 3, 2)], ())],
    "addmm_scaled": [([("x", 2), ("y", 2, 3), ("z", 3, 2)], (a, 0.5))],
    "mv": [([("x", 2, 3), ("y", 3)], ())],
    "dot": [([("x", 3), ("y", 3)], ())],
    "bmm": [([("x", 2, 1, 2), ("y", 2, 2, 1)], ())],
    "mse_loss": [([("x", 3), ("y", 3)], (kind,)) for kind in (0, 1, 2)]
    + [(stretched, (1,)), (broadcast, (0,))],
    "mse_loss_backward": [
        ([("x", 3), ("y", 3), ("z", 3)], (0,)),
        ([("x",), ("y", 2), ("z", 2)], (1,)),
        ([("x",), ("y", 2), ("z",)], (2,)),
    ],
    "nll_loss": [([("x", 2, 3)], nll(kind)) for kind in (0, 1, 2)],
    "nll_loss_backward": [
        ([("x", 2), ("y", 2, 3)], nll(0)),
        ([("x",), ("y", 2, 3)], nll(1)),
        ([("x",), ("y", 2, 3)], nll(2)),
    ],
    "sum_all": [(matrix, ())],
    "sum_all_as": [(matrix, (SYMBOLS,))],
    "sum_dim_as": [(matrix, ((0,), False, SYMBOLS)), (matrix, ((1,), True, SYMBOLS))],
    "mean_all_as": [(matrix, (SYMBOLS,))],
    "mean_dim_as": [(matrix, ((0,), True, SYMBOLS)), (matrix, ((1,), False, SYMBOLS))],
    "vector_norm_as": [
        (vector, (order, None, False, SYMBOLS), on_both_sides(x(0), x(1))) for order in (1, 2, 3)
    ],
    "sum_dim": [(matrix, ((0,), False)), (matrix, ((1,), True)), (matrix, ((0, 1), False))],
    "mean_all": [(matrix, ())],
    "mean_dim": [(matrix, ((0,), True)), (matrix, ((1,), False)), (matrix, ((0, 1), False))],
    "max_all": [([("x", 3)], (), orders)],
    "min_all": [([("x", 3)], (), orders)],
    "amax": [([("x", 2, 2)], ((1,), keepdim), rows_ordered) for keepdim in (False, True)],
    "amin": [([("x", 2, 2)], ((1,), keepdim), rows_ordered) for keepdim in (False, True)],
    "max_dim": [(matrix, (1, keepdim, np.array([[0], [2]]))) for keepdim in (False, True)],
    "min_dim": [(matrix, (1, keepdim, np.array([[0], [2]]))) for keepdim in (False, True)],
    "vector_norm": [
        (vector, (order, None, keepdim), on_both_sides(x(0), x(1)))
        for order in (1, 1.5, 2, 3)
        for keepdim in (False, True)
    ]
    + [
        ([("x", 2, 2, positive)], (2, (0,), False)),
        (vector, (np.inf, None, False), largest_in_size),
        (vector, (-np.inf, None, False), largest_in_size),
    ],
    "softmax_backward": [(pair, (0,))],
    "log_softmax_backward": [(pair, (0,))],
    "softmax": [([("x", 3)], (0,), orders), ([("x", 2, 2)], (1,), rows_ordered)],
    "log_softmax": [([("x", 3)], (0,), orders), ([("x", 2, 2)], (1,), rows_ordered)],
    "logsumexp": [
        ([("x", 3)], ((0,), False), orders),
        ([("x", 2, 2)], ((1,), True), rows_ordered),
    ],
}
