"""Stand for PyTorch's ways to use several GPUs: without any, a model runs as it is."""

from __future__ import annotations

from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import _BatchNorm

__all__ = ["DataParallel", "SyncBatchNorm"]


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


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """Run a module on its inputs, a tuple of them or one, on the CPU."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of any number of dimensions; in one process there is nothing to share."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
