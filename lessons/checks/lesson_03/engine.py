"""Put the engines of exercise 03.6 to work, the right one and those that learners write."""

from __future__ import annotations

import gc
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from minigrad.classroom.behaviors import Hook, Unsolved
from minigrad.classroom.exercises import Finding, Objection

from .graphs import LADDER, Answer, Value, close, deep, ladder, pairs_of_graphs
from .runs import AGREE, IN_CHAIN, IN_LADDER, LATER, walk

REFUSED, NO_ERROR = "an error that names retain_graph", "no error"
OTHER_ERROR = "a RuntimeError that does not name retain_graph"
OTHER_KIND = "an error that is no RuntimeError"
_METHODS = {"__pow__": "x ** n", "exp": "x.exp()", "detach": "x.detach()", "backward": "backward"}
KEPT = "whether a root still holds its inputs after a pass without retain_graph=True"

_LEAF = (
    "A pass was refused before anything had been let go. A leaf has no edges either, and never had "
    "any: how do you tell it from a node that lost its edges?"
)


@dataclass(frozen=True, kw_only=True)
class ClassExercise(Hook):
    """A class is to be written; one without any method is not written yet."""

    def examine(self, answer: Any) -> Finding | None:
        """Look whether it was begun, and put it to work."""
        if isinstance(answer, type) and not any(map(callable, vars(answer).values())):
            raise Unsolved
        return super().examine(answer)


def engine_run(engine: Answer) -> dict[str, Any]:
    """Put a class to work: its operations, its passes, what it lets go, what it cuts off."""
    made = _class_of(engine)
    _first_of_all(engine)

    def checked(result: Any, what: str) -> Any:
        if not isinstance(result, made):
            raise Objection(
                f"{what} gave {_named(result)}. It has to give an {made.__name__}, so that the "
                "next operation finds exp, detach and backward."
            )
        return result

    def slope(function: Callable[[Any], Any], at: float, what: str) -> tuple[float, Any]:
        x = engine(at)
        result = checked(function(x), what)
        _fresh(result)
        return result.data, x.grad

    named = {
        "x * x + x at x = 2": slope(lambda x: x * x + x, 2.0, "x * x + x"),
        "x ** 3 at x = 2": slope(lambda x: x**3, 2.0, "x ** 3"),
        "x ** 0.5 at x = 4": slope(lambda x: x**0.5, 4.0, "x ** 0.5"),
        "x ** -2 at x = 2": slope(lambda x: x**-2, 2.0, "x ** -2"),
        "x.exp() at x = 2": slope(lambda x: x.exp(), 2.0, "x.exp()"),
    }
    seen: dict[str, Any] = {f"x.grad of {what}": pair[1] for what, pair in named.items()}
    seen["the list of the values of these five"] = [pair[0] for pair in named.values()]
    x = engine(3.0)
    y = x * x
    z = y + y
    _fresh(z, retain_graph=True)
    seen["what came of a second pass, both with retain_graph=True"] = _refusal(z, retain_graph=True)
    seen["x.grad after these two"] = x.grad
    seen[".grad of y, which lies on the way"] = y.grad
    _refusal(z)
    seen["what came of a pass after one without retain_graph=True"] = _refusal(z)
    seen["what came of a pass from another root over released nodes"] = _refusal(y + x)
    alone, cut = engine(3.0), engine(3.0)
    _fresh(alone)
    seen["what came of the second of two passes that begin at a leaf"] = _refusal(alone)
    seen["the .grad of that leaf"] = alone.grad
    square = cut * cut
    still = checked(square.detach(), "x.detach()")
    seen["the number that detach gave"] = still.data
    _fresh(square * still)
    seen["x.grad of y * y.detach() for y = x * x at x = 3"] = cut.grad
    _fresh(cut * cut + cut)
    seen["x.grad after a pass from another loss, x * x + x"] = cut.grad
    seen[KEPT] = _still_held(engine)
    large = (AGREE, f"x.grad {IN_LADDER}", f"x.grad {IN_CHAIN}")
    right = [24.0, None, REFUSED, REFUSED, NO_ERROR, 2.0, 9.0, 54.0, 61.0, False]
    if list(seen.values())[7:] != right:
        return seen | dict.fromkeys(large, LATER)
    agreed = 0
    for nodes, tensors in pairs_of_graphs(engine, extra=True):
        _fresh(nodes[-1])
        tensors[-1].backward()
        wanted = [None if t.grad is None else t.grad.item() for t in tensors[:3]]
        agreed += close([node.grad for node in nodes[:3]], wanted)
    for steps in (10, LADDER):
        diamonds = ladder(steps, engine)
        _fresh(diamonds[-1])
    chain = deep(engine)
    _fresh(chain[-1])
    return seen | dict(zip(large, (agreed, diamonds[0].grad, chain[1].grad), strict=True))


def _class_of(engine: Answer) -> Any:
    unwrapped = inspect.unwrap(engine)
    if not isinstance(unwrapped, type):
        raise Objection("Engine has to be a class, and it is a function.")
    made: Any = unwrapped
    missing = [said for name, said in _METHODS.items() if not callable(getattr(made, name, None))]
    if missing:
        raise Objection(f"The class has no method for {' and '.join(missing)}, by this name.")
    try:
        inspect.signature(made.backward).bind(None, retain_graph=True)
    except TypeError:
        raise Objection(
            "backward has to take one argument by the name of retain_graph, which may be left out."
        ) from None
    return made


def _named(result: Any) -> str:
    kind = type(result).__name__
    return "None" if result is None else f"a plain {kind}"


def _fresh(root: Any, **how: Any) -> None:
    """Go through a graph through which nobody has gone: nothing of it was released."""
    try:
        root.backward(**how)
    except RuntimeError as error:
        if "retain_graph" not in str(error):
            raise
        raise Objection(
            "A pass through a new graph was refused, the first one there, after another graph had "
            "been let go. What is released belongs to its nodes, and not to the class."
        ) from None


def _first_of_all(engine: Answer) -> None:
    """Go through two graphs, and through a leaf: before anything else, nothing may be refused."""
    try:
        (engine(2.0) * engine(3.0)).backward()
    except RuntimeError as error:
        if "retain_graph" in str(error):
            raise Objection(_LEAF) from None
        raise
    _fresh(engine(2.0) * engine(3.0))
    try:
        engine(2.0).backward()
    except RuntimeError as error:
        if "retain_graph" in str(error):
            raise Objection(_LEAF) from None
        raise


def _refusal(root: Any, **how: Any) -> str:
    """Go through a graph, and say whether that was refused."""
    try:
        root.backward(**how)
    except RecursionError:
        raise
    except RuntimeError as error:
        return REFUSED if "retain_graph" in str(error) else OTHER_ERROR
    except Exception as error:
        if "retain_graph" not in str(error):
            raise
        return OTHER_KIND
    return NO_ERROR


def _still_held(engine: Answer) -> bool:
    """Tell whether a root still leads to its inputs after a pass that should let them go."""
    x = engine(3.0)
    inner = x * x
    root = inner + x
    _fresh(root)
    pending, done = [vars(root)], set[int]()
    while pending:
        each = pending.pop()
        if each is inner:
            return True
        if id(each) not in done and not isinstance(each, type | FunctionType | ModuleType):
            done.add(id(each))
            pending += gc.get_referents(each)
    return False


def engine() -> Any:
    """Make the right engine class."""

    class Engine(Value):
        def __pow__(self, n: float) -> Any:
            return type(self)(self.data**n, [(self, n * self.data ** (n - 1))])

        def exp(self) -> Any:
            result = math.exp(self.data)
            return type(self)(result, [(self, result)])

        def detach(self) -> Any:
            return type(self)(self.data)

        def backward(self, retain_graph: bool = False) -> None:
            for node, gradient in walk()(self).items():
                if not node.edges:
                    node.grad = gradient + (node.grad or 0.0)
                elif not retain_graph:
                    node.edges = Released()

    return Engine


class Released(list[Any]):
    """Edges that were let go: whoever comes to them gets an error."""

    def __iter__(self) -> Any:
        raise RuntimeError("released by an earlier pass: give that one retain_graph=True")
