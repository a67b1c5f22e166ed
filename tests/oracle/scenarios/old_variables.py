"""Run code from the days when tensors were wrapped in `Variable`."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


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
