"""See pooling: the largest or the mean of windows, and of parts."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

LINE, PLANE = (2, 2, 5), (1, 2, 5, 4)
DTYPES = ("float16", "float64", "bool")


def pool(name, *settings, **named):
    return lambda t, x: getattr(t.nn.functional, name)(x, *settings, **named)


def wrong(name):
    function = lambda t: getattr(t.nn.functional, name)  # noqa: E731
    return {
        "dimensions": lambda t, x: function(t)(x[None, None], 2),
        "kernel": lambda t, x: function(t)(x, 0),
        "kernels": lambda t, x: function(t)(x, (2, 2, 2, 2)),
        "stride": lambda t, x: function(t)(x, 2, -1),
        "strides": lambda t, x: function(t)(x, 2, (1, 1, 1, 1)),
        "padding": lambda t, x: function(t)(x, 2, padding=2),
        "padding below 0": lambda t, x: function(t)(x, 2, padding=-1),
        "too small": lambda t, x: function(t)(x, 7),
        "no channels": lambda t, x: function(t)(x[:, :0], 2),
        "kernel of floats": lambda t, x: function(t)(x, 2.5),
    }


TABLE = {
    "max_pool1d": operation(pool("max_pool1d", 2), LINE, dtypes=DTYPES, wrong=wrong("max_pool1d")),
    "max_pool1d without a batch": operation(
        pool("max_pool1d", 3, 1, 1, 1, True), (2, 5), dtypes=()
    ),
    "max_pool2d": operation(pool("max_pool2d", 2), PLANE, dtypes=DTYPES, wrong=wrong("max_pool2d")),
    "max_pool2d, overlapping": operation(
        pool("max_pool2d", (3, 2), (2, 1), 1, ceil_mode=True), PLANE, dtypes=("int64",)
    ),
    "max_pool2d, dilated": operation(pool("max_pool2d", 2, 1, dilation=2), PLANE[1:], dtypes=()),
    "max_pool3d": operation(pool("max_pool3d", 2, 1), (1, 3, 2, 3), dtypes=()),
    "avg_pool1d": operation(
        pool("avg_pool1d", 2, padding=1), LINE, dtypes=DTYPES, wrong=wrong("avg_pool1d")
    ),
    "avg_pool2d": operation(pool("avg_pool2d", 2), PLANE, dtypes=DTYPES, wrong=wrong("avg_pool2d")),
    "avg_pool2d, overlapping": operation(
        pool("avg_pool2d", (3, 2), (2, 1), 1, True, False), PLANE, dtypes=()
    ),
    "avg_pool2d, divided": operation(
        pool("avg_pool2d", 2, divisor_override=3),
        PLANE[1:],
        dtypes=(),
    ),
    "avg_pool3d": operation(pool("avg_pool3d", 2, 1), (1, 3, 2, 3), dtypes=()),
    "adaptive_avg_pool2d to one": operation(pool("adaptive_avg_pool2d", 1), PLANE, dtypes=()),
}

family = add_all(TABLE)


@family
def positions(torch, log):
    """The first of equal ones counts, and the last NaN."""
    nan, inf = float("nan"), float("inf")
    F = torch.nn.functional
    for name, rows in (
        ("equal", [[1.0, 3.0, 0.0, 0.0], [3.0, 3.0, 0.0, 0.0]]),
        ("nan", [[1.0, nan, nan, 2.0], [nan, 3.0, 0.0, -inf]]),
        ("infinite", [[-inf, -inf, -inf, -inf], [-inf, -inf, inf, inf]]),
    ):
        x = torch.tensor([rows])
        log(name, *F.max_pool2d(x, 2, return_indices=True))
        log(f"{name}, padded", *F.max_pool2d(x, 2, padding=1, return_indices=True))
        log(f"{name}, overlapping", *F.max_pool2d(x, 2, 1, return_indices=True))
        log(f"{name}, in one dimension", *F.max_pool1d(x[0], 3, 1, return_indices=True))
        if name == "nan":
            continue
        log(f"{name}, adaptive", *F.adaptive_max_pool2d(x, (1, 3), return_indices=True))
        log(f"{name}, of a line", *F.adaptive_max_pool1d(x[0], 3, return_indices=True))


@family
def put_back(torch, log):
    """What a pooling took goes back to its place, and so do gradients."""
    F = torch.nn.functional
    for dims, shape in ((1, (2, 6)), (2, (2, 4, 6)), (3, (1, 2, 4, 2))):
        x = leaf(torch, shape, dims)
        pool, put = (getattr(F, f"max_{kind}{dims}d") for kind in ("pool", "unpool"))
        y = put(*pool(x, 2, return_indices=True), 2)
        (y**2).sum().backward()
        log(f"in {dims} dimensions", y.detach(), x.grad)
    largest, indices = F.max_pool2d(leaf(torch, (1, 5, 5), 7), 2, return_indices=True)
    log("in a larger image", F.max_unpool2d(largest, indices, 2, output_size=(5, 5)).detach())


@family
def pooled_and_changed_in_place(torch, log):
    """The result is not saved, so it may change; the input is, so it must not."""
    x = leaf(torch, (1, 2, 4), 1)
    hidden = x * 1
    torch.nn.functional.max_pool2d(hidden, 2).relu_().sum().backward()
    log("gradient", x.grad)
    hidden = x * 1
    y = torch.nn.functional.max_pool2d(hidden, 2)
    hidden.mul_(2)
    log.raises("input", lambda: y.sum().backward())
