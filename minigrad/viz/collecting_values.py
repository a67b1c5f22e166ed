"""Watch which values pass through the layers, forward and backward: `Distributions`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import Tensor, is_grad_enabled, nn
from minigrad.viz.collector import Collector, layer_label
from minigrad.viz.tables import significant, text_table

MOST = 2001  # values kept of each tensor
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
_PASSING_ON = (nn.Flatten, nn.Unflatten, nn.Identity, *_DROPOUTS)


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one tensor in one step, sorted and thinned out to at most 2,001 quantiles.

    Attributes:
        count: How many entries the tensor had.
        zeros: The share that was exactly zero.
        mean: The mean of the finite ones.
        std: Their standard deviation (divided by the count, not by one less).
        not_finite: How many were infinite or NaN.
        sample: Of the finite ones that are not zero, the quantiles at even steps, from the
            smallest to the largest; all of them if there are no more than 2,001.
    """

    count: int
    zeros: float
    mean: float
    std: float
    not_finite: int
    sample: np.ndarray[Any, Any]

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> Values:
        """Look at an array."""
        flat = array.ravel()
        is_finite = np.isfinite(flat)
        finite = flat if is_finite.all() else flat[is_finite]
        sample = np.sort(finite[finite != 0])
        if len(sample) > MOST:
            sample = sample[np.linspace(0, len(sample) - 1, MOST).round().astype(int)]
        zeros = (finite.size - np.count_nonzero(finite)) / flat.size if flat.size else 0.0
        mean = std = math.nan
        if finite.size:
            mean = float(finite.mean(dtype=np.float64))
            std = float(finite.std(dtype=np.float64))
        return cls(flat.size, zeros, mean, std, flat.size - finite.size, sample.astype(float))

    @property
    def mean_text(self) -> str:
        """The mean as text: "~0" if it is under a hundredth of the standard deviation.

        Such a mean may be all rounding, as that of gradients that have to add up to zero.
        """
        return "~0" if 0 < abs(self.mean) < 0.01 * self.std else significant(self.mean)


class Distributions(Collector):
    """Collect the values of each layer's output and of the gradient that arrives there.

    A step is a forward pass of the model with gradients and the backward pass that follows. The
    collector sits on forward hooks, which hook the tensor that the layer returned. It does not use
    full backward hooks: their gates would forbid layers that write in place. A run with it gives
    the same numbers as one without, to the last bit. It sorts all values, so it makes steps some
    four times as long: in long runs let it look at few of them.

    Args:
        model: The model.
        layers: The names of the modules to watch; by default all that contain no other module, but
            for those that only pass values on (`Flatten`, `Dropout`, `Identity`).
        every: Look at each of so many steps only: the first, and then each `every`-th.

    Attributes:
        layers: The names of the layers that are watched.
        steps: How many steps there were.
        activations: For each layer a dict from the number of a step to its `Values`. A layer that
            is called several times in one pass has `"name (2)"`, and so on.
        gradients: The same for the gradients with respect to those outputs.

    Raises:
        ValueError: If the model has no such module, or `every` is less than 1.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
        >>> with Distributions(model) as seen:
        ...     model(torch.tensor([-1.0, 0.0, 1.0, 3.0], requires_grad=True)).sum().backward()
        >>> seen
        Distributions over 1 step
        layer    mean    std  zero  gradient: mean    std  zero
        0 ReLU   1.00   1.22   50%           0.607  0.418    0%
        1 Tanh  0.439  0.447   50%            1.00      0    0%
        >>> seen.activations["0 ReLU"][0].sample
        array([1., 3.])
    """

    def __init__(
        self, model: nn.Module, layers: Sequence[str] | None = None, *, every: int = 1
    ) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(f"every must be at least 1, but it is {every}")
        modules = dict(model.named_modules())
        if layers is None:
            layers = [
                name
                for name, module in modules.items()
                if next(module.children(), None) is None and not isinstance(module, _PASSING_ON)
            ]
        if unknown := [name for name in layers if name not in modules]:
            raise ValueError(f"the model has no module named {', '.join(map(repr, unknown))}")
        if not layers:
            raise ValueError("the model has no module to watch")
        self.model = model
        self.every = every
        self._modules = {layer_label(name, modules[name]): modules[name] for name in layers}
        self.layers = list(self._modules)
        self.steps = 0
        self.activations: dict[str, dict[int, Values]] = {}
        self.gradients: dict[str, dict[int, Values]] = {}
        self._calls: dict[str, int] = {}

    def _register(self) -> Iterable[Any]:
        yield self.model.register_forward_pre_hook(self._begin_forward)
        for label, module in self._modules.items():
            yield module.register_forward_hook(self._hook_for(label))

    def _begin_forward(self, module: Any, args: Any) -> None:
        if is_grad_enabled():
            self.steps += 1
            self._calls = {}

    def _hook_for(self, label: str) -> Callable[[Any, Any, Any], None]:
        def note_values(module: Any, args: Any, result: Any) -> None:
            step = self.steps - 1
            tensor = _first_tensor(result)
            if tensor is None or not is_grad_enabled() or step % self.every:
                return
            call = self._calls[label] = self._calls.get(label, 0) + 1
            name = label if call == 1 else f"{label} ({call})"
            self.activations.setdefault(name, {})[step] = Values.of(tensor.detach().numpy())
            if tensor.requires_grad:
                tensor.register_hook(self._gradient_hook(name, step))

        return note_values

    def _gradient_hook(self, name: str, step: int) -> Callable[[Any], None]:
        def note_gradient(grad: Any) -> None:
            if self.attached:
                self.gradients.setdefault(name, {})[step] = Values.of(grad.detach().numpy())

        return note_gradient

    @property
    def table(self) -> str:
        """Mean, standard deviation and share of zeros of the last step that was looked at."""
        head = ["layer", "mean", "std", "zero", "gradient: mean", "std", "zero"]
        rows = []
        for name, seen in self.activations.items():
            step = max(seen)
            back = self.gradients.get(name, {}).get(step)
            rows.append([name, *_cells(seen[step]), *_cells(back)])
        return text_table(head, rows)

    def __repr__(self) -> str:
        """Return the table."""
        return f"Distributions over {self.steps} step{'' if self.steps == 1 else 's'}\n{self.table}"


def _first_tensor(result: Any) -> Any:
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    return result if isinstance(result, Tensor) else None


def _cells(values: Values | None) -> list[str]:
    if values is None:
        return ["-", "-", "-"]
    return [values.mean_text, significant(values.std), f"{100 * values.zeros:.0f}%"]
