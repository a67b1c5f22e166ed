"""The book of derivatives: each operation's forward and rule, side by side."""

from minigrad.ops.later import attach_waiting
from minigrad.ops.methods import attach

attach()
attach_waiting()
