"""Hold modules in a chain, a list or a dictionary, all of them registered."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import Any, Self

from minigrad.nn.modules.module import Module
from minigrad.nn.naming import typename

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Row(Module):
    """Modules registered under "0", "1", "2", ...: what Sequential and ModuleList share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _position(self, index: Any) -> int:
        """Give the position of an index that may count from the end."""
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range")
        return position % len(self)

    def _names(self, index: Any) -> list[str]:
        """Give the names that an index or a slice stands for."""
        names = list(self._modules)
        return names[index] if isinstance(index, slice) else [names[self._position(index)]]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, list(self._modules)[self._position(index)], module)

    def __delitem__(self, index: int | slice) -> None:
        for name in self._names(index):
            delattr(self, name)
        self._renumber(list(self))

    def _renumber(self, modules: list[Any]) -> None:
        """Register the modules anew, under the numbers of their places."""
        self._modules.clear()
        self._modules.update((str(place), module) for place, module in enumerate(modules))

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def __getitem__(self, index: int | slice) -> Any:
        raise NotImplementedError


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
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

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

    def insert(self, index: int, module: Module) -> Self:
        """Put a module in front of the one at an index.

        Raises:
            AssertionError: If it is no module.
            IndexError: If the index is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential().extend([*self, *self._checked(other)])

    def __iadd__(self, other: Any) -> Self:
        return self.extend(list(self._checked(other)))

    def _checked(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, "
                f"but {type(other)} is given."
            )
        return other

    def __mul__(self, other: int) -> Sequential:
        return Sequential().extend(list(self) * self._factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (self._factor(other) - 1))

    def _factor(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other


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

    def insert(self, index: int, module: Module) -> None:
        """Put a module in front of the one at an index, counted from the front.

        Raises:
            KeyError: If the index is negative.
            TypeError: If it is no module.
        """
        if not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        # As in PyTorch, an index from the end finds no place.
        for place in range(len(self), index, -1):
            self._modules[str(place)] = self._modules[str(place - 1)]
        self._modules[str(index)] = module

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end.

        Raises:
            TypeError: If the argument is not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Print the modules, with neighbors that look alike as one entry."""
        groups: list[list[Any]] = []
        for place, module in enumerate(self):
            text = repr(module)
            if groups and groups[-1][2] == text:
                groups[-1][1] = place
            else:
                groups.append([place, place, text])
        if not groups:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in groups:
            alike = f"({first}-{last}): {last - first + 1} x " if last > first else f"({first}): "
            lines.append("\n  " + (alike + text).replace("\n", "\n  "))
        return f"{self._get_name()}({''.join(lines)}\n)"


class ModuleDict(Module):
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

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """Give the names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Give pairs of name and module."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """Give the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules, or replace those of the same names.

        Args:
            modules: A mapping from names to modules, or pairs of name and module.

        Raises:
            TypeError: If the argument, or one of its elements, is not iterable.
            ValueError: If an element is no pair.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        if isinstance(modules, (Mapping, ModuleDict)):
            modules = list(modules.items())
        for place, pair in enumerate(modules):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"ModuleDict update sequence element #{place} should be Iterable; "
                    f"is{type(pair).__name__}"
                )
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{place} has length {len(pair)}; "
                    "2 is required"
                )
            self[pair[0]] = pair[1]
