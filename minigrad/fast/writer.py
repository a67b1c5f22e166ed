"""Write for each operation the functions that its plan describes, so that a call costs little.

As `dataclasses` and `namedtuple` do, two short functions are put together from text when an
operation is first called: `mul(x, y)` computes and records, and `MulBackward0._run` applies the
rules to arrays. They give the same bits as `minigrad.core.operation` does, which interprets the
plan, and which applies the rules to tensors always. `print(mul.write())` shows them.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.core import extensions
from minigrad.core import operation as core
from minigrad.core.engine import quiet_numpy, resolve_edge  # noqa: F401 - see `names`
from minigrad.core.modes import modes, notify, observed  # noqa: F401
from minigrad.core.node import NO_EDGE, next_priority, reduce_gradient  # noqa: F401
from minigrad.core.operation import LAYOUTS  # noqa: F401
from minigrad.core.tensor import SavedTensor, Tensor, make_view, unpack_array  # noqa: F401

new, as_array, ndarray = object.__new__, np.asanyarray, np.ndarray
# What a function that is one short expression does is written where it would be called.
_SHORT = ("{}", "-{}", "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} * ({} * {})")
SHORT = {eval(f"lambda a, b, c: {each.format(*'abc')}").__code__.co_code: each for each in _SHORT}


def called(function: Any, name: str, arguments: Sequence[str]) -> str:
    """Write the call of a function, or its expression."""
    code = getattr(function, "__code__", None)
    short = SHORT.get(code.co_code) if code and not code.co_names else None
    return short.format(*arguments) if short else f"{name}({', '.join(arguments)})"


def write_function(plan: core.Plan) -> Callable[..., Any]:
    """Make the function of an operation; its source is written when it is first called."""
    forward = plan.forward
    names = {**globals(), "NodeType": plan.node}  # what the written functions refer to
    names["forward"] = forward.__wrapped__ if hasattr(forward, "quiet") else forward
    for place, name in enumerate(plan.differentiable):
        names[f"vjp_{name}"] = plan.vjps[place]
    function: Any = FunctionType(_first_call.__code__, names, plan.name)
    names["this"] = function
    prepare = names["prepare"] = functools.partial(_prepare, plan, function)

    def first_run(node: Any, *arguments: Any) -> Any:
        prepare()
        return plan.node._run(node, *arguments)

    plan.node._run = first_run  # a node may be made without a call: see `linear`
    function.plan = plan
    function.write = lambda: Writer(plan).source()
    functools.update_wrapper(function, forward)
    return function


def _first_call(*arguments: Any) -> Any:
    """Stand in for an operation until it is first called: this makes importing quick."""
    prepare()  # type: ignore[name-defined]  # noqa: F821 - among the names of the operation
    return this(*arguments)  # type: ignore[name-defined]  # noqa: F821


def _prepare(plan: core.Plan, function: Any) -> None:
    """Write the source of an operation, and give the code to the operation and to its node."""
    source, names, node = function.write(), function.__globals__, plan.node
    names |= import_module("minigrad.ops.type_promotion").WRITTEN_NAMES
    filename = f"<minigrad {node.__name__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    written: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names, written)
    node._run = written["_run"]
    function.__code__ = written[plan.name].__code__


def convert(a: str, b: str) -> list[str]:
    """Write how an operation brings two inputs together that may differ in type."""
    return [
        f"    if {b}.__class__ is not Tensor:",
        f"        if {b}.__class__ in numbers and {a}.__class__ is Tensor and not modes.in_rule \\",
        f"                and {a}._array.dtype is not half:",
        f"            {b} = scalars[{b}.__class__, {b}, {a}._array.dtype]",
        f"        elif not isinstance({b}, Tensor):",
        f"            return promote_other(this, {a}, {b})",
        "    try:",
        f"        array_{a} = {a}._array",
        f"        array_{b} = {b}._array",
        "    except AttributeError:",
        f"        return promote_other(this, {a}, {b})",
        f"    if array_{a}.dtype is not array_{b}.dtype:",
        f"        return promote_operands(this, {a}, {b})",
    ]


class Writer:
    """Writes the source of an operation and of its node's rule."""

    def __init__(self, plan: core.Plan) -> None:
        self.plan = plan

    def source(self) -> str:
        """Write both."""
        return f"{self.function()}\n\n{self.rule()}"

    def function(self) -> str:
        """Write the function that computes, and records where a gradient is needed."""
        plan = self.plan
        tensors, differentiable, arithmetic = plan.tensors, plan.differentiable, plan.arithmetic
        lines = [f"def {plan.name}({', '.join(plan.arguments)}):"]
        if arithmetic:
            a, b = differentiable
            lines += convert(a, b)
        else:
            lines += [f"    array_{t} = {t}._array" for t in tensors]
        if not plan.precise:
            lines += [f"    if array_{differentiable[0]}.dtype is half:"]
            lines += [f"        return in_single(this)({', '.join(plan.arguments)})"]
        names = [f"array_{a}" if a in tensors else a for a in plan.arguments]
        given = ", ".join(names)
        call = called(plan.forward, "forward", names)
        if hasattr(plan.forward, "quiet"):  # as `ignore_errstate` does, without a call
            call = f"quiet_numpy.copy().run(forward, {given})"
        needs_grad = " or ".join(f"edge_{t} is not NO_EDGE" for t in differentiable)
        lines += [
            "    try:",
            f"        result_array = {call}",
            "    except (ValueError, RuntimeWarning, FloatingPointError) as error:",
            f"        result_array = retry(forward, error, {given})",
            "    if result_array.__class__ is not ndarray:",
            "        result_array = as_array(result_array)",
            "    result = new(Tensor)",
            "    result._array = result_array",
            "    result._grad = result._meta = result._version_counter = result._view = None",
            *(f"    edge_{t} = {t}._edge" for t in differentiable),
            f"    if modes.recording and ({needs_grad}):",
            "        node = NodeType()",
            *(f"        edge_{t} = edge_{t} or resolve_edge({t})" for t in differentiable),
            f"        node._edges = ({''.join(f'edge_{t}, ' for t in differentiable)})",
            "        node._saved = (" + "".join(f"{self._save(s)}, " for s in plan.saved) + ")",
            "        node._hooks = None",
            "        node._priority = next_priority()",
        ]
        pair = "(array_{0}.shape, array_{0}.dtype), ".format
        if plan.broadcasts:
            pairs = [pair(t) if t in plan.broadcasts else "None, " for t in differentiable]
            shapes = [f"array_{t}.shape" for t in plan.broadcasts]
            # two inputs of one shape cannot have been broadcast
            same = " == ".join(shapes if arithmetic else [*shapes, "result_array.shape"])
            if arithmetic:  # nor does it matter to one that needs no gradient, such as a number
                same = f"({shapes[0]} == result_array.shape if edge_{b} is NO_EDGE else {same})"
            elif plan.converts:
                same += "".join(
                    f" and array_{t}.dtype is result_array.dtype" for t in plan.broadcasts
                )
            lines += [f"        node._broadcast = None if {same} else ({''.join(pairs)})"]
        else:
            lines += ["        node._broadcast = None"]
        lines += [
            "        result._edge = (node, 0)",
            # what was saved may come back in another shape
            "        if observed and modes.observers:",
            f"            node._broadcast = ({''.join(map(pair, differentiable))})",
            "            notify(node, result)",
            "    else:",
            "        result._edge = NO_EDGE",
            "        result._version_counter = modes.inference",
        ]
        if plan.view:
            lines += [f"    make_view(result, {tensors[0]})"]
        return "\n".join([*lines, "    return result"])

    def _save(self, name: str) -> str:
        """Write what is saved under a name: nothing if no input that needs it wants a gradient."""
        tensor, _, what = name.partition("_sym_")
        if what:
            array = f"array_{tensor}"
            return f"{array}.shape" if what == "sizes" else f"LAYOUTS['{what}']({array})"
        if name not in self.plan.saved_tensors:
            return name
        if name == "result":
            kept = "SavedTensor(result, True)"
        else:
            kept = f"({name} if {name}._version_counter is None else SavedTensor({name}))"
        users = self.plan.users(name)
        if users is None:
            return kept
        names = [self.plan.differentiable[place] for place in users]
        needs_grad = " or ".join(f"edge_{t} is not NO_EDGE" for t in names)
        return f"{kept} if {needs_grad} else None"

    def rule(self) -> str:
        """Write the method of the node that unpacks the saved values and applies the rules."""
        plan, inputs = self.plan, self.plan.differentiable
        lines = ["def _run(node, grad, keep=True, edges=None):"]
        if plan.saved:
            lines += ["    saved = node._saved", "    if saved is None:"]
            lines += ["        raise extensions.messages.released()"]
            lines += [f"    {', '.join(plan.saved)}, = saved"]
        several = len(inputs) > 1
        for name in plan.saved_tensors:
            direct, current = f"{name}._array", f"{name}._version_counter is None"
            if name == "result":  # as `unpack_array` does, without a call
                direct = "result.array"
                current = "result.__class__ is SavedTensor and "
                current += "result._version_counter.value == result.version"
            value = f"{name} = {direct} if {current} else unpack_array({name}, node)"
            lines += [f"    if {name} is not None:"] if several else []
            lines += [f"        {value}" if several else f"    {value}"]
        calls = [
            called(vjp, f"vjp_{t}", ["grad", *needs])
            for t, vjp, needs in zip(inputs, plan.vjps, plan.needs, strict=True)
        ]
        if several:
            names = [f"edge_{t}" for t in inputs]
            lines += [f"    {', '.join(names)}, = edges or node._edges"]
            calls = list(map("{} if {}[0] is not None else None".format, calls, names))
        gradients = [f"grad_{t}" for t in inputs]
        # PyTorch computes them in the order of their names
        lines += sorted(map("    {} = {}".format, gradients, calls))
        if plan.node._keeps_tensors:
            tensors = plan.saved_tensors
            some = " or ".join(f"{name} is not None" for name in tensors)
            # where none was needed there is none to miss the next time
            lines += [
                f"    if not keep and ({some}):" if several and tensors else "    if not keep:",
                "        node._saved = None",
            ]
            if plan.numbers_at:
                numbers = "".join(f"{plan.saved[place]}, " for place in plan.numbers_at)
                lines += [f"        node._numbers = ({numbers})"]
        if plan.broadcasts:
            lines += ["    broadcast = node._broadcast", "    if broadcast is not None:"]
            for t in plan.broadcasts:
                layout = f"broadcast[{inputs.index(t)}]"
                lines += [f"        grad_{t} = reduce_gradient(grad_{t}, {layout})"]
        return "\n".join([*lines, f"    return ({', '.join(gradients)},)"])


extensions.register(write_function=write_function)
