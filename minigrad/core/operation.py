"""Declare an operation by its forward and its rules, and get a function that records itself.

An entry in the registry of derivatives looks like this::

    @operation(
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
be an operation, such as `tanh_backward`: on arrays its forward is the rule, and on tensors it
leaves one node in the graph, as in PyTorch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.core import extensions
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import modes, notify
from minigrad.core.node import NO_EDGE, Node, reduce_gradient
from minigrad.core.tensor import SavedTensor, Tensor, make_view, unpack_array, unpack_tensor, wrap

# What forwards and rules compute with: NumPy arrays, tensors, or arrays of symbols.
Array = Any

registry: dict[str, Any] = {}  # every operation by its name

# Settings that hold tensors in PyTorch: they are released with the tensors.
RELEASED = {"bags", "chosen", "counts", "indices", "kept", "mask", "noise", "pos_weight"}
RELEASED |= {"positions", "present", "statistics", "target", "weight", "weights"}

# What a rule may ask of an input without keeping the input: `self_sym_sizes` is its shape.
LAYOUTS: dict[str, Callable[[Any], Any]] = {"sizes": lambda array: array.shape}


def arguments_of(function: Any) -> list[str]:
    """Give the names of a function's arguments."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


class OperationNode(Node):
    """The node of an operation: unpacks what was saved, and applies the rules."""

    __slots__ = ()
    _chooses = True

    def _run(self, gradient: Any, keep: bool = True, edges: Any = None) -> Sequence[Any]:
        """Apply the rules to arrays."""
        return self._apply(self._plan.vjps, gradient, keep, edges, unpack_array)

    def _run_recorded(self, gradient: Any, keep: bool = True, edges: Any = None) -> Sequence[Any]:
        """Apply the same rules to tensors, which records them."""
        outer, modes.in_rule = modes.in_rule, True
        try:
            return self._apply(self._plan.recorded_vjps, gradient, keep, edges, unpack_tensor)
        finally:
            modes.in_rule = outer

    def _apply(self, vjps: Any, gradient: Any, keep: bool, edges: Any, unpack: Any) -> Any:
        plan, saved, reduced = self._plan, self._saved, self._broadcast
        if saved is None:
            raise extensions.messages.released()
        values = list(saved)
        for at in plan.tensors_at:
            if values[at] is not None:
                values[at] = unpack(values[at], self)
        gradients: list[Any] = [None] * len(vjps)
        for place in plan.order:
            if len(vjps) == 1 or (edges or self._edges)[place][0] is not None:
                gradients[place] = vjps[place](
                    gradient, *[values[at] for at in plan.needs_at[place]]
                )
        if self._keeps_tensors and not keep:
            self._release()
        return gradients if reduced is None else list(map(reduce_gradient, gradients, reduced))


class Plan:
    """What one operation does: its forward, its rules, and what each rule needs to be saved."""

    def __init__(self, node_name: str, forward: Any, rules: Any, **options: Any) -> None:
        self.forward, self.name = forward, forward.__name__
        self.arithmetic, self.view = options["arithmetic"], options["view"]
        self.precise = self.arithmetic or self.view  # whether the precision is chosen already
        broadcasts, constants = options["broadcasts"] or self.arithmetic, options["constants"]
        self.arguments = arguments_of(forward)
        self.differentiable = list(rules)
        self.tensors = [each for each in self.arguments if each in rules or each in constants]
        self.recorded_vjps = list(rules.values())
        self.vjps = [getattr(rule, "forward", rule) for rule in rules.values()]
        # an operation as a rule calls the result of this one `output`
        self.needs = [
            ["result" if n == "output" and n not in self.arguments else n for n in names[1:]]
            for names in map(arguments_of, rules.values())
        ]
        needed = {name for names in self.needs for name in names}
        # as PyTorch: in the order of their names, the result last; so hooks see them
        self.saved = sorted(needed, key=lambda name: (name == "result", name))
        self.saved_tensors = [n for n in self.saved if n == "result" or n in self.tensors]
        self._refuse_unknown(needed)
        self.order = sorted(range(len(rules)), key=self.differentiable.__getitem__)
        # the inputs that may be broadcast; whether they may be converted, too
        self.broadcasts = tuple(rules) if broadcasts is True else broadcasts or ()
        self.converts = broadcasts is True
        self.tensors_at = tuple(map(self.saved.index, self.saved_tensors))
        self.needs_at = [list(map(self.saved.index, names)) for names in self.needs]
        self.optional = self.tensors_at if len(rules) > 1 else ()
        # positions are saved too, and released: in PyTorch they are tensors
        keeps = bool(self.saved_tensors or {"indices", "positions"} & needed)
        content = {"__slots__": (), "__doc__": f"Backward of `{self.name}`.", "_plan": self}
        content |= {"_names_of_saved": tuple(self.saved), "_optional": self.optional}
        plain = [n for n in self.saved if n not in self.saved_tensors and n not in RELEASED]
        content["_numbers_at"] = self.numbers_at = tuple(map(self.saved.index, plain))
        self.node: Any = type(node_name, (OperationNode,), {**content, "_keeps_tensors": keeps})

        self.tensor_places = [self.arguments.index(name) for name in self.tensors]
        self.input_places = [self.arguments.index(name) for name in rules]
        self.changing = [self.arguments.index(name) for name in self.broadcasts]
        self.to_save = list(map(self._how_to_save, self.saved))

    def _refuse_unknown(self, needed: set[str]) -> None:
        layouts = [f"{name}_sym_{what}" for name in self.tensors for what in LAYOUTS]
        wrong = needed - {*self.arguments, *layouts, "result"}
        wrong |= {*self.differentiable} - {*self.arguments}
        if wrong:
            known = [*self.arguments, "result", *layouts]
            raise TypeError(f"a rule of {self.name} names {sorted(wrong)}, known are {known}")

    def users(self, name: str) -> list[int] | None:
        """Give the inputs for whose gradients a value is saved; None if for all, or the result."""
        places = [place for place, names in enumerate(self.needs) if name in names]
        return None if name == "result" or len(places) == len(self.needs) else places

    def _how_to_save(self, name: str) -> tuple[Any, ...]:
        argument, _, layout = name.partition("_sym_")
        place = None if name == "result" else self.arguments.index(argument)
        return place, LAYOUTS.get(layout), name in self.saved_tensors, self.users(name)

    def save(self, given: Any, arrays: Any, result: Any, edges: Any) -> tuple[Any, ...]:
        """Give what the rules will need: of a tensor nothing if no input wants it a gradient."""
        saved = []
        for place, layout, is_tensor, users in self.to_save:
            value = result if place is None else given[place]
            if layout is not None:
                value = layout(arrays[place])
            elif is_tensor:
                if users is not None and all(edges[user] is NO_EDGE for user in users):
                    value = None
                elif value is result or value._version_counter is not None:
                    value = SavedTensor(value, value is result)
            saved.append(value)
        return tuple(saved)

    def reductions(self, arrays: Any, result: Any) -> Any:
        """Give the shape and dtype to which each gradient is reduced; None if none has to be."""
        if not modes.observers:  # otherwise what was saved may come back in another shape
            for place in self.changing:
                shape, dtype = arrays[place].shape, arrays[place].dtype
                if shape != result.shape or (self.converts and dtype is not result.dtype):
                    break
            else:
                return None
        inputs = [(place, arrays[place]) for place in self.input_places]
        reducible = self.input_places if modes.observers else self.changing
        return tuple([(a.shape, a.dtype) if at in reducible else None for at, a in inputs])


def interpret(plan: Plan) -> Callable[..., Any]:
    """Make the function of an operation: it computes, and records where a gradient is needed."""

    @functools.wraps(plan.forward)
    def function(*given: Any) -> Any:
        given, result = extensions.prepare(function, given)
        if given is None:
            return result
        arrays = list(given)
        for place in plan.tensor_places:
            arrays[place] = given[place]._array
        try:
            result = wrap(plan.forward(*arrays))
        except (ValueError, RuntimeWarning, FloatingPointError) as error:
            result = wrap(extensions.retry(plan.forward, error, *arrays))
        if modes.recording:
            record(plan, given, arrays, result)
        if plan.view:
            make_view(result, given[plan.tensor_places[0]])
        return result

    function.plan = plan  # type: ignore[attr-defined]
    return function


def record(plan: Plan, given: Any, arrays: Any, result: Tensor) -> None:
    """Leave a node behind, if an input requires a gradient."""
    inputs = [given[place] for place in plan.input_places]
    if all(each._edge is NO_EDGE for each in inputs):
        return
    edges = [each._edge or resolve_edge(each) for each in inputs]
    node = plan.node()
    node._set_up(edges)
    node._saved = plan.save(given, arrays, result, edges)
    node._broadcast = plan.reductions(arrays, result._array)
    result._edge = (node, 0)
    if modes.observers:
        notify(node, result)


def operation(
    node_name: str,
    *,
    arithmetic: bool = False,
    broadcasts: bool | tuple[str, ...] = False,
    view: bool = False,
    constants: tuple[str, ...] = (),
    **rules: Callable[..., Any],
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a forward in NumPy and its backward rules into an operation on tensors.

    Args:
        node_name: The name of the node in the graph, as PyTorch prints it.
        arithmetic: Whether the two inputs may be of different types, or the second a number.
        broadcasts: Whether inputs are broadcast or converted, so that their gradients have to be
            reduced; or the names of those that are broadcast.
        view: Whether the result shares the memory of the first input.
        constants: Inputs that are tensors but have no gradient, such as a condition.
        **rules: For each differentiable input its rule, in the order of the inputs.

    Returns:
        A decorator for the forward. The operation has the attributes `node` (the class of its
        nodes), `forward`, `rules` and `plan`.
    """

    def decorate(forward: Callable[..., Any]) -> Any:
        kind = {"arithmetic": arithmetic, "broadcasts": broadcasts, "view": view}
        plan = Plan(node_name, forward, rules, constants=constants, **kind)
        function: Any = (extensions.write_function or interpret)(plan)
        function.node, function.forward = plan.node, forward
        function.rules = dict(zip(rules, plan.vjps, strict=True))
        registry[plan.name] = function
        return function

    return decorate
