"""See all that the nodes of each operation show of what they saved."""

from __future__ import annotations

from .tools import Family, leaf
from .tools_saved import rows

family = Family()

# What PyTorch's rules keep and minigrad's do not need.
_MEAN = ("_saved_self_sym_numel",)
NOT_KEPT = {
    "AddmmBackward0": (
        "_saved_mat1_sym_sizes",
        "_saved_mat1_sym_strides",
        "_saved_mat2_sym_sizes",
        "_saved_mat2_sym_strides",
    ),
    "MmBackward0": (
        "_saved_mat2_sym_sizes",
        "_saved_mat2_sym_strides",
        "_saved_self_sym_sizes",
        "_saved_self_sym_strides",
    ),
    "ConvolutionBackward0": ("_saved_bias_sym_sizes_opt",),
    "MaxPool2DWithIndicesBackward0": ("_saved_result1",),
    "MeanBackward0": _MEAN,
    "MeanBackward1": _MEAN,
    "SqueezeBackward4": ("_saved_self_sym_sizes",),
}

# Nodes whose rules need other things than PyTorch's: indices as arrays, statistics, layouts.
OTHERS = (
    "Cummax Cummin Embedding Gather Index IndexSelect Kthvalue LinalgCholesky LinalgInv LogSigmoid "
    "Max Median Min Mode Native NllLoss Norm Scaled Scatter Sort Split Topk Upsample"
)


def shown(node):
    """List the attributes of a node in which the two are to agree."""
    kind = type(node).__name__
    if kind.startswith(tuple(OTHERS.split())):
        return []
    names = (name for name in sorted(dir(node)) if name.startswith("_saved_"))
    return [name for name in names if name not in NOT_KEPT.get(kind, ())]


# A dimension counted from the end, or an end left out, is shown by PyTorch as a huge number.
COUNTED_FROM_THE_END = ("cumprod", "transpose", "roll", "select", "tril 2")


def nodes(roots):
    """List all nodes above the roots, each once."""
    found, waiting = [], list(roots)
    while waiting:
        node = waiting.pop(0)
        if node is not None and node not in found:
            found.append(node)
            waiting.extend(source for source, _ in node.next_functions)
    return found


def show(torch, log, node):
    """Write down each saved value of a node; numbers that became tensors as numbers."""
    kind = type(node).__name__
    for name in shown(node):
        value = getattr(node, name)
        if isinstance(value, torch.Tensor) and value.ndim == 0:
            value = (float(value.detach()), value.requires_grad)
        if isinstance(value, int):  # PyTorch turns some into floats
            value = float(value)
        log(f"{kind} {name}", value)


def add(name, function, shapes, positive):
    """Add a scenario for an operation."""

    def scenario(torch, log):
        tensors = [leaf(torch, s, k + 1, positive=positive) for k, s in enumerate(shapes)]
        value = function(torch, *tensors)
        for node in nodes([value.grad_fn]):
            show(torch, log, node)
        log("all nodes shown")

    scenario.__doc__ = f"What the nodes of {name} show of what they saved."
    family.add(name, scenario)


for _name, _function, _shapes, _positive in rows():
    if _name not in COUNTED_FROM_THE_END:
        add(_name, _function, _shapes, _positive)

# x is a matrix of 2 by 3, i an image of 3 by 4, and s a signal of 3.
TOLD = """
x**-2; x * -2; torch.add(x, x, alpha=-2); x.clamp(-1, -0.5); x.clamp(min=-1); (-2) ** x
F.leaky_relu(x, -1); F.threshold(x, -1, -2); F.hardtanh(x, -2, 2); F.elu(x, -1)
torch.linalg.vector_norm(x, -1); x.softmax(1)
x.var(1, unbiased=False); x.std(correction=1); x.mean((0, 1))
F.cross_entropy(x, x.detach().softmax(1)); F.mse_loss(x, x.detach()[0])
torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
x.amin((0, 1), True); x.as_strided((2, 2), (3, 1)); x.as_strided((2,), (3,), 1)
F.hardshrink(x, 0.25); F.avg_pool2d(i, 2, 2); (x[:, :2] * 2).masked_fill(c > 1, 0)
"""

# What is released keeps its numbers.
AFTER_RELEASE = """
y**2; y**3.5; y**x; y.clamp(-0.5, 0.5); y.clamp(min=0.5); y.clamp(max=0.5); y.softmax(1)
y.log_softmax(1); y.prod(1); y.cumsum(0); y.norm(3, dim=1); torch.linalg.vector_norm(y, 3, dim=1)
y.max(1)[0]; y.amax(1); y.median(1)[0]; y.topk(2)[0]; y.sort(1)[0]; y.var(1); y.std(0, correction=0)
y.logsumexp(1); F.leaky_relu(y, 0.2); F.elu(y, 2.0); F.softshrink(y, 0.3); F.hardshrink(y, 0.3)
F.threshold(y, 0.25, 1); F.hardtanh(y, 0.0, 0.5); F.gelu(y, approximate="tanh")
y @ y.t(); y / y; y.gather(1, torch.tensor([[0], [1]]))
F.conv2d(i, i, stride=2, padding=1); F.max_pool2d(i, 2); F.avg_pool2d(i, 2, 2); F.pad(i, (1, 1))
F.layer_norm(y, (3,), y[0]); F.group_norm(i, 2); F.mse_loss(y, x); F.huber_loss(y, x, delta=0.5)
F.smooth_l1_loss(y, x, beta=0.5); F.binary_cross_entropy_with_logits(y, x)
F.cross_entropy(y, torch.tensor([0, 2])); F.normalize(y)
F.embedding(torch.tensor([0, 1]), y); y.roll(1, 0)
(y * 1).pow_(2); (y * 1).clamp_(0.25, 0.5); (y * 1).masked_fill_(x > 0.5, 1.0); y[:, 1:]; y.t()
"""


@family
def numbers_as_pictures_show_them(torch, log):
    """Numbers with their sign and kind, and what was said of sizes and scales."""
    import warnings  # of sizes that are broadcast

    names = {
        "torch": torch,
        "F": torch.nn.functional,
        "x": leaf(torch, (2, 3), 1),
        "i": leaf(torch, (1, 2, 3, 4), 2),
        "s": leaf(torch, (1, 2, 3), 3),
        "c": torch.tensor([0, 2]),
        "w": torch.tensor([1.0, 2.0, 3.0]),
    }
    for expression in TOLD.replace("\n", "; ").strip("; ").split("; "):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(expression, names)
        log(expression)
        for node in nodes([value.grad_fn]):
            for name in shown(node):
                found = getattr(node, name)
                seen = tuple(found.shape) if isinstance(found, torch.Tensor) else repr(found)
                log(f"{type(node).__name__} {name}", seen)
    joined = torch.cat((names["x"], names["x"]))
    log("joined", joined.grad_fn._saved_dim)


@family
def told_after_release(torch, log):
    """Numbers can be read after the graph was released; tensors are gone."""
    import warnings

    x, i, s = leaf(torch, (2, 3), 1), leaf(torch, (1, 2, 4, 4), 2), leaf(torch, (1, 2, 4), 3)
    names = {"torch": torch, "F": torch.nn.functional, "x": x.detach(), "i": i, "s": s, "y": x}
    for expression in AFTER_RELEASE.replace("\n", "; ").strip("; ").split("; "):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(expression, names)
        log(expression)
        found = nodes([value.grad_fn])
        (value * value.detach()).sum().backward()
        for node in found:
            for name in shown(node):
                try:
                    told = getattr(node, name)
                except RuntimeError:
                    told = None  # of a tensor that was not needed, PyTorch says so, too
                tensor = isinstance(told, torch.Tensor)
                log(f"{type(node).__name__} {name}", "a tensor" if tensor else str(told))
