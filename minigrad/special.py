"""The special functions of mathematics by the names that SciPy and PyTorch have for them.

They are loaded when `minigrad.special` is first asked for.
"""

from __future__ import annotations

import functools
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.faces import FACES, lazy_loading
from minigrad.faces.arguments import refuse

for _file in ("activations", "rounding", "softmax", "special_functions"):
    lazy_loading.load(f"ops.{_file}")

__all__ = ["digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p"]
__all__ += ["log_softmax", "logit", "logsumexp", "round", "sinc", "softmax", "xlogy"]


def _function(name: str) -> Any:
    return FACES[name].function


erf, erfc, erfinv, logit, sinc = map(_function, ("erf", "erfc", "erfinv", "logit", "sinc"))
gammaln, digamma = _function("lgamma"), _function("digamma")
exp2, expm1, log1p = map(_function, ("exp2", "expm1", "log1p"))
expit, softmax, xlogy = _function("sigmoid"), _function("softmax"), _function("xlogy")
log_softmax, logsumexp = _function("log_softmax"), _function("logsumexp")


@functools.wraps(_function("round"))
def round(input: Any, **options: Any) -> Tensor:
    """Round floating-point numbers, and no integers; see `minigrad.round`."""
    refuse("round_vml_cpu", "iub", input)
    result: Tensor = FACES["round"].function(input, **options)
    return result
