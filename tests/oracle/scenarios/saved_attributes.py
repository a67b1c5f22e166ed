"""See all that the nodes of each operation, and of its gradient, show of what they saved."""

from __future__ import annotations

from .tools import Family, leaf
from .tools_saved import rows

family = Family()

# minigrad keeps neither the sizes and strides of both factors, nor what the rules below save
# though they need it not.
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
    "NllLossBackward0": ("_saved_total_weight",),
    "SqueezeBackward4": ("_saved_self_sym_sizes",),
}

# A dimension counted from the end, or an end left out, is shown by PyTorch as a huge number.
COUNTED_FROM_THE_END = (
    *("-1", "-2", "negative", "at the end", "[:]", "::", ":]", "1:,", "itself", "stack", "mT"),
    "sum over two axes keepdim",
)


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
    for name in sorted(dir(node)):
        if not name.startswith("_saved_") or name in NOT_KEPT.get(kind, ()):
            continue
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
        found = torch.autograd.grad(
            value,
            tensors,
            leaf(torch, tuple(value.shape), 91),
            create_graph=True,
            allow_unused=True,
        )
        log("gradient")
        for node in nodes([g.grad_fn for g in found if g is not None]):
            show(torch, log, node)

    scenario.__doc__ = f"What the nodes of {name} show of what they saved, and its gradient's."
    family.add(name, scenario)


for _name, _function, _shapes, _positive in rows():
    if not any(part in _name for part in COUNTED_FROM_THE_END):
        add(_name, _function, _shapes, _positive)
