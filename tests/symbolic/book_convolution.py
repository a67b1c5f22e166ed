"""Cases for convolutions and windows as columns: they are polynomials, so one region is all."""

from __future__ import annotations

# name: cases (inputs, settings, regions). stride, padding, dilation, transposed, output_padding,
# groups; the input of a rule gives it its sizes only.
LINE = ((1,), (1,), (1,), False, (0,), 1)
STRIDED = ((2,), (0,), (1,), False, (0,), 1)
PLANE = ((1, 1), (1, 0), (1, 1), False, (0, 0), 1)
SPREAD = ((2,), (1,), (1,), True, (1,), 1)
GROUPS = ((1,), (0,), (2,), False, (0,), 2)


def inputs(g, x, w):
    return [("g", *g), ("x", *x), ("w", *w)]


RULE = [
    (inputs((1, 1, 3), (1, 1, 3), (1, 1, 3)), LINE),
    (inputs((1, 1, 2), (1, 1, 5), (1, 1, 2)), STRIDED),
    (inputs((1, 1, 3, 1), (1, 1, 2, 2), (1, 1, 2, 2)), PLANE),
    (inputs((1, 1, 4), (1, 1, 2), (1, 1, 3)), SPREAD),
]
WINDOWS = ((2, 2), (1, 1), (1, 0), (1, 1))

CASES = {
    "convolution": [
        ([("x", 1, 1, 3), ("w", 2, 1, 2), ("b", 2)], LINE),
        ([("x", 1, 1, 5), ("w", 1, 1, 2), ("b", 1)], STRIDED),
        ([("x", 1, 1, 2, 2), ("w", 1, 1, 2, 2), ("b", 1)], PLANE),
        ([("x", 1, 1, 2), ("w", 1, 1, 3), ("b", 1)], SPREAD),
        ([("x", 1, 2, 3), ("w", 2, 1, 2), ("b", 2)], GROUPS),
    ],
    "convolution_backward_weight": RULE,
    "im2col": [([("x", 1, 1, 2, 3)], WINDOWS)],
    "col2im": [([("x", 1, 4, 6)], ((2, 3), *WINDOWS))],
}
