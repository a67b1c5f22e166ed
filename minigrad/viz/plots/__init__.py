"""Plot what hooks collected, in one style, with words and numbers beside each picture."""

from minigrad.viz.plots.curves import plot_chain, plot_function_and_tangent
from minigrad.viz.plots.differences import plot_difference_error
from minigrad.viz.plots.distributions import plot_distributions
from minigrad.viz.plots.flow import plot_dead_units, plot_gradient_flow, plot_update_ratios
from minigrad.viz.plots.maps import plot_heat_map
from minigrad.viz.plots.plot import Plot
from minigrad.viz.plots.timeline import plot_timeline
from minigrad.viz.plots.twins import plot_twins

__all__ = [
    "Plot",
    "plot_chain",
    "plot_dead_units",
    "plot_difference_error",
    "plot_distributions",
    "plot_function_and_tangent",
    "plot_gradient_flow",
    "plot_heat_map",
    "plot_timeline",
    "plot_twins",
    "plot_update_ratios",
]
