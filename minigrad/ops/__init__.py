"""The registry of derivatives: each operation's forward and rule, side by side."""

from importlib import import_module

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import factories
from minigrad.ops import elementwise, inplace, shape
from minigrad.ops import linear as _linear
from minigrad.signatures import attach, lazy_loading
from minigrad.signatures.arguments import cast

attach(
    __name__,
    {
        "name": property(lambda self: None, doc="None, as for PyTorch's tensors."),
        **factories.methods,
        # what rooms further in ask of a tensor
        "_copied_to": lambda self, memory: inplace.copy_(wrap(memory), self),
        "_to_numpy_dtype": cast,
        "_computed_by_numpy": staticmethod(
            lambda *call: import_module("minigrad.ops.numpy_calls").compute(*call)
        ),
    },
)
lazy_loading.attach_waiting()
