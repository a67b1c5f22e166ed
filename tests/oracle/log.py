"""Run one scenario on torch or on minigrad and write down, as plain JSON values, all that
it did.
"""

from __future__ import annotations

import contextlib
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

Scenario = Callable[[ModuleType, "Log"], None]

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_INTERNAL = re.compile(r"\s*\(Triggered internally at .*?\)\s*$", re.DOTALL)


def clean(text: str) -> str:
    """Take addresses out of a text, and the place in PyTorch's C++ that a warning came from."""
    return _INTERNAL.sub("", _ADDRESS.sub("0x...", text))


def number(value: float, dtype: str = "float64") -> float | str:
    """Write a float in the fewest digits that give it back in its own precision; nan and inf as
    words.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if dtype == "float32":
        for digits in range(1, 10):
            short = float(f"{value:.{digits}g}")
            if struct.pack("f", short) == struct.pack("f", value):
                return short
    return value


class Log:
    """The list of events of one run; call it with a label and values to add one."""

    def __init__(self, torch: ModuleType) -> None:
        """Start an empty log for the module in use, which is torch or minigrad."""
        self.torch = torch
        self.events: list[Any] = []

    def __call__(self, label: str, *values: Any) -> None:
        """Add one event."""
        self.events.append([label, *(self.plain(value) for value in values)])

    def raises(self, label: str, action: Callable[[], Any]) -> None:
        """Add the type and text of the error that an action ends with, or what it returned."""
        try:
            result = action()
        except Exception as error:
            self.error(label, error)
        else:
            self(label, "no error", result)

    def error(self, label: str, error: Exception) -> None:
        """Add an error that a scenario caught itself."""
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        self.events.append([label, {"error": type(error).__name__, "message": clean(text)}])

    def hook(self, label: str, returns: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
        """Make a tensor hook that writes down the gradient and returns what is asked for."""

        def write_down(grad: Any) -> Any:
            self(label, grad)
            return None if returns is None else returns(grad)

        return write_down

    def module_hook(
        self, label: str, result: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """Make a module hook of any kind that writes down all it is given, first the module's
        class.
        """

        def write_down(module: Any, *rest: Any) -> Any:
            self(label, type(module).__name__, *rest)
            return None if result is None else result(module, *rest)

        return write_down

    def plain(self, value: Any) -> Any:
        """Turn a value into JSON: tensors carry dtype, shape, grad_fn; tuples differ from lists."""
        torch = self.torch
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, float):
            return number(value)
        if isinstance(value, torch.Tensor):
            return {header(torch, value): entries(value)}
        if isinstance(value, torch.nn.Module):
            return {"module": type(value).__name__}
        if isinstance(value, dict):
            return {"dict": [[self.plain(key), self.plain(item)] for key, item in value.items()]}
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", None)
            kind = "tuple" if fields is None else f"{type(value).__name__}{fields}"
            return {kind: [self.plain(item) for item in value]}
        if isinstance(value, (list, set)):
            items = sorted(value) if isinstance(value, set) else value
            return [self.plain(item) for item in items]
        if hasattr(value, "next_functions"):
            return {"node": value.name()}
        return {"object": clean(repr(value))}


def header(torch: ModuleType, tensor: Any) -> str:
    """Describe a tensor: dtype, shape and its place in the graph."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    kind = "Parameter " if isinstance(tensor, torch.nn.Parameter) else ""
    text = f"{kind}{dtype}{list(tensor.shape)}"
    if tensor.grad_fn is not None:
        return f"{text} {tensor.grad_fn.name()}"
    return f"{text} requires_grad" if tensor.requires_grad else text


def entries(tensor: Any) -> Any:
    """Give the entries as nested lists of JSON numbers."""
    dtype = str(tensor.dtype).removeprefix("torch.")

    def write(item: Any) -> Any:
        if isinstance(item, list):
            return [write(entry) for entry in item]
        return number(item, dtype) if isinstance(item, float) else item

    if hasattr(tensor, "_is_zerotensor") and tensor._is_zerotensor():
        # A zero gradient that PyTorch knows of without having memory for it.
        return write(tensor.new_zeros(tensor.shape).tolist())
    return write(tensor.detach().tolist())


def run(scenario: Scenario, torch: ModuleType) -> list[Any]:
    """Run a scenario and give its events; warnings are events too, at the moment they come."""
    log = Log(torch)
    # PyTorch remembers for the whole process which kind of global backward hook came first; each
    # log starts again.
    torch.nn.modules.module._global_is_full_backward_hook = None

    def showwarning(message: Warning | str, category: type[Warning], *_: Any) -> None:
        log.events.append([{"warning": category.__name__, "message": clean(str(message))}])

    with warnings.catch_warnings(), _every_warning(torch):
        warnings.simplefilter("always")
        warnings.showwarning = showwarning
        try:
            scenario(torch, log)
        except Exception as error:
            log.error("stopped by", error)
    return log.events


@contextlib.contextmanager
def _every_warning(torch: ModuleType) -> Iterator[None]:
    """Let PyTorch's C++ code warn each time, not once a process: a log must not depend on the one
    before.
    """
    if not hasattr(torch, "set_warn_always"):
        yield
        return
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        yield
    finally:
        torch.set_warn_always(before)
