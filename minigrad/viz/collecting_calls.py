"""Watch which module a forward pass calls when, and which forward hook fires: `ForwardCalls`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from minigrad import nn
from minigrad.autograd.hooks import hook_name
from minigrad.viz.collector import Collector, layer_label
from minigrad.viz.tables import text_table


@dataclass(frozen=True)
class Call:
    """Something that happened in a forward pass.

    Attributes:
        kind: "called", "returned", or the kind of a hook: "forward pre-hook", "forward hook".
        module: The module's label.
        depth: How many calls of other modules it happened in.
        hook: The name of the hook.
        replaced: Whether the hook returned something.
    """

    kind: str
    module: str
    depth: int
    hook: str = ""
    replaced: bool = False

    @property
    def says(self) -> str:
        """What happened, in words."""
        if not self.hook:
            return self.kind
        end = "replaced what it saw" if self.replaced else "changed nothing"
        return f"{self.kind} {self.hook} {end}"


class ForwardCalls(Collector):
    """Log the calls of a model's modules and of their forward hooks.

    The forward counterpart of `record`. Hooks that are there when this one is attached are
    listened to where they sit, and left as they were; so are order and results of the pass.

    Args:
        model: The model.

    Attributes:
        events: A `Call` for each event, in order.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.ReLU())
        >>> def double(module, args, result):
        ...     return result * 2
        >>> handle = model[0].register_forward_hook(double)
        >>> with ForwardCalls(model) as calls:
        ...     model(torch.tensor([1.0]))
        tensor([2.])
        >>> calls
        module      event
        Sequential  called
          0 ReLU    called
          0 ReLU    forward hook double replaced what it saw
          0 ReLU    returned
        Sequential  returned
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.events: list[Call] = []
        self._depth = 0
        self._listening: list[tuple[dict[int, Any], int, Any, Any]] = []

    def _register(self) -> Iterable[Any]:
        self._depth = 0
        for name, module in self.model.named_modules():
            label = layer_label(name, module)
            self._listen(module._forward_pre_hooks, "forward pre-hook", label)
            self._listen(module._forward_hooks, "forward hook", label)
            yield module.register_forward_pre_hook(self._calling(label), prepend=True)
            yield module.register_forward_hook(self._returning(label), always_call=True)

    def _listen(self, table: Any, kind: str, label: str) -> None:
        for key, hook in list(table.items()):
            table[key] = listener = self._listener(hook, kind, label)
            self._listening.append((table, key, hook, listener))

    def _listener(self, hook: Callable[..., Any], kind: str, label: str) -> Callable[..., Any]:
        def listener(*args: Any, **kwargs: Any) -> Any:
            result = hook(*args, **kwargs)
            replaced = result is not None
            self.events.append(Call(kind, label, self._depth - 1, hook_name(hook), replaced))
            return result

        return listener

    def _calling(self, label: str) -> Callable[[Any, Any], None]:
        def note_call(module: Any, args: Any) -> None:
            self.events.append(Call("called", label, self._depth))
            self._depth += 1

        return note_call

    def _returning(self, label: str) -> Callable[[Any, Any, Any], None]:
        def note_return(module: Any, args: Any, result: Any) -> None:
            self._depth -= 1
            self.events.append(Call("returned", label, self._depth))

        return note_return

    def remove(self) -> None:
        """Take the hooks off; what was logged stays."""
        for table, key, hook, listener in self._listening:
            if table.get(key) is listener:  # it may have been removed meanwhile
                table[key] = hook
        self._listening = []
        super().remove()

    def __eq__(self, other: object) -> bool:
        """Tell whether the same happened in the same order."""
        if not isinstance(other, ForwardCalls):
            return NotImplemented
        return self.events == other.events

    __hash__ = None  # type: ignore[assignment]

    @property
    def table(self) -> str:
        """The events as a table of text, indented by depth."""
        rows = [["  " * event.depth + event.module, event.says] for event in self.events]
        return text_table(["module", "event"], rows, left=(0, 1))

    def __repr__(self) -> str:
        """Return the table."""
        return self.table
