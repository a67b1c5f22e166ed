"""Call a module with other tensors in the place of its parameters and buffers.

So each parameter can have the gradients of each sample, as private training asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import wraps
from typing import Any

from minigrad.autograd.blocks import Block
from minigrad.core.tensor import Tensor
from minigrad.creation.factories import zeros
from minigrad.nn.modules.module import Module
from minigrad.ops.joining import joined
from minigrad.ops.joining import stacked as stack

_MISSING: Any = object()


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    Args:
        module: The module, which is as it was afterwards.
        parameter_and_buffer_dicts: Tensors by name, such as "0.weight"; or several dictionaries.
        args: What to call the module with: a tuple of arguments, or a single one.
        kwargs: The keyword arguments.
        tie_weights: Whether tensors that have several names are replaced under all of them.
        strict: Whether each parameter and buffer must be given, and nothing else.

    Returns:
        What the module gives.

    Raises:
        RuntimeError: If `strict` is set and names do not fit.
        ValueError: If a name is given twice, or tied names get different tensors.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.tensor([[2.0]])}, torch.ones(1))
        tensor([2.])
    """
    given = parameter_and_buffer_dicts
    # a single dictionary is used itself: it is told what is in the places at the end
    several = [] if isinstance(given, dict) else given
    if not isinstance(several, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given)}"
        )
    if not all(isinstance(each, dict) for each in several):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    tensors = given if isinstance(given, dict) else {}
    repeated = []
    for each in several:
        repeated += [name for name in each if name in tensors]
        tensors.update(each)
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    replacing = _with_tied(module, tensors) if tie_weights else dict(tensors)
    if strict:
        _check_names(module, replacing)
    for value in replacing.values():
        if not isinstance(value, Tensor):
            raise TypeError(f"{value} is not an instance of torch.Tensor")
    with _Replaced(module, replacing, tensors):
        return module(*arguments, **({} if kwargs is None else kwargs))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters of models of one kind, and their buffers, each under its name.

    Example:
        >>> import minigrad as torch
        >>> models = [torch.nn.Linear(3, 2) for _ in range(4)]
        >>> {name: each.shape for name, each in torch.func.stack_module_state(models)[0].items()}
        {'weight': torch.Size([4, 2, 3]), 'bias': torch.Size([4, 2])}
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    stacked: list[dict[str, Tensor]] = [{}, {}]
    for kind, named in zip(stacked, ("named_parameters", "named_buffers"), strict=True):
        for first, *others in zip(*(getattr(model, named)() for model in models), strict=True):
            name, tensor = first
            tensors = [tensor.detach(), *(other.detach() for _, other in others)]
            kind[name] = stack(tensors).requires_grad_(tensor.requires_grad)
    return stacked[0], stacked[1]


def _named(module: Any) -> dict[str, Any]:
    """Give all parameters and buffers by name, also those that have several names."""
    named = dict(module.named_parameters(remove_duplicate=False))
    return named | dict(module.named_buffers(remove_duplicate=False))


def _with_tied(module: Any, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give each tensor under all names that what it replaces has."""
    names: dict[int, set[str]] = {}
    for name, tensor in _named(module).items():
        names.setdefault(id(tensor), set()).add(name)
    result = dict(tensors)
    for tied in names.values():
        given = tied & tensors.keys()
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. "
                "Consider using tie_weights=False"
            )
        for name in given:
            result.update(dict.fromkeys(tied, tensors[name]))
    return result


def _check_names(module: Any, tensors: dict[str, Tensor]) -> None:
    """Raise if names are missing, or not known."""
    known = _named(module).keys()
    wrong = {"Unexpected": tensors.keys() - known, "Missing": known - tensors.keys()}
    text = "\n\t".join(
        f"{kind} key(s): {', '.join(map(repr, sorted(names)))}."
        for kind, names in wrong.items()
        if names
    )
    if text:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{text}")


class _Replaced(Block):
    """Puts tensors in their places for a block; what is there at its end is handed back."""

    def __init__(self, module: Any, tensors: dict[str, Tensor], given: dict[str, Tensor]) -> None:
        self.module, self.tensors, self.given = module, tensors, given
        self.paths: list[str] = []
        self.places: Any = [], [], []  # tables, names in them, and what was there
        # made before the end of the block, which may call nothing
        self.reading = map(dict.get, *self.places[:2])
        self.restoring = map(dict.__setitem__, *self.places)

    def __enter__(self) -> None:
        self._hold()
        first: dict[tuple[int, str], Any] = {}  # a module may be found under several paths
        try:
            for path, tensor in self.tensors.items():
                table, name = self._place_of(path)
                there = first.setdefault((id(table), name), table.get(name, _MISSING))
                for found, value in zip(self.places, (table, name, there), strict=True):
                    found += [value]
                self.paths += [path]
                table[name] = tensor
        except BaseException:
            self.__exit__()
            raise

    def _place_of(self, path: str) -> tuple[dict[str, Any], str]:
        """Find the table in which a module keeps what has a name."""
        path, _, name = path.rpartition(".")
        module = self.module.get_submodule(path)
        for table in (module._parameters, module._buffers):
            if name in table:
                return table, name
        if not isinstance(getattr(module, name, Tensor()), Tensor):
            raise TypeError(f"{module._get_name()}.{name} is not a tensor")
        return vars(module), name

    def _until_left(self) -> Generator[None]:
        try:
            yield
        finally:
            found: tuple[list[Any], list[None]] = [*self.reading], [*self.restoring]
            for table, name, original in zip(*self.places, strict=False):
                if original is _MISSING:
                    table.pop(name, None)
            now = dict(zip(self.paths, found[0], strict=False))
            self.given.update({path: now.get(path, self.given[path]) for path in self.given})


# ------------------------------------------------------------------ gradients of each sample


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable[..., Tensor]:
    r"""Make a call of a module whose backward pass leaves `grad_sample` at each parameter.

    The module runs once for each sample, and so do its forward hooks. A `grad_sample` has the shape
    (N, \*) of a batch and the parameter, and its part i is the gradient of what sample i adds to
    the loss; `grad` stays as it is.

    Args:
        module: The module.
        batch_size: The number N of samples; that of the tensors it is called with if None.
        loss_reduction: Whether the loss is the `"sum"` over the samples, or their `"mean"`, which
            multiplies by N.
        batch_first: Whether the samples lie along dimension 0; else along dimension 1.

    Raises:
        RuntimeError: If a setting makes no sense, if the batch size cannot be told, or if a
            parameter has a `grad_sample` from before.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.nn.utils._per_sample_grad import call_for_per_sample_grads
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> call_for_per_sample_grads(layer)(torch.tensor([[2.0], [3.0]])).sum().backward()
        >>> layer.weight.grad_sample.flatten()
        tensor([2., 3.])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not isinstance(batch_size, (int, type(None))):
        told = type(batch_size).__name__
        raise RuntimeError(f"Batch size passed must be None or an integer, got {told}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    dim, mean = 0 if batch_first else 1, loss_reduction == "mean"

    @wraps(module.forward)
    def called(*args: Any, **kwargs: Any) -> Tensor:
        count = _samples((*args, *kwargs.values()), dim) if batch_size is None else batch_size
        factor = count if mean else 1
        learned = {name: each for name, each in module.named_parameters() if each.requires_grad}
        for each in learned.values():
            if getattr(each, "grad_sample", None) is not None:
                raise RuntimeError(
                    "Current Expanded Weights accumulates the gradients, which will be incorrect "
                    "for multiple calls without clearing gradients. Please clear out the "
                    f"grad_sample parameter of {each}"
                )

        def part(given: Any, place: int) -> Any:
            batched = isinstance(given, Tensor) and given.ndim > dim and given.size(dim) == count
            return given.narrow(dim, place, 1) if batched else given

        results = []
        for place in range(count):
            own = {name: _watched(each, place, factor, count) for name, each in learned.items()}
            given = tuple(part(each, place) for each in args)
            named = {name: part(each, place) for name, each in kwargs.items()}
            results.append(functional_call(module, own, given, named))
        if not all(isinstance(each, Tensor) for each in results):
            raise RuntimeError("per-sample gradients need a module that gives one tensor")
        return joined(results, dim)

    return called


def _watched(parameter: Any, place: int, factor: int, count: int) -> Tensor:
    """Copy a parameter for one sample, whose gradient goes to a part of its `grad_sample`."""
    copy = parameter.detach().requires_grad_()

    def keep(leaf: Any) -> None:
        if getattr(parameter, "grad_sample", None) is None:
            parameter.grad_sample = zeros(count, *parameter.shape, dtype=parameter.dtype)
        parameter.grad_sample._array[place] += leaf.grad._array * factor
        leaf.grad = None

    copy.register_post_accumulate_grad_hook(keep)
    return copy


def _samples(given: tuple[Any, ...], dim: int) -> int:
    """Tell the batch size from the tensors that a module is called with."""
    counts = [each.size(dim) for each in given if isinstance(each, Tensor)]
    if not counts:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. Please specify the batch size "
            "explicitly"
        )
    for count in counts:
        if count != counts[0]:
            raise RuntimeError(
                "When computing batch size, found at least one input with batch size "
                f"{counts[0]} and one with batch size {count}. Please specify it explicitly using "
                "the batch size kwarg in call_for_per_sample_grads"
            )
    return counts[0]
