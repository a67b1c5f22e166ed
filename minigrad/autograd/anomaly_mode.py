"""Find the operation behind an error or a NaN in a backward pass: `detect_anomaly`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import OBSERVERS, choose_observers
from minigrad.autograd.messages import anomaly, warn
from minigrad.core import extensions
from minigrad.core.engine import AccumulateGrad, GraphTask
from minigrad.core.modes import modes
from minigrad.core.node import Node

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def is_anomaly_enabled() -> bool:
    """Tell whether anomaly detection is on.

    Example:
        >>> is_anomaly_enabled()
        False
    """
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Tell whether anomaly detection looks for NaN.

    Example:
        >>> is_anomaly_check_nan_enabled()
        True
    """
    return anomaly.check_nan


class set_detect_anomaly:
    """Switch anomaly detection on or off, at once, or for a block if used with `with`.

    While it is on, each operation remembers the line that called it. If its backward fails, or
    gives NaN, a warning shows that line.

    Args:
        mode: Whether to detect anomalies.
        check_nan: Whether NaN in a gradient is an error.

    Example:
        >>> switch = set_detect_anomaly(True)
        >>> is_anomaly_enabled()
        True
        >>> switch = set_detect_anomaly(False)
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = (anomaly.enabled, anomaly.check_nan)
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        """Hold what was set upon creation."""

    def __exit__(self, *exception: object) -> None:
        """Restore what was set before."""
        _switch(*self.previous)


class detect_anomaly(set_detect_anomaly):
    """Find the forward operation whose backward fails or gives NaN, within a block.

    Run the forward and the backward inside the block. It makes both slower.

    Args:
        check_nan: Whether NaN in a gradient is an error.

    Raises:
        RuntimeError: During backward, if a gradient that a node computed holds NaN.

    Example:
        >>> import warnings
        >>> import minigrad as torch
        >>> x = torch.tensor([-1.0], requires_grad=True)
        >>> with warnings.catch_warnings(action="ignore"), detect_anomaly():
        ...     x.sqrt().backward()
        Traceback (most recent call last):
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan, self.previous = check_nan, (anomaly.enabled, anomaly.check_nan)
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
        )

    def __enter__(self) -> None:
        """Look for anomalies from here on."""
        self.previous = (anomaly.enabled, anomaly.check_nan)
        _switch(True, self.check_nan)


def _switch(enabled: bool, check_nan: bool) -> None:
    anomaly.enabled, anomaly.check_nan = enabled, check_nan
    choose_observers()
    kinds: list[Any] = [_watched] if enabled else []
    # in its place, or as the first: a pass is recorded around what is watched
    extensions.pass_kinds[: extensions.pass_kinds[:1] == [_watched]] = kinds


def _remember_the_line(node: Node, outputs: Any) -> None:
    """Note on a new node who called the operation, and the node whose rule did, if one did."""
    traceback = import_module("traceback")  # rarely needed, so that importing stays quick
    frames = traceback.extract_stack()
    while len(frames) > 1 and frames[-1].filename.startswith((_PACKAGE, "<minigrad")):
        frames.pop()
    lines = traceback.format_list(frames)
    sources = (source for source, _ in node.next_functions if isinstance(source, AccumulateGrad))
    leaves = [leaf for leaf in sources if "traceback_" not in leaf.metadata]
    for made in (node, *(_around(node, output) for output in outputs), *leaves):
        if made is not None:
            made.metadata["traceback_"] = lines
            evaluated = getattr(modes.task, "evaluating", None)
            if evaluated is not None:
                made.metadata["parent_"] = evaluated


OBSERVERS.append((lambda: anomaly.enabled, _remember_the_line))


def _around(node: Node, output: Any) -> Node | None:
    """Give the node that a change of a view put into the graph around a new node."""
    edge = None if output._view is None else output._view.base._edge
    around = None if edge is None else edge[0]
    return around if getattr(around, "function", None) is node else None


class AnomalyTask(GraphTask):
    """A backward pass in anomaly mode."""

    every_step = observed = True
    evaluating: Node | None = None  # the node that runs, also while its results are added up

    def _evaluate(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run a node, and say whose forward it was if that fails or gives NaN."""
        self.evaluating = node
        try:
            results = super()._evaluate(node, grad_outputs)
            for position, gradient in enumerate(results if anomaly.check_nan else ()):
                array = getattr(gradient, "_array", gradient)
                if array is not None and array.dtype.kind in "fc" and np.isnan(array).any():
                    raise RuntimeError(
                        f"Function '{node.name()}' returned nan values in its {position}th output."
                    )
        except Exception:
            report(node)
            raise
        return results


@functools.cache
def _watched(kind: type[GraphTask]) -> type[GraphTask]:
    """Give the kind of pass that is a given kind, and watched."""
    return type(kind.__name__, (AnomalyTask, kind), {})


_NO_LINES = (
    "Error detected in {}. No forward pass information available. Enable detect anomaly during "
    "forward pass for more information."
)


def report(node: Any) -> None:
    """Warn with the line that called the operation whose backward went wrong.

    Where warnings are errors, print instead, as an error is on its way already.
    """
    words = "Error detected in {}. Traceback of forward call that caused the error:\n"
    while node is not None:
        lines = node.metadata.get("traceback_")
        text = (_NO_LINES if lines is None else words).format(node.name()) + "".join(lines or ())
        try:
            warn(text)
        except UserWarning:
            print(f"UserWarning: {text}", file=sys.stderr)
        node = node.metadata.get("parent_")
        words = (
            "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced "
            "the previous calculation:\n"
        )
