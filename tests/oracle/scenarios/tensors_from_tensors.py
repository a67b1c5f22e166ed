"""Make a tensor of tensors, NumPy numbers and Python numbers within lists."""

from __future__ import annotations

import numpy as np

from .tools import Family, leaf

family = Family()


@family
def one_entry_counts_as_a_number(torch, log):
    """A tensor with one entry within a list is a number, whatever its shape; it may warn."""
    x = leaf(torch, (1,), 1)
    for data in ([x], [[x], [x]], [x, 2.0], (x,), [torch.ones(1, 1)], [[torch.ones(1)], [3]]):
        log.raises("tensor", lambda data=data: torch.tensor(data))
    log.raises("as_tensor", lambda: torch.as_tensor([x]))
    with torch.no_grad():
        log.raises("no_grad", lambda: torch.tensor([x, x[0]]))
    log.raises("two entries", lambda: torch.tensor([torch.ones(2)]))
    log.raises("two entries that require grad", lambda: torch.tensor([leaf(torch, (2,), 1)]))
    log.raises("no entry", lambda: torch.tensor([torch.ones(0)]))


@family
def the_dtype_in_which_they_meet(torch, log):
    """Tensors and NumPy's numbers bring their own dtype; Python's floats the default one."""

    def number(value, name):
        return torch.tensor(value, dtype=getattr(torch, name))

    double, half, integer = number(2.0, "float64"), number(2.0, "float16"), number(2, "int32")
    lists = (
        [double],
        [integer],
        [integer, 1],
        [integer, 1.5],
        [double, 1.5],
        [half, half],
        [half, 1.5],
        [half, integer],
        [number(True, "bool"), 2],
        [number(2.0, "float32"), double],
        [number(1, "uint8"), number(1, "int8")],
        [np.float64(2.0)],
        [np.int32(3)],
        [np.float32(1.0), 2.0],
        [np.float32(1.0), double],
        [[1.0, 2.0], [3, True]],
    )
    for place, data in enumerate(lists):
        log(f"list {place}", torch.tensor(data))
    log("wanted", torch.tensor([double, 1], dtype=torch.float32))


@family
def floats_of_tensors(torch, log):
    """Converting to a Python number warns before it raises, if a gradient is required."""
    for sizes in ((), (2,), (0,)):
        x = torch.ones(sizes, requires_grad=True)
        for kind in (float, int, complex):
            log.raises(kind.__name__, lambda kind=kind, x=x: str(kind(x)))


@family
def types_by_name(torch, log):
    """A tensor's type by its old name, and the type of another tensor."""
    x = torch.tensor([1.0, 0.0, 2.0])
    for name in ("Double", "Float", "Half", "Int", "Long", "Short", "Char", "Byte", "Bool"):
        log.raises(name, lambda name=name: x.type(f"torch.{name}Tensor"))
    log("same", x.type("torch.FloatTensor") is x, x.type_as(x) is x)
    log("as", x.type_as(torch.tensor(1)), x.short(), x.char(), x.byte())
    log.raises("unknown", lambda: x.type("torch.NoTensor"))
    y = leaf(torch, (2,), 1)
    y.type("torch.DoubleTensor").sum().backward()
    log("gradient", y.grad)


@family
def norm_of_order_zero(torch, log):
    """The norm of order 0 counts the entries that are not zero."""
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    log("all", x.norm(0), x.norm(0.0, dim=0), x.norm(0, dim=(0, 1), keepdim=True))
