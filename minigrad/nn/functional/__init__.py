"""Compute what layers and losses compute, as plain functions of tensors.

What `minigrad` has as well stands in a file of `minigrad.ops`, the rest in the files here; each
with its derivative, and with its signature over it.
"""

from importlib import import_module as _import_module

from minigrad.signatures.variants import functions as _functions
from minigrad.signatures.variants import in_functional as _in_functional
from minigrad.utils import _late

for _file in (
    "ops.activations", "ops.convolution", "ops.randomness", "ops.linear_algebra",
    "ops.linear", "ops.losses", "ops.joining", "ops.softmax",
    "nn.functional.embeddings", "nn.functional.normalization", "nn.functional.pooling",
):  # fmt: skip
    _import_module(f"minigrad.{_file}")

# What is the same function in `minigrad`.
_SHARED = (
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "pairwise_distance", "prelu", "relu_",
    "sigmoid", "tanh",
)  # fmt: skip
_all = {**_in_functional, **{name: _functions[name] for name in _SHARED}}
globals().update(_all)

__all__ = [*sorted(_all)]


__getattr__, __dir__ = _late(__name__)
