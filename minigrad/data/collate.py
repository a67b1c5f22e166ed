"""Make one batch of many examples: numbers become tensors, structures keep their form."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.from_data import as_tensor, tensor
from minigrad.ops.joining import stacked as stack

_WRONG = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"

CollateFunctions = dict[Any, Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays into tensors, also within dictionaries, tuples and lists.

    All else stays as it is.

    Example:
        >>> import numpy as np
        >>> from minigrad.utils.data import default_convert
        >>> default_convert({"x": np.array([1, 2]), "name": "two"})
        {'x': tensor([1, 2]), 'name': 'two'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.generic) and not isinstance(data, (np.str_, np.bytes_)):
        return wrap(np.asarray(data))
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        converted = [default_convert(entry) for entry in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, [default_convert(entry) for entry in data])
    return data


def _rebuilt_mapping(model: Any, entries: dict[Any, Any]) -> Any:
    """Put entries into a mapping of the kind of another one; a dict if that cannot be made."""
    try:
        if isinstance(model, MutableMapping):
            # a copy keeps what else a mapping has: a default, attributes
            rebuilt = copy.copy(model)
            rebuilt.update(entries)
            return rebuilt
        return type(model)(entries)
    except TypeError:
        return entries


def _rebuilt_sequence(model: Any, entries: list[Any]) -> Any:
    """Put entries into a sequence of the kind of another one; a list if that cannot be made."""
    try:
        if isinstance(model, MutableSequence):
            rebuilt = copy.copy(model)
            for place, entry in enumerate(entries):
                rebuilt[place] = entry
            return rebuilt
        return type(model)(entries)
    except TypeError:
        return entries


def collate(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Make one batch of many examples, with functions for the types in it.

    Args:
        batch: The examples.
        collate_fn_map: A function for each type, or tuple of types; each is called with the
            examples and `collate_fn_map=`.

    Raises:
        TypeError: If there is no function for a type.
        RuntimeError: If lists differ in length.
    """
    first = batch[0]
    kind = type(first)
    functions = collate_fn_map or {}
    if kind in functions:
        return functions[kind](batch, collate_fn_map=collate_fn_map)
    for known, function in functions.items():
        if isinstance(first, known):
            return function(batch, collate_fn_map=collate_fn_map)

    def together(examples: Any) -> Any:
        return collate(examples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        entries = {key: together([example[key] for example in batch]) for key in first}
        return _rebuilt_mapping(first, entries)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(together(column) for column in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [together(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuilt_sequence(first, columns)
    raise TypeError(f"{_WRONG} {kind}")


def _collate_arrays(batch: Any, *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(f"{_WRONG} {batch[0].dtype}")
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


default_collate_fn_map: CollateFunctions = {
    Tensor: lambda batch, **_: stack(batch, 0),
    np.ndarray: _collate_arrays,
    (np.bool_, np.number, np.object_): lambda batch, **_: wrap(np.array(batch)),
    float: lambda batch, **_: tensor(batch, dtype=dtypes.float64),
    int: lambda batch, **_: tensor(batch),
    str: lambda batch, **_: batch,
    bytes: lambda batch, **_: batch,
}


def default_collate(batch: Any) -> Any:
    """Make one batch of many examples.

    Tensors and arrays are stacked along a new first dimension; Python's floats become a tensor of
    float64, integers one of int64; strings stay a list; dictionaries, tuples and lists keep their
    form, with a batch in each place.

    Args:
        batch: A list of examples of the same form.

    Raises:
        TypeError: If there are other things in it.
        RuntimeError: If shapes or lengths differ.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.data import default_collate
        >>> default_collate([(torch.tensor([1.0, 2.0]), 0), (torch.tensor([3.0, 4.0]), 1)])
        [tensor([[1., 2.],
                [3., 4.]]), tensor([0, 1])]
        >>> default_collate([{"name": "a", "size": 1.5}, {"name": "b", "size": 2.5}])
        {'name': ['a', 'b'], 'size': tensor([1.5000, 2.5000], dtype=torch.float64)}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
