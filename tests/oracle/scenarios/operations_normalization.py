"""See normalization over batches, layers, groups and samples."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

LINES, PLANE = (3, 2), (2, 4, 3)
FEW = ("float16", "float64", "int64")


def F(t):
    return t.nn.functional


WHOLE = {
    "batch_norm": (
        lambda t, x, w, b: F(t).batch_norm(x, None, None, w, b, True),
        PLANE,
        (4,),
        (4,),
    ),
    "batch_norm of vectors": (
        lambda t, x: F(t).batch_norm(x, None, None, training=True, eps=0.5),
        LINES,
    ),
    "batch_norm, evaluated": (
        lambda t, x, w, b: F(t).batch_norm(x, t.tensor([1.0, -0.5]), t.tensor([2.0, 0.5]), w, b),
        LINES,
        (2,),
        (2,),
    ),
    "layer_norm": (lambda t, x, w, b: F(t).layer_norm(x, (3,), w, b), PLANE, (3,), (3,)),
    "layer_norm over two": (lambda t, x: F(t).layer_norm(x, [4, 3], eps=0.25), PLANE),
    "group_norm": (lambda t, x, w, b: F(t).group_norm(x, 2, w, b, 0.5), PLANE, (4,), (4,)),
    "group_norm alone": (lambda t, x: F(t).group_norm(x, 4, eps=0.5), PLANE),
    "instance_norm": (
        lambda t, x, w, b: F(t).instance_norm(x, weight=w, bias=b),
        PLANE,
        (4,),
        (4,),
    ),
    "instance_norm alone": (lambda t, x: F(t).instance_norm(x, eps=0.5), PLANE),
}

TABLE = {
    "rms_norm": operation(
        lambda t, x, w: F(t).rms_norm(x, (3,), w),
        PLANE,
        (3,),
        dtypes=FEW,
        wrong={
            "shape": lambda t, x, w: F(t).rms_norm(x, (4,)),
            "weight": lambda t, x, w: F(t).rms_norm(x, (4, 3), w),
            "nothing": lambda t, x, w: F(t).rms_norm(x, ()),
        },
    ),
    "rms_norm over two": operation(
        lambda t, x: F(t).rms_norm(x, (4, 3), eps=0.5), PLANE, dtypes=()
    ),
    "normalize": operation(lambda t, x: F(t).normalize(x), PLANE, dtypes=("float64", "int64")),
    "normalize over two": operation(
        lambda t, x: F(t).normalize(x, p=1.0, dim=(0, 2)), PLANE, dtypes=()
    ),
}

family = add_all(TABLE)


def _add_whole(name, function, *shapes):
    # a mixture of dtypes, which depends on the way that PyTorch chooses inside
    dtypes = () if name == "batch_norm, evaluated" else FEW
    for part, scenario in add_all({name: operation(function, *shapes, dtypes=dtypes)}).items():
        family.add(part, scenario)


for _name, _row in WHOLE.items():
    _add_whole(_name, *_row)


@family
def running_statistics(torch, log):
    """They move by the momentum; the variance is the unbiased one. No version counts that."""
    x = leaf(torch, (3, 2), 1)
    mean, var = torch.zeros(2), torch.ones(2)
    for momentum in (0.1, 0.5, 1.0, 0.0):
        y = F(torch).batch_norm(x, mean, var, training=True, momentum=momentum)
        log("batch", y, mean, var, mean._version, var._version)
    x = leaf(torch, (2, 2, 3), 2)
    y = F(torch).instance_norm(x, mean, var, momentum=0.25)
    log("instance", y, graph(y), mean, var)
    log("evaluated", F(torch).instance_norm(x, mean, var, use_input_stats=False))


@family
def gradients_to_detach(torch, log):
    """A gradient that is recorded can be detached in place."""
    x, w, b = (leaf(torch, shape, seed) for seed, shape in enumerate(((2, 4, 3), (4,), (4,)), 1))
    functions = F(torch)
    for name, y in (
        ("batch", functions.batch_norm(x, None, None, w, b, training=True)),
        ("evaluated", functions.batch_norm(x, torch.zeros(4), torch.ones(4), w, b)),
        ("layer", functions.layer_norm(x.transpose(1, 2), (4,), w, b)),
    ):
        gradients = torch.autograd.grad(y.square().sum(), (w, b), create_graph=True)
        log(name, [gradient._is_view() for gradient in gradients])
        log(name, [gradient.detach_() for gradient in gradients])
    gradients = torch.autograd.grad(
        functions.batch_norm(x, None, None, training=True).square().sum(), x, create_graph=True
    )
    log("input", gradients[0]._is_view())


@family
def errors(torch, log):
    """What does not fit."""
    x, three, four = torch.zeros(2, 3), torch.zeros(3), torch.zeros(4)
    functions = F(torch)
    log.raises("one value", lambda: functions.batch_norm(x[:1], three, three, training=True))
    log.raises("no statistics", lambda: functions.batch_norm(x, None, None))
    log.raises("mean", lambda: functions.batch_norm(x, four, three))
    log.raises("variance", lambda: functions.batch_norm(x, three, four))
    log.raises("weight", lambda: functions.batch_norm(x, three, three, four))
    log.raises("bias", lambda: functions.batch_norm(x, three, three, three, four))
    log.raises("dtype", lambda: functions.batch_norm(x.double(), three, three))
    log.raises("half", lambda: functions.batch_norm(x, three, None, training=True))
    log.raises("layer shape", lambda: functions.layer_norm(x, (4,)))
    log.raises("layer weight", lambda: functions.layer_norm(x, (3,), four))
    log.raises("layer bias", lambda: functions.layer_norm(x, (3,), three, four))
    log.raises("layer of nothing", lambda: functions.layer_norm(x, ()))
    log.raises("layer of a number", lambda: functions.layer_norm(x, 3))
    log.raises("layer dtype", lambda: functions.layer_norm(x.double(), (3,), three))
    images = torch.zeros(2, 4, 3)
    log.raises("groups", lambda: functions.group_norm(images, 3))
    log.raises("no groups", lambda: functions.group_norm(images, -2))
    log.raises("group weight", lambda: functions.group_norm(images, 2, three))
    log.raises("group of one", lambda: functions.group_norm(torch.zeros(1, 2), 2))
    log.raises("instance", lambda: functions.instance_norm(x))
    log.raises("instance statistics", lambda: functions.instance_norm(images, four, None))
    log.raises("instance evaluated", lambda: functions.instance_norm(images, use_input_stats=False))
