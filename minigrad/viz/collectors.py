"""Watch a model while it trains, by hooks that change nothing: `GradientFlow`, `Distributions`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from minigrad import Tensor, nn
from minigrad.viz import pytorch
from minigrad.viz.text import counted, significant, text_table


class Collector:
    """Hooks that watch, put on together and taken off together; also as a `with` block."""

    _register: Callable[[], Iterable[Any]]

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._handles: list[Any] = []

    def attach(self) -> Self:
        """Put the hooks on.

        Raises:
            RuntimeError: If they are on already.
        """
        if self._handles:
            name = type(self).__name__
            raise RuntimeError(f"this {name} is attached already; call remove() first")
        self._handles = list(self._register())
        return self

    def remove(self) -> None:
        """Take the hooks off; what was collected stays."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    __enter__ = attach

    def __exit__(self, *exception: object) -> None:
        """Remove."""
        self.remove()


def array_of(tensor: Any) -> Any:
    """Give the numbers of a tensor of minigrad's or PyTorch's."""
    return pytorch.as_array(tensor) if pytorch.is_foreign(tensor) else tensor.detach().numpy()


def layer_label(name: str, module: nn.Module) -> str:
    """Name a module in a picture: `2 ReLU`, or `fc1`, whose name says more than a number."""
    kind = type(module).__name__
    last = name.rpartition(".")[2]
    return f"{name} {kind}".strip() if not last or last.isdigit() else name


VANISHING, EXPLODING = 1e-3, 1e3


class GradientFlow(Collector):
    r"""Collect, step by step, how the gradient flows through the layers of a model.

    A layer is a module with parameters of its own that require a gradient. For each the collector
    notes $\lVert g \rVert_2$ over all of them, when `.grad` has been added to (so before any
    clipping). A step ends where the next forward pass begins. The hooks are post-accumulate hooks
    that only read: a run with them gives the same numbers as one without, to the last bit.

    Args:
        model: The model.

    Attributes:
        steps: For each step a dict from layers to norms, without those that got no gradient.
        layers: The layers' names, in the model's order.
        parameters: Pairs of a layer's name and a parameter.

    Raises:
        ValueError: If no parameter of the model requires a gradient.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(2, 1, bias=False)
        >>> with GradientFlow(layer) as flow:
        ...     layer(torch.tensor([0.6, 0.8])).sum().backward()
        >>> flow
        GradientFlow over 1 step
        layer   first  median  last  mark
        Linear   1.00    1.00  1.00
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self.steps: list[dict[str, float]] = []
        self.parameters: list[tuple[str, Any]] = []
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                layer = name.rpartition(".")[0]
                label = layer_label(layer, model.get_submodule(layer))
                self.parameters.append((label, parameter))
        if not self.parameters:
            raise ValueError("the model has no parameter that requires a gradient")
        self.layers = list(dict.fromkeys(label for label, _ in self.parameters))
        self._reference = self.layers[-1]
        self._squares: dict[int, tuple[str, float]] = {}

    def _register(self) -> Iterable[Any]:
        yield self.model.register_forward_pre_hook(lambda module, args: self._end_step())
        for label, parameter in self.parameters:
            note = partial(self._note_gradient, label)
            yield parameter.register_post_accumulate_grad_hook(note)

    def _note_gradient(self, label: str, parameter: Any) -> None:
        if parameter.grad is None:  # a hook before this one has used it up
            return
        if not self._squares:  # the backward pass starts at the layer nearest to the loss
            self._reference = label
        # In float64: squares of float32 overflow from 2e19 on.
        square = np.square(array_of(parameter.grad), dtype=np.float64).sum()
        self._squares[id(parameter)] = label, float(square)

    def _end_step(self) -> None:
        if self._squares:
            sums: dict[str, float] = {}
            for label, square in self._squares.values():
                sums[label] = sums.get(label, 0.0) + square
            self.steps.append({label: math.sqrt(total) for label, total in sums.items()})
        self._squares = {}

    def remove(self) -> None:
        """Take the hooks off; what was collected stays."""
        self._end_step()
        super().remove()

    def mark(self, layer: str) -> str:
        """Judge a layer by its gradients.

        Args:
            layer: Its name.

        Returns:
            "not finite" if any of its norms is infinite or NaN. Else what holds in at least half
            of the steps: "no gradient", "zero"; "vanishing" if the norm is under 1/1000 of that
            of the layer nearest to the loss, "exploding" if it is over 1000 times that or over
            1000. Else "".
        """
        marks = [self._mark_in(step, layer) for step in self.steps]
        if "not finite" in marks:
            return "not finite"
        names = ("no gradient", "zero", "vanishing", "exploding") if marks else ()
        return next((name for name in names if 2 * marks.count(name) >= len(marks)), "")

    def _mark_in(self, step: dict[str, float], layer: str) -> str:
        norm, nearest = step.get(layer), step.get(self._reference, 0.0)
        if norm is None:
            return "no gradient"
        if not math.isfinite(norm):
            return "not finite"
        if norm == 0:
            return "zero"
        if norm < VANISHING * nearest:
            return "vanishing"
        return "exploding" if norm > EXPLODING * (min(nearest, 1.0) or 1.0) else ""

    def __repr__(self) -> str:
        """Return a table: the first, the median and the last norm of each layer, and its mark."""
        rows = []
        for name in self.layers:
            norms = [step[name] for step in self.steps if name in step]
            ends = (norms[0], statistics.median(norms), norms[-1]) if norms else (None,) * 3
            rows.append([name, *map(significant, ends), self.mark(name)])
        table = text_table(["layer", "first", "median", "last", "mark"], rows, left=(0, 4))
        return f"GradientFlow over {counted(len(self.steps), 'step')}\n{table}"


MOST_VALUES = 2001  # values kept of each tensor
# By their names, which are the same in PyTorch.
_PASSING_ON = {"Flatten", "Unflatten", "Identity", "_DropoutNd"}


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one tensor, sorted and thinned out to at most 2,001 quantiles.

    Attributes:
        zeros: The share that was exactly zero.
        mean: The mean of the finite ones.
        std: Their standard deviation (divided by the count, not by one less).
        sample: Of the finite ones that are not zero, the quantiles at even steps, from the
            smallest to the largest; all of them if there are no more than 2,001.
    """

    zeros: float
    mean: float
    std: float
    sample: np.ndarray[Any, Any]

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> Values:
        """Look at an array."""
        finite = array[np.isfinite(array)]
        if not finite.size:
            return cls(0.0, math.nan, math.nan, np.zeros(0))
        sample = np.sort(finite[finite != 0])
        if len(sample) > MOST_VALUES:
            sample = sample[np.linspace(0, len(sample) - 1, MOST_VALUES).round().astype(int)]
        zeros = (finite.size - np.count_nonzero(finite)) / array.size
        mean, std = finite.mean(dtype=np.float64), finite.std(dtype=np.float64)
        return cls(zeros, float(mean), float(std), sample.astype(float))

    @property
    def cells(self) -> tuple[str, str, str]:
        """Mean, standard deviation and share of zeros as text.

        A mean under a hundredth of the standard deviation may be all rounding: it reads "~0".
        """
        mean = "~0" if 0 < abs(self.mean) < 0.01 * self.std else significant(self.mean)
        return mean, significant(self.std), f"{100 * self.zeros:.0f}%"


class Distributions(Collector):
    """Collect the values that each layer puts out, by forward hooks.

    Watched are all modules that contain no other module, but for those that only pass values on
    (`Flatten`, `Dropout`, `Identity`). Each forward pass of the model is a step. All values are
    sorted, so look at a few passes and not at a long run.

    Args:
        model: The model.

    Attributes:
        steps: How many forward passes there were.
        activations: For each layer a dict from the number of a step to its `Values`. A layer that
            is called several times in one pass has `"name (2)"`, and so on.

    Raises:
        ValueError: If the model has no such module.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
        >>> with Distributions(model) as seen:
        ...     result = model(torch.tensor([-1.0, 0.0, 1.0, 3.0]))
        >>> seen
        Distributions over 1 step
        layer    mean    std  zero
        0 ReLU   1.00   1.22   50%
        1 Tanh  0.439  0.447   50%
        >>> seen.activations["0 ReLU"][0].sample
        array([1., 3.])
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self._modules = {
            layer_label(name, module): module
            for name, module in model.named_modules()
            if next(module.children(), None) is None
            and _PASSING_ON.isdisjoint(kind.__name__ for kind in type(module).__mro__)
        }
        if not self._modules:
            raise ValueError("the model has no module to watch")
        self.steps = 0
        self.activations: dict[str, dict[int, Values]] = {}

    def _register(self) -> Iterable[Any]:
        yield self.model.register_forward_pre_hook(self._begin_forward)
        for label, module in self._modules.items():
            yield module.register_forward_hook(partial(self._note_values, label))

    def _begin_forward(self, module: Any, args: Any) -> None:
        self.steps += 1

    def _note_values(self, label: str, module: Any, args: Any, result: Any) -> None:
        while isinstance(result, tuple | list) and result:
            result = result[0]
        if not self.steps or not (isinstance(result, Tensor) or pytorch.is_foreign(result)):
            return
        step, name, call = self.steps - 1, label, 1
        while step in self.activations.setdefault(name, {}):
            call += 1
            name = f"{label} ({call})"
        self.activations[name][step] = Values.of(array_of(result))

    def __repr__(self) -> str:
        """Return a table of the last step: mean, standard deviation and share of zeros."""
        rows = [[name, *seen[max(seen)].cells] for name, seen in self.activations.items()]
        table = text_table(["layer", "mean", "std", "zero"], rows)
        return f"Distributions over {counted(self.steps, 'step')}\n{table}"
