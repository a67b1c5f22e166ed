"""Index with lists."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()

_all = slice(None)


@family
def reading(torch, log):
    """A list of numbers or booleans is an index; lists within a tuple are one each."""
    keys = ([0, 1], [True, False, True, False], [], ([[0, 1], [1, 0]],), (range(2), 1))
    for number, key in enumerate(keys):
        x = leaf(torch, (4, 4), 1)

        def read(x=x, key=key):
            part = x[key]
            (part * part).sum().backward()
            return part, x.grad

        log.raises(f"key {number}", read)


@family
def writing(torch, log):
    """The same holds for writing, of numbers and of tensors."""
    for number, key in enumerate(([0, 2, 1], (_all, [0, 2]))):
        x = leaf(torch, (3, 3), 1)
        y = x * 2

        def write(y=y, key=key, x=x):
            y[key] = 5
            (y * y).sum().backward()
            return graph(y), x.grad

        log.raises(f"number {number}", write)
        x = leaf(torch, (3, 3), 1)
        y = x * 2
        value = leaf(torch, tuple(x[key].shape), 2)

        def write_tensor(y=y, key=key, x=x, value=value):
            y[key] = value
            (y * y).sum().backward()
            return graph(y), x.grad, value.grad

        log.raises(f"tensor {number}", write_tensor)


@family
def no_index(torch, log):
    """What is no index at all: numbers with a fraction, dicts, sets."""
    x = leaf(torch, (4, 4), 1)
    for number, key in enumerate((1.5, 1j, {0: 1}, {1, 2}, (0, 1.5))):
        log.raises(f"key {number}", lambda key=key: x[key])
