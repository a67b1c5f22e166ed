"""Check the exercises of lesson 02: leaves, walks through a graph, shapes, sums on the way back."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Function, Hook, Property
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.formulas import Rule
from minigrad.classroom.runs_02 import (
    divide_wrongly,
    lists,
    results,
    some_gradients,
    some_weights,
    stumbled,
    summed,
    summing,
    twice,
    walk_run,
    walking,
    weights,
)
from minigrad.tensor import Tensor

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
        reference=weights,
        returns=Tensor,
        properties=[
            Property("a leaf", lambda result, *_: result.is_leaf),
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
                when=stumbled("in-place"),
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
                like=lambda values, scale: weights(values, 1.0),
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
                "You come back to the same nodes over and over, once for each path, and there are "
                "a trillion. Look whether a node is in the list before you go on from it.",
                when=stumbled("did not come to an end"),
            ),
            Mistake(
                "Somewhere it meets a None: a tensor without a grad_fn, or an input that requires "
                "no gradient. Leave these out.",
                when=stumbled("'NoneType' object"),
            ),
            Mistake(
                "It has to return a list, with the nodes themselves in it.",
                when=stumbled("has to return a list"),
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
                "Your list holds names or something else. Asked for are the nodes themselves.",
                when=lambda found: any("'" in str(name) for name in found[0].result),
            ),
            Mistake(
                "A node that is used twice is in your list twice: look at x * x. Where do you "
                "notice that you have met it before?",
                when=twice,
            ),
            Mistake(
                "The nodes of the leaves are missing. A leaf has no grad_fn, but the edge that "
                "leads to it ends in a node.",
                like=walking("no leaves"),
            ),
            Mistake(
                "The node that you start from is missing: output.grad_fn.",
                like=walking("no root"),
            ),
            Mistake(
                "Every list is empty. Begin with output.grad_fn in it.",
                when=lambda found: not any(trial.result for trial in found),
            ),
            Mistake(
                "Only output.grad_fn is in your list. Its edges lead on.",
                when=lambda found: found[-1].result == 1,
            ),
            Mistake(
                "You take one step from output.grad_fn. Go on from each node that you find.",
                like=walking("neighbors"),
            ),
            Mistake(
                "Two nodes may have the same name and be different nodes. Compare the nodes "
                "themselves.",
                when=lambda found: found[-1].result == 2,
            ),
            Mistake(
                "All nodes, but output.grad_fn has to be the first.",
                like=walking("reversed"),
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
                "Give tuples of numbers, and None without quotes.",
                when=lambda shapes: any(isinstance(shape, str) for shape in shapes),
            ),
            Mistake(_NOT_FROM_THE_RIGHT, when=lambda shapes: shapes[1] is not None),
            Mistake(
                "Entry [0]: they fit. Aligned at the right, 3 stands under 3, and what is missing "
                "at the left is repeated.",
                when=lambda shapes: shapes[0] is None,
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
                "Entry [2]: a 1 is repeated to the other size, in whichever of the two it is.",
                when=lambda shapes: 1 in shapes[2],
            ),
            Mistake(
                "Entry [3]: a single number fits everything. Every column is missing in it.",
                when=lambda shapes: not shapes[3],
            ),
        ],
    ),
    Function(
        id="02.4",
        asks="unbroadcast(gradient, shape), which sums a gradient back to a shape",
        inputs=some_gradients,
        reference=summed,
        returns=Tensor,
        without=(
            "backward",
            "autograd",
            "specification",
            "expand",
            "expand_as",
            "broadcast_to",
            "sum_to_size",
        ),
        right="The way back of every operation that broadcasts ends with these few lines. As a "
        "method of tensors they are called sum_to_size.",
        hints=(
            "Begin with what is missing at the left: how many dimensions more has the gradient? "
            "Sum dimension 0 away that many times.",
            "Now both have the same number of dimensions. Sum each dimension where shape has a 1, "
            "and keep it.",
        ),
        mistakes=[
            Mistake(
                "The gradient is passed on as it came. It has to get the shape of the tensor.",
                like=lambda gradient, shape: gradient,
            ),
            Mistake(
                "reshape and view arrange entries anew, and there are too many of them. They have "
                "to be added up.",
                when=stumbled("is invalid for input of size"),
            ),
            Mistake(
                "You take the mean. Each repetition contributes in full, so contributions are "
                "added, not averaged.",
                like=summing("mean"),
            ),
            Mistake(
                "One of the repetitions is taken and the others are dropped. All contribute.",
                like=summing("first"),
            ),
            Mistake(
                "Dimensions that are missing in shape are summed. Those of size 1 are not yet.",
                like=summing("missing only"),
            ),
            Mistake(
                "The sums are right, and the dimensions of size 1 are gone. The result has to have "
                "exactly the given shape: see keepdim.",
                like=summing("dropped"),
            ),
            Mistake(
                "You sum the last dimensions. Shapes are aligned at the right: which dimensions "
                "are missing, then?",
                like=summing("from the right"),
            ),
            Mistake(
                "Dimensions that are missing in shape are still there. Which ones are they, if "
                "shapes are aligned at the right?",
                when=lambda found: any(t.result.dim() > len(t.args[1]) for t in found),
            ),
            Mistake(
                "Zeros of the right shape. What arrived is lost.",
                when=results(lambda gradient: not gradient.any()),
            ),
            Mistake(
                "You sum over everything. Only what was repeated is summed.",
                like=summing("total"),
            ),
            Mistake(
                "A trap: sum(dim=()) does not mean no dimension. It sums all of them, in PyTorch "
                "as here. Ask first whether there is anything to sum.",
                like=summing("no dims"),
            ),
        ],
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
        mentions={
            "through what the memory is held": (
                "grad_fn",
                "graph",
                "node",
                "histor",
                "saved",
                "edge",
                "next_functions",
            )
        },
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
        shapes=[{"a": (2, 1), "b": 3}, {"a": 3, "b": (2, 1)}, {"a": (), "b": 2}, {"a": 2, "b": 2}],
        right="Proved for all numbers, in four pairs of shapes: multiply as if nothing had been "
        "repeated, then sum back.",
        hints=(
            "First forget the shapes: for numbers, what arrives is multiplied by the slope.",
            "grad times each slope has the shape of a / b. One call of unbroadcast for each.",
        ),
        mistakes=[
            Mistake(
                "Where b grows, the quotient of positive numbers falls. A sign is lost in the "
                "gradient of b.",
                like=divide_wrongly("sign"),
            ),
            Mistake(
                "The slope of 1 / b has the square of b below. One b is missing.",
                like=divide_wrongly("not squared"),
            ),
            Mistake(
                "That would be the slope of 1 / b. Here a stands above.",
                like=divide_wrongly("without a"),
            ),
            Mistake(
                "Those are the slopes alone. What arrives has to be multiplied in, before anything "
                "is summed.",
                like=divide_wrongly("without grad"),
            ),
            Mistake(
                "That is the rule of a product. Here it is a quotient.",
                like=divide_wrongly("product"),
            ),
            Mistake(
                "The right two, in the opposite order: a comes first.",
                like=divide_wrongly("swapped"),
            ),
        ],
    ),
]
