"""Differentiate a function as a whole: `vjp`, `jvp`, `jacobian`, `hessian`, `vhp`, `hvp`.

With J the Jacobian of a function and H the Hessian of one that gives a single number:

==========  =========================  =============================
call        gives                      cost, in backward passes
==========  =========================  =============================
`vjp`       v J, one row at a time     one
`jvp`       J v, one column at a time  two
`jacobian`  J, row by row              one for each entry of outputs
`vhp`       v H                        two
`hvp`       H v                        three
`hessian`   H, row by row              one for each entry of inputs
==========  =========================  =============================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.gradients import grad
from minigrad.autograd.messages import type_name
from minigrad.core.tensor import Tensor, wrap_as_normal

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
Tensors = tuple[Any, ...]

# ------------------------------------------------------------------ products


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
    return _product("vjp", func, inputs, v, create_graph, strict)


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
    return _product("jvp", func, inputs, v, create_graph, strict)


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
    return _product("vhp", func, inputs, v, create_graph, strict)


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
    return _product("hvp", func, inputs, v, create_graph, strict)


def _product(
    caller: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    """Multiply a vector with a Jacobian, or with a Hessian: the Jacobian of the gradient."""
    with enable_grad():
        several, tensors = as_tuple(inputs, "inputs", caller)
        tensors = fresh(tensors, create_graph, True)
        if caller != "vjp":
            v = vector(v, tensors, caller, create_graph)
        several_outputs, outputs = called(func, tensors, caller, strict)
        found, rows, several_rows = outputs, outputs, several_outputs
        if caller == "vjp":
            v = vector(v, outputs, caller, create_graph)
        elif caller != "jvp":
            check_number(several_outputs, outputs, caller)
            found = recorded(differentiate(outputs, tensors, create_graph=True), strict)
            rows, several_rows = tensors, several
        by = columns = tensors
        if caller in ("jvp", "hvp"):  # u J is linear in u: differentiate it for u, v the direction
            by = tuple(zeros_like(each, True) for each in rows)
            columns, several = rows, several_rows
            found = recorded(differentiate(found, tensors, by, create_graph=True), strict)
        found = differentiate(found, by, v, create_graph)
        product = filled(recorded(found, strict, create_graph), columns)
    return _result(outputs, several_outputs, create_graph), _result(product, several, create_graph)


# ------------------------------------------------------------------ matrices


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Make the Jacobian of a function: one backward pass for each entry of the outputs.

    The entry at `[i, j]` is the derivative of entry i of the output with respect to entry j of the
    input; i and j run over all dimensions of the two.

    Args:
        func: Takes tensors, gives a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors to call it with.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse an output that does not depend on an input; otherwise that part is zero.
        vectorize: In PyTorch, compute all rows in one batched pass. Here the rows are computed one
            after the other in any case, with the same numbers; `torch.func.jacrev` is quicker.
        strategy: `"reverse-mode"`; there is no forward mode.

    Returns:
        A tensor of the output's shape followed by the input's. If there are several outputs, a
        tuple over these; if there are several inputs, (each entry is) a tuple over those.

    Raises:
        TypeError: If inputs or outputs are anything but tensors or tuples of tensors.
        RuntimeError: In strict mode, if an output does not depend on an input.
        NotImplementedError: If another strategy is asked for.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.jacobian(lambda x: x.sum() * x, x)
        tensor([[4., 1.],
                [2., 5.]])
    """
    if strategy != "reverse-mode":
        raise NotImplementedError("no forward mode here: 'reverse-mode' gives the same numbers")
    with enable_grad():
        several, tensors = as_tuple(inputs, "inputs", "jacobian")
        tensors = fresh(tensors, create_graph, True)
        several_outputs, outputs = called(func, tensors, "jacobian", strict)
        blocks = [
            _result(block(position, output, tensors, create_graph, strict), several, create_graph)
            for position, output in enumerate(outputs)
        ]
    return tuple(blocks) if several_outputs else blocks[0]


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Make the Hessian of a function: the Jacobian of its gradient.

    The entry at `[i, j]` is the second derivative with respect to entries i and j of the input.

    Args:
        func: Takes tensors, gives a tensor with one entry.
        inputs: A tensor or a tuple of tensors to call it with.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse a gradient that does not depend on an input; otherwise that part is zero.
        vectorize: As for `jacobian`, for the outer of the two.
        outer_jacobian_strategy: As `strategy` of `jacobian`.

    Returns:
        A tensor of the input's shape twice; for several inputs a tuple of tuples, the one at
        `[i][j]` for inputs i and j.

    Raises:
        TypeError: If inputs or outputs are anything but tensors or tuples of tensors.
        RuntimeError: If the function gives anything but one number; and as for `jacobian`.
        NotImplementedError: As for `jacobian`.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.hessian(lambda x: x[0] ** 2 * x[1] ** 3, x)
        tensor([[16., 24.],
                [24., 12.]])
    """
    several, given = as_tuple(inputs, "inputs", "hessian")

    def number(*tensors: Any) -> Any:
        several_outputs, outputs = called(func, tensors, "hessian", strict)
        check_number(several_outputs, outputs, "hessian")
        return outputs[0].squeeze()

    def gradient(*tensors: Any) -> Any:
        return recorded(jacobian(number, tensors, create_graph=True), strict)

    blocks = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if several else blocks[0][0]


def block(position: int, output: Any, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """Differentiate each entry of an output: for each input the block of the Jacobian."""
    if not output.numel():
        raise RuntimeError(f"stack expects a non-empty TensorList, but output {position} is empty")
    rows = []
    for entry in range(output.numel()):
        start = zeros_like(output)
        start._array[np.unravel_index(entry, output.shape)] = 1
        found = differentiate((output,), inputs, (start,), create_graph, True)
        rows.append(filled(recorded(found, strict, create_graph), inputs))
    # NumPy's function, called with tensors, is the operation of ours
    columns = zip(map(np.stack, zip(*rows, strict=True)), inputs, strict=True)
    return tuple(column.view((*output.shape, *tensor.shape)) for column, tensor in columns)


# ------------------------------------------------------------------ what all of them need


def as_tuple(value: Any, what: str, caller: str | None) -> tuple[bool, Tensors]:
    """Tell whether something is a tuple, and give it as one.

    Raises:
        TypeError: If it is neither a tensor nor a tuple of tensors.
    """
    several = isinstance(value, tuple)
    tensors = value if several else (value,)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{caller}: {what} must be tensors, not {type_name(tensor)}")
    return several, tensors


def called(func: Function, tensors: Tensors, caller: str, strict: bool) -> tuple[bool, Tensors]:
    """Call the function; tell whether it gave a tuple, and give its outputs as one."""
    several, outputs = as_tuple(func(*tensors), "outputs of the user-provided function", caller)
    return several, recorded(outputs, strict)


def check_number(several: bool, outputs: Tensors, caller: str) -> None:
    """Refuse what a function gave that is to give a single number."""
    if several or outputs[0].numel() != 1:
        raise RuntimeError(f"the function given to {caller} should give one tensor of one entry")


def fresh(tensors: Tensors, create_graph: bool, requires_grad: bool) -> Tensors:
    """Give new tensors of the same values, so that a function may use the old ones as well.

    With `create_graph` those that require a gradient stay connected with the old ones.
    """
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(requires_grad)
        for tensor in tensors
    )


def _result(tensors: Tensors, several: bool, create_graph: bool) -> Any:
    """Give results in the form of what they belong to, with their graph if `create_graph`."""
    found = tensors if create_graph else tuple(tensor.detach() for tensor in tensors)
    return found if several else found[0]


def zeros_like(tensor: Any, requires_grad: bool = False) -> Any:
    """Make zeros in the shape and type of a tensor."""
    return wrap_as_normal(np.zeros_like(tensor._array)).requires_grad_(requires_grad)


def differentiate(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Any] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> Tensors:
    """Do as `grad`, skipping the outputs that have no graph; None where nothing depends."""
    starts = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [
        (output, start)
        for output, start in zip(outputs, starts, strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    recorded, starts = zip(*pairs, strict=True)
    return grad(recorded, inputs, starts, retain_graph, create_graph, allow_unused=True)


def vector(v: Any, like: Tensors, caller: str, create_graph: bool) -> Tensors | None:
    """Check the vector of a product, and give it as a tuple.

    Args:
        v: What the user gave.
        like: What it is to be multiplied with: the tensors whose shapes it must have.
        caller: The public function's name.
        create_graph: Keep the vector connected with the user's tensors.

    Raises:
        TypeError: If it is neither a tensor nor a tuple of tensors.
        RuntimeError: If its shapes are wrong, or it is missing.
    """
    if v is None and len(like) == 1 and like[0].numel() == 1:
        return None
    given = () if v is None else fresh(as_tuple(v, "v", caller)[1], create_graph, False)
    sizes, expected = ([list(each.shape) for each in tensors] for tensors in (given, like))
    if sizes != expected:
        raise RuntimeError(
            f"v has sizes {sizes}, not {expected}; it may be left out for one number"
        )
    return given


def recorded(tensors: Tensors, strict: bool, graph: bool = True) -> Tensors:
    """Give tensors back; in strict mode refuse those that are missing, or have no graph.

    Args:
        tensors: Outputs or gradients; None where nothing depends.
        strict: Whether it is strict mode.
        graph: Whether they must have a graph.

    Raises:
        RuntimeError: If one depends on no input.
    """
    if strict and any(each is None or (graph and not each.requires_grad) for each in tensors):
        raise RuntimeError("In strict mode each output and gradient must depend on the inputs.")
    return tensors


def filled(gradients: Sequence[Any], like: Sequence[Any]) -> Tensors:
    """Put zeros, in the shapes of other tensors, where nothing depends and gradients are None."""
    pairs = zip(gradients, like, strict=True)
    return tuple(zeros_like(other) if found is None else found for found, other in pairs)
