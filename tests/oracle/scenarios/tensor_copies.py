"""See what deep copies, pickles and detached tensors share with the original."""

from __future__ import annotations

import copy
import pickle

from .tensor_attributes import tensors
from .tools import Family, leaf

family = Family()


@family
def copies(torch, log):
    """copy.copy and copy.deepcopy: gradients, flags, own attributes, results refused."""
    for name, x in tensors(torch).items():
        if name in ("leaf", "constant"):
            x.grad = torch.ones(2, 2)
        x.note = [name]
        for label, copier in (("copy", copy.copy), ("deepcopy", copy.deepcopy)):
            try:
                other = copier(x)
            except RuntimeError as error:
                log.error(f"{name} {label}", error)
                continue
            same = (other is x, other.note is x.note)
            log(f"{name} {label}", other, other.is_leaf, other.note, same)
            if other.is_leaf:
                log("gradient", other.grad, other.grad is not None and other.grad is x.grad)
            with torch.no_grad():
                other.mul_(2)
            log("written", x, x._version, other._version)
    x = leaf(torch, (2,), 17)
    pair = copy.deepcopy([x, x, x.detach()])
    log("one copy", pair[0] is pair[1], pair[0] is x, pair[2])


@family
def hooks_of_copies(torch, log):
    """A deep copy of a leaf has no hooks of its own... or has it?"""
    x = leaf(torch, (2,), 18)
    x.register_hook(log.hook("x"))
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    other = copy.deepcopy(x)
    (other * 2).sum().backward()
    log("copy", other.grad, x.grad)


@family
def pickled(torch, log):
    """A pickled leaf keeps values and requires_grad; results lose their graph or are refused."""
    for name, x in tensors(torch).items():
        try:
            other = pickle.loads(pickle.dumps(x))
        except Exception as error:
            log.error(name, error)
            continue
        log(name, other, other.requires_grad, other.is_leaf, other._version, other._is_view())
    x = leaf(torch, (2,), 19)
    (x * 2).sum().backward()
    x.note = "mine"
    other = pickle.loads(pickle.dumps(x))
    log("attributes", other.grad, other.note)
