"""Name symbols, shapes and regions for the cases of the book of derivatives.

A region is described by a substitution that leads into it: with positive d, `x: -d` leads to where
x is negative. Operations without kinks need none.
"""

import numpy as np
import sympy

D, E = sympy.symbols("d e", positive=True)
SYMBOLS = np.dtype(object)


def sym(name):
    return sympy.Symbol(name, real=True)


def x(*place):
    return sym("x" if not place else f"x_{{{','.join(map(str, place))}}}")


def y(*place):
    return sym("y" if not place else f"y_{{{','.join(map(str, place))}}}")


def on_both_sides(*entries):
    """Two regions: entries positive and negative in turn, and the other way round."""
    return [
        {entry: (D, -E)[(position + first) % 2] for position, entry in enumerate(entries)}
        for first in (0, 1)
    ]


a, n, t = sym("a"), sym("n"), sym("t")
beta = sympy.Symbol("beta", positive=True)
low, high = sym("low"), sym("high")
larger_and_smaller = [{x(0): y() + D, x(1): y() - E}, {x(0): y() - D, x(1): y() + E}]
orders = [  # of three entries, each of them largest and smallest
    {x(1): x(0) + D, x(2): x(0) - E},
    {x(1): x(0) - D, x(2): x(0) + E},
    {x(1): x(0) - D, x(2): x(0) - D - E},
]
rows_ordered = [
    {x(0, 1): x(0, 0) + D, x(1, 1): x(1, 0) - E},
    {x(0, 1): x(0, 0) - D, x(1, 1): x(1, 0) + E},
]

largest_in_size = [{x(0): D, x(1): -D - E}, {x(0): -D - E, x(1): D}]
PLACES = np.array([[0, 0], [2, 1]])  # along the last of two dimensions

vector, matrix = [("x", 2)], [("x", 2, 3)]
pair, broadcast = [("x", 2), ("y", 2)], [("x", 2), ("y",)]
stretched = [("x", 2, 1), ("y", 3)]
rows_and_columns = [("x", 2, 3), ("y", 3, 2)]
positive = {"positive": True}
