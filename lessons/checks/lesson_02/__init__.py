"""Check the exercises of lesson 02: leaves, walks through a graph, shapes, sums on the way back."""

from __future__ import annotations

from minigrad import Tensor
from minigrad.classroom.behaviors import Function, Hook, Property
from minigrad.classroom.exercises import Choice, Mistake, Numbers

from ..formulas import Rule
from .runs import (
    DOUBLINGS,
    LADDER,
    SQUARE,
    are_weights,
    differs,
    keeps_nodes,
    lists,
    not_first,
    results,
    same_for_all,
    same_numbers,
    scaled,
    seen,
    some_weights,
    too_many,
    walk_run,
    walking,
)
from .sums import QUOTIENTS, SUMS, some_gradients, summed

_SHAPES = [(2, 3), None, (4, 2, 3), (2, 2), (3, 3)]
_NOT_FROM_THE_RIGHT = (
    "Entry [1]: shapes are aligned at the right, not at the left. Which size stands under the 3?"
)

EXERCISES = [
    Function(
        id="02.1",
        asks="make_weights(values, scale), which returns values times scale as a leaf that "
        "requires a gradient",
        inputs=some_weights,
        returns=Tensor,
        other_dtypes=False,  # the text says nothing about the precision
        properties=[
            Property("values times scale, as many as there are values", are_weights),
            Property("a leaf", lambda result, *_: result.is_leaf),
            Property("a tensor whose .grad is still empty", lambda result, *_: result.grad is None),
            Property("a tensor that requires a gradient", lambda result, *_: result.requires_grad),
        ],
        right="Compute first, ask for the gradient last: then the asking tensor is the leaf.",
        hints=(
            "What did the colleague ask a gradient for, and what was returned?",
            "Do the multiplication while nobody asks for a gradient. requires_grad_() asks "
            "afterwards.",
        ),
        mistakes=[
            Mistake(
                "It asks for a gradient first and then changes the leaf in place, which is "
                "refused. Which of the two has to come first?",
                trouble=("in-place",),
            ),
            Mistake(
                "A list cannot be multiplied by a float: values is a list. Make a tensor of it "
                "first, or multiply each of its entries.",
                trouble=("can't multiply sequence",),
            ),
            Mistake(
                "int cuts the numbers off: they have to stay floats.",
                trouble=("Only Tensors of floating point",),
            ),
            Mistake(
                "No attribute turns a result into a leaf: what counts is how it was made.",
                trouble=("'is_leaf'", "'grad_fn'"),
            ),
            Mistake(
                "It changed the list that it was given. Make a new one, and leave that as it is.",
                when=lambda found: any("entries" in trial.changed for trial in found),
            ),
            Mistake(
                "It gave None. Is a return missing, or nothing behind it?",
                when=lambda found: any(trial.result is None for trial in found),
            ),
            Mistake(
                "Called twice with the same values, it gives different weights. Is there chance in "
                "it, or does it keep something?",
                when=differs,
            ),
            Mistake(
                "It gives the same result whatever goes in: does it use its arguments?",
                when=same_for_all,
            ),
            Mistake(
                "For other values it gives the same weights: values is not used. They are not "
                "drawn, they are given.",
                when=lambda found: same_numbers(found[0].result, found[-1].result),
            ),
            Mistake(
                "retain_grad lets you see a gradient, but the result is still no leaf: an "
                "optimizer refuses it. Return a leaf.",
                when=results(lambda w: not w.is_leaf and w.retains_grad),
            ),
            Mistake(
                "What it returns is still the result of a recorded operation. The leaf, which "
                "gets the gradient, stays behind in the function.",
                when=results(lambda w: not w.is_leaf),
            ),
            Mistake(
                "A leaf, but nobody asks for its gradient. It will stay as it is, too.",
                when=results(lambda w: w.is_leaf and not w.requires_grad),
            ),
            Mistake(
                "A leaf that requires a gradient, good. But the scale got lost.",
                when=scaled(0),
            ),
            Mistake(
                "The scale is in there twice.",
                when=scaled(2),
            ),
            Mistake(
                "It divides by the scale. Small weights come out of a product.",
                when=scaled(-1),
            ),
            Mistake(
                "One number for all values? Each value is a weight of its own.",
                when=results(lambda w: w.dim() == 0),
            ),
        ],
    ),
    Hook(
        id="02.2",
        asks="walk(output), which returns a list of all nodes below output, output.grad_fn first, "
        "each of them once",
        scenario=walk_run,
        reference=walking(),
        right="A list that grows while you go through it, and a look whether a node is in it "
        "already: this walks through any graph.",
        hints=(
            "Keep a list of the nodes found so far, and go through it from its beginning while it "
            "grows.",
            "For each node look at the first part of each of its edges. If that is not None, and "
            "not in the list yet, append it.",
        ),
        mistakes=[
            Mistake(
                "If that is the graph of y = y + y, forty times: you go along each path, and there "
                "are a trillion. Look whether a node is in the list before you go on from it, not "
                "in the end.",
                trouble=("Endless",),
            ),
            Mistake(
                "Somewhere it meets a None: a tensor without a grad_fn, or an input that requires "
                "no gradient. Leave these out.",
                trouble=("'NoneType' object",),
            ),
            Mistake(
                "A walk only looks. backward() uses the graph up, and fills .grad.",
                trouble=("second time", "does not require grad", "can be implicitly created"),
            ),
            Mistake(
                "A second call on the same output lists something else. What does it keep from one "
                "call to the next?",
                when=seen(keeps_nodes),
            ),
            Mistake(
                "None is in your list. It stands for an input that requires no gradient, and is "
                "no node.",
                when=lists("None"),
            ),
            Mistake(
                "Your list holds edges, pairs of a node and a number. Take the nodes out.",
                when=lists("an edge"),
            ),
            Mistake(
                "Your list holds tensors. Asked for are the nodes themselves.",
                when=lists("a tensor"),
            ),
            Mistake(
                "Your list holds names or something else. Asked for are the nodes themselves.",
                when=seen(lambda noted: any("'" in str(name) for name in noted[SQUARE])),
            ),
            Mistake(
                "A node that is used twice is in your list twice: look at x * x. Where do you "
                "notice that you have met it before?",
                when=seen(lambda noted: noted[SQUARE].count("AccumulateGrad") > 1),
            ),
            Mistake(
                "A node that is used in two places is in your list twice: look at x * y + x. It "
                "is not enough to compare the inputs of one node.",
                when=seen(too_many),
            ),
            Mistake(
                "The nodes of the leaves are missing. A leaf has no grad_fn, but the edge that "
                "leads to it ends in a node.",
                like=walking("no leaves"),
            ),
            Mistake(
                "The node that you start from is missing: output.grad_fn.",
                when=seen(
                    lambda noted: noted[LADDER] == DOUBLINGS and noted[SQUARE] == ["AccumulateGrad"]
                ),
            ),
            Mistake(
                "Every list is empty. Begin with output.grad_fn in it.",
                when=lambda found: not any(trial.result for trial in found),
            ),
            Mistake(
                "Only output.grad_fn is in your list. Its edges lead on.",
                when=seen(lambda noted: noted[LADDER] == 1 == len(noted[SQUARE])),
            ),
            Mistake(
                "You take one step from output.grad_fn. Go on from each node that you find.",
                like=walking("neighbors"),
            ),
            Mistake(
                "You follow one edge of each node, the first. The others lead on, too.",
                like=walking("first edge"),
            ),
            Mistake(
                "Two nodes may have the same name and be different nodes. Compare the nodes "
                "themselves.",
                when=seen(lambda noted: noted[LADDER] <= 2 == len(noted[SQUARE])),
            ),
            Mistake(
                "All nodes, but output.grad_fn has to be the first, in every list.",
                when=seen(not_first),
            ),
        ],
    ),
    Numbers(
        id="02.3",
        asks="five shapes, each a tuple, or None where two shapes do not fit",
        expected=_SHAPES,
        right="From the right, column by column: equal, or 1, or missing.",
        hints=(
            "Write the two shapes below each other, aligned at the right.",
            "In each column the result has the larger size, and the two fit if they are equal or "
            "one of them is 1 or missing. () has no columns at all.",
        ),
        mistakes=[
            Mistake(
                "There are five sums, and five places: where two shapes do not fit, None stands.",
                when=lambda shapes: len(shapes) != 5,
            ),
            Mistake(
                "True and False are no shapes. Where two shapes do not fit, None stands.",
                when=lambda shapes: any(isinstance(shape, bool) for shape in shapes),
            ),
            Mistake(
                "Those are numbers of entries. Asked for are shapes, as tuples.",
                when=lambda shapes: sum(isinstance(shape, int) for shape in shapes) > 1,
            ),
            Mistake("The right shapes in the opposite order.", value=_SHAPES[::-1]),
            Mistake(
                "Give tuples of numbers, without quotes.",
                when=lambda shapes: any(isinstance(shape, str) for shape in shapes),
            ),
            Mistake(
                "Entry [1]: () is the shape of a single number. Where two shapes do not fit there "
                "is no result, and no shape.",
                when=lambda shapes: shapes[1] is not None and len(shapes[1]) == 0,
            ),
            Mistake(_NOT_FROM_THE_RIGHT, when=lambda shapes: isinstance(shapes[1], list | tuple)),
            Mistake(
                "Entry [0]: they fit. Aligned at the right, 3 stands under 3, and what is missing "
                "at the left is repeated.",
                when=lambda shapes: shapes[0] is None,
            ),
            Mistake(
                "Entry [0]: columns keep their order, and aligned at the right 3 stands under 3.",
                when=lambda shapes: tuple(shapes[0]) != (2, 3),
            ),
            Mistake(
                "Entry [4]: a column and a row. Aligned at the right, what stands under the 1?",
                when=lambda shapes: shapes[4] is None or tuple(shapes[4]) in ((3, 1), (3,), (1, 3)),
            ),
            Mistake(
                "Entry [2]: they fit. Each column has a 1, or nothing, in one of its two rows.",
                when=lambda shapes: shapes[2] is None,
            ),
            Mistake(
                "Entry [2]: the result has as many columns as the longer of the two.",
                when=lambda shapes: len(shapes[2]) != 3,
            ),
            Mistake(
                "Entry [2]: sizes are neither multiplied nor added. In each column the larger one "
                "stays.",
                when=lambda shapes: max(shapes[2]) > 4,
            ),
            Mistake(
                "Entry [2]: a 1 is repeated to the other size, in whichever of the two it is.",
                when=lambda shapes: 1 in shapes[2],
            ),
            Mistake(
                "Entry [3]: a single number fits everything. Every column is missing in it.",
                when=lambda shapes: not shapes[3],
            ),
            Mistake(
                "Entry [3]: a single number has no column, and adds none.",
                when=lambda shapes: len(shapes[3]) != 2,
            ),
        ],
    ),
    Function(
        id="02.4",
        asks="unbroadcast(gradient, shape), which sums a gradient back to a shape",
        inputs=some_gradients,
        reference=summed,
        returns=Tensor,
        # Not expand: it may look at shapes, and takes the engine to do more.
        without=("backward", "specification", "sum_to_size"),
        right="The way back of every operation that broadcasts ends with these few lines. As a "
        "method of tensors they are called sum_to_size.",
        hints=(
            "Begin with what is missing at the left: how many dimensions more has the gradient? "
            "Sum dimension 0 away that many times.",
            "Now both have the same number of dimensions. Sum each dimension where shape has a 1, "
            "and keep it.",
        ),
        mistakes=SUMS,
    ),
    Choice(
        id="02.5",
        asks="the line that makes memory grow, and through what the memory is held",
        option="c",
        why_not={
            "a": "item() gives a Python number. Does a number know where it came from?",
            "b": "detach() cuts the thread. What leads from total to the batch, then?",
            "d": "Under no_grad nothing is recorded. What could total hold, besides a number?",
        },
        model="total is a result: its grad_fn leads to the graph of every loss so far, and their "
        "nodes hold what they saved.",
        right="Each turn adds one node to total, and below it hangs a whole graph with all that it "
        "saved.",
        hints=(
            "After the loop you hold total and nothing else. What can be reached from it?",
            "For each line: does total have a grad_fn?",
        ),
    ),
    Rule(
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
        right="Proved for all numbers, in four pairs of shapes: multiply as if nothing had been "
        "repeated, then sum back.",
        hints=(
            "First forget the shapes: for numbers, what arrives is multiplied by the slope.",
            "grad times each slope has the shape of a / b. One call of unbroadcast for each.",
        ),
        mistakes=QUOTIENTS,
    ),
]
