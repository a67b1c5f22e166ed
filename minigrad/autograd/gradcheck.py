r"""Check gradients against finite differences: `gradcheck`, and `gradgradcheck` for the second.

The derivative along an entry is :math:`(f(x + \epsilon) - f(x - \epsilon)) / 2\epsilon`, with an
error of order :math:`\epsilon^2` from the third derivative and one of order :math:`2^{-52} /
\epsilon` from rounding. The inputs are moved in place, and moved back.

`minigrad.autograd.gradcheck` is both this module, to import from, and, as an attribute of
`minigrad.autograd`, the function: as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradients import grad
from minigrad.autograd.messages import warn
from minigrad.autograd.views import repeated_dims
from minigrad.core.engine import resolve_edge
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor, wrap_as_normal

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Array = Any


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a gradient fails the check."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    masked: bool | None = None,
    **others: bool,
) -> bool:
    r"""Compare the gradients that backward gives with finite differences.

    Each entry of each input that requires a gradient is moved by `eps` up and down, and the change
    of the outputs gives a row of the Jacobian :math:`J_{ij} = \partial y_j / \partial x_i`. A
    backward pass from each entry of the outputs gives a column. The two must agree to
    :math:`|a - n| \le \mathrm{atol} + \mathrm{rtol} \, |n|`. Besides, backward must give the same
    each time, zeros for gradients of zero, and must cope with gradients that are missing.

    Args:
        func: A function of tensors that gives a tensor, or a tuple or list of tensors.
        inputs: Its arguments: a tensor, or a tuple. Those to be checked require a gradient and
            should be float64 (with float32 the differences are too coarse).
        eps: The step of the finite differences.
        atol: The absolute tolerance.
        rtol: The relative tolerance.
        raise_exception: Raise `GradcheckError` on a failure; otherwise return False.
        nondet_tol: How much two runs of the same backward pass may differ.
        check_undefined_grad: Check that a missing gradient of an output counts as zero.
        check_grad_dtypes: Check that each gradient has the dtype of its input.
        fast_mode: Changes nothing: every entry is compared, which is slower.
        masked: If true, a gradient of zero may give gradients that are not exactly zero.
        **others: `check_forward_ad` and the like must be what they are if left out: there is no
            forward mode here, and no batched check.

    Returns:
        True if all agrees; False if not, and `raise_exception` is False.

    Raises:
        GradcheckError: If the check fails.
        ValueError: If no input requires a gradient.
        RuntimeError: If an input's entries share memory, as after `expand`.
        AssertionError: If the function changes its shapes or dtypes from call to call.
        NotImplementedError: If forward mode or `vmap` is asked for.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd.gradcheck import gradcheck
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> gradcheck(lambda x: x.exp() * x, x)
        True
    """
    for name, value in others.items():
        if name not in _NOT_HERE:
            raise TypeError(f"gradcheck() got an unexpected keyword argument '{name}'")
        if bool(value) is not _NOT_HERE[name]:
            raise NotImplementedError(f"minigrad has no forward mode or batched check: omit {name}")
    arguments = as_tuple(inputs)
    _check_inputs(arguments)
    sources = [x for x in arguments if requires_grad(x)]

    def call() -> tuple[Any, ...]:
        return as_tuple(func(*arguments))

    try:
        returned = call()
        outputs = operation(returned)
        found = [numerical_jacobians(call, x, returned, eps) for x in sources]
        if not outputs and any(np.any(jacobian) for row in found for jacobian in row):
            raise GradcheckError(
                "Numerical gradient for function expected to be zero, because no output requires a "
                "gradient. Is something in the function detached, or computed under no_grad()?"
            )
        continuous = [output for output in returned if is_continuous(output)]
        recorded = [number for number, output in enumerate(continuous) if output.requires_grad]
        for i, output in enumerate(outputs):
            columns = analytical_jacobians(output, sources, nondet_tol, check_grad_dtypes)
            for j, analytical in enumerate(columns):
                compare(analytical, found[j][recorded[i]], i, j, atol, rtol)
        check_zero_gradients(outputs, sources, masked)
        if check_undefined_grad:
            check_undefined_gradients(call, sources)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    **options: Any,
) -> bool:
    r"""Compare the gradients of gradients with finite differences of the gradients.

    What is checked with `gradcheck` is the function :math:`(x, v) \mapsto v^T \, \partial y /
    \partial x`, computed by a backward pass under `create_graph=True`. That the gradients
    themselves are right is not checked here.

    Args:
        func: A function of tensors that gives a tensor, or a tuple or list of tensors.
        inputs: Its arguments: a tensor, or a tuple.
        grad_outputs: The gradients :math:`v` of the outputs that require one: a tensor, or a
            tuple. Those that require a gradient are checked as well. By default random numbers
            between -1 and 1, all of them checked.
        gen_non_contig_grad_outputs: Changes nothing: the random gradients have no gaps.
        **options: As for `gradcheck`: `eps`, `atol`, `rtol`, `raise_exception` and so on.

    Returns:
        True if all agrees; False if not, and `raise_exception` is False.

    Raises:
        GradcheckError: If the check fails.
        TypeError: If no output requires a gradient.

    As `gradcheck` otherwise.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd.gradcheck import gradgradcheck
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> gradgradcheck(lambda x: x.exp() * x, x)
        True
    """
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        outputs = operation(func(*arguments))
        drawn = (output.detach().clone().uniform_(-1, 1) for output in outputs)
        cotangents = tuple(each.requires_grad_() for each in drawn)
    else:
        cotangents = as_tuple(grad_outputs)
    if not cotangents:
        raise TypeError(
            "gradgradcheck expects at least one output to require gradient, but none does."
        )
    count = len(arguments)

    def gradients(*given: Any) -> tuple[Any, ...]:
        sources = [x for x in given[:count] if requires_grad(x)]
        outputs = operation(func(*given[:count]))
        found = grad(outputs, sources, given[count:], create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(gradients, arguments + cotangents, **options)


# What checks of PyTorch's are not here, and what it means to leave them out.
_NOT_HERE = {"check_backward_ad": True, "check_rev_over_rev": True}
_NOT_HERE |= dict.fromkeys(("check_forward_ad", "check_fwd_over_rev"), False)
_NOT_HERE |= dict.fromkeys(("check_batched_grad", "check_batched_forward_grad"), False)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    """Refuse inputs that finite differences cannot move, and warn of those that are too coarse."""
    for position, tensor in enumerate(inputs):
        if not requires_grad(tensor):
            continue
        array = tensor._array
        if array.dtype != np.float64:
            warn(
                f"Input #{position} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. "
            )
        if array.size and repeated_dims(array):
            raise RuntimeError(
                f"The {position}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    if not any(map(requires_grad, inputs)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Put a single value into a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def requires_grad(value: Any) -> bool:
    """Tell whether a value is a tensor that requires a gradient."""
    return isinstance(value, Tensor) and value.requires_grad


def operation(outputs: Any) -> list[Any]:
    """Keep those outputs that require a gradient."""
    return [output for output in as_tuple(outputs) if output.requires_grad]


def is_continuous(tensor: Any) -> bool:
    """Tell whether a tensor has floating-point or complex entries."""
    return tensor._array.dtype.kind not in "iub"


# ------------------------------------------------------------------ Jacobians, in two ways


Call = Callable[[], tuple[Any, ...]]


def numerical_jacobians(call: Call, source: Any, outputs: Sequence[Any], eps: float) -> list[Array]:
    """Compute the Jacobians of all outputs with respect to one input, by moving its entries.

    Args:
        call: Gives the outputs at the inputs as they are now.
        source: The input to move, one entry after the other.
        outputs: The outputs at the inputs as they are.
        eps: How far to move.

    Returns:
        For each output with floating-point or complex entries an array with a row for each entry
        of the input and a column for each entry of the output.
    """
    array = source._array
    found = [np.zeros((array.size, y.numel()), y._array.dtype) for y in outputs if is_continuous(y)]

    def copies() -> list[Any]:
        return [wrap_as_normal(np.array(y._array)) for y in call() if is_continuous(y)]

    for row, index in enumerate(np.ndindex(array.shape)):
        entry = array[(*index, ...)]
        kept = entry.copy()
        try:
            entry[...] = kept - eps
            below = copies()
            entry[...] = kept + eps
            above = copies()
        finally:
            entry[...] = kept
        for columns, a, b in zip(found, below, above, strict=True):
            with np.errstate(all="ignore"):  # with tensors, so that types meet as in PyTorch
                columns[row] = ((b - a) / (2 * eps))._array.reshape(-1)
    return found


NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
    "times gives different values, although analytical gradient matches numerical gradient."
    "The tolerance for nondeterminism was {}."
)


def analytical_jacobians(
    output: Any, sources: Sequence[Any], nondet_tol: float, check_grad_dtypes: bool
) -> list[Array]:
    """Compute the Jacobian of one output with respect to each input, a column for a backward pass.

    Args:
        output: One of the outputs; the graph that leads to it is kept.
        sources: The inputs that require a gradient.
        nondet_tol: How much two runs of the same backward pass may differ.
        check_grad_dtypes: Whether each gradient must have the dtype of its input.

    Returns:
        For each input that requires a gradient an array with a row for each of its entries and a
        column for each entry of the output.

    Raises:
        GradcheckError: If two runs differ, or a gradient has the wrong shape or dtype.
    """
    columns, again = (_in_columns(output, sources, check_grad_dtypes) for _ in range(2))
    with np.errstate(all="ignore"):
        apart = [np.abs(a - b).max(initial=0) for a, b in zip(columns, again, strict=True)]
    if any(difference > nondet_tol for difference in apart):
        raise GradcheckError(NOT_REENTRANT.format(nondet_tol))
    return columns


def _in_columns(output: Any, sources: Sequence[Any], check_grad_dtypes: bool) -> list[Array]:
    """Run a pass for each entry of the output; each gives a column of every Jacobian."""
    values = output._array
    columns = [np.zeros((x._array.size, values.size), x._array.dtype) for x in sources]
    for number, index in enumerate(np.ndindex(values.shape)):
        unit = np.zeros(values.shape, values.dtype)
        unit[index] = 1
        found = grad(output, sources, wrap_as_normal(unit), retain_graph=True, allow_unused=True)
        for column, gradient, source in zip(columns, found, sources, strict=True):
            if gradient is None:
                continue
            array = gradient._array
            if check_grad_dtypes and array.dtype != source._array.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            if array.shape != source._array.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            column[:, number] = array.reshape(-1)
    return columns


def compare(
    analytical: Array, numerical: Array, output: int, source: int, atol: float, rtol: float
) -> None:
    """Compare two Jacobians entry by entry.

    Raises:
        GradcheckError: If they differ; it shows both, and says where they differ most.
    """
    with np.errstate(all="ignore"):
        if np.allclose(analytical, numerical, rtol, atol):
            return
        apart = np.abs(numerical - analytical)
    # what is not a number counts as the largest difference of all
    row, column = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), apart.shape)
    raise GradcheckError(
        f"Jacobian mismatch for output {output} with respect to input {source},\n"
        f"numerical:{wrap_as_normal(numerical)}\nanalytical:{wrap_as_normal(analytical)}\n"
        "A row belongs to an entry of the input, a column to one of the output. They differ most "
        f"at row {row}, column {column}.\n"
    )


# ------------------------------------------------------------------ zero and missing gradients


_NOTES = (
    'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
)
_NOT_HANDLED = (
    f"Expected backward function to handle undefined output grads. {_NOTES}. Of a function with "
    "several results, only some may be used: then the gradients of the others are zeros, or None "
    "after ctx.set_materialize_grads(False)."
)
_NOT_ZERO = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or "
    f"zero. {_NOTES}. A gradient that is missing counts as zero."
)


class UndefinedGradBackward(Node):
    """A node that lets no gradient through: what comes before it gets None."""

    __slots__ = ()

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give None, whatever the gradient is."""
        return (None,)

    _run_recorded = _run


def without_gradient(tensor: Any) -> Any:
    """Give a tensor with the same values, through which no gradient comes back.

    Args:
        tensor: A tensor that requires a gradient.
    """
    node = UndefinedGradBackward()
    node._set_up([tensor._edge or resolve_edge(tensor)])
    result = wrap_as_normal(tensor._array)
    result._edge = (node, 0)
    return result


def check_zero_gradients(
    outputs: Sequence[Any], sources: Sequence[Any], masked: bool | None
) -> None:
    """See that gradients of zero for the outputs give gradients of zero for the inputs.

    Args:
        outputs: Those outputs that require a gradient; their graph is released.
        sources: The inputs that do.
        masked: Whether almost zero is enough.

    Raises:
        GradcheckError: If a gradient is not zero, or has the wrong dtype or shape.
    """
    found = grad(outputs, sources, _zeros(outputs), allow_unused=True)
    for gradient, source in zip(found, sources, strict=False):
        if gradient is None:
            continue
        array = gradient._array
        if not (np.allclose(array, 0) if masked else (array == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if array.dtype != source._array.dtype:
            raise GradcheckError("grad is incorrect type")


def check_undefined_gradients(call: Call, sources: Sequence[Any]) -> None:
    """See that outputs whose gradient is missing count as if it were zero.

    First the gradients of all outputs are left out; then, if there are several outputs, one by
    one.

    Args:
        call: Gives the outputs.
        sources: The inputs that require a gradient.

    Raises:
        GradcheckError: If backward fails, or a gradient of an input is not zero.
    """
    outputs = operation(call())
    tries = [[without_gradient(output) for output in outputs]]
    for missing in range(len(outputs) if len(outputs) > 1 else 0):
        outputs = operation(call())
        outputs[missing] = without_gradient(outputs[missing])
        tries.append(outputs)
    for outputs in filter(None, tries):
        wrong: Exception | None = None
        try:
            found = grad(outputs, sources, _zeros(outputs), allow_unused=True)
        except RuntimeError as error:
            wrong, message = error, _NOT_HANDLED
        else:
            if not any(gradient is not None and gradient._array.any() for gradient in found):
                continue
            message = _NOT_ZERO
        warn(
            "Backwards compatibility: New undefined gradient support checking feature is enabled "
            "by default, but it may break existing callers of this function. If this is true for "
            'you, you can call this function with "check_undefined_grad=False" to disable the '
            "feature"
        )
        raise GradcheckError(message) from wrong


def _zeros(outputs: Sequence[Any]) -> list[Any]:
    return [wrap_as_normal(np.zeros_like(output._array, order="C")) for output in outputs]
