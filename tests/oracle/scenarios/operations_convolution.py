"""See convolutions, plain and transposed, and windows as columns."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

LINE, LINES = (2, 2, 5), (3, 2, 3)
PLANE, PLANES = (2, 2, 4, 4), (3, 2, 3, 2)
FEW = ("float32", "float64", "int64")


def conv(name, **settings):
    return lambda t, *inputs: getattr(t.nn.functional, name)(*inputs, **settings)


def wrong_conv(t, x, w, b, **settings):
    return t.nn.functional.conv2d(x, w, b, **settings)


TABLE = {
    "conv1d": operation(conv("conv1d"), LINE, LINES, (3,), dtypes=()),
    "conv1d without bias, strided": operation(
        conv("conv1d", stride=2, padding=1), LINE, LINES, dtypes=()
    ),
    "conv1d without a batch": operation(conv("conv1d"), (2, 5), LINES, (3,), dtypes=()),
    "conv2d": operation(
        conv("conv2d"),
        PLANE,
        PLANES,
        (3,),
        dtypes=FEW,
        wrong={
            "channels": lambda t, x, w, b: t.nn.functional.conv2d(x[:, :1], w, b),
            "dimensions": lambda t, x, w, b: t.nn.functional.conv2d(x[0, 0], w, b),
            "weight": lambda t, x, w, b: t.nn.functional.conv2d(x, w[0], b),
            "bias": lambda t, x, w, b: t.nn.functional.conv2d(x, w, b[:2]),
            "dtype": lambda t, x, w, b: t.nn.functional.conv2d(x.double(), w, b),
            "dtype of the bias": lambda t, x, w, b: t.nn.functional.conv2d(x, w, b.double()),
            "too small": lambda t, x, w, b: t.nn.functional.conv2d(x[..., :1], w, b),
            "stride": lambda t, x, w, b: wrong_conv(t, x, w, b, stride=0),
            "strides": lambda t, x, w, b: wrong_conv(t, x, w, b, stride=(1, 1, 1)),
            "padding": lambda t, x, w, b: wrong_conv(t, x, w, b, padding=-1),
            "same, strided": lambda t, x, w, b: wrong_conv(t, x, w, b, padding="same", stride=2),
            "groups": lambda t, x, w, b: wrong_conv(t, x, w, b, groups=2),
            "no groups": lambda t, x, w, b: wrong_conv(t, x, w, b, groups=0),
        },
    ),
    "conv2d in groups": operation(
        conv("conv2d", groups=2, dilation=(1, 2), padding=(1, 2)),
        PLANE,
        (4, 1, 2, 2),
        (4,),
        dtypes=(),
    ),
    "conv2d without a batch": operation(conv("conv2d"), PLANE[1:], PLANES, dtypes=()),
    "conv2d, valid": operation(conv("conv2d", padding="valid"), PLANE, PLANES, dtypes=()),
    "conv2d, same": operation(conv("conv2d", padding="same"), PLANE, (2, 2, 3, 3), dtypes=()),
    "conv2d of a transposed image": operation(
        lambda t, x, w: t.nn.functional.conv2d(x.transpose(2, 3), w), PLANE, PLANES, dtypes=()
    ),
    "torch.conv2d": operation(lambda t, *inputs: t.conv2d(*inputs), PLANE, PLANES, dtypes=()),
    "conv_transpose3d": operation(
        conv("conv_transpose3d"), (1, 2, 2, 2, 1), (2, 1, 2, 1, 2), (1,), dtypes=()
    ),
    "conv3d": operation(conv("conv3d"), (1, 1, 3, 3, 2), (2, 1, 2, 2, 2), (2,), dtypes=()),
    "conv_transpose1d": operation(
        conv("conv_transpose1d", stride=2, output_padding=1, padding=1),
        (2, 2, 3),
        (2, 3, 3),
        (3,),
        dtypes=(),
    ),
    "conv_transpose2d": operation(
        conv("conv_transpose2d"),
        (1, 2, 3, 2),
        (2, 3, 2, 2),
        (3,),
        dtypes=FEW,
        wrong={
            "channels": lambda t, x, w, b: t.nn.functional.conv_transpose2d(x[:, :1], w, b),
            "bias": lambda t, x, w, b: t.nn.functional.conv_transpose2d(x, w, b[:2]),
            "output_padding": lambda t, x, w, b: t.nn.functional.conv_transpose2d(
                x, w, b, output_padding=1
            ),
            "too small": lambda t, x, w, b: t.nn.functional.conv_transpose2d(
                x[..., :1, :1], w, b, padding=1
            ),
            "groups": lambda t, x, w, b: t.nn.functional.conv_transpose2d(x, w, b, groups=3),
        },
    ),
    "conv_transpose2d in groups": operation(
        conv("conv_transpose2d", groups=2, stride=(2, 1), dilation=(1, 2), padding=(1, 0)),
        (1, 2, 3, 2),
        (2, 2, 2, 2),
        dtypes=(),
    ),
    "unfold": operation(
        lambda t, x: t.nn.functional.unfold(x, (2, 3), padding=1, stride=2, dilation=(2, 1)),
        (1, 2, 4, 4),
        dtypes=("float32",),
        wrong={
            "too small": lambda t, x: t.nn.functional.unfold(x, 5),
            "kernel": lambda t, x: t.nn.functional.unfold(x, 0),
            "kernels": lambda t, x: t.nn.functional.unfold(x, (2, 2, 2)),
            "stride": lambda t, x: t.nn.functional.unfold(x, 2, stride=0),
            "padding": lambda t, x: t.nn.functional.unfold(x, 2, padding=-1),
        },
    ),
    "fold": operation(
        lambda t, x: t.nn.functional.fold(x, (3, 4), 2, padding=(0, 1)),
        (1, 4, 10),
        dtypes=("float32",),
        wrong={
            "columns": lambda t, x: t.nn.functional.fold(x, (3, 3), 2),
            "entries": lambda t, x: t.nn.functional.fold(x[:, :3], (3, 4), 2, padding=(0, 1)),
        },
    ),
}

family = add_all(TABLE)


@family
def convolutions_with_an_even_kernel_that_keep_the_size(torch, log):
    """The image is made longer at the end first, and there is a warning of it."""
    x, w = leaf(torch, (1, 1, 3, 4), 1), leaf(torch, (1, 1, 2, 3), 2)
    y = torch.nn.functional.conv2d(x, w, padding="same", dilation=(1, 1))
    log("value", y, graph(y))
    y.sum().backward()
    log("gradients", x.grad, w.grad)


@family
def of_nothing(torch, log):
    """A batch without samples gives one, too."""
    x, w = torch.zeros(0, 2, 3, 3), leaf(torch, (1, 2, 2, 2), 2)
    y = torch.nn.functional.conv2d(x, w)
    log("value", y)
    y.sum().backward()
    log("gradient", w.grad)
    F = torch.nn.functional
    for name, call in (
        ("strides", lambda x: F.conv2d(x, torch.ones(4, 2, 2, 2), stride=2, groups=2)),
        ("spread", lambda x: F.conv_transpose2d(x, torch.ones(4, 2, 2, 2), stride=2)),
        ("largest parts", lambda x: F.adaptive_max_pool2d(x, 2)),
        ("flat", lambda x: x.flatten(1)),
        ("layer", lambda x: torch.nn.Linear(64, 2)(torch.nn.Flatten()(x))),
    ):
        x = torch.zeros(0, 4, 4, 4, requires_grad=True)
        y = call(x)
        y.sum().backward()
        log(name, y.shape, x.grad.shape)


@family
def inputs_changed_before_backward(torch, log):
    """Input and weight are saved, so they must not change."""
    x, w = leaf(torch, (1, 1, 3, 3), 1, requires_grad=False), leaf(torch, (1, 1, 2, 2), 2)
    y = torch.nn.functional.conv2d(x, w)
    x.add_(1)
    log.raises("input", lambda: y.sum().backward())
    hidden = w * 1
    y = torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3, requires_grad=True), hidden)
    with torch.no_grad():
        hidden.add_(1)
    log.raises("weight", lambda: y.sum().backward())


@family
def only_what_is_needed(torch, log):
    """Gradients go where they are wanted."""
    x, w, b = leaf(torch, (1, 1, 3, 3), 1), leaf(torch, (1, 1, 2, 2), 2), leaf(torch, (1,), 3)
    for name, free in (("input", (x,)), ("weight", (w,)), ("bias", (b,))):
        for each in (x, w, b):
            each.requires_grad_(any(each is one for one in free))
        y = torch.nn.functional.conv2d(x, w, b)
        log(name, graph(y), *torch.autograd.grad(y.sum(), free))
