"""Check the exercises of lesson 02: leaves, walks through a graph, shapes, reversed broadcasts."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Choice, Function, Hook, Numbers
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

from .formulas import Rule

Answer = Callable[..., Any]

# --- 02.1


def weights_run(make_weights: Answer) -> dict[str, Any]:
    """Let an answer make weights a few times, and look at what they are."""
    seen: dict[str, Any] = {}
    cases = (([0.25, -2.5, 1.5], 0.1), ([1.75, -0.5], 0.5), ([-1.25], -1.5), ([2.0, 0.5, 3.0], 0.1))
    for values, scale in cases:
        weights = make_weights(list(values), scale)
        if not isinstance(weights, Tensor):
            raise Objection(f"It returned {describe(weights)}. The weights have to be a tensor.")
        case = f"with values = {values} and scale = {scale},"
        seen |= {
            f"{case} the list of weights": weights.tolist(),
            f"{case} weights.is_leaf": weights.is_leaf,
            f"{case} weights.requires_grad": weights.requires_grad,
            f"{case} weights.grad": weights.grad if weights.is_leaf else None,
        }
    return seen


WEIGHTS = Hook(
    id="02.1",
    asks="make_weights(values, scale), which returns values times scale as a leaf that "
    "requires a gradient",
    scenario=weights_run,
    other_dtypes=False,  # the text says nothing about the precision
    right="Compute first, ask for the gradient last: then the tensor that asks is the leaf.",
    hints=(
        "What did the colleague ask a gradient for, and what was returned?",
        "Do the multiplication while nothing requires a gradient. requires_grad_() comes last.",
    ),
    mistakes="""
        ~ (torch.tensor(values) * scale).requires_grad_() => torch.tensor(values, requires_grad=True).mul_(scale)
        ! in-place
            You ask for a gradient first and then change the leaf in place, which isn't allowed.
            Which of the two has to come first?
        ~ torch.tensor(values) * scale => torch.tensor(values * scale)
        ! can't multiply sequence
            You can't multiply a list by a float, and values is a list. Make a tensor from it first,
            or multiply each of its entries.
        ~ (torch.tensor(values) * scale).requires_grad_() => torch.tensor(values, requires_grad=True) * scale
            You still return the result of a recorded operation. The leaf, which gets the gradient,
            is lost when the function ends.
        ~ .requires_grad_() =>
            You return a leaf, but it doesn't require a gradient, so it won't get one.
        ~ * scale =>
            You return a leaf that requires a gradient. But the scale is missing.
        ~ * scale => * scale * scale
        ~ * scale => / scale
            Multiply by the scale, and only once. Look again at what you do with it.
        ~ torch.tensor(values) => torch.ones(len(values))
            The weights are the same for other values. Use the values that your function is given.
        ~ torch.tensor(values) => torch.tensor(values).sum()
            You made one number out of all values. Each value has to become its own weight.
    """,
)

# --- 02.2

DOUBLINGS = 40
LADDER = f"the number of nodes after y = y + y, {DOUBLINGS} times,"
NAMES, FIRST = "the names of the nodes of", "the first node of"
SQUARE, SUM = f"{NAMES} x * x", f"{NAMES} (x * y + x) ** 2"
AGAIN = "what a second call lists for x * x"


def named(node: Any) -> str:
    """Give the name of a node, or say what stands in its place."""
    if hasattr(node, "next_functions"):
        return type(node).__name__
    return "an edge" if isinstance(node, tuple) else describe(node)


def walk_run(walk: Answer) -> dict[str, Any]:
    """Let an answer list the nodes of several graphs, of one of them twice."""

    def walked(output: Any) -> list[Any]:
        found = walk(output)
        if not isinstance(found, list):
            raise Objection(
                "walk has to return a list, also for a tensor without a grad_fn, and it returned "
                f"{describe(found)}. Is a return missing, or a list(...)?"
            )
        return found

    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 0.5))
    left, right = torch.tensor([2.0, 5.0], requires_grad=True).unbind()
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    square = x * x
    seen: dict[str, Any] = {}
    for name, output in {
        "x * x": square,
        "(x * y + x) ** 2": (x * y + x) ** 2,
        "7 * x": 7 * x,
        "left * right": left * right,
        "a model's output": model(torch.ones(5, 3)),
        "the leaf x": x,
        "a tensor without gradient": torch.tensor(1.0) * 2,
    }.items():
        found = walked(output)
        seen[f"{NAMES} {name}"] = sorted(map(named, found))
        seen[f"{FIRST} {name}"] = [named(node) for node in found[:1]]
    seen[AGAIN] = sorted(map(named, walked(square)))
    top = torch.tensor(1.0, requires_grad=True)
    for _ in range(DOUBLINGS):
        top = top + top
    # A walk along each path would take forever here: what comes to x twice has failed already.
    seen[LADDER] = -1 if twice(seen) else len(walked(top))
    return seen


def twice(seen: dict[str, Any]) -> bool:
    """Tell whether a node is listed more than once."""
    return len(seen[SQUARE]) > 2 or len(seen[SUM]) > 5


WALK = Hook(
    id="02.2",
    asks="walk(output), which returns a list of all nodes that a backward pass from output "
    "reaches, output.grad_fn first, each of them once",
    scenario=walk_run,
    right="Each node once, however many paths lead to it: with that, you can walk through any "
    "graph.",
    hints=(
        "Keep a list of the nodes found so far, and go through it while it grows.",
        "For each node look at the first part of each of its edges. If that isn't None, and "
        "not in the list yet, append it.",
    ),
    mistakes=r"""
        ~ for node in found: => while found:\n        node = found[-1]
        ! Endless
            Do you follow each path? After y = y + y, forty times, there are a trillion. Check
            whether a node is in the list before you go on from it, not at the end.
        ~ [] if output.grad_fn is None else [output.grad_fn] => [output.grad_fn]
        ! 'NoneType' object
            It meets a None somewhere: a tensor without a grad_fn, or an input that requires no
            gradient. Leave these out.
        ~ found = [] if => output.sum().backward()\n    found = [] if
        ! second time, does not require grad, can be implicitly created
            A walk only looks. backward() frees what the graph saved, and fills .grad.
        ~ def walk => kept = []\ndef walk
        | return found => kept.extend(n for n in found if n not in kept)\n    return kept
        ? seen[AGAIN] != seen[SQUARE]
            A second call on the same output lists something else. What does it keep from one call
            to the next?
        ~ source is not None and source not in found => source not in found
        | in node.next_functions => in node.next_functions if node else ()
            None is in your list. It stands for an input that requires no gradient: it isn't a node.
        ~ return found => return [(node, 0) for node in found]
        ~ return found => return [node.name() for node in found]
        ? not all(each.isidentifier() for each in seen[SQUARE])
            Your list holds edges, names or something else. It has to hold the nodes themselves.
        ~ and source not in found =>
        ~ for source, _ in node.next_functions => for source in dict.fromkeys(s for s, _ in node.next_functions)
        | and source not in found =>
        ? twice(seen)
            A node that's used twice is in your list twice: look at x * x, and at x * y + x. Where
            do you check whether it's in the list already?
        ~ return found => return [node for node in found if node.next_functions]
            The nodes of the leaves are missing. A leaf has no grad_fn, but the edge that leads to
            it ends in a node.
        ~ return found => return found[1:]
        ~ return found => return []
            The node that you start from is missing: output.grad_fn.
        ~ return found => return found[:1]
        ~ for node in found: => for node in found[:1]:
            Your walk ends too early. Go on from each node that you find.
        ~ in node.next_functions: => in node.next_functions[:1]:
            You follow only the first edge of each node. Follow the others, too.
        ~ return found => return list({node.name(): node for node in found}.values())
            Two different nodes can have the same name. Compare the nodes themselves.
        ~ return found => return found[::-1]
        ? seen != right and all(each == right[name] for name, each in seen.items() if FIRST not in name)
            All nodes are there, but output.grad_fn has to be the first in every list.
    """,
)

# --- 02.3

SHAPES = Numbers(
    id="02.3",
    asks="five shapes, each a tuple, or None where two shapes don't fit",
    right="From the right, column by column: equal, or 1, or missing.",
    hints=(
        "Write one shape below the other, aligned at the right.",
        "In each column the result has the larger size, and the two fit if they are equal or "
        "one of them is 1 or missing. () has no dimensions at all.",
    ),
    mistakes="""
        = [(3, 3), (2, 2), (4, 2, 3), None, (2, 3)]
            The right shapes in the opposite order.
        = [(2, 3), (4, 2, 3), (2, 2), (3, 3)]
        ? len(answer) != 5
            There are five sums, and five places: write None where two shapes don't fit.
        = [(2, 3), False, (4, 2, 3), (2, 2), (3, 3)]
        = [6, None, 24, 4, 9]
        ? any(isinstance(each, str | int) for each in answer)
            Write each shape as a tuple of numbers, and None where two shapes don't fit.
        = [(2, 3), (2, 3), None, (2, 2), (3, 3)]
        ? answer[1] is not None
            Entry [1]: shapes are aligned at the right, not at the left. Which size is under the
            3? Where two shapes don't fit, there's no result.
        = [None, None, (4, 2, 3), (2, 2), (3, 3)]
        ? answer[0] is None or tuple(answer[0]) != (2, 3)
            Entry [0]: they fit. Aligned at the right, 3 is under 3, and where a size is
            missing, the tensor is repeated.
        = [(2, 3), None, (4, 2, 3), (2, 2), (3, 1)]
        ? answer[4] is None or tuple(answer[4]) in ((3, 1), (3,), (1, 3))
            Entry [4]: a column and a row. Aligned at the right, what is under the 1?
        = [(2, 3), None, (4, 1, 3), (2, 2), (3, 3)]
        ? answer[2] is None or tuple(answer[2]) != (4, 2, 3)
            Entry [2]: they fit. Each column has a 1, or nothing, in one of its two rows, and the
            other size stays: sizes are neither multiplied nor added.
        = [(2, 3), None, (4, 2, 3), None, (3, 3)]
        ? not answer[3] or len(answer[3]) != 2
            Entry [3]: a single number fits everything, and adds no dimension.
    """,
)

# --- 02.4


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient back to a shape; the rules of 02.6 use it."""
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def some_gradients(rng: Random) -> list[tuple[Tensor, tuple[int, ...]]]:
    """Draw gradients for shapes of every kind that broadcasting knows, none close to zero."""
    cases: dict[tuple[int, ...], list[tuple[int, ...]]] = {
        (2, 3): [(2, 1), (3,), (1, 3), (1, 1), (), (2, 3)],
        (3, 3): [(3,)],
        (1, 3): [(1, 3)],
        (2, 2): [(1,), (2,)],
        (): [()],
        (4,): [(1,)],
        (4, 2, 3): [(2, 1), (4, 1, 3), (1, 1, 3)],
        (2, 2, 2): [(2,)],
    }

    def drawn(shape: tuple[int, ...]) -> Tensor:
        tenths = [rng.choice((-1, 1)) * rng.randint(5, 95) for _ in range(math.prod(shape))]
        return (torch.tensor(tenths) / 10).reshape(shape)

    return [(drawn(large), small) for large, smaller in cases.items() for small in smaller]


SUMS = Function(
    id="02.4",
    asks="unbroadcast(gradient, shape), which sums a gradient back to a shape",
    inputs=some_gradients,
    returns=Tensor,
    # Not expand: it may look at shapes, and needs the engine for the rest.
    without=("backward", "specification", "sum_to_size"),
    right="The backward rule of every operation that broadcasts ends with these few lines. "
    "Tensors have a method that does the same, sum_to_size.",
    hints=(
        "Begin with what's missing at the left: how many more dimensions does the gradient "
        "have? Sum over dimension 0 that many times.",
        "Now both have the same number of dimensions. Where shape has a 1, sum over that "
        "dimension and keep it.",
    ),
    mistakes=r"""
        ~ while => return gradient\n    while
            You return the gradient unchanged. It has to have the given shape.
        ~ while => return gradient.reshape(shape)\n    while
        ! is invalid for input of size
            reshape and view only rearrange entries, and there are too many of them. They have to
            be added up.
        ~ while gradient.dim() > len(shape): => for dim in range(gradient.dim() - len(shape)):
        | sum(dim=0) => sum(dim=dim)
        ! Dimension out of range
            There are fewer dimensions than you expect. Each sum removes one, and the later ones
            move up. And sum(dim=()) removes all of them, in PyTorch as here.
        ~ .sum( => .mean(
            You take the mean. Each repetition counts in full: add the contributions, don't average
            them.
        ~ gradient.sum(dim=0) => gradient[0]
        | gradient.sum(dim=dim, keepdim=True) => gradient.narrow(dim, 0, 1)
        ~ .sum( => .amax(
            You take one of the contributions and drop the others. Add all of them up.
        ~ if size == 1 => if False
            Dimensions that are missing in shape are summed. Those of size 1 aren't yet.
        ~ return gradient => return gradient.squeeze()
            The sums are right, but the dimensions of size 1 are gone. The result has to have
            exactly the given shape: see keepdim.
        ~ sum(dim=0) => sum(dim=-1)
            You sum the last dimensions. Shapes are aligned at the right: which dimensions are
            missing, then?
        ~ sum(dim=dim, => sum(dim=-1,
        ~ sum(dim=dim, => sum(dim=0,
            For each 1 in shape you sum the same dimension, wherever the 1 stands.
        ~ keepdim=True) => keepdim=True)\n            break
            You sum only one dimension of size 1. A shape can have several.
        ~ return gradient => return gradient if shape else gradient.reshape(1)
            () is the shape of a single number, without any dimension. Yours has one.
        ~ while gradient => if gradient
            You remove only one missing dimension. There can be several.
        ~ while gradient.dim() > len(shape): => while False:
        ? all(trial.result.dim() == trial.args[0].dim() for trial in trials)
            Dimensions that are missing in shape are still there. Which are they, if shapes are
            aligned at the right?
        ~ return gradient => return torch.zeros(shape) + gradient.sum()
            You sum over everything. Sum only over what was repeated.
    """,
)

# --- 02.5 and 02.6

MEMORY = Choice(
    id="02.5",
    asks="the line that makes memory grow, and what holds the memory",
    model="total is a result: its grad_fn leads to the graph of every loss so far, and their "
    "nodes hold what they saved.",
    right="Each round adds another loss to total, with its whole graph and all that it saved.",
    hints=(
        "After the loop you hold only total. What can you reach from it?",
        "For each line: does total have a grad_fn?",
    ),
    mistakes="""
        = "a"
            item() gives a Python number. Does a number have a grad_fn?
        = "b"
            detach() cuts the connection. What would lead from total to the batch?
        = "d"
            Under no_grad nothing is recorded. What could total hold, except a number?
    """,
)

QUOTIENT = Rule(
    id="02.6",
    asks="divide_rule(grad, a, b), which returns the gradients of a and b for a / b",
    forward=lambda a, b: a / b,
    shapes=[
        {"a": (2, 1), "b": 3},
        {"a": (2, 1), "b": 3},
        {"a": 3, "b": (2, 1)},
        {"a": (), "b": 2},
        {"a": 2, "b": 2},
    ],
    right="Proved for all numbers, in four pairs of shapes: multiply in the large shape, then sum "
    "back.",
    hints=(
        "Forget the shapes first: for numbers, multiply what arrives by the local derivative.",
        "Each product has the shape of a / b. Call unbroadcast on each of the two.",
    ),
    mistakes="""
        ~ grad / b => 1 / b
        ! Dimension out of range
            A local derivative alone may have fewer dimensions than a / b. Multiply it by grad
            before you sum.
        ~ = -grad => = grad
            If b grows, a quotient of positive numbers falls. The gradient of b lost a sign.
        ~ / (b * b) => / b
        ~ / (b * b) => / b * b
            The derivative of 1 / b has b squared in the denominator. Yours has only one b
            there, or * b cancels it.
        ~ grad * a / => grad /
            That's the derivative of 1 / b. Here a is the numerator.
        ~ grad / b => grad * b
        | -grad * a / (b * b) => grad * a
            That's the rule of a product. This is a quotient.
        ~ a / (b * b) => b / (a * a)
            In the gradient of b the two are swapped: which of them is squared, and which is in
            the numerator?
        ~ unbroadcast(for_a, a.shape), unbroadcast(for_b, b.shape) => unbroadcast(grad, a.shape) / b, -unbroadcast(grad, b.shape) * a / (b * b)
            You sum what arrives before you multiply. But the local derivative differs from copy
            to copy: multiply first, then sum.
        ~ -grad * a / (b * b) => -unbroadcast(for_a, a.shape) * a / b
            You compute the gradient of b from that of a, which is summed already. Use its value
            from before the sum.
        ~ unbroadcast(for_a, a.shape), unbroadcast(for_b, b.shape) => unbroadcast(for_b, b.shape), unbroadcast(for_a, a.shape)
            The right gradients, in the wrong order: a comes first.
    """,
)

EXERCISES = [WEIGHTS, WALK, SHAPES, SUMS, MEMORY, QUOTIENT]
