"""Let programs import what they import from PyTorch: at its paths, or what says it is not here.

Nothing is loaded before it is used. Of a room that minigrad lacks, everything can be imported and
mentioned; a class is one that nothing is an instance of, and what is used says that it is missing.
"""

from __future__ import annotations

import os
import sys
from contextlib import ContextDecorator, nullcontext
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from minigrad.utils import _paths_inside as paths_inside

# Where PyTorch has in a file of its own what is in one of ours.
_ELSEWHERE = {
    "nn.modules.normalization": "batchnorm instancenorm",
    "nn.modules.parameterless": "adaptive distance dropout flatten fold padding "
    "pixelshuffle pooling sparse upsampling",
    "nn.modules.layer": "utils",
}
_PATHS = {f"nn.modules.{n}": ours for ours, names in _ELSEWHERE.items() for n in names.split()}
_PATHS |= dict.fromkeys(("amp", "testing"), "extra.programs")
_PATHS |= {"cuda.amp": "extra.programs:cuda", "storage": "creation.memory"}
_PATHS |= {"sparse": "extra.composed:sparse", "version": "creation.devices:version"}
_PATHS |= {"multiprocessing": "=multiprocessing", "nn.utils.stateless": "extra.transforms"}
_PATHS |= {"utils.data._utils": "data.loader"}
_PATHS |= dict.fromkeys(("nn.modules.rnn", "nn.utils.rnn"), "extra.recurrent")
_PATHS |= {"nn.modules.lazy": "extra.lazy", "nn.modules.transformer": "extra.transformers"}
_PATHS |= {"optim.lbfgs": "extra.optimizers"}
_PATHS |= {"nn.modules.channelshuffle": "extra.layers", "functional": "=minigrad"}
_PATHS |= {f"utils.data.{name}": "data.dataset" for name in ("dataset", "sampler")}
_PATHS |= {f"utils.data.{n}": "data.loader" for n in ("dataloader", "_utils.collate")}
_DEVICES = (
    "accelerator cuda backends backends.cuda backends.cudnn backends.mkl backends.mkldnn "
    "backends.mps backends.openmp"
)
_PATHS |= {name: f"creation.devices:{name}" for name in _DEVICES.split()}

_ABSENT = (
    "_C _custom_ops _dynamo _dynamo.utils ao ao.quantization autograd.forward_ad autograd.profiler "
    "compiler distributed distributed._composable distributed._composable.fsdp "
    "distributed._tensor distributed._tensor.experimental distributed.fsdp distributed.nn "
    "distributed.tensor fft futures fx fx.graph_module hub jit jit.annotations library mps "
    "nn.attention nn.parallel nn.quantized nn.utils._per_sample_grad nn.utils.parametrizations "
    "nn.utils.parametrize nn.utils.prune onnx "
    "onnx.operators onnx.symbolic_helper optim.swa_utils overrides package profiler quantization "
    "signal types utils.benchmark utils.data.distributed utils.model_zoo utils.tensorboard xpu"
)


class Version(str):
    """minigrad's version; beside a tuple, as in `>= (1, 13)`, that of the PyTorch it follows."""


def _beside(sign: str) -> Any:
    def compared(self: Version, other: Any) -> Any:
        return getattr((2, 13) if isinstance(other, tuple) else str(self), sign)(other)

    return compared


for _sign in ("__ge__", "__gt__", "__le__", "__lt__"):
    setattr(Version, _sign, _beside(_sign))


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
        path = file[1:] if file.startswith("=") else f"minigrad.{file}"  # "=": Python's own
        own: Any = import_module(path) if file else None
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


def _home(room: str) -> str:
    """Give the directory where programs keep the weights and data that they fetch."""
    caches = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("TORCH_HOME", os.path.join(caches, "torch"))
    return os.path.join(os.path.expanduser(home), room).rstrip(os.sep)


def _as_it_is(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Give a function back, as nothing is compiled."""
    return function if callable(function) else _as_it_is


def _script(obj: Any, *arguments: Any, **options: Any) -> Any:
    """Give a function or a class back, which computes the same; refuse to make a `ScriptModule`."""
    return obj if isinstance(obj, (FunctionType, type)) else _absent("jit", "script")()


class _Label(ContextDecorator, nullcontext[None]):
    """Names a part of a program for a profiler: as long as none looks, that does nothing."""


# What a room that is not here answers; everything else in it refuses when it is used. Questions are
# answered with no. Decorators, and what torchvision registers for others when it is imported, give
# back what they were given: they change no computation.
_ANSWERS: dict[str, Any] = {
    name: does
    for does, names in {
        (lambda *_, **__: False): "_dynamo.is_compiling compiler.is_compiling mps.is_available "
        "distributed.is_available distributed.is_initialized jit.is_scripting jit.is_tracing "
        "nn.utils.parametrize.is_parametrized onnx.is_in_onnx_export xpu.is_available",
        (lambda *_, **__: None): "_C._get_tracing_state _C._log_api_usage_once _dynamo.reset",
        _as_it_is: "_C.DispatchKeySet _dynamo.allow_in_graph _dynamo.disable "
        "compiler.allow_in_graph compiler.disable fx.wrap jit._overload_method "
        "jit._script_if_tracing jit.export jit.ignore jit.script_if_tracing jit.unused "
        "library.register_fake onnx.register_custom_op_symbolic onnx.symbolic_helper.parse_args",
        _script: "jit.script",
        _Label: "autograd.profiler.record_function profiler.record_function",
        (lambda *lines, **options: import_module("tqdm").tqdm(*lines, **options)): "hub.tqdm",
        partial(_home, ""): "hub._get_torch_home",
        partial(_home, "hub"): "hub.get_dir",
    }.items()
    for name in names.split()
}


class _Absent(type):
    """The kind of a class that is not here; its members, as an enumeration's, can be mentioned."""

    def __getattr__(cls, name: str) -> Any:
        if not name[:1].isupper():
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return _absent(cls.__module__.removeprefix("torch."), f"{cls.__name__}.{name}")


def _absent(room: str, name: str) -> Any:
    """Make what stands for something that is not here."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(
            f"minigrad has no torch.{room}.{name}: leave this out, or run this part on PyTorch."
        )

    if not name[:1].isupper():
        refuse.__name__ = refuse.__qualname__ = name
        return refuse
    content: dict[str, Any] = {"__module__": f"torch.{room}", "__new__": refuse}
    content["__class_getitem__"] = classmethod(lambda cls, kinds: cls)
    return _Absent(name, (), content)


_PATHS |= dict.fromkeys(_ABSENT.split(), "")
for _name, _ours in _PATHS.items():
    sys.modules[f"minigrad.{_name}"] = Path(_name, _ours)
