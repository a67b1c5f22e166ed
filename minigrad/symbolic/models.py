"""Turn a model into one whose parameters are symbols, with all its hooks, to run it unchanged."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from minigrad.core.leaves import resolve_edge
from minigrad.core.tensor import Tensor
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.formulas import entry_names, named_array

AnyModule = TypeVar("AnyModule", bound=Module)
Assumptions = Mapping[str, bool]

_short = {"weight": "w", "bias": "b", "running_mean": "mu", "running_var": "v"}
_assumed: dict[str, Assumptions] = {"running_var": {"positive": True}}


def symbolic_like(
    model: AnyModule,
    names: Mapping[str, str] | None = None,
    *,
    buffers: bool = False,
    assume: Mapping[str, Assumptions] | None = None,
    **assumptions: bool,
) -> AnyModule:
    """Copy a model and make its parameters named symbols.

    The modules that have parameters of their own are counted in the order in which
    `model.named_modules()` meets them; `weight` becomes `w` and `bias` becomes `b` with that
    number. So `f0.weight`, `f0.bias`, `f1.f.weight`, `f1.f.bias` are `w_0`, `b_0`, `w_1`, `b_1`. A
    parameter of any other name keeps it: `scale` of the third such module is `scale_2`. The
    entries of a parameter with several are numbered as by `symbols`.

    Args:
        model: The model. It is not changed. Its hooks, and those of its parameters, are on the copy
            as well: the same functions. A method of the model is one of the copy there.
        names: Names to use instead, by the parameter's name in `model.named_parameters()`, or the
            buffer's in `model.named_buffers()`.
        buffers: Whether buffers of floating-point numbers become symbols, too, and modules that
            have only such are counted: `running_mean` becomes `mu` and `running_var` `v`, which is
            positive. Else they keep their numbers, which become exact.
        assume: What SymPy may assume of single ones, by the same names: a weight that is positive
            is `{"norm.weight": {"positive": True}}`.
        **assumptions: What SymPy may assume of all others. Without any: `real=True`.

    Returns:
        The copy. Buffers of integers, such as a count of batches, stay as they are.

    Raises:
        KeyError: If `names` or `assume` has a name that nothing in the model has.
        ValueError: If two parameters would be called the same.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Tanh())
        >>> symbolic_like(model)(torch.symbolic.symbols("x", 1))
        tensor([tanh(b_0 + w_0*x)], grad_fn=<TanhBackward0>)
        >>> norm = symbolic_like(torch.nn.BatchNorm1d(1, eps=0), buffers=True).eval()
        >>> norm(torch.symbolic.symbols("x", (1, 1)))
        tensor([[b_0 + w_0*(-mu_0 + x)/sqrt(v_0)]], grad_fn=<NativeBatchNormBackward0>)
    """
    copied: dict[int, Any] = {}
    symbolic = copy.deepcopy(model, copied)
    for named in (Module.named_parameters, Module.named_buffers):
        for (_, tensor), (_, twin) in zip(named(model), named(symbolic), strict=True):
            _copy_hooks(tensor, twin, copied)
    replaced: dict[str, Tensor] = dict(symbolic.named_parameters())
    floats = {
        name: buffer for name, buffer in symbolic.named_buffers() if buffer._array.dtype.kind == "f"
    }
    if buffers:
        replaced |= floats
    ruled = dict(_ruled_names(symbolic, replaced))
    for name in (*(names or {}), *(assume or {})):
        if name not in ruled:
            raise KeyError(
                f"the model has no parameter '{name}'; it has {', '.join(ruled) or 'none'}"
                + (" (for its buffers: buffers=True)" if name in floats else "")
            )
    called = ruled | dict(names or {})
    owner: dict[str, str] = {}
    for name, tensor in replaced.items():
        for entry in entry_names(called[name], tuple(tensor.shape)):
            other = owner.setdefault(_as_read(entry), name)
            if other != name:
                raise ValueError(f"{other} and {name} would both be called {entry}")
    for name, tensor in replaced.items():
        own = (assume or {}).get(name) or _assumed.get(name.rpartition(".")[2]) or assumptions
        tensor._array = named_array(called[name], tuple(tensor.shape), dict(own))
        tensor.grad = None
    for name, buffer in floats.items():
        if name not in replaced:
            buffer._array = SymbolicArray(buffer._array)
    return symbolic


def _copy_hooks(tensor: Tensor, copied: Tensor, memo: dict[int, Any]) -> None:
    """Put the hooks of a leaf on its copy, and those of the node that adds to its `.grad`."""
    meta = tensor._meta
    if meta is None:
        return
    for hook in _again(meta.hooks, memo):
        copied.register_hook(hook)
    for hook in _again(meta.post_accumulate_hooks, memo):
        copied.register_post_accumulate_grad_hook(hook)
    node = meta.living_accumulator()
    if node is None or node._hooks is None or not (node._hooks.pre or node._hooks.post):
        return
    own = resolve_edge(copied)[0]
    assert own is not None
    for hook in _again(node._hooks.pre, memo):
        own.register_prehook(hook)
    for hook in _again(node._hooks.post, memo):
        own.register_hook(hook)
    copied.__dict__["_accumulator"] = own  # a leaf refers to its node weakly


def _again(table: Mapping[int, Any] | None, memo: dict[int, Any]) -> list[Any]:
    """Copy hooks as those of a module are copied: what is a method of the model, is the copy's."""
    return [copy.deepcopy(hook, memo) for hook in (table or {}).values()]


def _ruled_names(model: Module, tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, str]]:
    """Give each tensor its name by the rule; one that two modules share has the first's."""
    named = {id(tensor): name for name, tensor in tensors.items()}
    chosen = set(named)
    number = 0
    for module in model.modules():
        own = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for short, tensor in own:
            name = named.pop(id(tensor), None)
            if name is not None:
                yield name, f"{_short.get(short, short)}_{number}"
        number += any(id(tensor) in chosen for _, tensor in own)


def _as_read(name: str) -> str:
    """Give a symbol's name as LaTeX shows it: `w_0` and `w_{0}` look the same."""
    stem, _, subscript = name.partition("_")
    return f"{stem}_{{{subscript}}}" if subscript and "{" not in subscript else name
