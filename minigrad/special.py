"""The special functions of mathematics by the names that SciPy and PyTorch have for them.

They are loaded when `minigrad.special` is first asked for.
"""

from __future__ import annotations

from minigrad.signatures import VARIANTS, lazy_loading

for _file in ("activations", "softmax", "special_functions"):
    lazy_loading.load(f"ops.{_file}")

_SAME = "erf erfc exp2 expm1 log1p log_softmax logit logsumexp round softmax xlogy"
_names = {**{name: name for name in _SAME.split()}, "expit": "sigmoid"}
globals().update({name: VARIANTS[ours].function for name, ours in _names.items()})

__all__ = sorted(_names)
