"""Check gradients against finite differences: `gradcheck`, and `gradgradcheck` for the second.

`minigrad.autograd.gradcheck` is both this module, to import from, and, as an attribute of
`minigrad.autograd`, the function: as in PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.gradcheck.comparing import (
    Draw,
    Tolerances,
    compare_entries,
    compare_projections,
)
from minigrad.autograd.gradcheck.differences import Subject, as_tuple, requires_grad
from minigrad.autograd.gradcheck.messages import GradcheckError
from minigrad.autograd.gradcheck.missing import (
    check_undefined_gradients,
    check_zero_gradients,
    differentiable,
)
from minigrad.autograd.gradients import grad
from minigrad.core.tensor import wrap_as_normal

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


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
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
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
        check_batched_grad: Not available: it needs `vmap`.
        check_batched_forward_grad: Not available: it needs `vmap` and forward mode.
        check_forward_ad: Not available: there is no forward mode.
        check_backward_ad: Check backward at all.
        fast_mode: Compare :math:`v^T J u` for random vectors instead of all of :math:`J`.
        masked: If true, a gradient of zero may give gradients that are not exactly zero.

    Returns:
        True if all agrees; False if not, and `raise_exception` is False.

    Raises:
        GradcheckError: If the check fails.
        ValueError: If no input requires a gradient.
        RuntimeError: If an input's entries share memory, as after `expand`.
        AssertionError: If the function changes its shapes or dtypes from call to call, or if
            settings contradict each other.
        NotImplementedError: If forward mode or `vmap` is asked for.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd.gradcheck import gradcheck
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> gradcheck(lambda x: x.exp() * x, x)
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    _refuse(check_forward_ad, check_batched_grad)
    arguments = as_tuple(inputs)
    _check_inputs(arguments)
    allowed = Tolerances(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    compare = compare_projections if fast_mode else compare_entries
    subject = Subject(func, arguments)
    try:
        returned = subject.call()
        outputs = differentiable(returned)
        compare(subject, returned, allowed)
        check_zero_gradients(subject, outputs, masked)
        if check_undefined_grad:
            check_undefined_gradients(subject)
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
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
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
        eps: The step of the finite differences.
        atol: The absolute tolerance.
        rtol: The relative tolerance.
        gen_non_contig_grad_outputs: Let the random gradients lie in memory with gaps.
        raise_exception: Raise `GradcheckError` on a failure; otherwise return False.
        nondet_tol: How much two runs of the same backward pass may differ.
        check_undefined_grad: Check that a missing gradient of a gradient counts as zero.
        check_grad_dtypes: Check that each gradient has the dtype of its input.
        check_batched_grad: Not available: it needs `vmap`.
        check_fwd_over_rev: Not available: there is no forward mode.
        check_rev_over_rev: Check backward through backward at all.
        fast_mode: Compare :math:`v^T J u` for random vectors instead of all of :math:`J`.
        masked: If true, a gradient of zero may give gradients that are not exactly zero.

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
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError(
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
        )
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_rev_over_rev to be True"
        )
    _refuse(check_fwd_over_rev, check_batched_grad)
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        draw = Draw(stream=1)
        cotangents: tuple[Any, ...] = tuple(
            wrap_as_normal(draw.like(output._array, gen_non_contig_grad_outputs)).requires_grad_()
            for output in differentiable(func(*arguments))
        )
    else:
        cotangents = as_tuple(grad_outputs)
    if not cotangents:
        raise TypeError(
            "gradgradcheck expects at least one output to require gradient, but none does."
        )
    if any(cotangent is None for cotangent in cotangents):
        raise AttributeError(
            "'NoneType' object has no attribute 'requires_grad'. Give a tensor for each output "
            "that requires a gradient."
        )
    count = len(arguments)

    def gradients(*given: Any) -> tuple[Any, ...]:
        sources = [x for x in given[:count] if requires_grad(x)]
        found = grad(
            differentiable(func(*given[:count])),
            sources,
            given[count:],
            create_graph=True,
            allow_unused=True,
        )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        gradients,
        arguments + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        fast_mode=fast_mode,
        masked=masked,
    )


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    """Refuse inputs that finite differences cannot move, and warn of those that are too coarse."""
    for position, tensor in enumerate(inputs):
        if isinstance(tensor, (tuple, list)) and any(map(requires_grad, tensor)):
            raise IndexError(
                f"tuple index out of range: input {position} is a {type(tensor).__name__} of "
                "tensors, but gradcheck moves only arguments that are tensors themselves. Pass "
                "each as an argument of its own."
            )
        if not requires_grad(tensor):
            continue
        array = tensor._array
        if array.dtype != np.float64:
            warnings.warn(
                f"Input #{position} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if any(
            step == 0 and size > 1 and array.size
            for step, size in zip(array.strides, array.shape, strict=True)
        ):
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


def _refuse(forward_mode: bool, batched: bool) -> None:
    """Refuse what PyTorch has and minigrad has not."""
    if forward_mode:
        raise NotImplementedError(
            "minigrad differentiates backward only; it has no forward mode to check. Leave "
            "check_forward_ad and check_fwd_over_rev at False."
        )
    if batched:
        raise NotImplementedError(
            "minigrad has no vmap, so there are no batched gradients to check. Leave "
            "check_batched_grad at False."
        )
