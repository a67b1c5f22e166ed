"""Differentiate backward: `grad`, `grad_and_value`, and products with a Jacobian, `vjp`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad.autograd.modes import enable_grad, is_grad_enabled
from minigrad.function_transforms.levels import Level, differentiate
from minigrad.function_transforms.structure import Structure, mapped, take_apart
from minigrad.tensor import Tensor

Function = Callable[..., Any]


def chosen(argnums: Any, count: int) -> tuple[int, ...]:
    """Give the numbers of the arguments to differentiate for.

    Raises:
        RuntimeError: If they are no numbers, or there are no such arguments.
    """
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {argnums}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    positions = tuple(number % count for number in numbers)
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return positions


def enter_arguments(
    level: Level, arguments: Any, argnums: Any
) -> tuple[list[Any], list[Tensor], Structure]:
    """Enter a level with those arguments that are differentiated for.

    Returns:
        All arguments; the tensors among them that are differentiated for; how these are nested.
    """
    positions = chosen(argnums, len(arguments))
    given = list(arguments)
    for position in positions:
        given[position] = mapped(level.enter, given[position])
    wanted = [given[position] for position in positions]
    inputs, structure = take_apart(tuple(wanted) if isinstance(argnums, tuple) else wanted[0])
    return given, inputs, structure


def with_extra(result: Any, caller: str) -> tuple[Any, Any]:
    """Take a function's result apart into the output and what comes with it."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Make the function that gives the gradient of a function, and its value.

    Args:
        func: Gives a tensor without dimensions.
        argnums: The argument to differentiate for, or a tuple of several. An argument may be a
            tensor, or tensors in tuples, lists and dictionaries.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        A function of the same arguments. It gives a pair of the gradient, in the form of the
        argument, and the value; with `has_aux` the value comes with what was handed on.

    Raises:
        RuntimeError: If the function gives something else.

    Example:
        >>> import minigrad as torch
        >>> torch.func.grad_and_value(lambda x: (x**2).sum())(torch.tensor([1.0, 3.0]))
        (tensor([2., 6.]), tensor(10.))
    """

    @functools.wraps(func)
    def gradient_and_value(*arguments: Any, **options: Any) -> Any:
        level = Level()
        with enable_grad():
            given, inputs, structure = enter_arguments(level, arguments, argnums)
            output, extra = func(*given, **options), None
            if has_aux:
                output, extra = with_extra(output, "grad_and_value(f)(*args)")
            _check_number(output)
            found = differentiate([output], inputs, None, level.is_seen(output))
            value = mapped(level.leave, (output, extra) if has_aux else output)
            gradients = structure.build(map(level.leave, found))
        return gradients, value

    return gradient_and_value


def _check_number(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            f"with {output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Make the function that gives the gradient of a function.

    Derivatives of derivatives are made by `grad(grad(f))`, and inner ones may be part of outer
    ones. Tensors that the function uses beside its arguments may require a gradient, too: then the
    result has a graph.

    Args:
        func: Gives a tensor without dimensions.
        argnums: The argument to differentiate for, or a tuple of several. An argument may be a
            tensor, or tensors in tuples, lists and dictionaries.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        A function of the same arguments that gives the gradient in the form of the argument; with
        `has_aux` a pair of it and what was handed on.

    Raises:
        RuntimeError: If the function gives something else.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.func import grad
        >>> grad(torch.sin)(torch.tensor(0.0)), grad(grad(lambda x: x**3))(torch.tensor(2.0))
        (tensor(1.), tensor(12.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*arguments: Any, **options: Any) -> Any:
        gradients, value = both(*arguments, **options)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Call a function, and give with its output the function that multiplies with its Jacobian.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        *primals: What to call it with: tensors, also in such containers.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        The output, and a function. This takes a vector v in the form of the output and gives the
        tuple of the products v J, in the form of the arguments: one backward pass. With `has_aux`
        a third thing, what was handed on.

    Raises:
        RuntimeError: If the function gives anything but tensors, or v has another form.

    Example:
        >>> import minigrad as torch
        >>> output, multiply = torch.func.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]))
        >>> multiply(torch.tensor([1.0, 10.0]))
        (tensor([ 2., 60.]),)
    """
    level, inputs, structure, outputs, form, extra = record(func, primals, has_aux)

    def multiply(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        return structure.build(pull_back(level, inputs, outputs, form, cotangents))

    result = form.build(map(level.leave, outputs))
    if has_aux:
        return result, multiply, mapped(level.leave, extra)
    return result, multiply


def record(func: Function, primals: Any, has_aux: bool) -> Any:
    """Call a function in a new level."""
    level = Level()
    with enable_grad():
        inputs, structure = take_apart(primals)
        inputs = [level.enter(tensor) for tensor in inputs]
        output, extra = func(*structure.build(inputs)), None
        if has_aux:
            output, extra = with_extra(output, "vjp(f, *primals)")
    outputs, form = take_apart(output)
    for leaf in outputs:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported "
                f"type {type(leaf)}"
            )
    return level, inputs, structure, outputs, form, extra


def pull_back(
    level: Level, inputs: list[Tensor], outputs: list[Tensor], form: Structure, cotangents: Any
) -> list[Tensor]:
    """Multiply a vector with the Jacobian of what was recorded."""
    given, its_form = take_apart(cotangents)
    if its_form != form:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs "
            f"to the function. cotangents: {its_form}, primal output: {form}"
        )
    for position, (vector, output) in enumerate(zip(given, outputs, strict=True)):
        if vector.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{position}] has a shape of {vector.shape} and "
                f"output[{position}] has a shape of {output.shape}."
            )
    outer = is_grad_enabled()
    with enable_grad():
        seen = outer and level.is_seen(*outputs, *given)
        found = differentiate(outputs, inputs, given, seen, retain_graph=True)
        return [level.leave(gradient) for gradient in found]
