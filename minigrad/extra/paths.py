"""Let programs import what they import from PyTorch: at its paths, or what says it is not here.

Nothing is loaded before it is used. Of a room that minigrad lacks, everything can be imported and
mentioned; a class is one that nothing is an instance of, and what is used says that it is missing.
"""

from __future__ import annotations

import sys
from contextlib import ContextDecorator, nullcontext
from importlib import import_module
from operator import attrgetter
from types import FunctionType, GenericAlias, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from minigrad.autograd.messages import warn
from minigrad.utils import _paths_inside as paths_inside

# By path of PyTorch's that is no file of ours: where we have what is in it, or "" for nowhere.
_PATHS: dict[str, str] = {}
with open(__file__.removesuffix("py") + "txt", encoding="utf-8") as _table:
    for _line in _table:
        _ours, *_theirs = _line.split()
        if _ours != "#":
            _PATHS |= dict.fromkeys(_theirs, "" if _ours == "nowhere" else _ours)


class Path(ModuleType):
    """A module at one of PyTorch's paths.

    Args:
        name: The path, without the package's name.
        ours: Where we have it, or nothing.
    """

    def __init__(self, name: str, ours: str = "") -> None:
        super().__init__(f"minigrad.{name}", f"Stands at PyTorch's path `torch.{name}`.")
        self.__dict__.update(__path__=[], _name=name, _ours=ours)

    def _own(self) -> Any:
        """Give what we have of this path, or None."""
        file, _, inside = self._ours.partition(":")
        own: Any = import_module(f"minigrad.{file}") if file else None
        return attrgetter(inside)(own) if inside else own

    def __getattr__(self, name: str) -> Any:
        if name == "__all__" and self._ours:
            return self._own().__all__
        if name.startswith("__"):
            raise AttributeError(name)
        path, own = f"{self._name}.{name}", self._own()
        if f"{self.__name__}.{name}" in sys.modules:
            found: Any = sys.modules[f"{self.__name__}.{name}"]
        elif hasattr(own, name):
            found = getattr(own, name)
        elif self._name.startswith("nn.modules."):
            found = getattr(import_module("minigrad.nn"), name)
        elif path in _ANSWERS:
            found = _ANSWERS[path]
        else:
            found = _absent(self._name, name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        own = dir(self._own()) if self._ours else []
        layers = dir(import_module("minigrad.nn")) if self._name.startswith("nn.modules.") else []
        answers = [path.rpartition(".") for path in _ANSWERS]
        inner = [name for room, _, name in answers if room == self._name]
        names = {*inner, *paths_inside(self.__name__), *own, *layers}
        return sorted(name for name in names if not name.startswith("__"))


def _as_it_is(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Give a function back, as nothing is compiled."""
    return function if callable(function) else _as_it_is


def _script(obj: Any, *arguments: Any, **options: Any) -> Any:
    """Give a function or a class back, which computes the same; refuse to make a `ScriptModule`."""
    return obj if isinstance(obj, (FunctionType, type)) else _absent("jit", "script")()


class _Label(ContextDecorator, nullcontext[None]):
    """Names a part of a program for a profiler: as long as none looks, that does nothing."""


# What a room that is not here answers; everything else in it refuses when it is used. Questions are
# answered with no, and decorators that change no computation give back what they were given.
_ANSWERS: dict[str, Any] = {
    name: does
    for does, names in {
        (lambda *_, **__: False): "compiler.is_compiling distributed.is_available "
        "distributed.is_initialized jit.is_scripting jit.is_tracing "
        "nn.utils.parametrize.is_parametrized",
        _as_it_is: "compiler.disable jit.export jit.ignore jit.unused",
        _script: "jit.script",
        _Label: "autograd.profiler.record_function profiler.record_function",
    }.items()
    for name in names.split()
}


def _absent(room: str, name: str) -> Any:
    """Make what stands for something that is not here."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(
            f"minigrad has no torch.{room}.{name}: leave this out, or run this part on PyTorch."
        )

    if name[:1].isupper():
        # annotations such as Future[Tensor] ask for nothing
        generic: Any = classmethod(GenericAlias)
        members = {"__module__": f"torch.{room}", "__new__": refuse, "__class_getitem__": generic}
        return type(name, (), members)
    refuse.__name__ = refuse.__qualname__ = name
    return refuse


# Libraries ask of a model and of a result whether they are such a thing. They never are.
Future = _absent("futures", "Future")
DataParallel, SyncBatchNorm = (_absent("nn", _name) for _name in ("DataParallel", "SyncBatchNorm"))

for _name, _ours in _PATHS.items():
    sys.modules[f"minigrad.{_name}"] = Path(_name, _ours)


def _assert(condition: Any, message: Any) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


# ------------------------------------------------------------------ precision on a GPU


class autocast(ContextDecorator, nullcontext[None]):
    """Compute in the precision that tensors have; for a GPU, warn that there is none.

    Args:
        device_type: Where PyTorch would change the precision.
        dtype: To which type.
        enabled: Whether to.
        cache_enabled: Whether to keep the weights that were rounded.

    Raises:
        NotImplementedError: For the CPU, where PyTorch would compute in half precision.

    Example:
        >>> import minigrad as torch
        >>> with torch.autocast("cpu", enabled=False):
        ...     torch.ones(2) + 1
        tensor([2., 2.])
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        super().__init__()
        if enabled and device_type == "cpu":
            raise NotImplementedError(
                "minigrad has no autocast for the CPU: leave it out, or say enabled=False"
            )
        if enabled:
            warn("CUDA is not available. Disabling autocast.")


class GradScaler:
    """Scale nothing: without a GPU, PyTorch's is switched off, too.

    Args:
        device: Where tensors would be.
        **options: PyTorch's others; `enabled=False` saves the warning.

    Example:
        >>> import minigrad as torch
        >>> torch.amp.GradScaler(enabled=False).scale(torch.ones(1))
        tensor([1.])
    """

    def __init__(self, device: str = "cuda", **options: Any) -> None:
        if options.get("enabled", True):
            warn("CUDA is not available. Disabling GradScaler.")

    def scale(self, outputs: Any) -> Any:
        """Give what it gets."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Leave the gradients."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer take its step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Leave the factor."""


cuda = SimpleNamespace(
    autocast=lambda enabled=True, **options: autocast("cuda", enabled=enabled, **options),
    GradScaler=GradScaler,
)
