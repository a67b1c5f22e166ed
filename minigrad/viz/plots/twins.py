"""Plot a run with hooks beside the same run without them, and where the two differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import nn
from minigrad.viz.plots.plot import Plot, write
from minigrad.viz.shapes import BLUE, ORANGE, RULE, VERMILLION, WIRE
from minigrad.viz.style import INK, styled
from minigrad.viz.tables import significant, text_table

Run = nn.Module | Mapping[str, Any]


@styled()
def plot_twins(
    hooked: Run,
    plain: Run,
    *,
    losses: tuple[Sequence[float], Sequence[float]] | None = None,
    names: tuple[str, str] = ("hooked", "plain"),
    title: str | None = None,
) -> Plot:
    """Plot what two runs have left behind side by side, with their differences.

    At the left the entries of each tensor (30 of them, evenly from the smallest to the largest,
    where there are more), both runs in one row: the plain twin as rings, the hooked one as dots,
    over the row's largest. Where every dot sits in its ring, hooks changed nothing. At the right
    the largest difference of each tensor, on a log scale; "equal" means to the last bit.

    Args:
        hooked: What the run with hooks left: a Module, of which the parameters and their
            gradients are compared, or a dict from names to tensors or numbers.
        plain: What its twin left, under the same names.
        losses: The losses of the two runs, step by step; drawn as curves above.
        names: What the two are called.
        title: A line above.

    Returns:
        The plot. Its table has the norm of each tensor in both runs, and the largest difference.

    Raises:
        ValueError: If the runs have different names or shapes, or nothing to compare.
        ImportError: If matplotlib is not installed.

    Example:
        >>> import minigrad as torch
        >>> plain = {"w.grad": torch.tensor([1.0, -2.0]), "x.grad": torch.tensor(0.5)}
        >>> hooked = {"w.grad": torch.tensor([2.0, -4.0]), "x.grad": torch.tensor(0.5)}
        >>> plot_twins(hooked, plain)
        Plot: Two runs, hooked and plain, compared in 2 tensors. Equal to the last bit: x.grad. \
Different: w.grad (by up to 2.00).
        <BLANKLINE>
        tensor  entries  norm: hooked  plain  largest difference
        w.grad        2          4.47   2.24                2.00
        x.grad        1         0.500  0.500               equal
    """
    pairs = _pairs(_tensors(hooked), _tensors(plain), names)
    gaps = {name: _gap(*pair) for name, pair in pairs.items()}
    equal = [name for name, gap in gaps.items() if gap == 0]
    alt = f"Two runs, {names[0]} and {names[1]}, compared in {len(pairs)} tensor"
    alt += f"{'' if len(pairs) == 1 else 's'}. "
    if equal:
        alt += "Equal to the last bit: "
        alt += ("all" if len(equal) == len(pairs) else ", ".join(equal)) + ". "
    if len(equal) < len(pairs):
        told = [f"{name} (by up to {significant(gap)})" for name, gap in gaps.items() if gap != 0]
        alt += f"Different: {', '.join(told)}. "
    rows = [
        [
            name,
            str(first.size),
            significant(_norm(first)),
            significant(_norm(second)),
            significant(gaps[name]) if gaps[name] else "equal",
        ]
        for name, (first, second) in pairs.items()
    ]
    head = ["tensor", "entries", f"norm: {names[0]}", names[1], "largest difference"]
    table = text_table(head, rows)
    curves = [np.asarray(each, float) for each in losses] if losses is not None else []
    if curves:
        alt += _told_losses(curves, names)
        table += "\n\n" + _loss_table(curves, names)
    height = 1.4 + 0.36 * len(pairs) + (2.4 if curves else 0.0)
    plot = Plot(alt.strip(), size=(9.0, max(2.4, height)), table=table)
    plot.figure.clear()
    parts = [2.2, 0.36 * len(pairs) + 0.8]
    grid = plot.figure.add_gridspec(
        2 if curves else 1,
        2,
        width_ratios=(1.5, 1),
        height_ratios=parts[-1:] if not curves else parts,
    )
    plot.axes = [plot.figure.add_subplot(grid[-1, column]) for column in range(2)]
    _entries(plot.axes[0], pairs, names)
    _differences(plot.axes[1], gaps)
    if curves:
        above = plot.figure.add_subplot(grid[0, :])
        plot.axes.append(above)
        _curves(above, curves, names)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


def _tensors(run: Run) -> dict[str, np.ndarray[Any, Any]]:
    """Give what is to be compared, as arrays by name."""
    if isinstance(run, nn.Module):
        found: dict[str, Any] = {}
        for name, parameter in run.named_parameters():
            found[name] = parameter
            if parameter.grad is not None:
                found[f"{name}.grad"] = parameter.grad
        run = found
    return {
        name: np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)
        for name, value in run.items()
    }


def _pairs(
    first: dict[str, np.ndarray[Any, Any]],
    second: dict[str, np.ndarray[Any, Any]],
    names: tuple[str, str],
) -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    if alone := sorted(first.keys() ^ second.keys()):
        where = names[0] if alone[0] in first else names[1]
        raise ValueError(f"only the run {where!r} has {alone[0]!r}; twins need the same names")
    if not first:
        raise ValueError("the runs have nothing to compare")
    for name, array in first.items():
        if array.shape != second[name].shape:
            raise ValueError(
                f"{name!r} has shape {array.shape} in one run and {second[name].shape} in the other"
            )
    return {name: (array, second[name]) for name, array in first.items()}


def _gap(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """Give the largest difference; infinite where one is not a number and the other is."""
    same = (first == second) | ((first != first) & (second != second))
    if same.all():
        return 0.0
    gaps = np.abs(first[~same].astype(float) - second[~same].astype(float))
    return float(np.where(np.isnan(gaps), np.inf, gaps).max())


def _norm(array: np.ndarray[Any, Any]) -> float:
    return float(np.sqrt(np.square(array, dtype=float).sum()))


def _thinned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Give the places of at most 30 entries, at even steps through the sorted ones."""
    order = np.argsort(array.ravel(), kind="stable")
    return order[np.linspace(0, len(order) - 1, min(30, len(order))).round().astype(int)]


def _entries(
    axes: Any,
    pairs: dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]],
    names: tuple[str, str],
) -> None:
    for row, (first, second) in enumerate(pairs.values()):
        kept = _thinned(second)
        finite = [np.abs(array[np.isfinite(array)]) for array in (first, second)]
        scale = max(float(sizes.max(initial=0.0)) for sizes in finite) or 1.0
        ring = {"markerfacecolor": "none", "markeredgecolor": BLUE, "markersize": 9}
        rows = np.full(len(kept), row)
        label = names[1] if row == 0 else None
        axes.plot(second.ravel()[kept] / scale, rows, "o", markeredgewidth=1.4, label=label, **ring)
        dot = {"color": VERMILLION, "markersize": 4, "label": names[0] if row == 0 else None}
        axes.plot(first.ravel()[kept] / scale, rows, "o", **dot)
    axes.set_yticks(range(len(pairs)), list(pairs))
    axes.set_ylim(len(pairs) - 0.5, -0.5)
    axes.axvline(0.0, color=RULE, linewidth=1.2, linestyle="-", zorder=0)
    axes.set_xlabel("entries, over the largest of their row")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)


def _differences(axes: Any, gaps: dict[str, float]) -> None:
    drawn = [gap for gap in gaps.values() if 0 < gap < np.inf]
    low, high = (min(drawn) / 10, max(drawn) * 100) if drawn else (1e-8, 1.0)
    low, high = max(low, 1e-300), min(high, 1e300)
    axes.set_xscale("log")
    for row, gap in enumerate(gaps.values()):
        at = low
        if 0 < gap < np.inf:
            axes.barh(row, gap - low, left=low, height=0.55, color=ORANGE, edgecolor=WIRE)
            at = gap
        words = f"  {significant(gap)}" if gap else "  equal"
        write(axes, at, row, words, color=INK, fontweight="bold" if gap else "normal")
    axes.set(xlim=(low, high), ylim=(len(gaps) - 0.5, -0.5), xlabel="largest difference")
    axes.set_yticks(range(len(gaps)), [""] * len(gaps))
    axes.grid(visible=False, axis="y")
    if not drawn:
        axes.set_xticks([])


def _curves(axes: Any, curves: list[np.ndarray[Any, Any]], names: tuple[str, str]) -> None:
    look = (
        {"color": VERMILLION, "linewidth": 1.6, "linestyle": "--"},
        {"color": BLUE, "linewidth": 4, "alpha": 0.45, "linestyle": "-"},
    )
    for curve, name, each, order in zip(curves, names, look, (3, 2), strict=True):
        axes.plot(range(1, len(curve) + 1), curve, label=name, zorder=order, **each)
    axes.set(xlabel="step", ylabel="loss")
    axes.legend(loc="best")


def _told_losses(curves: list[np.ndarray[Any, Any]], names: tuple[str, str]) -> str:
    if len(curves[0]) != len(curves[1]) or not len(curves[0]):
        raise ValueError("the losses of twins need the same number of steps, at least one")
    if np.array_equal(curves[0], curves[1], equal_nan=True):
        return f"The losses of all {len(curves[0])} steps are equal."
    ends = [f"{name} {significant(float(c[-1]))}" for name, c in zip(names, curves, strict=True)]
    place = int(np.flatnonzero(curves[0] != curves[1])[0]) + 1
    return f"The losses differ from step {place} on, in the last: {', '.join(ends)}."


def _loss_table(curves: list[np.ndarray[Any, Any]], names: tuple[str, str]) -> str:
    count = len(curves[0])
    places = sorted(set(np.linspace(0, count - 1, min(5, count)).round().astype(int).tolist()))
    rows = []
    for place in places:
        first, second = (float(curve[place]) for curve in curves)
        gap = "equal" if first == second else significant(abs(first - second))
        rows.append([str(place + 1), significant(first, 4), significant(second, 4), gap])
    return text_table(["step", f"loss: {names[0]}", names[1], "difference"], rows)
