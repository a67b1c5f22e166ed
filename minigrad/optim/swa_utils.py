"""Average a model over its training: the mean of its weights, or a running one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from minigrad import dtypes
from minigrad.autograd.modes import no_grad
from minigrad.creation import tensor
from minigrad.nn.modules.module import Module
from minigrad.optim.lr_scheduler.base import LRScheduler, one_for_each_group
from minigrad.optim.optimizer import Optimizer
from minigrad.tensor import Tensor

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
AverageOfAll = Callable[[Any, Any, Any], None]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    r"""Give the exponential running average $\bar\theta \leftarrow d \bar\theta + (1-d) \theta$.

    Raises:
        ValueError: If the decay $d$ is not between 0 and 1.
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        return ema_param * decay + current_param * (1 - decay)

    return ema_update  # type: ignore[no-any-return]


def get_swa_avg_fn() -> Average:
    """Give the mean of all weights so far."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update  # type: ignore[no-any-return]


def _of_all(average: Average) -> AverageOfAll:
    @no_grad()
    def update(averaged: Any, current: Any, num_averaged: Any) -> None:
        for mean, value in zip(averaged, current, strict=True):
            mean.copy_(average(mean, value, num_averaged))

    return update  # type: ignore[no-any-return]


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageOfAll:
    """Give the exponential running average, for lists of weights.

    Raises:
        ValueError: If the decay is not between 0 and 1.
    """
    return _of_all(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> AverageOfAll:
    """Give the mean of all weights so far, for lists of weights."""
    return _of_all(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose weights are averages of the model's.

    Source: Izmailov et al., *Averaging weights leads to wider optima and better generalization*,
    2018.

    Args:
        model: The model; it is copied.
        device: Where the copy is; None or "cpu".
        avg_fn: Gives the new average of one weight, from the old one, the weight, and how many
            went in; by default the mean.
        multi_avg_fn: Does so for lists of weights, in place.
        use_buffers: Average buffers, too; otherwise they are copied.

    Raises:
        AssertionError: If both functions are given.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> average = torch.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 3.0):
        ...     with torch.no_grad():
        ...         _ = model.weight.fill_(value)
        ...     average.update_parameters(model)
        >>> average.module.weight.item()
        2.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: AverageOfAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dtypes.int64))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Let the weights of a model go into the average."""
        averaged = [tensor.detach() for tensor in self._tensors_of(self.module)]
        current = [tensor.detach() for tensor in self._tensors_of(model)]
        if self.n_averaged == 0:
            for mean, value in zip(averaged, current, strict=True):
                mean.copy_(value)
        elif averaged:
            update = self.multi_avg_fn or _of_all(self.avg_fn or get_swa_avg_fn())
            update(averaged, current, self.n_averaged)
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(value.detach())
        self.n_averaged += 1

    def _tensors_of(self, model: Module) -> Iterable[Tensor]:
        if self.use_buffers:
            return itertools.chain(model.parameters(), model.buffers())
        return model.parameters()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalization anew, as means over all batches.

    Args:
        loader: The batches; of a tuple or a list the first entry is taken.
        model: The model, such as an averaged one, whose statistics belong to other weights.
        device: Where the batches go to; None or "cpu".
    """
    momenta = {
        module: module.momentum
        for module in model.modules()
        if hasattr(module, "reset_running_stats") and hasattr(module, "momentum")
    }
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The learning rate goes to a fixed value within some epochs, and stays there.

    Args:
        optimizer: Whose learning rates are changed.
        swa_lr: The value, or one for each group.
        anneal_epochs: How many epochs it takes.
        anneal_strategy: "cos" for a wave of the cosine, "linear" for a straight line.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If a setting makes no sense.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        values = one_for_each_group("swa_lr", optimizer, swa_lr)
        for value, group in zip(values, optimizer.param_groups, strict=True):
            group["swa_lr"] = value
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """Give the share of the way after a share of the time."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates from the present ones."""
        self._warn_if_asked_directly()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, at / max(1, self.anneal_epochs))))
            for at in (step - 1, step)
        )
        rates = []
        for group in self.optimizer.param_groups:
            goal, rate = group["swa_lr"], group["lr"]
            first = goal if before == 1 else (rate - before * goal) / (1 - before)
            rates.append(goal * now + first * (1 - now))
        return rates
