"""Save memory: keep only the inputs of a part of a computation, and recompute it in backward.

There are two ways, chosen by `use_reentrant`:

* False (recommended): forward records its graph as always, but what operations save is dropped.
  When backward first asks for a dropped value, the part runs again to fill all of them in.
* True: forward runs under `no_grad` as one custom `Function`. Its backward runs the part again,
  recorded this time, and starts a second backward pass inside of the running one.
"""

from minigrad.utils.checkpoint.calling import (
    checkpoint,
    checkpoint_sequential,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)
from minigrad.utils.checkpoint.recomputation import CheckpointError, GraphExecGroup
from minigrad.utils.checkpoint.reentrant import (
    CheckpointFunction,
    check_backward_validity,
    detach_variable,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "GraphExecGroup",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
