"""Declare an operation by its forward and rules, and get a function that records itself.

An entry in the book of derivatives looks like this::

    @differentiable(
        "MulBackward0",
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )
    def mul(self, other):
        return self * other

The forward and the rules are plain NumPy. A rule is named after the input whose gradient it gives.
Its first argument is the gradient of the result; the names of its other arguments say what it
needs: inputs, `result`, settings such as `dim`, or `self_sym_sizes`, the shape of an input. Just
these values are saved, and only if an input that needs them requires a gradient. A rule may itself
be an operation of the book, such as `tanh_backward`: on arrays its forward is the rule, and on
tensors it leaves one node in the graph, as in PyTorch.

From such an entry `differentiable` writes three short functions, as `dataclasses` and `namedtuple`
do, so that recording an operation costs as little as Python allows: `mul(x, y)` computes and
records, `MulBackward0._run` applies the rules to arrays, and `MulBackward0._run_recorded` applies
the same rules to tensors, which records them. `print(mul.write())` shows them.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.core.engine import quiet_numpy, resolve_edge  # noqa: F401
from minigrad.core.node import (  # noqa: F401
    NO_EDGE,
    Node,
    grad_mode,
    next_priority,
    reduce_gradient,
)
from minigrad.core.plugs import plugs
from minigrad.core.tensor import (  # noqa: F401
    INFERENCE,
    SavedTensor,
    Tensor,
    make_view,
    unpack_array,
    unpack_tensor,
)

# What forwards and rules compute with: NumPy arrays, tensors, or arrays of symbols.
Array = Any
Rule = Callable[..., Any]

# What the written functions refer to: all that stands above, this, and what type promotion adds.
new, ndarray, as_array = object.__new__, np.ndarray, np.asanyarray

book: dict[str, Any] = {}  # every operation by its name


def differentiable(
    node_name: str,
    *,
    arithmetic: bool = False,
    broadcasts: bool | tuple[str, ...] = False,
    view: bool = False,
    constants: tuple[str, ...] = (),
    twins: dict[str, Callable[..., Any]] | None = None,
    **rules: Rule,
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a forward in NumPy and its backward rules into an operation on tensors.

    Args:
        node_name: The name of the node in the graph, as PyTorch prints it.
        arithmetic: Whether the two inputs may be of different types, or the second a number.
        broadcasts: Whether inputs are broadcast or converted, so that their gradients have to be
            brought back; or the names of those that are broadcast.
        view: Whether the result shares the memory of the first input.
        constants: Inputs that are tensors but have no gradient, such as a condition.
        twins: For rules of inputs that may have been broadcast, quicker ways on arrays. Each gets
            what the rule gets, and then the shape and dtype that are wanted of the gradient.
        **rules: For each differentiable input its rule, in the order of the inputs.

    Returns:
        A decorator for the forward. The operation has the attributes `node` (the class of its
        nodes), `forward` and `rules`; `write()` gives the source of its functions.
    """

    def decorate(forward: Callable[..., Any]) -> Any:
        writer = Writer(forward, rules, constants, broadcasts or arithmetic, twins)
        node = type(
            node_name,
            (Node,),
            {
                "__slots__": (),
                "__doc__": f"Backward of `{forward.__name__}`.",
                "_names_of_saved": tuple(writer.saved),
                "_keeps_tensors": writer.keeps_tensors,
                "_chooses": True,
                "_optional": writer.optional,
                "_lasting": tuple(map(writer.saved.index, writer.lasting)),
            },
        )
        plain = {name: getattr(rule, "forward", rule) for name, rule in rules.items()}
        names: dict[str, Any] = {**globals(), "NodeType": node}
        names["forward"] = getattr(forward, "__wrapped__", forward) if writer.quiet else forward
        names |= {f"rule_{name}": rule for name, rule in plain.items()}
        names |= {f"recorded_rule_{name}": rule for name, rule in rules.items()}
        names |= {f"twin_{name}": twin for name, twin in writer.twins.items()}
        operation: Any = FunctionType(_first_call.__code__, names, forward.__name__)
        names["this"] = operation
        names["prepare"] = operation.prepare = lambda: _prepare(operation)
        operation.__doc__ = forward.__doc__
        operation.__wrapped__ = forward
        operation.__module__ = forward.__module__
        operation.node, operation.forward, operation.rules = node, forward, plain
        operation.write = lambda: writer.source(arithmetic, view)
        book[forward.__name__] = operation
        return operation

    return decorate


def _first_call(*arguments: Any) -> Any:
    """Stand in for an operation until it is first called: this makes importing quick."""
    prepare()  # type: ignore[name-defined]  # noqa: F821 - among the names of the operation
    return this(*arguments)  # type: ignore[name-defined]  # noqa: F821


def _prepare(operation: Any) -> None:
    """Write the source of an operation, and give the code to the operation and to its node."""
    source, names, node = operation.write(), operation.__globals__, operation.node
    names |= plugs.names
    filename = f"<minigrad {node.__name__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    written: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names, written)
    node._run, node._run_recorded = written["_run"], names["in_a_rule"](written["_run_recorded"])
    operation.__code__ = written[operation.__name__].__code__


# What a rule may ask of an input without keeping the input: its shape, and whether it is a matrix
# that lies in memory column by column.
_layout = {"sizes": "{0}.shape", "columns": "is_column_major({0})"}


# Saved values that hold tensors, though they are none.
_RELEASED = {"bags", "chosen", "counts", "indices", "kept", "mask", "noise", "pos_weight"}
_RELEASED |= {"positions", "present", "statistics", "target", "weight", "weights"}


def arguments_of(function: Any) -> list[str]:
    """Give the names of a function's arguments."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


class Writer:
    """Writes the source of an operation and of its node's two methods."""

    def __init__(
        self, forward: Any, rules: dict[str, Rule], constants: Any, broadcasts: Any, twins: Any
    ) -> None:
        self.name = forward.__name__
        self.twins = twins or {}
        self.quiet = getattr(forward, "quiet", False)
        self.arguments = arguments_of(forward)
        self.differentiable = list(rules)
        self.tensors = [name for name in self.arguments if name in rules or name in constants]
        self.needs = {name: self._needs(rule) for name, rule in rules.items()}
        needed = {need for needs in self.needs.values() for need in needs}
        # as PyTorch: in the order of their names, the result last; so hooks see them
        self.saved = sorted(needed, key=lambda name: (name == "result", name))
        shapes = [f"{name}_sym_{what}" for name in self.tensors for what in _layout]
        unknown = {*self.saved} - {*self.arguments, *shapes, "result"}
        if unknown or {*rules} - {*self.arguments}:
            known = f"known are the arguments {self.arguments}, result, and {shapes}"
            wrong = sorted(unknown | {*rules} - {*self.arguments})
            raise TypeError(f"a rule of {self.name} names {wrong}; {known}")
        # the inputs that may be broadcast or converted
        self.broadcasts = tuple(rules) if broadcasts is True else broadcasts or ()
        self.converts = broadcasts is True
        # places are saved too, and released: in PyTorch they are tensors
        several = len(self.differentiable) > 1
        self.optional = tuple(
            place for place, name in enumerate(self.saved) if several and self.is_tensor(name)
        )
        self.lasting = [n for n in self.saved if not (self.is_tensor(n) or n in _RELEASED)]
        self.keeps_tensors = any(map(self.is_tensor, self.saved)) or bool(
            {"indices", "positions"} & {*self.saved}
        )

    def _needs(self, rule: Callable[..., Any]) -> list[str]:
        """Give what a rule asks for. An operation as a rule calls this one's result `output`."""
        return [
            "result" if name == "output" and name not in self.arguments else name
            for name in arguments_of(rule)[1:]
        ]

    def is_tensor(self, name: str) -> bool:
        """Tell whether what is saved under a name is a tensor."""
        return name == "result" or name in self.tensors

    def source(self, arithmetic: bool, view: bool) -> str:
        """Write all three."""
        plain = self.rule("_run", "rule", "{0}._array", "unpack_array({0}, node)")
        recorded = self.rule("_run_recorded", "recorded_rule", "{0}", "unpack_tensor({0}, node)")
        return "\n\n".join([self.operation(arithmetic, view), plain, recorded])

    def operation(self, arithmetic: bool, view: bool) -> str:
        """Write the function that computes, and records where a gradient is needed."""
        tensors, differentiable = self.tensors, self.differentiable
        lines = [f"def {self.name}({', '.join(self.arguments)}):"]
        if arithmetic:
            a, b = differentiable
            lines += plugs.meeting(a, b)
        else:
            lines += [f"    array_{t} = {t}._array" for t in tensors]
            lines += [] if view else plugs.meeting(differentiable[0], None, self.arguments)
        given = ", ".join(f"array_{a}" if a in tensors else a for a in self.arguments)
        if self.quiet:  # as `quietly` does, without a call
            lines += ["    try:", "        silence = silences.pop()"]
            lines += ["    except IndexError:", "        silence = quiet_numpy.copy()"]
        call = f"{'silence.run(forward, ' if self.quiet else 'forward('}{given})"
        lines += [
            "    try:",
            f"        result_array = {call}",
            "    except (ValueError, RuntimeWarning, FloatingPointError) as error:",
            f"        result_array = retry(forward, error, {given})",
        ]
        if self.quiet:
            lines += ["    finally:", "        silences.append(silence)"]
        wanted = " or ".join(f"edge_{t} is not NO_EDGE" for t in differentiable)
        lines += [
            "    if result_array.__class__ is not ndarray:",
            "        result_array = as_array(result_array)",
            "    result = new(Tensor)",
            "    result._array = result_array",
            "    result._grad = result._meta = result._version_counter = result._view = None",
            *(f"    edge_{t} = {t}._edge" for t in differentiable),
            "    recording = grad_mode.enabled",
            f"    if recording and ({wanted}):",
            "        node = NodeType()",
            *(f"        edge_{t} = edge_{t} or resolve_edge({t})" for t in differentiable),
            f"        node._edges = ({''.join(f'edge_{t}, ' for t in differentiable)})",
            "        node._saved = (" + "".join(f"{self._save(s)}, " for s in self.saved) + ")",
            "        node._hooks = None",
            "        node._priority = next_priority()",
        ]
        pair = "(array_{0}.shape, array_{0}.dtype), ".format
        if self.broadcasts:
            pairs = [pair(t) if t in self.broadcasts else "None, " for t in differentiable]
            shapes = [f"array_{t}.shape" for t in self.broadcasts]
            # two inputs of one shape cannot have been broadcast
            same = " == ".join(shapes if arithmetic else [*shapes, "result_array.shape"])
            if arithmetic:  # nor does it matter to one that needs no gradient, such as a number
                same = f"({shapes[0]} == result_array.shape if edge_{b} is NO_EDGE else {same})"
            elif self.converts:
                same += "".join(
                    f" and array_{t}.dtype is result_array.dtype" for t in self.broadcasts
                )
            lines += [f"        node._broadcast = None if {same} else ({''.join(pairs)})"]
        else:
            lines += ["        node._broadcast = None"]
        lines += [
            "        result._edge = (node, 0)",
            # what was saved may come back in another shape
            "        if recording is not True:",
            f"            node._broadcast = ({''.join(map(pair, differentiable))})",
            "            recording.attend(node, result)",
            "    else:",
            "        result._edge = NO_EDGE",
            "        if recording is None:",
            "            result._version_counter = INFERENCE",
        ]
        if view:
            lines += [f"    make_view(result, {tensors[0]})"]
        return "\n".join([*lines, "    return result"])

    def _save(self, name: str) -> str:
        """Write what is saved under a name: nothing if no input that needs it wants a gradient."""
        tensor, _, what = name.partition("_sym_")
        if what:
            return _layout[what].format(f"array_{tensor}")
        if not self.is_tensor(name):
            return name
        if name == "result":
            kept = "SavedTensor(result, True)"
        else:
            kept = f"({name} if {name}._version_counter is None else SavedTensor({name}))"
        users = [t for t in self.differentiable if name in self.needs[t]]
        if len(users) == len(self.differentiable) or name == "result":  # as PyTorch does
            return kept
        wanted = " or ".join(f"edge_{t} is not NO_EDGE" for t in users)
        return f"{kept} if {wanted} else None"

    def rule(self, method: str, prefix: str, direct: str, unpack: str) -> str:
        """Write the method of the node that unpacks the saved values and applies the rules."""
        lines = [f"def {method}(node, grad, keep=True, edges=None):"]
        if self.saved:
            lines += ["    saved = node._saved", "    if saved is None:"]
            lines += ["        raise plugs.messages.released()"]
            lines += [f"    {', '.join(self.saved)}, = saved"]
        several = len(self.differentiable) > 1
        for name in filter(self.is_tensor, self.saved):
            value = (
                f"{name} = {direct.format(name)} if {name}._version_counter is None "
                f"else {unpack.format(name)}"
            )
            if name == "result" and method == "_run":  # as `unpack_array` does, without a call
                value = (
                    "result = result.array if result.__class__ is SavedTensor and "
                    "result._version_counter.value == result.version "
                    f"else {unpack.format(name)}"
                )
            lines += (
                [f"    if {name} is not None:", f"        {value}"] if several else [f"    {value}"]
            )
        calls = [
            f"{prefix}_{t}({', '.join(['grad', *self.needs[t]])})" for t in self.differentiable
        ]
        if self.broadcasts:
            lines += ["    wanted = node._broadcast"]
        for place, t in enumerate(self.differentiable):
            if t in self.twins and method == "_run":
                twin = f"twin_{t}({', '.join(['grad', *self.needs[t], f'wanted[{place}]'])})"
                calls[place] = f"({calls[place]} if wanted is None else {twin})"
        if several:
            names = [f"edge_{t}" for t in self.differentiable]
            lines += [f"    {', '.join(names)}, = edges or node._edges"]
            calls = [
                f"{call} if {edge}[0] is not None else None"
                for call, edge in zip(calls, names, strict=True)
            ]
        gradients = [f"grad_{t}" for t in self.differentiable]
        pairs = zip(gradients, calls, strict=True)
        # PyTorch computes them in the order of their names
        lines += sorted(f"    {name} = {call}" for name, call in pairs)
        if self.keeps_tensors:
            tensors = list(filter(self.is_tensor, self.saved))
            some = " or ".join(f"{name} is not None" for name in tensors)
            # where none was needed there is none to miss the next time
            lines += [
                f"    if not keep and ({some}):" if several and tensors else "    if not keep:",
                "        node._saved = None",
            ]
            if self.lasting:
                lines += [f"        node._told = ({', '.join(self.lasting)},)"]
        if self.broadcasts:
            lines += ["    if wanted is not None:"]
            for t in self.broadcasts:
                place = self.differentiable.index(t)
                lines += [f"        grad_{t} = reduce_gradient(grad_{t}, wanted[{place}])"]
        return "\n".join([*lines, f"    return ({', '.join(gradients)},)"])
