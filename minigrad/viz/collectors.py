"""Watch a model while it trains, by hooks that change nothing: `GradientFlow`, `Distributions`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from minigrad import Tensor, is_grad_enabled, nn
from minigrad.viz.text import counted, significant, text_table


class Collector:
    """Hooks that watch, put on together and taken off together; also as a `with` block."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        self._calls: dict[str, int] = {}  # how often each layer was called in this pass

    def _name(self, label: str) -> str:
        """Name one call of a layer: `act`, and `act (2)` for its second in one pass."""
        call = self._calls[label] = self._calls.get(label, 0) + 1
        return label if call == 1 else f"{label} ({call})"

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

    @property
    def attached(self) -> bool:
        """Whether the hooks are on."""
        return bool(self._handles)

    def _register(self) -> Iterable[Any]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Attach."""
        return self.attach()

    def __exit__(self, *exception: object) -> None:
        """Remove."""
        self.remove()


def layer_label(name: str, module: nn.Module) -> str:
    """Name a module in a picture: `2 ReLU`, or `fc1`, whose name says more than a number."""
    kind = type(module).__name__
    last = name.rpartition(".")[2]
    return f"{name} {kind}".strip() if not last or last.isdigit() else name


VANISHING, EXPLODING = 1e-3, 1e3


@dataclass(frozen=True)
class FlowStep:
    """What one training step showed.

    Attributes:
        norms: For each layer the norm of its gradient; no entry if it got none.
        ratios: For each layer the norm of the update over the norm of what was updated.
        dead: For each ReLU the share of its units that were zero for the whole batch.
    """

    norms: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    dead: dict[str, float] = field(default_factory=dict)


class GradientFlow(Collector):
    r"""Collect, step by step, how the gradient flows through the layers of a model.

    A layer is a module with parameters of its own that require a gradient. For each the collector
    notes $\lVert g \rVert_2$ over all of them, when `.grad` has been added to (so before any
    clipping), and $\lVert \Delta w \rVert_2 / \lVert w \rVert_2$, what the optimizer's step
    changed. It notes as well which units of each ReLU were zero for the whole batch: no gradient
    comes through them. Units are counted along the second dimension of images (batch, channels,
    height, width), otherwise along the last; `functional.relu` is no module and is not seen.

    It sits on post-accumulate hooks, forward hooks and the optimizer's step hooks, and only reads:
    a run with it gives the same numbers as one without, to the last bit. Passes without gradients
    (`no_grad`) are not counted.

    Args:
        model: The model.
        optimizer: Its optimizer; each of its steps ends a step here. Without one, a step ends
            where the next forward pass begins, and there are no ratios.

    Attributes:
        steps: A `FlowStep` for each step.
        layers: The layers' names, in the model's order.

    Raises:
        ValueError: If no parameter of the model requires a gradient.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(2, 1, bias=False)
        >>> layer.weight = torch.nn.Parameter(torch.tensor([[3.0, 4.0]]))
        >>> optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        >>> with GradientFlow(layer, optimizer) as flow:
        ...     layer(torch.tensor([0.6, 0.8])).sum().backward()
        ...     optimizer.step()
        >>> flow
        GradientFlow over 1 step
        layer   gradient: first  median  last  update / weight  mark
        Linear             1.00    1.00  1.00           0.0200
    """

    def __init__(self, model: nn.Module, optimizer: Any = None) -> None:
        super().__init__()
        self.model, self.optimizer = model, optimizer
        self.steps: list[FlowStep] = []
        self._parameters = _by_layer(model)
        if not self._parameters:
            raise ValueError("the model has no parameter that requires a gradient")
        self.layers = list(self._parameters)
        self._nearest: str | None = None  # the layer whose gradient comes first
        self._start_step()

    # ------------------------------------------------------------------ what was seen

    @property
    def norms(self) -> dict[str, list[float]]:
        """For each layer the norm of its gradient, step by step; NaN where it got none."""
        return {name: [s.norms.get(name, math.nan) for s in self.steps] for name in self.layers}

    @property
    def ratios(self) -> dict[str, list[float]]:
        """For each layer the ratio of update to weight, step by step; NaN without an optimizer."""
        return {name: [s.ratios.get(name, math.nan) for s in self.steps] for name in self.layers}

    @property
    def dead(self) -> dict[str, list[float]]:
        """For each ReLU the share of dead units, step by step."""
        names = list(dict.fromkeys(name for step in self.steps for name in step.dead))
        return {name: [step.dead.get(name, math.nan) for step in self.steps] for name in names}

    @property
    def reference(self) -> str:
        """The layer nearest to the loss: the one whose gradient came first."""
        return self._nearest or self.layers[-1]

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
        for mark in ("no gradient", "zero", "vanishing", "exploding"):
            if marks and 2 * marks.count(mark) >= len(marks):
                return mark
        return ""

    def _mark_in(self, step: FlowStep, layer: str) -> str:
        norm, nearest = step.norms.get(layer), step.norms.get(self.reference, 0.0)
        if norm is None:
            return "no gradient"
        if not math.isfinite(norm):
            return "not finite"
        if norm == 0:
            return "zero"
        if norm < VANISHING * nearest:
            return "vanishing"
        return "exploding" if norm > exploding_from(nearest) else ""

    @property
    def table(self) -> str:
        """The first, the median and the last norm of each layer, its ratio and its mark."""
        head = ["layer", "gradient: first", "median", "last", "update / weight", "mark"]
        rows = []
        for name in self.layers:
            norms = [step.norms.get(name) for step in self.steps] or [None]
            ends = [norms[0], median(norms), norms[-1]]
            ratio = median([step.ratios.get(name) for step in self.steps])
            rows.append([name, *map(significant, [*ends, ratio]), self.mark(name)])
        text = text_table(head, rows, left=(0, 5))
        if dead := self.dead:
            rows = [[name, *_ends(shares)] for name, shares in dead.items()]
            text += "\n\n" + text_table(["ReLU", "dead units: first", "highest", "last"], rows)
        return text

    def __repr__(self) -> str:
        """Return the table."""
        return f"GradientFlow over {counted(len(self.steps), 'step')}\n{self.table}"

    # ------------------------------------------------------------------ the hooks

    def _register(self) -> Iterable[Any]:
        self._start_step()
        yield self.model.register_forward_pre_hook(self._begin_forward)
        for layer, parameters in self._parameters.items():
            for name, parameter in parameters.items():
                note_gradient = partial(self._note_gradient, layer, name)
                yield parameter.register_post_accumulate_grad_hook(note_gradient)
        for name, module in self.model.named_modules():
            if isinstance(module, nn.ReLU | nn.ReLU6):
                note_units = partial(self._note_silent_units, layer_label(name, module))
                yield module.register_forward_hook(note_units)
        if self.optimizer is not None:
            yield self.optimizer.register_step_pre_hook(self._before_step)
            yield self.optimizer.register_step_post_hook(self._after_step)

    def remove(self) -> None:
        """Take the hooks off; what was collected stays."""
        if self.attached and self.optimizer is None:
            self._end_step({})
        super().remove()

    def _start_step(self) -> None:
        self._squares: dict[tuple[str, str], float] = {}
        self._silent: dict[str, np.ndarray[Any, Any]] = {}
        self._before: dict[str, list[np.ndarray[Any, Any]]] = {}
        self._calls = {}

    def _begin_forward(self, module: Any, args: Any) -> None:
        if is_grad_enabled():
            self._calls = {}
            if self.optimizer is None and self._squares:
                self._end_step({})

    def _note_gradient(self, layer: str, name: str, parameter: Any) -> None:
        if parameter.grad is not None:  # a hook before this one may have used it up
            self._squares[layer, name] = _square(parameter.grad.detach().numpy())
            self._nearest = self._nearest or layer

    def _note_silent_units(self, label: str, module: Any, args: Any, result: Any) -> None:
        if not is_grad_enabled():
            return
        name, silent = self._name(label), _silent_units(result.detach().numpy())
        before = self._silent.get(name)  # an earlier part of the same batch
        same = before is not None and before.shape == silent.shape
        self._silent[name] = silent & before if same else silent

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._before = {
            layer: [each.detach().numpy().copy() for each in parameters.values()]
            for layer, parameters in self._parameters.items()
        }

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        ratios = {}
        for layer, before in self._before.items():
            after = [each.detach().numpy() for each in self._parameters[layer].values()]
            size = math.sqrt(sum(map(_square, before)))
            pairs = zip(after, before, strict=True)
            change = math.sqrt(sum(_square(new.astype(float) - old) for new, old in pairs))
            ratios[layer] = change / size if size else (math.inf if change else 0.0)
        self._end_step(ratios)

    def _end_step(self, ratios: dict[str, float]) -> None:
        sums: dict[str, float] = {}
        for (layer, _), square in self._squares.items():
            sums[layer] = sums.get(layer, 0.0) + square
        norms = {name: math.sqrt(sums[name]) for name in self.layers if name in sums}
        dead = {name: float(units.mean()) for name, units in self._silent.items()}
        if norms or ratios:
            self.steps.append(FlowStep(norms, ratios, dead))
        self._start_step()


def exploding_from(nearest: float) -> float:
    """Give the norm from which on a gradient counts as exploding.

    Args:
        nearest: The norm at the layer nearest to the loss.
    """
    return EXPLODING * (min(nearest, 1.0) or 1.0) if math.isfinite(nearest) else EXPLODING


def median(values: Sequence[float | None]) -> float | None:
    """Give the median of those that are numbers; None if none is."""
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.median(numbers) if numbers else None


def _by_layer(model: nn.Module) -> dict[str, dict[str, Any]]:
    """Give for each layer its own parameters by name; a shared one belongs to the first."""
    layers: dict[str, dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            layer, _, own = name.rpartition(".")
            layers.setdefault(layer_label(layer, model.get_submodule(layer)), {})[own] = parameter
    return layers


def _square(array: np.ndarray[Any, Any]) -> float:
    """Sum the squares, in float64: those of float32 overflow from 2e19 on."""
    return float(np.square(array, dtype=np.float64).sum())


def _silent_units(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Tell for each unit whether it is zero everywhere."""
    units = 1 if array.ndim >= 4 else array.ndim - 1
    return (array == 0).all(axis=tuple(axis for axis in range(array.ndim) if axis != units))


def _ends(shares: Sequence[float]) -> list[str]:
    seen = [share for share in shares if not math.isnan(share)]
    return [f"{100 * share:.1f}%" for share in (seen[0], max(seen), seen[-1])]


MOST_VALUES = 2001  # values kept of each tensor
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
        if len(sample) > MOST_VALUES:
            sample = sample[np.linspace(0, len(sample) - 1, MOST_VALUES).round().astype(int)]
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
        self.model, self.every = model, every
        self._modules = {layer_label(name, modules[name]): modules[name] for name in layers}
        self.layers = list(self._modules)
        self.steps = 0
        self.activations: dict[str, dict[int, Values]] = {}
        self.gradients: dict[str, dict[int, Values]] = {}

    def _register(self) -> Iterable[Any]:
        yield self.model.register_forward_pre_hook(self._begin_forward)
        for label, module in self._modules.items():
            yield module.register_forward_hook(partial(self._note_values, label))

    def _begin_forward(self, module: Any, args: Any) -> None:
        if is_grad_enabled():
            self.steps += 1
            self._calls = {}

    def _note_values(self, label: str, module: Any, args: Any, result: Any) -> None:
        step, tensor = self.steps - 1, _first_tensor(result)
        if tensor is None or not is_grad_enabled() or step % self.every:
            return
        name = self._name(label)
        self.activations.setdefault(name, {})[step] = Values.of(tensor.detach().numpy())
        if tensor.requires_grad:
            tensor.register_hook(partial(self._note_gradient, name, step))

    def _note_gradient(self, name: str, step: int, grad: Any) -> None:
        if self.attached:
            self.gradients.setdefault(name, {})[step] = Values.of(grad.detach().numpy())

    @property
    def table(self) -> str:
        """Mean, standard deviation and share of zeros of the last step that was looked at."""
        head = ["layer", "mean", "std", "zero", "gradient: mean", "std", "zero"]
        rows = []
        for name, seen in self.activations.items():
            back = self.gradients.get(name, {}).get(max(seen))
            rows.append([name, *cells(seen[max(seen)]), *cells(back)])
        return text_table(head, rows)

    def __repr__(self) -> str:
        """Return the table."""
        return f"Distributions over {counted(self.steps, 'step')}\n{self.table}"


def _first_tensor(result: Any) -> Any:
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    return result if isinstance(result, Tensor) else None


def cells(values: Values | None) -> list[str]:
    """Give mean, standard deviation and share of zeros as text."""
    if values is None:
        return ["-", "-", "-"]
    return [values.mean_text, significant(values.std), f"{100 * values.zeros:.0f}%"]
