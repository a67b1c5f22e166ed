"""See which tensors each operation saves, and in which order its rule takes them back."""

from __future__ import annotations

from .tools import Family, leaf
from .tools_saved import rows

family = Family()


def logging_hooks(torch, log):
    """Make a context that writes down each packing and unpacking, numbered."""
    count = [0]

    def pack(tensor):
        count[0] += 1
        log(f"pack {count[0]}", tensor, torch.is_grad_enabled())
        return count[0], tensor.detach()

    def unpack(packed):
        log(f"unpack {packed[0]}", torch.is_grad_enabled())
        return packed[1]

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def add_packing(name, function, shapes, positive):
    """Add a scenario that shows what an operation and its rule save, in which order."""

    def scenario(torch, log):
        tensors = [leaf(torch, s, k + 1, positive=positive) for k, s in enumerate(shapes)]
        with logging_hooks(torch, log):
            value = function(torch, *tensors)
            log("recorded")
            torch.autograd.grad(value, tensors, leaf(torch, tuple(value.shape), 91))

    scenario.__doc__ = f"What {name} packs and unpacks, and what its rule does."
    family.add(name, scenario)


def add_packing_of_one(name, function, shapes, positive, place):
    """Add a scenario in which only one of several inputs requires a gradient."""

    def scenario(torch, log):
        tensors = [
            leaf(torch, s, k + 1, positive=positive, requires_grad=k == place)
            for k, s in enumerate(shapes)
        ]
        with logging_hooks(torch, log):
            value = function(torch, *tensors)
        cotangent = leaf(torch, tuple(value.shape), 91, requires_grad=False)
        log("gradient", torch.autograd.grad(value, tensors[place], cotangent))

    scenario.__doc__ = f"What {name} packs if only input {place} requires a gradient."
    family.add(f"{name}, input {place}", scenario)


for _name, _function, _shapes, _positive in rows():
    add_packing(_name, _function, _shapes, _positive)
    for _place in range(len(_shapes)) if len(_shapes) > 1 else ():
        add_packing_of_one(_name, _function, _shapes, _positive, _place)
