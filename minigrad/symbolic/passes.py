"""Read the nodes of a backward pass: what went through each, and which formulas its rule gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.function import FunctionNode
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.gradients import grad
from minigrad.autograd.recording import GradientSent, HookFired, NodeStarted, RuleApplied, record
from minigrad.autograd.saved_hooks import PackedTensor
from minigrad.core.engine import AccumulateGrad, resolve_edge
from minigrad.core.module_hooks import BackwardHookFunctionBackward
from minigrad.core.node import Node
from minigrad.core.operation import arguments_of, registry
from minigrad.core.tensor import SavedTensor, Tensor, made_by, unpack_array, wrap
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.formulas import expression, named_array

# A value of the graph: the node that made it, and which output of that node it is.
Value = tuple[Node, int]

# ---------------------------------------------------------------------- what happened

_OF_ONE = "tensor pre-hook"  # of a single output of its node


@dataclass(eq=False)
class Passage:
    """How a backward pass went through one node. Gradients are arrays, None where there was none.

    Attributes:
        node: The node.
        arrived: For each output the gradient that arrived, a sum already.
        given: What the rule got, after the hooks before it.
        computed: For each input what the rule gave.
        sent: For each input what was sent on, after the hooks after the rule.
        before: The hooks that fired before the rule.
        after: The hooks that fired after it.
    """

    node: Node
    arrived: list[Any]
    given: list[Any] = field(default_factory=list)
    computed: list[Any] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)
    before: list[HookFired] = field(default_factory=list)
    after: list[HookFired] = field(default_factory=list)
    ran: bool = False

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf's."""
        return type(self.node) is AccumulateGrad

    def changes(self, after: bool) -> Iterator[tuple[int, list[HookFired], Any, Any]]:
        """Yield for each gradient before or after the rule its number, and what hooks did there.

        That is the hooks, the gradient that they found, and what they left.
        """
        found, left = (self.computed, self.sent) if after else (self.arrived, self.given)
        for number, pair in enumerate(zip(found, left, strict=False)):
            own = [h for h in self.before if h.output_nr == number or h.kind != _OF_ONE]
            yield number, self.after if after else own, *pair


def run_recorded(loss: Tensor) -> list[Passage]:
    """Run one backward pass that changes nothing, and record how it went.

    The graph is kept, no `.grad` changes, and every hook on the way fires once, as it does in
    `autograd.grad`.

    Returns:
        The passages in the order in which the engine ran the nodes.
    """
    leaves = leaves_of(loss)
    kept = [r() for n in nodes_of(loss) if n._hooks is not None for r in n._hooks.retained.values()]
    retained = [(tensor, tensor._grad) for tensor in kept if tensor is not None]
    try:
        with record() as log:
            found = grad(loss, leaves, retain_graph=True, allow_unused=True)
    finally:
        for tensor, gradient in retained:
            tensor._grad = gradient
    return passages_of(log, leaves, found)


def passages_of(
    log: Any, leaves: Sequence[Tensor], found: Iterable[Any], twins: Any = None
) -> list[Passage]:
    """Read from a log how a pass went.

    Args:
        log: The events.
        leaves: The tensors that the pass was asked for gradients of.
        found: These gradients.
        twins: What stands for each node of the log, if that is another library's.
    """
    passages: dict[Node, Passage] = {}
    for event in log.events:
        node = event.node.node if twins is None else twins.get(event.node.node)
        if node is None:
            continue  # of a pass inside of a rule, whose graph is gone
        if isinstance(event, NodeStarted):
            arrived = [_array(each) for each in event.gradients]
            passages[node] = Passage(node, arrived, list(arrived))
        passage = passages.get(node)
        if passage is None:
            continue
        if isinstance(event, HookFired):
            (passage.after if passage.ran else passage.before).append(event)
        elif isinstance(event, RuleApplied):
            passage.ran = True
            passage.given = [_array(each) for each in event.grad_outputs]
            passage.computed = [_array(each) for each in event.grad_inputs]
            passage.sent = [None] * len(node.next_functions)
        elif isinstance(event, GradientSent):
            passage.sent[event.input_nr] = _array(event.gradient)
    captured = {id(tensor): _array(each) for tensor, each in zip(leaves, found, strict=True)}
    for passage in passages.values():
        leaf = id(passage.node.variable) if passage.is_leaf else None
        if leaf in captured:  # its accumulation does not run: what its hooks left was captured
            passage.given = [captured[leaf]]
    return list(passages.values())


def _array(gradient: Any) -> Any:
    return getattr(gradient, "_array", gradient)  # None, or what a log keeps of a large one


def nodes_of(loss: Tensor) -> list[Node]:
    """List the nodes that a loss depends on, those of leaves included, the root first."""
    assert loss.grad_fn is not None
    found, seen = [loss.grad_fn], {loss.grad_fn}
    for node in found:  # which grows on the way
        for source, _ in node.next_functions:
            if source is not None and source not in seen:
                seen.add(source)
                found.append(source)
    return found


def leaves_of(loss: Tensor) -> list[Tensor]:
    """List the leaves that a loss depends on, in the order in which the forward used them."""
    inner = [node for node in nodes_of(loss) if type(node) is not AccumulateGrad]
    in_order = sorted(inner, key=lambda node: node._sequence_nr())
    used = dict.fromkeys(source for node in in_order for source, _ in node.next_functions)
    return [source.variable for source in used if type(source) is AccumulateGrad]


# ---------------------------------------------------------------------- formulas


def value_of(tensor: Tensor) -> Value | None:
    """Tell which value of the graph a tensor is; None if no gradient goes there."""
    if not tensor.requires_grad:
        return None
    node, output_nr = tensor._resolved_edge() or resolve_edge(tensor)
    return None if node is None else (node, output_nr)


def saved_values(node: Node) -> Iterator[tuple[int, Value | None, Any]]:
    """Yield for each tensor that a node saved its place, which value of the graph it is, its array.

    Raises:
        RuntimeError: If it was written to since.
    """
    for place, saved in enumerate(node._saved or ()):
        if hasattr(saved, "_version_counter"):
            kept = saved._version_counter is None
            array = saved._array if kept else unpack_array(saved, node)
            yield place, _source(saved, node, place), array


def _source(saved: Any, node: Node, place: int) -> Value | None:
    if isinstance(saved, PackedTensor):
        return (saved.node or node, saved.output_nr) if saved.requires_grad else None
    tensor = saved.tensor if isinstance(saved, SavedTensor) else saved
    if tensor is not None:
        return value_of(tensor)
    return made_by(saved, node), node._result_nr(place)


def own_copy(saved: Any) -> Any:
    """Copy what a forward leaves to its rules, such as weights; give anything else as it is.

    Who computes with symbols instead of numbers must not leave symbols there.
    """
    of_forwards = ("minigrad.ops.", "minigrad.nn.functional.")
    return copy(saved) if type(saved).__module__.startswith(of_forwards) else saved


_OBJECTS = np.dtype(object)


def stand_in(node: Node, replacement: Callable[[Value | None, Any], Any]) -> Node:
    """Copy a node, with other arrays instead of those that it saved.

    Args:
        node: The node; it is not changed, and neither copied hooks nor edges are.
        replacement: Gets which value of the graph a saved tensor is (None for a constant) and its
            array, and gives the array to be put in its place.
    """
    twin = copy(node)
    if isinstance(getattr(node, "function", None), Node):  # a part was changed in place
        twin.function = stand_in(node.function, replacement)
    replaced = [own_copy(saved) for saved in node._saved or ()]
    for place, value, array in saved_values(node):
        new = wrap(replacement(value, array))
        own = isinstance(replaced[place], SavedTensor) and replaced[place].tensor is None
        replaced[place] = SavedTensor(new, is_result=own)
    twin._saved = None if node._saved is None else tuple(replaced)
    _let_through(twin)
    return twin


def _let_through(twin: Any) -> None:
    """Let a stand-in's gradients be arrays of another type than those that the node wants."""
    if getattr(twin, "_broadcast", None) is not None:
        twin._broadcast = tuple(each and (each[0], _OBJECTS) for each in twin._broadcast)
    if isinstance(twin, FunctionNode):
        twin._tensor_slots = [slot and (slot[0], _OBJECTS) for slot in twin._tensor_slots]
    if twin._multiple:
        twin._dtype = [each and _OBJECTS for each in twin._dtype]


def run_rule(node: Node, gradients: Sequence[Any]) -> list[Any]:
    """Run the rule of a node, or of its stand-in, on gradients of its outputs.

    Args:
        node: The node.
        gradients: An array for each output; None where none arrives.

    Returns:
        An array for each input, or None.
    """
    if all(gradient is None for gradient in gradients) and not node._runs_without_gradient:
        return [None] * len(node.next_functions)
    given: Any = list(gradients) if node._multiple else gradients[0]
    with no_grad(), np.errstate(all="ignore"):
        return list(node._run(given, True))


# These give the same entries in the same order in another shape; which one is the result's.
_RESHAPING = r"(View|UnsafeView|ReshapeAlias|Squeeze|Unsqueeze|Alias|Clone|ToCopy)Backward\d"
_REARRANGING = rf"{_RESHAPING}|(T|Transpose|Permute|Expand|Flip|Movedim)Backward\d"


def passes_on(node: Node) -> bool:
    """Tell whether a node only passes entries on, each of them once or several times."""
    gate = isinstance(node, BackwardHookFunctionBackward)
    return gate or re.fullmatch(_REARRANGING, node.name()) is not None


def source_of(value: Value) -> Value | None:
    """Give the value that a node passes on as one of its outputs; None if it has no gradient."""
    node, output_nr = value
    source, number = node.next_functions[output_nr if node._multiple else 0]
    return None if source is None else (source, number)


def forward_of(
    value: Value,
    shape: tuple[int, ...],
    value_at: Callable[[Any], Any],
    constant: Callable[[Any], Any],
    array_of: Callable[[Value], Any],
) -> Any:
    """Compute a value again from the inputs of its node, where what it saved is enough.

    Args:
        value: The value.
        shape: Its shape.
        value_at: Gives the inputs, as arrays of numbers or of symbols, or None.
        constant: Gives what to compute with instead of an array without gradient.
        array_of: Gives the true array of a value, or None; an operand that the node did not save is
            the difference of two of them.

    Returns:
        An array, or None if that can't be done.
    """
    node, output_nr = value
    edges = node.next_functions
    if isinstance(node, BackwardHookFunctionBackward):
        return value_at(edges[output_nr])
    if node.name() == "ExpandBackward0" or re.fullmatch(_RESHAPING, node.name()):
        source = value_at(edges[0])
        if source is None:
            return None
        fits = source.size == math.prod(shape)
        return source.reshape(shape) if fits else np.broadcast_to(source, shape)
    operation = next((each for each in registry.values() if each.node is type(node)), None)
    if operation is None or output_nr != 0:
        return None
    given = _given(node, operation, value_at, constant)
    missing = [name for name in arguments_of(operation.forward) if name not in given]
    if missing in (["self"], ["other"]):
        given[missing[0]] = _operand(node, operation, shape, array_of, missing == ["self"])
    elif missing:
        return None
    if any(given.get(name, 0) is None for name in operation.rules):
        return None
    try:
        with np.errstate(all="ignore"):
            result = operation.forward(**given)
    except (TypeError, ValueError, NotImplementedError):
        return None  # symbols can't go through it: the value gets a name of its own instead
    return result if getattr(result, "shape", None) == shape else None


def _given(node: Node, declared: Any, value_at: Any, constant: Any) -> dict[str, Any]:
    """Collect the arguments of an operation: through edges, and what was saved."""
    differentiable = list(declared.rules)
    tensors = {place: array for place, _, array in saved_values(node)}
    given: dict[str, Any] = {}
    for name in arguments_of(declared.forward):
        edge = node.next_functions[differentiable.index(name)] if name in differentiable else None
        place = node._names_of_saved.index(name) if name in node._names_of_saved else None
        if edge is not None and edge[0] is not None:
            given[name] = value_at(edge)
        elif place in tensors:
            given[name] = constant(tensors[place])
        elif place is not None and node._saved is not None and name not in differentiable:
            given[name] = own_copy(node._saved[place])
    return given


# by the operation, and whether the first operand is wanted: the signs of the result and the other
_SIGNS = {("add", False): (1, -1), ("add", True): (1, -1), ("sub", False): (-1, 1)}
_SIGNS |= {("sub", True): (1, 1), ("rsub_number", False): (1, 1)}


def _operand(node: Node, operation: Any, shape: tuple[int, ...], array_of: Any, first: bool) -> Any:
    """Find the operand of a sum or difference that the node did not need to save."""
    signs = _SIGNS.get((operation.__name__, first))
    known, result = array_of(node.next_functions[1 if first else 0]), array_of((node, 0))
    if signs is None or known is None or result is None or known.shape != shape:
        return None
    operand = signs[0] * result + signs[1] * known
    # the rounding is taken off again
    return operand.reshape(()) if operand.dtype == object else np.round(operand.reshape(()), 6)


def local_formula(
    node: Node, input_nr: int, shape: tuple[int, ...], name_of: Callable[[Value], str | None]
) -> str | None:
    """Write the derivative of a node's only entry with respect to that of one of its inputs.

    Args:
        node: The node; its saved values must not have been released.
        input_nr: Which input.
        shape: The shape of the node's result, which has one entry.
        name_of: Gives the name of a value of the graph, if it has one. Values without a name are
            put in as numbers.

    Returns:
        The formula; None if there is no name in it, if there is more than one entry, if the node
        has no formula that its rule could be asked for, or if it is too long to help.

    Example:
        >>> import minigrad as torch
        >>> s = torch.tensor([0.276], requires_grad=True)
        >>> y = s**2
        >>> local_formula(y.grad_fn, 0, (1,), lambda value: "s")
        '2*s'
    """

    def replacement(value: Value | None, array: Any) -> Any:
        while value is not None and name_of(value) is None and passes_on(value[0]):
            value = source_of(value)
        name = None if value is None else name_of(value)
        if name is None or array.size != 1:
            return SymbolicArray(array) if array.dtype.kind == "f" else array
        return named_array(name, array.shape, {"real": True})

    if node._multiple:
        return None
    try:
        results = run_rule(stand_in(node, replacement), [SymbolicArray(np.ones(shape))])
    except (TypeError, RuntimeError, ValueError):
        return None  # released, or a rule that symbols can't go through
    found = results[input_nr]
    if found is None or np.size(found) != 1:
        return None
    formula = expression(wrap(found))
    text = str(formula)
    # it is there to be read at a glance: without numbers of many digits, and short
    plain = all(number.q <= 1000 for number in formula.atoms(sympy.Rational))
    return text if formula.free_symbols and plain and len(text) <= 40 else None
