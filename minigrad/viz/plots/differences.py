"""Plot how wrong finite differences are, against an exact derivative: the V of their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import autograd, complex128, float64, no_grad, tensor
from minigrad.viz.plots.plot import MARKERS, Plot, write
from minigrad.viz.shapes import BLUE, GREEN, RULE, VERMILLION, WIRE
from minigrad.viz.style import styled
from minigrad.viz.tables import significant, text_table
from minigrad.viz.text import format_number

_EPS = float(np.finfo(np.float64).eps)
_SHARE = 1e-3  # of an error that rounding may make up for the error to be printed
_METHODS = ("one-sided", "central", "complex step")


@styled()
def plot_difference_error(
    function: Callable[[Any], Any],
    at: float,
    *,
    steps: Sequence[float] | None = None,
    complex_step: bool = True,
    name: str = "f",
    title: str | None = None,
) -> Plot:
    r"""Plot the error of finite differences against the step $h$, both on log scales.

    The derivative is taken by autograd in float64, and compared with

    $$\frac{f(x+h) - f(x)}{h}, \qquad \frac{f(x+h) - f(x-h)}{2h}, \qquad
    \frac{\operatorname{Im} f(x + ih)}{h}.$$

    The first two form a V: on its right the error falls with $h$ and $h^2$ (what the Taylor series
    leaves out), on its left it grows as $\epsilon / h$ (rounding), so the best steps are near
    $\epsilon^{1/2}$ and $\epsilon^{1/3}$. The complex step subtracts nothing and has no left side.
    An error of exactly zero is drawn at the bottom.

    Args:
        function: Takes a tensor with one entry and returns one. For the complex step it has to
            take a complex one, be made of analytic functions, and not of `abs` or comparisons.
        at: Where to take the derivative.
        steps: The steps; by default two in each decade from 1e-1 to 1e-15.
        complex_step: Whether to show it.
        name: What the function is called.
        title: A line above.

    Returns:
        The plot. Its table has the relative errors that are free of rounding; the others, which
        differ from machine to machine, are given as "rounding".

    Raises:
        ValueError: If a step is not positive, or the derivative is not finite.
        NotImplementedError: If the function cannot be computed on complex numbers.
        ImportError: If matplotlib is not installed.

    Example:
        >>> plot = plot_difference_error(lambda x: x.exp(), 1.0, steps=[0.1, 0.01, 1e-9])
        >>> print(plot.table)
        h         one-sided   central  complex step
        1.00e-01      0.052    0.0017        0.0017
        1.00e-02     0.0050   1.7e-05       1.7e-05
        1.00e-09   rounding  rounding      rounding
    """
    if steps is None:
        steps = [10 ** (-k / 2) for k in range(2, 31)]
    steps = sorted(map(float, steps), reverse=True)
    if not steps or steps[-1] <= 0:
        raise ValueError("the steps have to be positive")
    value, exact = _value_and_derivative(function, at)
    scale = abs(exact) or 1.0
    methods = _METHODS if complex_step else _METHODS[:2]
    estimates = [_estimates(function, at, value, h, complex_step) for h in steps]
    errors = {
        method: [abs(row[place] - exact) / scale for row in estimates]
        for place, method in enumerate(methods)
    }
    bounds = [_rounding(value, exact, at, h) / scale for h in steps]
    rows = []
    for place, h in enumerate(steps):
        cells = []
        for method in methods:
            error = errors[method][place]
            free = _is_free(method, error, bounds[place])
            cells.append(significant(error, 2) if free else "rounding")
        rows.append([f"{h:.2e}", *cells])
    while len(rows) > 1 and set(rows[-1][1:]) == set(rows[-2][1:]) == {"rounding"}:
        rows.pop()  # all smaller steps are told by one row
    alt = f"Relative error of the derivative of {name} at x = {format_number(float(at))}, which is "
    alt += f"{significant(exact, 4)}, for steps h from {steps[0]:.0e} down to {steps[-1]:.0e}, on "
    alt += "log scales. "
    alt += "; ".join(_told(method, steps, errors[method], bounds) for method in methods) + "."
    if steps[-1] < 1e-8:
        alt += " For smaller h rounding makes differences worse again, up to about "
        alt += f"{significant(bounds[-1], 1)}: a V."
        alt += " The complex step stays down." if complex_step else ""
    plot = Plot(alt, size=(7.2, 4.4), table=text_table(["h", *methods], rows))
    axes, floor = plot.axes, _EPS / 8
    for at_method, (method, color, line) in enumerate(
        zip(methods, (BLUE, VERMILLION, GREEN), ("-", "--", "-."), strict=False)
    ):
        shown = [max(error, floor) for error in errors[method]]
        look = {"markersize": 5, "markeredgecolor": WIRE, "markeredgewidth": 0.5}
        marker = MARKERS[at_method]
        axes.plot(steps, shown, color=color, linestyle=line, marker=marker, label=method, **look)
    axes.set(xscale="log", yscale="log", xlabel="step h", ylabel="relative error")
    top = max(max(row) for row in errors.values())
    axes.set_ylim(floor / 3, max(top, 1e-3) * 5)
    for power, words in ((1 / 2, "$\\epsilon^{1/2}$"), (1 / 3, "$\\epsilon^{1/3}$")):
        best = _EPS**power
        if steps[-1] < best < steps[0]:
            axes.axvline(best, color=RULE, linewidth=1.4, zorder=0, linestyle="-")
            transform = axes.get_xaxis_transform()
            write(axes, best, 1.0, f" {words}", transform=transform, va="top", fontsize=11)
    axes.axhline(_EPS, color=RULE, linewidth=1.4, zorder=0, linestyle="-")
    write(axes, steps[0], _EPS * 1.3, "$\\epsilon$", ha="right", va="bottom", fontsize=11)
    axes.set_title(title or f"three ways to {name}'(x)" if complex_step else title or "")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return plot


def _value_and_derivative(function: Callable[[Any], Any], at: float) -> tuple[float, float]:
    x = tensor(float(at), dtype=float64, requires_grad=True)
    y = function(x)
    (slope,) = autograd.grad(y, x)
    exact = float(slope.item())
    if not math.isfinite(exact):
        raise ValueError(f"the derivative at {at} is {exact}")
    return float(y.item()), exact


def _estimates(
    function: Callable[[Any], Any], at: float, value: float, h: float, complex_step: bool
) -> list[float]:
    with no_grad():
        ahead, behind = (
            float(function(tensor(float(at) + side, dtype=float64)).item()) for side in (h, -h)
        )
        found = [(ahead - value) / h, (ahead - behind) / (2 * h)]
        if complex_step:
            beside = function(tensor(complex(at, h), dtype=complex128)).item()
            found.append(complex(beside).imag / h)
    return found


def _is_free(method: str, error: float, bound: float) -> bool:
    """Tell whether rounding has no share in an error worth speaking of."""
    # the complex step rounds as any formula does, the others by what they subtract
    return error * _SHARE > (16 * _EPS if method == "complex step" else bound)


def _told(method: str, steps: list[float], errors: list[float], bounds: list[float]) -> str:
    """Say with which power of h an error falls, and down to which step."""
    free = [
        (h, error)
        for h, error, bound in zip(steps, errors, bounds, strict=True)
        if _is_free(method, error, bound)
    ]
    if len(free) < 2:
        return f"{method}: nothing but rounding" if not free else f"{method}: rounding"
    (h, error), (last_h, last) = free[-2:]
    power = math.log(error / last) / math.log(h / last_h)
    return (
        f"{method}: falls as h to the power {power:.1f} to {significant(last, 2)} at {last_h:.0e}"
    )


def _rounding(value: float, exact: float, at: float, h: float) -> float:
    """Bound what rounding, of the values and of x + h, can do to a difference quotient."""
    return 4 * _EPS * (abs(value) + abs(exact) * (abs(at) + h)) / h
