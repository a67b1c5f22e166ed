"""Look at what a computation left behind: its graph, its tensors and where each hook sits."""

from minigrad.autograd.recording import GradientAccumulated, HookFired, NodeStarted
from minigrad.viz.bench import hook_bench
from minigrad.viz.collectors import Distributions, GradientFlow
from minigrad.viz.comparison import compare, record
from minigrad.viz.modules import watch_modules
from minigrad.viz.picture import Picture, beside, draw
from minigrad.viz.player import Player, play
from minigrad.viz.plots import Plot, plot_chain, plot_distributions, plot_function_and_tangent
from minigrad.viz.style import styled, use_style
