"""Hold modules and parameters in lists and dictionaries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, groupby
from typing import Any, ClassVar, Self

from minigrad.core.tensor import Tensor
from minigrad.creation.devices import typename
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

__all__ = [
    "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential",
]  # fmt: skip


class _List(Module):
    """Entries in a row: what Sequential, ModuleList and ParameterList share."""

    append: Callable[..., Any]

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extend(self, values: Iterable[Any]) -> Self:
        """Add entries at the end.

        Raises:
            TypeError: If the argument is not iterable, or a tensor.
        """
        if isinstance(values, Tensor):
            raise TypeError("extend takes an iterable of entries, not a tensor")
        for value in values:
            self.append(value)
        return self


class _Row(_List):
    """Modules registered under "0", "1", "2", ...: what Sequential and ModuleList share."""

    __getitem__: Callable[..., Any]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _names(self, index: Any) -> list[str]:
        """Give the names that an index or a slice stands for."""
        found: Any = list(self._modules)[index]
        return found if isinstance(index, slice) else [found]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, list(self._modules)[index], module)

    def __delitem__(self, index: int | slice) -> None:
        for name in self._names(index):
            delattr(self, name)
        self._renumber(list(self))

    def _renumber(self, modules: list[Any]) -> None:
        """Register the modules again, under the numbers of their places."""
        self._modules.clear()
        self._modules.update((str(index), module) for index, module in enumerate(modules))

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module in front of the one at an index.

        Raises:
            AssertionError: If it isn't a module.
            IndexError: If the index is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"insert takes a Module, not {module!r}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Row):
    """Modules in a chain: each gets the result of the one before.

    Args:
        *args: The modules, or one `OrderedDict` of names and modules.

    Example:
        >>> from minigrad import nn
        >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): ReLU()
        )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            modules: dict[str, Module] = args[0]
        else:
            modules = {str(index): module for index, module in enumerate(args)}
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Send the input through the chain."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        names = self._names(index)
        if isinstance(index, slice):
            return type(self)(OrderedDict((name, self._modules[name]) for name in names))
        return self._modules[names[0]]


class ModuleList(_Row):
    """A list of modules that are registered; it computes nothing by itself.

    Args:
        modules: The modules to begin with.

    Example:
        >>> from minigrad import nn
        >>> nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        ModuleList(
          (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        modules = [self._modules[name] for name in self._names(index)]
        return type(self)(modules) if isinstance(index, slice) else modules[0]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Print the modules, with neighbors that look alike as one entry."""
        lines, start = [], 0
        for text, alike in groupby(map(repr, self)):
            end = start + len([*alike]) - 1
            place = f"({start}-{end}): {end - start + 1} x " if end > start else f"({start}): "
            lines.append("\n  " + (place + text).replace("\n", "\n  "))
            start = end + 1
        return f"{self._get_name()}({''.join(lines)}" + ("\n)" if lines else ")")


class _Dictionary(Module):
    """Entries under names: what ModuleDict and ParameterDict share."""

    __getitem__: Callable[..., Any]
    __setitem__: Callable[..., Any]
    __delitem__: Callable[..., Any]
    _entries: Any  # a dictionary of what is in it
    _sorts: ClassVar[bool] = False  # whether a plain dictionary is entered in the order of its keys

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def keys(self) -> KeysView[str]:
        """Give the names."""
        return self._entries.keys()

    def items(self) -> ItemsView[str, Any]:
        """Give pairs of name and value."""
        return self._entries.items()

    def values(self) -> ValuesView[Any]:
        """Give the values."""
        return self._entries.values()

    def clear(self) -> None:
        """Remove everything."""
        for key in [*self]:
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a name, and return what was under it."""
        value = self[key]
        del self[key]
        return value

    def update(self, given: Any) -> None:
        """Enter values, or replace those of the same names.

        Args:
            given: A mapping from names to values, or pairs of name and value. `ParameterDict`
                enters a mapping in the order of its keys unless it is ordered.

        Raises:
            TypeError: If the argument, or one of its elements, is not iterable.
            ValueError: If an element is no pair.
        """
        if isinstance(given, (Mapping, _Dictionary)):
            ordered = isinstance(given, (OrderedDict, _Dictionary)) or not self._sorts
            given = given.items() if ordered else sorted(given.items())
        for key, value in [*given]:
            self[key] = value


class ModuleDict(_Dictionary):
    """A dictionary of modules that are registered; it computes nothing by itself.

    Args:
        modules: A mapping from names to modules, or pairs of name and module.

    Example:
        >>> from minigrad import nn
        >>> nn.ModuleDict({"act": nn.ReLU()})["act"]
        ReLU()
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    @property
    def _entries(self) -> dict[str, Any]:
        return self._modules


def _as_parameter(value: Any) -> Any:
    """Make a parameter of a tensor; leave anything else as it is."""
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _line(key: Any, value: Any, type_name: Any) -> str:
    """Describe an entry."""
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    return f"  ({key}): {kind} containing: [{type_name(value)} of size {size}]"


class ParameterList(_List):
    """A list of parameters that are registered; tensors in it become parameters.

    Args:
        values: What to begin with.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ParameterList([torch.zeros(2), torch.ones(2, 3)])
        ParameterList(
            (0): Parameter containing: [torch.float32 of size 2]
            (1): Parameter containing: [torch.float32 of size 2x3]
        )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(len(self))[idx])
        return getattr(self, str(range(len(self))[idx]))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(range(len(self))[idx]), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extra_repr(self) -> str:
        """Describe each entry in a line."""
        return "\n".join(_line(k, value, lambda v: v.dtype) for k, value in enumerate(self))


class ParameterDict(_Dictionary):
    """A dictionary of parameters that are registered; tensors in it become parameters.

    Args:
        parameters: What to begin with: a mapping from names, or pairs of name and value.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ParameterDict({"scale": torch.ones(2)})
        ParameterDict(  (scale): Parameter containing: [torch.FloatTensor of size 2])
    """

    _sorts = True

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """Give the value of a key, or the default."""
        return self[key] if key in self._keys else default

    @property
    def _entries(self) -> dict[str, Any]:
        return {key: self[key] for key in self._keys}

    def extra_repr(self) -> str:
        """Describe each entry in a line."""
        return "\n".join(_line(key, value, typename) for key, value in self.items())
