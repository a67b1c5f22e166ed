"""Multiply a vector with the Jacobian or the Hessian of a function, without making the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.autograd.functional.parts import (
    NOT_ALLOWED,
    Tensors,
    as_tuple,
    constant_gradient,
    constant_jacobian,
    differentiate,
    filled,
    fresh,
    in_form,
    independent_output,
    must_be_recorded,
    unrecorded_output,
    vector,
    without_graph,
    zeros_like,
)
from minigrad.autograd.grad_mode import enable_grad

Function = Callable[..., Any]

_OUTPUTS = "outputs of the user-provided function"


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Multiply a vector from the left with the Jacobian of a function: one backward pass.

    With J of entries dy_i / dx_j, the product has the entries sum_i v_i dy_i / dx_j.

    Args:
        func: Takes tensors, gives a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors to call it with.
        v: The vector, in the form and the shapes of the outputs. May be left out if the output is
            a single number.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse an output that does not depend on the inputs, or an input on which nothing
            depends; otherwise the product is zero there.

    Returns:
        The outputs, and the product in the form and the shapes of the inputs.

    Raises:
        TypeError: If inputs, outputs or `v` are anything but tensors or tuples of tensors.
        RuntimeError: If `v` is missing or has the wrong shape; in strict mode, if something does
            not depend on an input.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0, 3.0])
        >>> torch.autograd.functional.vjp(lambda x: x**2, x, torch.tensor([1.0, 0.0, 10.0]))
        (tensor([1., 4., 9.]), tensor([ 2.,  0., 60.]))
    """
    with enable_grad():
        several, tensors = as_tuple(inputs, "inputs", "vjp")
        tensors = fresh(tensors, create_graph, True)
        several_outputs, outputs = as_tuple(func(*tensors), _OUTPUTS, "vjp")
        if strict:
            must_be_recorded(outputs, unrecorded_output)
        v = vector(
            v, outputs, several_outputs, "vjp", create_graph, "the user-provided function returns"
        )
        found = differentiate(outputs, tensors, v, create_graph)
        product = filled(found, tensors, strict, create_graph, independent_output)
    outputs, product = (without_graph(part, create_graph) for part in (outputs, product))
    return in_form(outputs, several_outputs), in_form(product, several)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Multiply the Jacobian of a function with a vector from the right: two backward passes.

    The product u -> u J of a backward pass is linear in u, and its own derivative with respect to
    u, applied to v, is J v. So the graph of a first backward pass (with any u; here zeros) is
    differentiated for u. This is known as the double-backward trick (J. Townsend, "A new trick
    for calculating Jacobian vector products", 2017).

    Args:
        func: Takes tensors, gives a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors to call it with.
        v: The vector, in the form and the shapes of the inputs. May be left out if the input is a
            single number.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse an output that does not depend on the inputs, or an input on which nothing
            depends; otherwise the product is zero there.

    Returns:
        The outputs, and the product in the form and the shapes of the outputs.

    Raises:
        TypeError: If inputs, outputs or `v` are anything but tensors or tuples of tensors.
        RuntimeError: If `v` is missing or has the wrong shape; in strict mode, if something does
            not depend on an input.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([2.0, 3.0])
        >>> torch.autograd.functional.jvp(lambda x: x[0] * x[1], x, torch.tensor([1.0, 10.0]))
        (tensor(6.), tensor(23.))
    """
    with enable_grad():
        several, tensors = as_tuple(inputs, "inputs", "jvp")
        tensors = fresh(tensors, create_graph, True)
        v = vector(
            v, tensors, several, "jvp", create_graph, "the input to the user-provided function is"
        )
        several_outputs, outputs = as_tuple(func(*tensors), _OUTPUTS, "jvp")
        if strict:
            must_be_recorded(outputs, unrecorded_output)
        u = tuple(zeros_like(output, requires_grad=True) for output in outputs)
        first = differentiate(outputs, tensors, u, create_graph=True)
        if strict:
            must_be_recorded(first, constant_gradient)
        found = differentiate(first, u, v, create_graph)
        product = filled(found, outputs, strict, create_graph, _independent_of_cotangent)
    outputs, product = (without_graph(part, create_graph) for part in (outputs, product))
    return in_form(outputs, several_outputs), in_form(product, several_outputs)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Multiply a vector from the left with the Hessian of a function: two backward passes.

    The gradient g is recorded; its product with v is v H, because H is the Jacobian of g.

    Args:
        func: Takes tensors, gives a tensor with one entry.
        inputs: A tensor or a tuple of tensors to call it with.
        v: The vector, in the form and the shapes of the inputs. May be left out if the input is a
            single number.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse a gradient that does not depend on the inputs; otherwise the product is zero
            there.

    Returns:
        The output, and the product in the form and the shapes of the inputs.

    Raises:
        TypeError: If inputs, outputs or `v` are anything but tensors or tuples of tensors.
        RuntimeError: If `v` is missing or has the wrong shape; if the function gives anything but
            one number; in strict mode, if something does not depend on an input.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 10.0]))
        (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        several, tensors, v, outputs, gradient = _gradient(
            "vhp", func, inputs, v, create_graph, strict
        )
        found = differentiate(gradient, tensors, v, create_graph)
        product = filled(
            found, tensors, strict, create_graph, _independent_jacobian, derivative="hessian"
        )
    outputs, product = (without_graph(part, create_graph) for part in (outputs, product))
    return outputs[0], in_form(product, several)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Multiply the Hessian of a function with a vector from the right: three backward passes.

    It is `jvp` of the gradient. A Hessian of a smooth function is symmetric, so `vhp` gives the
    same numbers with one pass less.

    Args:
        func: Takes tensors, gives a tensor with one entry.
        inputs: A tensor or a tuple of tensors to call it with.
        v: The vector, in the form and the shapes of the inputs. May be left out if the input is a
            single number.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse a gradient that does not depend on the inputs; otherwise the product is zero
            there.

    Returns:
        The output, and the product in the form and the shapes of the inputs.

    Raises:
        TypeError: If inputs, outputs or `v` are anything but tensors or tuples of tensors.
        RuntimeError: If `v` is missing or has the wrong shape; if the function gives anything but
            one number; in strict mode, if something does not depend on an input.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 10.0]))
        (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        several, tensors, v, outputs, gradient = _gradient(
            "hvp", func, inputs, v, create_graph, strict
        )
        u = tuple(zeros_like(tensor, requires_grad=True) for tensor in tensors)
        second = differentiate(gradient, tensors, u, create_graph=True)
        found = differentiate(second, u, v, create_graph)
        product = filled(
            found, tensors, strict, create_graph, _independent_hessian, derivative="hessian"
        )
    outputs, product = (without_graph(part, create_graph) for part in (outputs, product))
    return outputs[0], in_form(product, several)


def _gradient(
    caller: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[bool, Tensors, Tensors | None, Tensors, Tensors]:
    """Do what `vhp` and `hvp` begin with: check everything, and record the gradient."""
    several, tensors = as_tuple(inputs, "inputs", caller)
    tensors = fresh(tensors, create_graph, True)
    only = "the input to the user-provided function is"
    v = vector(v, tensors, several, caller, create_graph, only)
    several_outputs, outputs = as_tuple(func(*tensors), _OUTPUTS, caller)
    if strict:
        must_be_recorded(outputs, unrecorded_output)
    if several_outputs:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single "
            f"element. It has shape {list(outputs[0].shape)}."
        )
    gradient = differentiate(outputs, tensors, create_graph=True)
    if strict:
        must_be_recorded(gradient, constant_jacobian)
    return several, tensors, v, outputs, gradient


def _independent_of_cotangent(position: int) -> str:
    return (
        f"The gradient with respect to the input is independent of entry {position} in the "
        "grad_outputs when using the double backward trick to compute forward mode gradients. "
        f"{NOT_ALLOWED}."
    )


def _independent_jacobian(position: int) -> str:
    return (
        f"The jacobian of the user-provided function is independent of input {position}. "
        f"{NOT_ALLOWED}."
    )


def _independent_hessian(position: int) -> str:
    return (
        f"The hessian of the user-provided function is independent of entry {position} in the "
        f"grad_jacobian. {NOT_ALLOWED} as it prevents from using the double backward trick to "
        "replace forward mode AD."
    )
