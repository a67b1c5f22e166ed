"""Look at what a computation left behind: its graph, its tensors and where each hook sits."""

from minigrad.viz.graph import between
from minigrad.viz.picture import Picture, beside, draw
from minigrad.viz.plots import Plot, plot_chain, plot_function_and_tangent
from minigrad.viz.style import styled, use_style

__all__ = [
    "Picture",
    "Plot",
    "beside",
    "between",
    "draw",
    "plot_chain",
    "plot_function_and_tangent",
    "styled",
    "use_style",
]
