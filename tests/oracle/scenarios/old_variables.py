"""Run code from the days when tensors were wrapped in `Variable`."""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def an_argument_out_of_use(torch, log):
    """volatile warns and does nothing."""
    wrap = torch.autograd.Variable
    log.raises("volatile", lambda: wrap(torch.ones(1), volatile=True))
    log.raises("volatile, no", lambda: wrap(torch.ones(1), volatile=False))
