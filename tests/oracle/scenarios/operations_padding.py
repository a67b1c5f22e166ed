"""See padding in all its modes, as a function and as layers, and one-hot vectors."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

M, T, Q = (2, 3), (2, 3, 4), (1, 2, 3, 3)
SOME = ("float16", "float64", "int64")


def row(call, *shapes, dtypes=(), **wrong):
    return operation(call, *shapes, dtypes=dtypes, wrong=wrong)


def copies(call, *shapes, **more):
    """Describe padding with copies, which minigrad composes."""
    described = row(call, *shapes, **more)
    described.composed = True
    return described


def padded(sides, *mode, **options):
    return lambda t, x: t.nn.functional.pad(x, sides, *mode, **options)


TABLE = {
    "constant": row(
        padded((1, 2)),
        M,
        dtypes=SOME,
        odd=padded((1,)),
        long=padded((1,) * 6),
        mode=padded((1, 1), "zz"),
        cut=padded((-4, 0)),
        text=padded("a"),
    ),
    "constant with a number": row(padded((-1, 1, 2, 0), value=5.0), M, dtypes=("float64", "int64")),
    "constant with nothing": row(padded(()), M),
    "constant that cuts": row(padded((-1, -1)), M),
    "reflect": copies(
        padded((1, 2), "reflect"),
        M,
        dtypes=SOME,
        large=padded((3, 1), "reflect"),
        dims=padded((1, 1, 1, 1), "reflect"),
        value=padded((1, 1), "reflect", 1),
    ),
    "reflect in two dimensions": copies(padded((1, 2, 1, 0), "reflect"), T),
    "reflect in three dimensions": copies(padded((1, 1, 1, 0, 0, 1), "reflect"), Q),
    "reflect that cuts": copies(padded((-1, 1), "reflect"), T),
    "replicate": copies(
        padded((1, 2), "replicate"), M, dtypes=SOME, dims=padded((1,) * 4, "replicate")
    ),
    "replicate in two dimensions": copies(padded((1, 2, 1, 0), "replicate"), T),
    "replicate in three dimensions": copies(padded((1, 3, 1, 0, 0, 1), "replicate"), Q),
}

family = add_all(TABLE)


@family
def layers(torch, log):
    """The layers print their padding, and do what the function does."""
    nn = torch.nn
    for layer in (
        nn.ConstantPad1d(2, 3.5), nn.ConstantPad2d((1, 0, 2, 1), 0), nn.ConstantPad3d(1, 0),
        nn.ZeroPad1d((1, 0)), nn.ZeroPad2d(1), nn.ZeroPad3d(1),
        nn.ReflectionPad1d(1), nn.ReflectionPad2d((1, 0, 1, 1)), nn.ReflectionPad3d(1),
        nn.ReplicationPad1d(1), nn.ReplicationPad2d((1, 0, 2, 1)), nn.ReplicationPad3d(1),
    ):  # fmt: skip
        dims = len(layer.padding) // 2
        x = leaf(torch, (1, *(3, 2, 2)[:dims]), 1)
        y = layer(x)
        y.sum().backward()
        log(repr(layer), list(y.shape), y.sum(), x.grad, list(layer.state_dict()))


@family
def one_hot(torch, log):
    """Class numbers become vectors."""
    one_hot = torch.nn.functional.one_hot
    classes = torch.tensor([[0, 2], [1, 0]])
    log("inferred", one_hot(classes), one_hot(classes, 4), one_hot(torch.tensor(1), num_classes=3))
    log("empty", one_hot(torch.zeros(0, dtype=torch.int64), 3))
    log.raises("negative", lambda: one_hot(classes - 1))
    log.raises("large", lambda: one_hot(classes, 2))
    log.raises("floats", lambda: one_hot(classes.float()))
    log.raises("nothing known", lambda: one_hot(torch.zeros(0, dtype=torch.int64)))
