"""See what may be read from, assigned to and deleted from a tensor."""

from __future__ import annotations

import numpy as np

from .tools import Family, leaf

family = Family()


def tensors(torch):
    """Make one tensor of each kind: leaf, constant, result, view."""
    x = leaf(torch, (2, 2), 1)
    return {
        "leaf": x,
        "constant": leaf(torch, (2, 2), 2, requires_grad=False),
        "result": x * 2,
        "view": (x * 2)[0],
        "view of a leaf": x[0],
        "integers": torch.tensor([1, 2]),
    }


def assigning(name, value):
    """Give a function that assigns to an attribute of a tensor."""
    return lambda tensor: setattr(tensor, name, value)


@family
def flags(torch, log):
    """is_leaf, requires_grad, grad_fn, output_nr, retains_grad, _version, _base of each kind."""
    for name, x in tensors(torch).items():
        node = x.grad_fn
        log(name, x.is_leaf, x.requires_grad, node and node.name(), x.output_nr, x.retains_grad)
        log(name, x._version, x._base is None, x._is_view(), x.grad if x.is_leaf else None)
        log(name, x._backward_hooks, x._post_accumulate_grad_hooks)


@family
def read_only(torch, log):
    """Assigning what can't be assigned: is_leaf, grad_fn, _grad_fn, output_nr, _version, ..."""
    for name, x in tensors(torch).items():
        for attribute, value in {
            "is_leaf": True,
            "grad_fn": None,
            "output_nr": 1,
            "_version": 3,
            "_base": None,
            "retains_grad": True,
            "shape": (4,),
            "dtype": torch.float64,
            "ndim": 3,
            "T": None,
        }.items():
            try:
                setattr(x, attribute, value)
                log(f"{name} {attribute}", "no error")
            except (AttributeError, RuntimeError, TypeError) as error:
                log(f"{name} {attribute}", type(error).__name__)


@family
def deleting(torch, log):
    """del of grad, and of what the user put there."""
    x = leaf(torch, (2,), 4)
    x.mine = 5
    del x.mine
    log("own", hasattr(x, "mine"))
    (x * 2).sum().backward()
    del x.grad
    log("grad", x.grad)
    del x.grad


@family
def assigning_grad(torch, log):
    """x.grad = ...: dtype, shape and type are checked; None is fine; of results too."""
    for name, x in tensors(torch).items():
        shape = tuple(x.shape)
        for what, value in {
            "same": torch.ones(shape),
            "None": None,
            "double": torch.ones(shape, dtype=torch.float64),
            "long": torch.ones(shape, dtype=torch.int64),
            "shape": torch.ones(3),
            "column": torch.ones(*shape, 1),
            "self": x,
            "number": 5.0,
            "list": [1.0, 1.0],
            "array": np.ones(shape),
            "graph": leaf(torch, shape, 10) * 3,
        }.items():
            log.raises(f"{name} {what}", lambda v=value, x=x: assigning("grad", v)(x))
        log(name, x.grad)
    x = leaf(torch, (2,), 11)
    mine = torch.ones(2)
    x.grad = mine
    (x * 3).sum().backward()
    log("accumulated into mine", x.grad is mine, mine, mine._version)


@family
def assigning_requires_grad(torch, log):
    """requires_grad = ... and requires_grad_(...) on each kind, with bools, ints and None."""
    for name in tensors(torch):
        for value in (True, False, 1, 0, None, "yes"):
            x = tensors(torch)[name]
            assign = assigning("requires_grad", value)
            log.raises(f"{name} = {value}", lambda assign=assign, x=x: assign(x))
            log("then", x.requires_grad, x.is_leaf)
            if not isinstance(value, bool):
                continue
            x = tensors(torch)[name]
            try:
                log(f"{name} {value}", x.requires_grad_(value) is x, x.requires_grad)
            except RuntimeError as error:
                log.error(f"{name} {value}", error)
    x = torch.ones(2)
    log("default", x.requires_grad_().requires_grad, x.requires_grad_(requires_grad=False))


@family
def retaining_grad(torch, log):
    """retain_grad on each kind, twice, and what .grad says before backward."""
    for name, x in tensors(torch).items():
        for time in ("first", "second"):
            log.raises(f"{name} {time}", lambda x=x: x.retain_grad())
            log("retains", x.retains_grad)
    x = leaf(torch, (2,), 16)
    y = x * 2
    log("before", y.grad)
    y.retain_grad()
    log("retained, before", y.grad)
    (y * y).sum().backward(retain_graph=True)
    log("once", y.grad)
    y.sum().backward()
    log("twice", y.grad, x.grad)
    with torch.no_grad():
        log.raises("no_grad", lambda: (x * 2).retain_grad())


@family
def own_attributes(torch, log):
    """Any attribute may be put on a tensor; results and views do not inherit it."""
    x = leaf(torch, (2,), 20)
    x.note = "mine"
    log("note", x.note, hasattr(x * 2, "note"), hasattr(x[0], "note"), hasattr(x.detach(), "note"))
    log("dict", dict(x.__dict__))
    log.raises("missing", lambda: x.nothing)


@family
def hook_tables(torch, log):
    """_backward_hooks and _post_accumulate_grad_hooks are live tables, which may be assigned."""
    x = leaf(torch, (2,), 24)
    y = x * 2
    for tensor in (x, y):
        handle = tensor.register_hook(lambda grad: grad * 10)
        table = tensor._backward_hooks
        log("table", type(table).__name__, len(table), handle.id in table)
        handle.remove()
        log("removed", len(table), len(tensor._backward_hooks))
    x._backward_hooks = {5: lambda grad: grad * 3}
    y.sum().backward(retain_graph=True)
    log("assigned", x.grad)
    x._backward_hooks = None
    x.grad = None
    y.sum().backward()
    log("none", x.grad, x._backward_hooks)
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    log("post", len(x._post_accumulate_grad_hooks))


@family
def of_another_type(torch, log):
    """A gradient of another dtype."""
    x = leaf(torch, (2,), 25)
    for dtype in ("float16", "int8", "uint8", "int16", "int32", "bool", "complex64", "complex128"):
        value = torch.ones(2, dtype=getattr(torch, dtype))
        log.raises(dtype, lambda v=value: assigning("grad", v)(x))
        log.raises(f"to {dtype}", lambda v=value: assigning("grad", torch.ones(2))(v))
