"""Compare numerical with analytical Jacobians: entry by entry, or along random directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradcheck import analytical, differences, messages
from minigrad.autograd.gradcheck.differences import Array, Subject, is_continuous
from minigrad.autograd.gradcheck.messages import GradcheckError
from minigrad.core.tensor import wrap_as_normal
from minigrad.creation import dtypes

# Where PyTorch's generators start if nobody seeds them.
_SEED = 67280421310721


class Tolerances:
    """How far things may be from what they should be.

    Attributes:
        eps: The step of the finite differences.
        atol: The absolute tolerance.
        rtol: The tolerance relative to the numerical derivative.
        nondet: The tolerance between two runs of the same backward pass.
        check_grad_dtypes: Whether each gradient must have the dtype of its input.
    """

    def __init__(
        self, eps: float, atol: float, rtol: float, nondet: float, check_grad_dtypes: bool
    ) -> None:
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.nondet, self.check_grad_dtypes = nondet, check_grad_dtypes

    def allow(self, analytical: Array, numerical: Array, scale: float = 1) -> bool:
        """Tell whether two arrays are close enough; `scale` multiplies the absolute tolerance."""
        with np.errstate(all="ignore"):
            return bool(np.allclose(analytical, numerical, self.rtol, self.atol * scale))


def compare_entries(subject: Subject, outputs: Sequence[Any], allowed: Tolerances) -> None:
    """Compare every entry of the Jacobian: the slow mode.

    Args:
        subject: The function and its inputs.
        outputs: All that the function returned.
        allowed: The tolerances.

    Raises:
        GradcheckError: If the two Jacobians differ, or if no output requires a gradient, but one
            changes with the inputs.
    """
    found = [differences.jacobian(subject, x, outputs, allowed.eps) for x in subject.sources]
    differentiable = [output for output in outputs if output.requires_grad]
    if not differentiable:
        if any(np.any(jacobian) for row in found for jacobian in row):
            raise GradcheckError(messages.NOT_ZERO)
        return
    continuous = [output for output in outputs if is_continuous(output)]
    wanted = [number for number, output in enumerate(continuous) if output.requires_grad]
    for i, output in enumerate(differentiable):
        columns = analytical.jacobians(subject, output, allowed.nondet, allowed.check_grad_dtypes)
        for j, exact in enumerate(columns):
            numerical = found[j][wanted[i]]
            if not allowed.allow(exact, numerical):
                raise GradcheckError(
                    messages.mismatch(i, j, wrap_as_normal(numerical), wrap_as_normal(exact))
                    + messages.place_of_largest(numerical, exact)
                )


def compare_projections(subject: Subject, outputs: Sequence[Any], allowed: Tolerances) -> None:
    r"""Compare one number for each pair of input and output: the fast mode.

    For random vectors :math:`u` and :math:`v` the number is :math:`v^T J u`. Finite differences
    give :math:`J u`, one backward pass gives :math:`v^T J`.

    Args:
        subject: The function and its inputs.
        outputs: All that the function returned.
        allowed: The tolerances.

    Raises:
        GradcheckError: As `compare_entries`.
    """
    sources = subject.sources
    differentiable = [output for output in outputs if output.requires_grad]
    draw = Draw()
    directions = [draw.unit_vector(source._array) for source in sources]
    weights = [draw.unit_vector(output._array) for output in differentiable]
    numerical = [
        _numerical_projections(subject, source, direction, weights, outputs, allowed.eps)
        for source, direction in zip(sources, directions, strict=True)
    ]
    if not differentiable:
        for source, direction in zip(sources, directions, strict=True):
            slopes = differences.derivatives(subject, source, direction, allowed.eps)
            if any(np.abs(slope).max(initial=0) > allowed.nondet for slope in slopes):
                raise GradcheckError(messages.NOT_ZERO)
    exact = [
        analytical.gradients(subject, output, v, allowed.nondet, allowed.check_grad_dtypes)
        for output, v in zip(differentiable, weights, strict=True)
    ]
    for i, direction in enumerate(directions):
        for j, projected in enumerate(numerical[i]):
            with np.errstate(all="ignore"):
                expected = np.asarray(exact[j][i] @ direction)
            scale = float(direction.sum()) * float(weights[j].sum())
            if not allowed.allow(expected, projected, scale):
                output = differentiable[j]
                raise GradcheckError(
                    messages.mismatch(j, i, wrap_as_normal(projected), wrap_as_normal(expected))
                    + _in_slow_mode(subject, outputs, output, i, j, allowed)
                )


def _numerical_projections(
    subject: Subject,
    source: Any,
    direction: Array,
    weights: list[Array],
    outputs: Sequence[Any],
    eps: float,
) -> list[Array]:
    slopes = differences.derivatives(subject, source, direction, eps)
    if len(slopes) != len(outputs):
        raise AssertionError(
            "Expected all_Ju and func_out to have the same length, but got "
            f"{len(slopes)} and {len(outputs)}"
        )
    continuous = [s for s, output in zip(slopes, outputs, strict=True) if is_continuous(output)]
    # As in PyTorch, weights meet outputs in order: an output that needs no gradient must not
    # stand before one that does.
    pairs = zip(weights, continuous, strict=False)
    return [(wrap_as_normal(v) * wrap_as_normal(slope)).sum()._array for v, slope in pairs]


def _in_slow_mode(
    subject: Subject, outputs: Sequence[Any], output: Any, i: int, j: int, allowed: Tolerances
) -> str:
    """Compute the whole Jacobians, to show where the two differ."""
    numerical = differences.jacobian(subject, subject.sources[i], outputs, allowed.eps)[j]
    exact = analytical.jacobians(subject, output, float("inf"), False)[i]
    with np.errstate(all="ignore"):
        largest = np.abs(numerical - exact).max()
    text = messages.IN_FAST_MODE.format(
        numerical=wrap_as_normal(numerical),
        analytical=wrap_as_normal(exact),
        largest=wrap_as_normal(largest),
    )
    if allowed.allow(exact, numerical):
        return text + messages.SLOW_MODE_AGREES
    return text + messages.place_of_largest(numerical, exact)


class Draw:
    """Draws random vectors: in stream 0 PyTorch's own, so that both give the same numbers.

    What the user's own random numbers are is neither read nor changed.
    """

    def __init__(self, stream: int = 0) -> None:
        self.random = np.random.RandomState((_SEED + stream) % 2**32)

    def uniform(self, count: int) -> Array:
        """Draw numbers from 0 to 1, in the default dtype."""
        if dtypes.get_default_dtype() is dtypes.float64:
            words = self._words(2 * count).astype(np.uint64)
            long_words = (words[0::2] << np.uint64(32)) | words[1::2]
            return (long_words % 2**53) * 2.0**-53
        return (self._words(count) % 2**24 * 2.0**-24).astype(np.float32)

    def _words(self, count: int) -> Array:
        return np.frombuffer(self.random.bytes(4 * count), "<u4")

    def unit_vector(self, array: Array) -> Array:
        """Draw a vector of length 1 in the size and the dtype of an array."""
        vector = self.uniform(array.size).astype(array.dtype)
        with np.errstate(all="ignore"):
            return vector / np.linalg.norm(vector)

    def like(self, array: Array, gaps: bool) -> Array:
        """Draw numbers between -1 and 1 in the shape and dtype of an array.

        Args:
            array: What the result is like.
            gaps: Whether the numbers lie in every other place of the memory.
        """
        numbers = (self.uniform(array.size) * 2 - 1).astype(array.dtype).reshape(array.shape)
        return np.repeat(numbers, 2, axis=-1)[..., ::2] if gaps and array.size > 1 else numbers
