"""Run code from the days when tensors were wrapped in `Variable`."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


@family
def wrapping_a_tensor(torch, log):
    """Variable(tensor) is a tensor on the same memory and version counter, outside the graph."""
    wrap = torch.autograd.Variable
    inner = leaf(torch, (2,), 1) * 2
    wrapped = wrap(inner)
    log("wrapped", wrapped, type(wrapped) is torch.Tensor, wrapped is inner, wrapped._is_view())
    wrapped.add_(1)
    log("shared", inner, inner._version, wrapped._version)
    log("leaf", wrap(torch.ones(2), requires_grad=True), wrap(torch.ones(2), True).is_leaf)
    log("by name", wrap(data=torch.ones(2), requires_grad=True), wrap(), wrap(None))
    w = wrap(torch.ones(2), requires_grad=True)
    (w * w * 3).sum().backward()
    log("gradient", w.grad)


@family
def what_a_variable_is(torch, log):
    """Every tensor is one; nothing else is."""
    kind = torch.autograd.Variable
    things = (torch.ones(1), torch.nn.Parameter(torch.ones(1)), leaf(torch, (1,), 1) * 2, 3, None)
    log("instances", *(isinstance(thing, kind) for thing in things))
    log("subclass", issubclass(torch.Tensor, kind), kind.__name__)


@family
def an_argument_out_of_use(torch, log):
    """volatile warns and does nothing."""
    wrap = torch.autograd.Variable
    log.raises("volatile", lambda: wrap(torch.ones(1), volatile=True))
    log.raises("volatile, no", lambda: wrap(torch.ones(1), volatile=False))
