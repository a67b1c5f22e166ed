"""Let programs import what they import from PyTorch: at its paths, or what says it is not here.

Nothing is loaded before it is used. Of a room that minigrad lacks, everything can be imported and
mentioned; a class is one that nothing is an instance of, and what is used says that it is missing.
"""

from __future__ import annotations

import sys
from contextlib import ContextDecorator, nullcontext
from importlib import import_module
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from minigrad.utils import _paths_inside as paths_inside

# Where PyTorch has in a file of its own what is in one of ours.
_ELSEWHERE = {
    "creation.devices:accelerator": "accelerator",
    "creation.devices:backends": "backends",
    "creation.devices:backends.cudnn": "backends.cudnn",
    "creation.devices:cuda": "cuda",
    "creation.devices:version": "version",
    "creation.memory": "storage",
    "data.dataset": "utils.data.dataset utils.data.sampler",
    "data.loader": "utils.data._utils utils.data._utils.collate utils.data.dataloader",
    "extra.layers": "nn.modules.channelshuffle",
    "extra.lazy": "nn.modules.lazy",
    "extra.optimizers": "optim.lbfgs",
    "extra.programs": "amp testing",
    "extra.programs:cuda": "cuda.amp",
    "extra.recurrent": "nn.modules.rnn nn.utils.rnn",
    "extra.transformers": "nn.modules.transformer",
    "extra.transforms": "nn.utils.stateless",
    "nn.modules.layer": "nn.modules.utils",
    "nn.modules.normalization": "nn.modules.batchnorm nn.modules.instancenorm",
    "nn.modules.parameterless": "nn.modules.adaptive nn.modules.distance nn.modules.dropout "
    "nn.modules.flatten nn.modules.fold nn.modules.padding nn.modules.pixelshuffle "
    "nn.modules.pooling nn.modules.sparse nn.modules.upsampling",
}
_PATHS = {path: ours for ours, paths in _ELSEWHERE.items() for path in paths.split()}

_ABSENT = (
    "autograd.forward_ad autograd.profiler compiler distributed distributed.fsdp fft futures fx "
    "hub jit multiprocessing nn.attention nn.parallel nn.utils.parametrizations "
    "nn.utils.parametrize nn.utils.prune onnx optim.swa_utils overrides profiler quantization "
    "sparse utils.benchmark utils.data.distributed utils.tensorboard"
)


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
        return type(name, (), {"__module__": f"torch.{room}", "__new__": refuse})
    refuse.__name__ = refuse.__qualname__ = name
    return refuse


_PATHS |= dict.fromkeys(_ABSENT.split(), "")
for _name, _ours in _PATHS.items():
    sys.modules[f"minigrad.{_name}"] = Path(_name, _ours)
