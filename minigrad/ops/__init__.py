"""The book of derivatives: each operation's forward and rule, side by side."""

from minigrad.faces import lazy_loading
from minigrad.ops import (  # noqa: F401 - what is loaded at once says its faces
    activations,
    choices,
    comparison,
    copies,
    elementwise,
    inplace,
    joining,
    reduction,
    shape,
)
from minigrad.ops.methods import attach

attach()
lazy_loading.attach_waiting()
