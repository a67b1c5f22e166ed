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
from minigrad.viz.graph import between
from minigrad.viz.picture import Picture, beside, draw
from minigrad.viz.player import Player, play
from minigrad.viz.plots import Plot, plot_chain, plot_function_and_tangent
from minigrad.viz.style import styled, use_style

__all__ = [
    "Event",
    "GradientAccumulated",
    "GradientCaptured",
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
    "play",
    "plot_chain",
    "plot_function_and_tangent",
    "record",
    "styled",
    "use_style",
]
