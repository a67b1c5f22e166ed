"""Project queries, keys and values for attention, at once where they are the same."""

from __future__ import annotations

from minigrad.nn.functional.linear import linear
from minigrad.ops import joining
from minigrad.tensor import Tensor


def project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Project with weights that lie one below the other; tensors that are the same at once."""
    width = query.shape[-1]
    if key is value and query is key:
        return _thirds(linear(query, weight, bias), 3)
    if key is value:
        weights = weight.split([width, 2 * width])
        biases = (None, None) if bias is None else bias.split([width, 2 * width])
        both = linear(key, weights[1], biases[1])
        return linear(query, weights[0], biases[0]), *_thirds(both, 2)
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _thirds(projected: Tensor, count: int) -> tuple[Tensor, ...]:
    """Take apart what was projected at once; each part lies in memory by itself."""
    *outer, width = projected.shape
    parts = projected.view(*outer, count, width // count)
    return joining.unbind(parts.movedim(-2, 0).contiguous(), 0)


def project_one_by_one(
    tensors: tuple[Tensor, ...], weights: tuple[Tensor | None, ...], bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Project with three weights that have sizes of their own."""
    for name, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    names = ("query", "key", "value")
    width = tensors[0].shape[-1]
    for name, tensor, weight in zip(names, tensors, weights, strict=True):
        expected = (width, tensor.shape[-1])
        if weight.shape != expected:  # type: ignore[union-attr]
            raise AssertionError(
                f"expecting {name} weights shape of {expected}, but got {weight.shape}"  # type: ignore[union-attr]
            )
    for name, each in zip(names, biases, strict=True):
        if each is not None and each.shape != (width,):
            raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {each.shape}")
    return tuple(map(linear, tensors, weights, biases))  # type: ignore[arg-type]
