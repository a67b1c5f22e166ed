"""Say what gradcheck found wrong: its error, and PyTorch's texts."""

from __future__ import annotations

from typing import Any

import numpy as np


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a gradient fails the check."""

    __module__ = "minigrad.autograd.gradcheck"


NOT_REENTRANT = """\
Backward is not reentrant, i.e., running backward with same input and grad_output multiple times \
gives different values, although analytical gradient matches numerical gradient.\
The tolerance for nondeterminism was {}.

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""

UNDEFINED_REFUSED = (
    "Expected backward function to handle undefined output grads. "
    'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    ". Of a function with several results, only some may be used: then the gradients of the "
    "others are zeros, or None after ctx.set_materialize_grads(False)."
)

UNDEFINED_NOT_ZERO = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
    'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    ". A gradient that is missing counts as zero."
)

UNDEFINED_IS_CHECKED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by "
    "default, but it may break existing callers of this function. If this is true for you, you can "
    'call this function with "check_undefined_grad=False" to disable the feature'
)

NOT_ZERO = (
    "Numerical gradient for function expected to be zero, because no output requires a gradient. "
    "Is something in the function detached, or computed under no_grad()?"
)

IN_FAST_MODE = """
The above quantities relating the numerical and analytical jacobians are computed\x20
in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background\x20
about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 {numerical}
Analytical:
{analytical}

The max per-element difference (slow mode) is: {largest}.
"""

SLOW_MODE_AGREES = """\
Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""


def mismatch(output: int, source: int, numerical: Any, analytical: Any) -> str:
    """Say that the two ways of computing a derivative differ.

    Args:
        output: The number of the output.
        source: The number of the input among those that require a gradient.
        numerical: The tensor found by finite differences.
        analytical: The tensor found by the backward rules.
    """
    return (
        f"Jacobian mismatch for output {output} with respect to input {source},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def place_of_largest(numerical: Any, analytical: Any) -> str:
    """Say where two Jacobians differ most, and how to read the place."""
    with np.errstate(all="ignore"):
        apart = np.abs(numerical - analytical)
    # what is not a number counts as the largest difference of all
    row, column = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), apart.shape)
    return (
        f"A row belongs to an entry of the input, a column to one of the output. They differ most "
        f"at row {row}, column {column}.\n"
    )
