"""Small pieces that every other room may use, in the places where PyTorch keeps them."""

from minigrad.late import late as _late

_LATE = {name: f"utils.{name}" for name in ("checkpoint", "data", "hooks")}
__getattr__, __dir__ = _late(__name__, lambda: _LATE)
