"""Stand for PyTorch's ways to use several GPUs, or a compiler: a model runs as it is."""

from __future__ import annotations

from typing import Any

from minigrad.nn.modules.module import Module

NAMES = ("DataParallel",)


class DataParallel(Module):
    """Run a module, on the CPU; in PyTorch, each GPU would get a part of the batch.

    Args:
        module: What to run. Its parameters' names begin with `module.`, as in PyTorch.
        device_ids: Which GPUs; there are none.
        output_device: Where to gather.
        dim: Which dimension to split.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
        >>> model(torch.ones(3, 2)).shape, list(model.state_dict())
        (torch.Size([3, 1]), ['module.weight', 'module.bias'])
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Run the module."""
        return self.module(*inputs, **kwargs)


class OptimizedModule(Module):
    """What `minigrad.compile` makes of a module: another around it, with all that it has.

    Args:
        mod: The module. Its parameters' names begin with `_orig_mod.`, as in PyTorch.
    """

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod

    def __getattr__(self, name: str) -> Any:
        inner = self.__dict__.get("_modules", {}).get("_orig_mod")
        return inner if name == "_orig_mod" else getattr(inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return [*dir(self._orig_mod), "_orig_mod"]

    training = property(
        lambda self: self._orig_mod.training,
        lambda self, mode: setattr(self._orig_mod, "training", mode),
    )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module."""
        return self._orig_mod(*args, **kwargs)
