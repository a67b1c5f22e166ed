"""Plot where a network looked: a map laid over the image, for saliency and Grad-CAM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.viz.plots.plot import Plot
from minigrad.viz.shapes import BLACK, BLUE, RULE, VERMILLION
from minigrad.viz.style import matplotlib_module, styled
from minigrad.viz.tables import significant, text_table

_LEVELS = (0.25, 0.5, 0.75)
_SIGNS = 16  # maps of up to so many pixels a side have their signs written into them


@styled()
def plot_heat_map(
    image: Any,
    heat: Any,
    *,
    names: Sequence[str] | None = None,
    signed: bool | None = None,
    ink: bool = True,
    what: str = "map",
    title: str | None = None,
) -> Plot:
    """Plot an image, a map of it in colors, and the map's contours over the image.

    Both maps of colors are safe for color-blind readers. Where nothing is negative, brighter means
    more, in gray as well. Where there are two signs, the colors go from blue over white to red;
    since in gray those two look alike, small maps have + and - written into their strong pixels,
    and contours are solid for plus, dashed for minus. Contours stand at 25, 50 and 75 percent of
    the largest size.

    Args:
        image: One image (H, W) or (C, H, W) with one or three channels, or a batch (N, C, H, W).
        heat: Its map (H, W), or maps (N, H, W), as `saliency` and `grad_cam` give them.
        names: What to write in front of each image.
        signed: Whether the map has two signs; by default if it has negative entries.
        ink: Draw images of one channel dark on light: the larger, the darker.
        what: What the map is called.
        title: A line above.

    Returns:
        The plot: a row for each image. Its table says where each map has its largest entries.

    Raises:
        ValueError: If the shapes do not fit.
        ImportError: If matplotlib is not installed.

    Example:
        >>> plot_heat_map([[0.0, 1.0]], [[0.5, -2.0]], what="saliency")
        Plot: Image 1, its saliency in color and as contours over the image. Image 1: from -2.0 \
to 0.50, the largest size at row 0, column 1.
        <BLANKLINE>
        image    lowest  highest  row  column  share in the top tenth
        image 1    -2.0     0.50    0       1                     80%
    """
    images, maps = _images(image), _maps(heat)
    if len(images) != len(maps) or images.shape[1:3] != maps.shape[1:]:
        raise ValueError(
            f"{len(images)} image(s) of {images.shape[1:3]} do not fit to {len(maps)} map(s) of "
            f"{maps.shape[1:]}"
        )
    names = [f"image {at + 1}" for at in range(len(maps))] if names is None else list(names)
    if len(names) != len(maps):
        raise ValueError(f"there are {len(maps)} images but {len(names)} names")
    two_signs = bool((maps < 0).any()) if signed is None else signed
    facts = [_facts(each) for each in maps]
    told = [
        f"{name}: from {f[0]} to {f[1]}, the largest size at row {f[2]}, column {f[3]}"
        for name, f in zip(names, facts, strict=True)
    ]
    one = len(maps) == 1
    alt = names[0][:1].upper() + names[0][1:] if one else f"{len(maps)} images"
    alt += f", {'its' if one else 'each with its'} {what} in color and as contours over the image. "
    told = [words[:1].upper() + words[1:] for words in told]
    alt += "; ".join(told) + "."
    head = ["image", "lowest", "highest", "row", "column", "share in the top tenth"]
    table = text_table(head, [[n, *f] for n, f in zip(names, facts, strict=True)])
    size = (8.0, 0.4 + 2.35 * len(maps))
    plot = Plot(alt, 3, size, rows=len(maps), widths=(1, 1.16, 1), table=table)
    for row, (picture, each, name) in enumerate(zip(images, maps, names, strict=True)):
        left, middle, right = plot.axes[3 * row : 3 * row + 3]
        _show_image(left, picture, ink)
        left.set_ylabel(name)
        shown = _show_map(middle, each, two_signs)
        bar = plot.figure.colorbar(shown, ax=middle, fraction=0.05, pad=0.04)
        bar.outline.set_edgecolor(RULE)
        bar.ax.tick_params(labelsize=8)
        _show_image(right, picture, ink, faint=True)
        _contours(right, each)
        if row == 0:
            for axes, words in zip((left, middle, right), ("image", what, "contours"), strict=True):
                axes.set_title(words, fontsize=10)
        for axes in (left, middle, right):
            axes.set_xticks([])
            axes.set_yticks([])
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set(visible=True, color=RULE)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


def _array(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(value.detach().numpy() if hasattr(value, "detach") else value, np.float64)


def _images(image: Any) -> np.ndarray[Any, Any]:
    """Give images (N, H, W, 1 or 3), their values from 0 to 1."""
    array = _array(image)
    if array.ndim == 2:
        array = array[None, None]
    elif array.ndim == 3:
        array = array[None]
    if array.ndim != 4 or array.shape[1] not in (1, 3):
        raise ValueError(
            "expected an image (H, W) or (C, H, W) with one or three channels, or images "
            f"(N, C, H, W), but got {array.shape}"
        )
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        array = (array - low) / ((high - low) or 1.0)
    return array.transpose(0, 2, 3, 1)


def _maps(heat: Any) -> np.ndarray[Any, Any]:
    array = _array(heat)
    if array.ndim not in (2, 3):
        raise ValueError(f"expected a map (H, W) or maps (N, H, W), but got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("the map has entries that are not finite")
    return array if array.ndim == 3 else array[None]


def _facts(heat: np.ndarray[Any, Any]) -> list[str]:
    """Give where a map begins and ends, where it is strongest, and how far it is concentrated.

    The lowest entry of a map without negative ones is told as 0: it may be all rounding.
    """
    sizes = np.abs(heat)
    row, column = np.unravel_index(int(sizes.argmax()), heat.shape)
    top = np.sort(sizes.ravel())[::-1][: max(1, round(heat.size / 10))]
    share = float(top.sum() / (sizes.sum() or 1.0))
    lowest = float(heat.min())
    ends = ["0" if lowest >= 0 else significant(lowest, 2), significant(float(heat.max()), 2)]
    return [*ends, str(row), str(column), f"{100 * share:.0f}%"]


def _show_image(axes: Any, picture: np.ndarray[Any, Any], ink: bool, faint: bool = False) -> None:
    if picture.shape[-1] == 1:
        tone = 1 - picture if ink else picture
        picture = np.repeat(tone, 3, axis=-1)
    if faint:
        picture = 0.72 + 0.28 * picture
    axes.imshow(picture, interpolation="nearest", vmin=0, vmax=1)


def _show_map(axes: Any, heat: np.ndarray[Any, Any], two_signs: bool) -> Any:
    if not two_signs:
        return axes.imshow(heat, interpolation="nearest", vmin=0, vmax=float(heat.max()) or 1.0)
    most = float(np.abs(heat).max()) or 1.0
    ramp = matplotlib_module("matplotlib.colors").LinearSegmentedColormap.from_list(
        "signed", ["#00304d", BLUE, "#ffffff", VERMILLION, "#5c2800"]
    )
    shown = axes.imshow(heat, interpolation="nearest", cmap=ramp, vmin=-most, vmax=most)
    if max(heat.shape) <= _SIGNS:
        for (row, column), value in np.ndenumerate(heat):
            if abs(value) >= 0.25 * most:
                look = {"color": "white" if abs(value) > 0.45 * most else BLACK, "fontsize": 8}
                look |= {"ha": "center", "va": "center", "fontweight": "bold"}
                axes.text(column, row, "+" if value > 0 else "\N{MINUS SIGN}", **look)
    return shown


def _contours(axes: Any, heat: np.ndarray[Any, Any]) -> None:
    most = float(np.abs(heat).max())
    if most == 0:  # nothing to draw a line around
        return
    height, width = heat.shape
    framed = np.pad(heat, 1)  # so that lines close at the edge of the image
    columns, rows = np.arange(-1, width + 1), np.arange(-1, height + 1)
    for sign, color, line in ((1, VERMILLION, "solid"), (-1, BLUE, "dashed")):
        levels = [level * most for level in _LEVELS if (sign * heat).max() > level * most]
        if levels:
            widths = [1.0, 1.8, 2.8][: len(levels)]
            look = {"colors": color, "linestyles": line, "linewidths": widths}
            axes.contour(columns, rows, np.maximum(sign * framed, 0.0), levels, **look)
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
