"""Look at what a computation left behind: its graph, its tensors and where each hook sits."""

from minigrad.autograd.recording import (
    Event,
    GradientAccumulated,
    GradientCaptured,
    GradientSent,
    HookFired,
    Log,
    NodeStarted,
    PassStarted,
    RuleApplied,
    record,
)
from minigrad.viz.attribution import grad_cam, saliency
from minigrad.viz.collecting import GradientFlow
from minigrad.viz.collecting_calls import ForwardCalls
from minigrad.viz.collecting_values import Distributions
from minigrad.viz.drawing import draw
from minigrad.viz.graph import between
from minigrad.viz.modules import watch_modules
from minigrad.viz.picture import Picture, beside
from minigrad.viz.player import Player, play
from minigrad.viz.plots import (
    Plot,
    plot_chain,
    plot_dead_units,
    plot_difference_error,
    plot_distributions,
    plot_function_and_tangent,
    plot_gradient_flow,
    plot_heat_map,
    plot_timeline,
    plot_twins,
    plot_update_ratios,
)
from minigrad.viz.style import styled, use_style

__all__ = [
    "Distributions",
    "Event",
    "ForwardCalls",
    "GradientAccumulated",
    "GradientCaptured",
    "GradientFlow",
    "GradientSent",
    "HookFired",
    "Log",
    "NodeStarted",
    "PassStarted",
    "Picture",
    "Player",
    "Plot",
    "RuleApplied",
    "beside",
    "between",
    "draw",
    "grad_cam",
    "play",
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
    "record",
    "saliency",
    "styled",
    "use_style",
    "watch_modules",
]
