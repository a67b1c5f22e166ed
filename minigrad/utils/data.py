"""PyTorch's path to `minigrad.data`."""

import sys

from minigrad.data import *  # noqa: F403

for _name in ("dataloader", "dataset", "sampler"):
    globals()[_name] = sys.modules[f"{__name__}.{_name}"]  # see minigrad.breadth.paths
