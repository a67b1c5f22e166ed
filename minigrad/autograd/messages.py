"""What the heart says in PyTorch's words when something is wrong: its errors and its warnings.

Each function makes one error from the facts, to be raised, or warns.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from os.path import abspath, dirname
from typing import Any

import numpy as np

from minigrad.core import extensions
from minigrad.core.modes import modes
from minigrad.core.module_hooks import FullBackwardHooks
from minigrad.core.node import Node
from minigrad.core.tensor import SavedTensor, Tensor, made_by, wrap_as_normal


class Anomaly:
    """Whether passes are watched for anomalies, and whether NaN is one; see `anomaly_mode`."""

    enabled = False
    check_nan = True


anomaly = Anomaly()

_MADE_BY_PYTHON_CODE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def type_name(value: Any) -> str:
    """Name the type of a value as PyTorch does; types that C code made, with their module.

    Example:
        >>> import numpy as np
        >>> type_name(np.zeros(2)), type_name([1.0])
        ('numpy.ndarray', 'list')
    """
    kind = type(value)
    if kind.__flags__ & _MADE_BY_PYTHON_CODE or kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


# Files whose lines are not the user's: this package, with what it writes itself, and NumPy,
# through which a backward pass goes.
_NOT_THE_USERS = (dirname(dirname(abspath(__file__))), "<minigrad", dirname(abspath(np.__file__)))


def wrong_type(caller: str, argument: str, kind: str, value: Any, position: int = 0) -> TypeError:
    """Make PyTorch's error for an argument of another type; some of them tell its position."""
    where = f" (position {position})" if position else ""
    return TypeError(
        f"{caller}(): argument '{argument}'{where} must be {kind}, not {type_name(value)}"
    )


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that led here, not at a line of this package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _always(words: str) -> Callable[[], RuntimeError]:
    """Make what gives an error that needs no facts."""
    return lambda: RuntimeError(words)


# ------------------------------------------------------------------ hooks


def hook_name(hook: Any) -> str:
    """Name a hook for people: its `__name__`, or else its type."""
    return getattr(hook, "__name__", None) or type(hook).__name__


def _called(hook: Any) -> str:
    """Name a hook as PyTorch's messages do, which know nothing but `__name__`."""
    if isinstance(getattr(hook, "__self__", None), FullBackwardHooks):
        return "hook"
    return str(getattr(hook, "__name__", "<unknown>"))


def wrong_replacement(original: Any, result: Any, hook: Any) -> Exception:
    """A hook's gradient does not fit the original."""
    if original is None:
        return RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        return TypeError(
            f"expected Variable, but hook returned '{type_name(result)}'. A hook returns a "
            "tensor that replaces the gradient, or None to keep it."
        )
    if result._array.dtype != original._array.dtype:
        return RuntimeError(
            f"hook '{_called(hook)}' has changed the type of value "
            f"(was {original.type()} got {result.type()})"
        )
    return RuntimeError(
        f"hook '{_called(hook)}' has changed the size of value. It returned "
        f"{list(result._array.shape)} for a gradient of {list(original._array.shape)}."
    )


def wrong_replacements(originals: Any, results: Any, hook: Any) -> Exception:
    """What a node's hook returned is not one gradient for each it was given."""
    if not isinstance(results, tuple):
        return TypeError(
            f"expected tuple, but hook returned '{type_name(results)}'. A node hook returns a "
            "tuple with one gradient for each it was given, or None to keep them."
        )
    return RuntimeError(
        f"hook '{_called(hook)}' has returned an incorrect number of values "
        f"(got {len(results)}, but expected {len(originals)})"
    )


# A post-accumulate hook returned a tensor.
returned_by_post_accumulate_hook = _always(
    "Tensor post accumulate grad hooks should return None. To change the gradient, write to the "
    "tensor's .grad."
)


def wrong_number(kind: str, got: int, expected: int) -> Exception:
    """A module's backward hook returned too many gradients, or too few."""
    pre = kind == "full backward pre"
    hook, what = ("pre hook", "grad_output") if pre else ("hook", "grad_input")
    return RuntimeError(
        f"Backward {hook} returned an invalid number of {what}, got {got}, but expected {expected}"
    )


# A module's backward hook replaced gradients of inputs that need none.
replaced_nothing = _always(
    "Backward hook for Modules where no input requires gradient should always return None or None "
    "for all gradients."
)


def warn_no_tensors(result: Any) -> None:
    """Warn that a module's result cannot carry its backward hooks."""
    warn(
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
        f"but received {type(result)}"
    )


def warn_no_input_needs_grad() -> None:
    """Warn that a full hook fires at the module's outputs, as no gradient reaches its inputs."""
    warn(
        "Full backward hook is firing when gradients are computed with respect to module outputs "
        "since no inputs require gradients. See "
        "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
        "#torch.nn.Module.register_full_backward_hook for more details."
    )


def warn_of_what_legacy_hooks_miss(args: tuple[Any, ...], result: Any, node: Any) -> None:
    """Say which gradients of the module do not pass through the node of the result."""
    results = result if isinstance(result, tuple) else (result,)
    hooks, missing = "non-full backward hooks on a Module that does not", "some of the grad_{}"
    if not all(isinstance(value, Tensor) for value in results):
        when, which = "return a single Tensor or a tuple of Tensors", "output"
    elif not all(isinstance(value, Tensor) for value in args):
        when, which = "take as input a single Tensor or a tuple of Tensors", "input"
    else:
        hooks, missing = "a non-full backward hook when", "some grad_{}"
        if len({value.grad_fn for value in results} - {None}) > 1:
            when, which = "outputs are generated by different autograd Nodes", "output"
        elif {value.grad_fn for value in args} - {None} != {e[0] for e in node.next_functions}:
            when, which = "the forward contains multiple autograd Nodes", "input"
        else:
            return
    warn(
        f"Using {hooks} {when} is deprecated and will be removed in future versions. This hook "
        f"will be missing {missing.format(which)}. Please use register_full_backward_hook to get "
        "the documented behavior.",
        FutureWarning,
    )


# ------------------------------------------------------------------ nodes and what they saved


# A tensor that was made in inference mode was to be saved for backward, or changed outside of it.
saved_inference_tensor = _always(
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
inference_tensor_changed = _always(
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)

# A leaf was made no leaf by an operation in place.
leaf_moved_into_graph = _always("leaf variable has been moved into the graph interior")
# A post-accumulate hook was to be registered on a tensor that isn't a leaf.
hook_on_result = _always("post accumulate grad hooks cannot be registered on non-leaf tensors")


def warn_no_gradient() -> None:
    """Warn that the gradient of a tensor is asked for that isn't a leaf and does not keep it."""
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead. See github.com/pytorch/pytorch/pull/30531 for more information."
    )


SHARED = (
    "unsupported operation: {} refer{} to a single memory location. Please clone() the tensor "
    "before performing the operation."
)
FREED = (
    "Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
    "time or if you need to access saved {} after calling backward."
)
RELEASED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). " + FREED.format("tensors")
)


released = _always(RELEASED)  # a saved value that a rule needed was let go of

# A saved tensor has lost its gradient edge.
detached = _always(
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)


_NUMBERS = {"", *"0123456789"}


def forward_name(node: Node) -> str:
    """Name the operation that a node is the backward of: `Squeeze1` for `SqueezeBackward1`."""
    operation, _, number = node.name().rpartition("Backward")
    if number not in _NUMBERS:
        return node.name()
    return operation + number.removesuffix("0")


def refuse_stale(saved: Any, node: Node) -> None:
    """Raise if a saved value was changed in place since, or detached."""
    tensor: Any = saved.tensor if isinstance(saved, SavedTensor) else saved
    counter: Any = saved._version_counter
    lost = tensor is not None and (tensor._version_counter is not counter or counter.detached)
    if lost and not (tensor._has_node() or node._takes_detached):
        raise detached()
    if counter.value != getattr(saved, "version", 0):
        raise stale(saved, node) from None


def stale(saved: Any, node: Node) -> Exception:
    """A saved value was changed in place since."""
    expected, number, array = getattr(saved, "version", 0), 0, getattr(saved, "array", None)
    tensor = saved.tensor if isinstance(saved, SavedTensor) else saved
    if tensor is None:  # the node's own result; of an input PyTorch forgets which output it was
        number_saved = next(n for n, each in enumerate(node._saved or (saved,)) if each is saved)
        number = getattr(node, "_result_nr", lambda _: 0)(number_saved)
        source: Any = (made_by(saved, node), number)
    else:
        source, array = tensor._resolved_edge(), tensor._array
    assert array is not None
    origin = ""
    if source is not None and source[0] is not None:
        origin = f", which is output {number} of {forward_name(source[0])},"
    kind = "CPUBoolType" if array.dtype.kind == "b" else wrap_as_normal(array).type()
    hint = (
        "Hint: the backtrace further above shows the operation that failed to compute its "
        "gradient. The variable in question was changed in there or anywhere later. Good luck!"
        if anomaly.enabled
        else "Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} {list(array.shape)}]{origin} is at version "
        f"{saved._version_counter.value}; expected version {expected} instead. {hint} "
        f"{type(node).__name__} saved this tensor to compute its gradient. Use an out-of-place "
        "operation, or change a clone() of the tensor."
    )


# ------------------------------------------------------------------ requires_grad


def can_require_grad(dtype: Any) -> bool:
    """Tell whether values of a NumPy dtype can be differentiated; symbols (objects) can.

    Raises:
        NotImplementedError: If they are complex.
    """
    refuse_complex(dtype)
    return dtype.kind not in "iub"


# A new tensor cannot require a gradient.
only_floats = _always("Only Tensors of floating point and complex dtype can require gradients")


def refuse_complex(dtype: Any) -> None:
    r"""Raise if a tensor that is to require a gradient has a complex NumPy dtype.

    PyTorch's gradient of a real :math:`L` with respect to :math:`z = x + iy` is :math:`\partial L
    / \partial x + i \, \partial L / \partial y`, so its rules conjugate: that of :math:`z^2`
    gives :math:`2 \bar z`. minigrad's rules do not, and would be wrong without a word.
    """
    if dtype.kind == "c":
        raise NotImplementedError(
            "minigrad does not differentiate complex numbers: a complex tensor can hold values, "
            "but it cannot require a gradient. Keep the real and the imaginary part in two real "
            "tensors, or compute under no_grad()."
        )


def refuse_requires_grad(tensor: Tensor, value: Any) -> None:
    """Raise if a tensor must not get this value of `requires_grad`."""
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    if tensor._has_node():
        advice = (
            " If you want to use a computed variable in a subgraph that doesn't require "
            "differentiation use var_no_grad = var.detach()."
        )
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables." + ("" if value else advice)
        )
    if value and not can_require_grad(tensor._array.dtype):
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if value and tensor.is_inference() and modes.inference is None:
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )


extensions.register(messages=sys.modules[__name__])
