"""Let programs import what they import from PyTorch: at its paths, or what says it is not here.

Nothing is loaded before it is used. Of a room that minigrad lacks, a class is one that nothing is
an instance of, and a function says that it is missing when it is called.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

# Where PyTorch has in a file of its own what is in one of ours.
_ELSEWHERE = {
    "nn.modules.normalization": "batchnorm instancenorm",
    "nn.modules.parameterless": "adaptive distance dropout flatten fold padding "
    "pixelshuffle pooling sparse upsampling",
    "breadth.sizes": "utils",
}
_PATHS = {f"nn.modules.{n}": ours for ours, names in _ELSEWHERE.items() for n in names.split()}
_PATHS |= dict.fromkeys(("nn.parallel", "nn.parallel.data_parallel"), "nn.modules.parallel")
_PATHS |= dict.fromkeys(("amp", "amp.autocast_mode", "amp.grad_scaler"), "breadth.precision")
_PATHS |= {"cuda.amp": "breadth.precision:cuda", "testing": "breadth.comparing"}
_PATHS |= {
    "storage": "creation.memory",
}
_DEVICES = (
    "accelerator cuda backends backends.cuda backends.cudnn backends.mkl backends.mkldnn "
    "backends.mps backends.openmp"
)
_PATHS |= {name: f"creation.devices:{name}" for name in _DEVICES.split()}

# What answers a question rather than refuse: nobody is scripting, tracing, exporting, or connected.
_NO = {"is_available", "is_initialized", "is_scripting", "is_tracing", "is_in_onnx_export"}
# A function given to one of these runs as it is.
_AS_IT_IS = {"export", "ignore", "script", "script_if_tracing", "unused", "wrap"}

_ABSENT = (
    "_C ao autograd.profiler compiler distributed distributed.nn fft futures fx hub jit mps "
    "multiprocessing nn.quantized nn.utils._per_sample_grad onnx optim.swa_utils overrides package "
    "profiler quantization signal sparse types utils.data.distributed utils.model_zoo "
    "utils.tensorboard version xpu"
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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        file, _, inside = self._ours.partition(":")
        own: Any = import_module(f"minigrad.{file}") if file else None
        for part in filter(None, inside.split(".")):
            own = getattr(own, part)
        found: Any
        if f"{self.__name__}.{name}" in sys.modules:
            found = sys.modules[f"{self.__name__}.{name}"]
        elif hasattr(own, name):
            found = getattr(own, name)
        elif self._name.startswith("nn.modules."):
            found = getattr(import_module("minigrad.nn"), name)
        elif name in _NO:
            found = _never
        elif name in _AS_IT_IS and self._name in ("fx", "jit"):
            found = _as_it_is
        else:
            found = _absent(self._name, name)
        setattr(self, name, found)
        return found


def _never(*arguments: Any, **options: Any) -> bool:
    """Answer a question: it is not so."""
    return False


def _as_it_is(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Give a function back, as nothing is compiled."""
    return function if function is not None else _as_it_is


def _absent(room: str, name: str) -> Any:
    """Make what stands for something that is not here."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(
            f"minigrad has no torch.{room}.{name}. It computes on the CPU, in one process, and "
            "runs each line when Python comes to it: leave this out, or run this part on PyTorch."
        )

    if not name[:1].isupper():
        refuse.__name__ = refuse.__qualname__ = name
        return refuse
    return type(name, (), {"__module__": f"torch.{room}", "__new__": refuse})


_rooms = [*_PATHS.items(), *dict.fromkeys(_ABSENT.split(), "").items()]
for _name, _ours in _rooms:
    sys.modules[f"minigrad.{_name}"] = Path(_name, _ours)
ROOMS = {name for name, _ in _rooms if "." not in name}
