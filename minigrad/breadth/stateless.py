"""Call a module with other tensors in the place of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from minigrad.autograd.blocks import Block
from minigrad.core.tensor import Tensor


class _Missing:
    pass


_MISSING = _Missing()


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
                was = table, name, there
                for found, value in zip(self.places, was, strict=True):
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
        if not isinstance(getattr(module, name, _MISSING), (Tensor, _Missing)):
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
