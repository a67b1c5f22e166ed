"""Plot one function with its tangent, or the products along one chain."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.viz.plots.plot import Plot
from minigrad.viz.shapes import BLUE, VERMILLION, WIRE
from minigrad.viz.style import INK, styled
from minigrad.viz.text import format_number


def _number(value: Any) -> float:
    return float(value.item() if hasattr(value, "item") else value)


@styled()
def plot_function_and_tangent(
    function: Callable[[float], Any],
    at: float,
    slope: Any,
    *,
    span: float = 1.0,
    points: int = 121,
    xlabel: str = "x",
    ylabel: str = "L",
    title: str | None = None,
    alt: str | None = None,
) -> Plot:
    """Plot a function of one number with the tangent that a computed gradient gives.

    If the gradient is right, the line touches the curve.

    Args:
        function: takes a float, returns a number or a tensor with one entry.
        at: where the gradient was computed.
        slope: the gradient there, a number or a tensor with one entry.
        span: how far to plot to both sides.
        points: how many points of the curve.
        xlabel: name of the argument.
        ylabel: name of the value.
        title: a line above.
        alt: the alternative text; by default a description with the numbers.

    Returns:
        The plot.

    Raises:
        ImportError: if matplotlib is not installed.

    Example:
        >>> plot_function_and_tangent(lambda x: x * x, at=1.0, slope=2.0)
        Plot: L as a function of x, with its tangent at x = 1.0000: L = 1.0000, slope 2.0000.
    """
    height, steep = _number(function(at)), _number(slope)
    where, value, tilt = format_number(float(at)), format_number(height), format_number(steep)
    if alt is None:
        alt = f"{ylabel} as a function of {xlabel}, with its tangent at {xlabel} = {where}: "
        alt += f"{ylabel} = {value}, slope {tilt}."
    xs = [at - span + 2 * span * step / (points - 1) for step in range(points)]
    ys = [_number(function(x)) for x in xs]
    plot = Plot(alt)
    axes = plot.axes
    axes.plot(xs, ys, color=BLUE, linestyle="-", label=f"{ylabel}({xlabel})")
    reach = [at - 0.6 * span, at + 0.6 * span]
    line = [height + steep * (x - at) for x in reach]
    axes.plot(reach, line, color=VERMILLION, linestyle="--", label=f"tangent, slope {tilt}")
    axes.plot([at], [height], "o", color=INK, label=f"{ylabel}({where}) = {value}")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if title:
        axes.set_title(title)
    axes.legend()
    return plot


@styled()
def plot_chain(
    factors: Sequence[tuple[str, Any]],
    *,
    title: str | None = None,
    alt: str | None = None,
) -> Plot:
    """Plot how a gradient grows or shrinks as the chain rule multiplies it, factor by factor.

    Args:
        factors: pairs of a name (`"dL/dy"`) and a local derivative, from the loss on.
        title: a line above.
        alt: the alternative text; by default the products in words.

    Returns:
        The plot: a bar for the product after each factor, with its value.

    Raises:
        ValueError: if there are no factors.
        ImportError: if matplotlib is not installed.

    Example:
        >>> plot_chain([("dL/dy", -2.0), ("dy/ds", 0.5)])
        Plot: Products along the chain rule: after dL/dy -2.0000, after times dy/ds -1.0000.
    """
    if not factors:
        raise ValueError("the chain has no factors; give pairs of a name and a local derivative")
    products, running = [], 1.0
    for _, factor in factors:
        running *= _number(factor)
        products.append(running)
    names = [name if at == 0 else f"times {name}" for at, (name, _) in enumerate(factors)]
    values = [format_number(product) for product in products]
    if alt is None:
        pairs = zip(names, values, strict=True)
        alt = "Products along the chain rule: "
        alt += ", ".join(f"after {name} {value}" for name, value in pairs) + "."
    plot = Plot(alt)
    axes = plot.axes
    bars = axes.bar(names, products, color=BLUE, edgecolor=WIRE, width=0.6)
    axes.bar_label(bars, values, padding=3)
    axes.axhline(0.0, color=WIRE, linewidth=1.0, linestyle="-")
    axes.margins(y=0.15)
    axes.set_ylabel("gradient so far")
    axes.grid(visible=False, axis="x")
    if title:
        axes.set_title(title)
    return plot
