"""Ask a node for what it saved under PyTorch's names, where minigrad saves it in another form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.saved import look_at

Computed = Callable[[Any], Any]


def _constant(value: Any) -> Computed:
    return lambda node: value


def _numel(node: Any) -> int:
    return math.prod(node._saved_self_sym_sizes)


def _positions(node: Any) -> Any:
    return type(node).wrap(node._kept("positions"))


def _indices(node: Any) -> Any:
    """Give the positions of extremes in the shape of the result."""
    positions, dim = node._kept("positions"), node._kept("dim")
    kept = node._kept("keepdim") or not node._kept("self_sym_sizes")
    return type(node).wrap(positions if kept else positions.squeeze(dim))


def _split_size(node: Any) -> int:
    size: int = node._shape[0][node._kept("dim")]
    return size


def _split_from(node: Any) -> tuple[int, ...]:
    dim = node._kept("dim")
    sizes = list(node._shape[0])
    sizes[dim] = sum(part[dim] for part in node._shape)
    return tuple(sizes)


_ALPHA = {"alpha": _constant(1)}
_SPLIT: dict[str, Computed] = {"self_sym_sizes": _split_from}
_LOSS = {"weight": _constant(None), "ignore_index": _constant(2**64 - 100)}
_ELU = {"scale": _constant(1), "input_scale": _constant(1)}
_EXTREME: dict[str, Computed] = {"indices": _indices}

# By the name of a node's class: values that need not be saved, as they follow from what is.
computed: dict[str, dict[str, Computed]] = {
    "AddBackward0": _ALPHA,
    "SubBackward0": _ALPHA,
    "RsubBackward1": _ALPHA,
    "AddmmBackward0": {"alpha": _constant(1), "beta": _constant(1)},
    "MeanBackward0": {"self_sym_numel": _numel},
    "MeanBackward1": {"self_sym_numel": _numel},
    "MaxBackward0": _EXTREME,
    "MinBackward0": _EXTREME,
    **dict.fromkeys(("KthvalueBackward0", "MedianBackward1", "ModeBackward0"), _EXTREME),
    "NanmedianBackward1": _EXTREME,
    **{
        name: {"indices": _positions}
        for name in ("SortBackward0", "SortBackward1", "TopkBackward0", "CummaxBackward0")
    },
    "CumminBackward0": {"indices": _positions},
    "GatherBackward0": {"index": _positions, "sparse_grad": _constant(False)},
    "ScatterBackward0": {"index": _positions},
    "ScatterBackward1": {"index": _positions},
    "ScatterAddBackward0": {"index": _positions},
    "IndexPutImplBackward0": {"accumulate": _constant(True)},
    "SplitBackward0": {**_SPLIT, "split_size": _split_size},
    "SplitWithSizesBackward0": _SPLIT,
    "ThresholdBackwardBackward0": {"threshold": _constant(0)},
    "NllLossBackward0": _LOSS,
    "NllLossBackwardBackward0": _LOSS,
    "EluBackward0": _ELU,
    "EluBackwardBackward0": {**_ELU, "is_result": _constant(False)},
}

# Values that PyTorch's node has under another name.
renamed: dict[str, dict[str, str]] = {
    "ThresholdBackwardBackward0": {"self": "output"},
    "EluBackwardBackward0": {"self_or_result": "self"},
}


def is_own(class_name: str, name: str) -> bool:
    """Tell whether a saved value is minigrad's own: PyTorch's node has none of that name."""
    return (
        name in ("positions", "sizes")
        or name.endswith("_sym_columns")
        or name in renamed.get(class_name, {}).values()
    )


def names_of(node: Any) -> list[str]:
    """Give the names under which a node can be asked for what it saved."""
    kind = type(node).__name__
    own = [name for name in node._names_of_saved if not is_own(kind, name)]
    return [*own, *renamed.get(kind, ()), *(n for n in computed.get(kind, ()) if n not in own)]


def attributes_of(node: Any) -> list[str]:
    """List the attributes of a node that show what it saved."""
    names = names_of(node)
    raw = [f"_raw_saved_{name}" for name in names if _is_tensor(node, name)]
    return [*(f"_saved_{name}" for name in names), *raw]


def ask(node: Any, attribute: str) -> Any:
    """Give the value of an attribute `_saved_<name>` or `_raw_saved_<name>`.

    Raises:
        AttributeError: If there is no such attribute.
        RuntimeError: If the value was released, or modified by an in-place operation.
    """
    kind = type(node).__name__
    prefix, found, name = attribute.partition("_saved_")
    known = found and prefix in ("", "_raw") and name in names_of(node)
    name = renamed.get(kind, {}).get(name, name)
    if not known or (prefix and not _is_tensor(node, name)):
        raise AttributeError(f"'{kind}' object has no attribute '{attribute}'")
    if prefix:
        return node._raw_saved(node, node._names_of_saved.index(name))
    if name not in node._names_of_saved:
        return computed[kind][name](node)
    value = node._kept(name)
    return look_at(value, node) if hasattr(value, "_version_counter") else _shown(value, node)


def _is_tensor(node: Any, name: str) -> bool:
    """Tell whether a tensor is saved under a name, or was, or would be if it was needed."""
    name = renamed.get(type(node).__name__, {}).get(name, name)
    if name not in node._names_of_saved:
        return False
    value = None if node._saved is None else node._kept(name)
    return value is None or hasattr(value, "_version_counter")


def _shown(value: Any, node: Any) -> Any:
    """Show index arrays as tensors, and a dimension that is taken whole as None."""
    if isinstance(value, np.ndarray):
        return type(node).wrap(value)
    if isinstance(value, tuple) and any(isinstance(each, np.ndarray) for each in value):
        return tuple(None if isinstance(each, slice) else _shown(each, node) for each in value)
    return value
