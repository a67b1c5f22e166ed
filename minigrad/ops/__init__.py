"""The book of derivatives: each operation's forward and rule, side by side."""

from minigrad.ops import losses as losses
from minigrad.ops.methods import attach

attach()
