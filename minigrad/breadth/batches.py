"""Let a function of one example work on a batch of them: `vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.breadth.derivatives import Structure, called, check_randomness, take_apart
from minigrad.core.tensor import Tensor
from minigrad.ops.joining import stacked
from minigrad.random import get_rng_state, set_rng_state

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Make the function that applies a function to each example of a batch.

    PyTorch computes all examples at once. Here the function is called once for each, and the
    results are stacked: the same numbers, without the gain in speed. What PyTorch refuses, such as
    `item()` or a branch that depends on numbers, works.

    Args:
        func: Takes and gives tensors, also in tuples, lists and dictionaries.
        in_dims: The dimension of the arguments along which the examples lie; None for an argument
            that is the same for all; or such numbers nested as the arguments are.
        out_dims: The dimension along which the results are stacked, or several, likewise.
        randomness: What to do about random numbers: "error", refuse them; "different", draw others
            for each example; "same", draw the same for all.
        chunk_size: In PyTorch, how many examples are computed together; here each by itself.

    Returns:
        A function of the same arguments, with batches in the place of examples. Keyword arguments
        are the same for all examples.

    Raises:
        ValueError: If batches differ in size, or `in_dims` and `out_dims` do not fit.
        RuntimeError: If random numbers were drawn and `randomness` is "error".

    Example:
        >>> import minigrad as torch
        >>> rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.vmap(torch.dot)(rows, rows)
        tensor([ 5., 25.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def batched(*arguments: Any, **options: Any) -> Any:
        given, structure = take_apart(arguments)
        dims = _in_dims(in_dims, arguments, structure, name)
        pairs = list(zip(given, dims, strict=True))
        where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        sizes = [_mapped_size(value, dim, where) for value, dim in pairs if dim is not None]
        if len(set(sizes)) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got "
                f"sizes {sizes} for the mapped dimension"
            )
        count = sizes[0] if sizes else 0

        def call(example: int) -> Any:
            leaves = [x if dim is None else _example(x, dim, example, count) for x, dim in pairs]
            return called(func, structure.build(leaves), options, False, "vmap")[0]

        return _stacked(_called(call, count, randomness), count, out_dims, name)

    return batched


def _example(value: Tensor, dim: int, example: int, count: int) -> Tensor:
    """Take one example out of a batch; of an empty batch, zeros, to see what becomes of them."""
    if count:
        return value.select(dim, example)
    return value.new_zeros(value.movedim(dim, 0).shape[1:])


def _called(call: Callable[[int], Any], count: int, randomness: str) -> list[Any]:
    before = get_rng_state()
    results = []
    for example in range(count or 1):
        if randomness == "same":
            set_rng_state(before)
        results.append(call(example))
    if randomness == "error" and not np.array_equal(before._array, get_rng_state()._array):
        set_rng_state(before)
        raise RuntimeError(_RANDOM)
    return results


def _in_dims(in_dims: Any, arguments: Any, structure: Structure, name: str) -> list[Any]:
    """Give the dimension of each tensor among the arguments."""
    if not arguments:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{where}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    found: list[Any] = []
    if not _spread(in_dims, structure, found):
        raise ValueError(f"{where}: in_dims is not compatible with the structure of `inputs`")
    return found


def _spread(dims: Any, structure: Structure, found: list[Any]) -> bool:
    """Give each leaf its dimension: one may stand for all that is nested below it."""
    if dims is None or isinstance(dims, int):
        found += [dims] * structure.count
        return True
    if structure.kind is None or type(dims) is not structure.kind:
        return False
    keys: Any = tuple(dims) if structure.kind is dict else len(dims)
    if keys != structure.keys:
        return False
    parts = [dims[key] for key in keys] if structure.kind is dict else dims
    pairs = zip(parts, structure.parts, strict=True)
    return all(_spread(part, inner, found) for part, inner in pairs)


def _mapped_size(value: Any, dim: Any, where: str) -> int:
    """Give the number of examples in a batch; raise if there is no such dimension."""
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but the input is of type {type(value)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -value.ndim <= dim < value.ndim:
        raise ValueError(
            f"{where}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {value.ndim} so expected in_dim to satisfy -{value.ndim} <= in_dim < "
            f"{value.ndim}."
        )
    return int(value.shape[dim])


def _stacked(results: list[Any], count: int, out_dims: Any, name: str) -> Any:
    first, structure = take_apart(results[0])
    dims: list[Any] = []
    if not _spread(out_dims, structure, dims):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            "the structure of `outputs`"
        )
    columns = zip(*(take_apart(result)[0] for result in results), strict=True)
    parts = []
    for column, leaf, dim in zip(columns, first, dims, strict=True):
        if dim is None:
            if isinstance(leaf, Tensor) and not all(one is leaf for one in column):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is "
                    "None"
                )
            parts.append(leaf)
            continue
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did "
                "you mean to set out_dims= to None for output?"
            )
        whole = stacked(column, dim)
        parts.append(whole if count else whole.narrow(dim, 0, 0))
    return structure.build(parts)
