"""Watch which modules are called, so that a picture can put a box around what each one left."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from inspect import signature
from itertools import count
from typing import Any

from minigrad.core.node import next_priority
from minigrad.nn import Module
from minigrad.viz.graph import IDENTITY, Graph, Index


@dataclass(eq=False)
class Call:
    """One call of one module.

    Attributes:
        name: The module's dotted name; of the model itself the name it was given, or "".
        module: The module.
        start: What the counter of nodes said when the call began.
        depth: How many calls were going on when it began.
        siblings: All calls of this module, in their order.
        stop: What the counter said when the call ended.
        after: What it said when the next call began or ended.
    """

    name: str
    module: Any
    start: int
    depth: int
    siblings: list["Call"] = field(repr=False)
    stop: int = 0
    after: int = sys.maxsize

    @property
    def label(self) -> str:
        """What is written on its box: `f1.f: Linear`, `f (2): Linear` for a second call."""
        several = len(self.siblings) > 1
        called = self.name + (f" ({self.siblings.index(self) + 1})" if several else "")
        return f"{called}: {type(self.module).__name__}".removeprefix(": ")


class watch_modules:
    """Note which modules are called inside a `with` block, for `draw(..., modules=)`.

    The modules run as they would have: watching adds no node to the graph and changes no value.
    It costs little, but every module pays, so leave the block when the forward pass is done.

    Args:
        model: the module to watch, with all modules in it; a dict of names and modules; a list of
            either.

    Returns:
        As the target of `with`: this object; `calls` lists the calls in their order.

    Raises:
        TypeError: if there is something else than modules.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        >>> with watch_modules(model) as modules:
        ...     y = model(torch.ones(1, 2))
        >>> [call.label for call in modules.calls]
        ['Sequential', '0: Linear', '1: ReLU']
    """

    def __init__(self, model: Any) -> None:
        self.calls: list[Call] = []
        self.models = list(_models(model))
        self._names: dict[int, str] = {}
        for prefix, root in self.models:
            for name, module in root.named_modules():
                self._names.setdefault(id(module), ".".join(filter(None, (prefix, name))))
        self._library = "minigrad" if isinstance(self.models[0][1], Module) else "torch"
        self._now = _counter(self._library)
        self._turns: dict[int, list[Call]] = {}
        self._open: list[Call] = []
        self._ended: list[Call] = []
        self._handles: list[Any] = []

    def named(self) -> list[Any]:
        """Give the models for the names of their parameters, as `named_tensors` takes them."""
        return [{name: module} if name else module for name, module in self.models]

    def __enter__(self) -> "watch_modules":
        """Begin to watch."""
        place = sys.modules[f"{self._library}.nn.modules.module"]
        self._handles = [
            place.register_module_forward_pre_hook(self._begin),
            place.register_module_forward_hook(self._end, always_call=True),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop watching."""
        for handle in self._handles:
            handle.remove()
        self._tick()

    def _tick(self) -> int:
        """Read the counter, and let those calls know that ended last."""
        now = self._now()
        for call in self._ended:
            call.after = now
        self._ended = []
        return now

    def _begin(self, module: Any, args: Any) -> None:
        now = self._tick()
        if id(module) in self._names:
            siblings = self._turns.setdefault(id(module), [])
            call = Call(self._names[id(module)], module, now, len(self._open), siblings)
            siblings.append(call)
            self.calls.append(call)
            self._open.append(call)

    def _end(self, module: Any, args: Any, result: Any) -> None:
        now = self._tick()
        if self._open and self._open[-1].module is module:
            self._open[-1].stop = now
            self._ended.append(self._open.pop())


def _models(given: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and modules from a module, a dict of modules, or a list of either."""
    if hasattr(given, "named_modules"):
        yield "", given
    elif isinstance(given, dict):
        for name, module in given.items():
            for inner, each in _models(module):
                yield ".".join(filter(None, (str(name), inner))), each
    elif isinstance(given, list | tuple) and given:
        for part in given:
            yield from _models(part)
    else:
        raise TypeError(f"expected a Module, or a dict of them, not {type(given).__name__}")


def _counter(library: str) -> Any:
    """Find what reads the counter from which nodes get their numbers."""
    if library == "torch":
        return sys.modules["torch.autograd"]._get_sequence_nr
    return lambda: -next_priority()  # counts downward, and a number that no node has is no loss


def members_of(
    watched: watch_modules, live: list[Any], edges: Sequence[tuple[int, int]]
) -> list[tuple[Call, frozenset[int]]]:
    """Say which nodes each call of a module left, itself or through modules that it called.

    A node belongs to the calls that were going on when it was made, and to them belong the
    identity nodes that the module's full backward hooks put after its result. A parameter belongs
    to the calls of its module if nobody else uses it.

    Args:
        watched: what watched the modules.
        live: the nodes.
        edges: pairs of places in `live`, source and target.

    Returns:
        The calls that left something, with the places of their nodes in `live`.
    """
    numbers = [node._sequence_nr() for node in live]
    variables = [getattr(node, "variable", None) for node in live]
    made = [at for at, variable in enumerate(variables) if variable is None]
    identities = [numbers[at] for at in made if live[at].name() == IDENTITY]
    found = []
    for call in watched.calls:
        stop = max([call.stop, *(nr + 1 for nr in identities if call.stop <= nr < call.after)])
        inside = {at for at in made if call.start <= numbers[at] < stop}
        own = {id(each) for each in call.module.parameters()}
        reached = {target for source, target in edges if source in inside}
        elsewhere = {target for source, target in edges if source not in inside}
        inside |= {leaf for leaf in reached - elsewhere if id(variables[leaf]) in own}
        if inside:
            found.append((call, frozenset(inside)))
    return found


def add_groups(graph: Graph, index: Index, modules: watch_modules | None) -> dict[str, int]:
    """Put a box around what each watched module did, and tell how deep each stands."""
    depths = {}
    if modules is not None:
        found = members_of(modules, index.live, [(e.source, e.target) for e in graph.edges])
        for call, members in found:
            label, turns = call.label, count(2)
            while label in graph.groups:
                label = f"{call.label} ({next(turns)})"
            graph.groups[label], depths[label] = members, call.depth
    return depths


def called(model: Any, inputs: Sequence[Any]) -> tuple[Any, watch_modules, dict[str, Any]]:
    """Call a module and watch; return its tensors, what was watched, and its inputs by name."""
    with watch_modules(model) as modules:
        result = model(*inputs)
    # a traced module tells no names
    names = [] if hasattr(model.forward, "schema") else [*signature(model.forward).parameters]
    names += [f"input {at}" for at in range(len(names), len(inputs))]
    pairs = zip(names, inputs, strict=False)
    given = {name: value for name, value in pairs if hasattr(value, "requires_grad")}
    return [each for each in _tensors(result) if each.requires_grad], modules, given


def _tensors(values: Any) -> Iterable[Any]:
    """Yield the tensors in arguments or results."""
    if is_dataclass(values):
        values = getattr(values, "__dict__", values)
    if hasattr(values, "requires_grad"):
        yield values
    elif isinstance(values, list | tuple | Mapping):
        for value in values.values() if isinstance(values, Mapping) else values:
            yield from _tensors(value)
