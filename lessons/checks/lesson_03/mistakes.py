"""Recognize what is often got wrong in lesson 03's engines, and say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.classroom.exercises import Mistake

from .engine import KEPT, NO_ERROR, OTHER_ERROR, OTHER_KIND, REFUSED
from .graphs import LADDER, RANDOM
from .runs import (
    AGAIN,
    AGREE,
    COUNTS,
    IN_CHAIN,
    IN_LADDER,
    OF_ROOTS,
    counting,
    counts_too_many,
    nearly,
    passes,
    walk,
)

_STATE = (
    "A second call on the same graph gives something else: the first one left something behind, on "
    "the nodes or in the function. Begin each call with a new dict."
)
_SHAPES = (
    "Nodes differ: there are some with one edge, with two, with three and with none. Take what "
    "there is, in a loop."
)


def _came(found: Sequence[Any], name: str) -> Any:
    """Give what came of the observation whose name begins or ends so."""
    names = (trial.gave.removesuffix(" is") for trial in found)
    return next(
        trial.result
        for trial, said in zip(found, names, strict=True)
        if said.startswith(name) or said.endswith(name)
    )


COUNT_USES = [
    Mistake(_SHAPES, trouble=("IndexError", "unpack")),
    Mistake(
        "Begin at root and go along edges, to nothing else, and to each node once.",
        trouble=("Endless",),
    ),
    Mistake(
        "Each path is followed by itself: a node that is reached twice hands on twice. Keep "
        "in mind where you have been.",
        like=counting("paths"),
    ),
    Mistake(
        "You count consumers. In x * x one node uses x twice, over two edges, and a "
        "gradient comes along each of them.",
        like=counting("consumers"),
    ),
    Mistake(
        "You count how many inputs a node has. Asked for is the other direction: how many "
        "edges lead to it.",
        like=counting("inputs"),
    ),
    Mistake(
        "Only the edges of root were counted. Those of the nodes below it count, too.",
        like=counting("root only"),
    ),
    Mistake(
        "Every node has a one. That marks what was seen; how often was it seen?",
        like=counting("ones"),
    ),
    Mistake("Each count is one too small: the first edge counts, too.", like=counting("from zero")),
    Mistake(
        "Nodes without edges are left out. Gradients come to leaves, too, and they wait.",
        like=counting("not the leaves"),
    ),
    Mistake(
        "Edges with a slope of zero are left out. A gradient will come along them, too, "
        "even if it is zero: whoever waits has to count it.",
        like=counting("not along zero"),
    ),
    Mistake(
        "The dict is empty. Does your loop begin with root?",
        when=lambda found: not any(found[0].result) and not any(found[1].result),
    ),
    Mistake(
        "The root stands in the dict with uses of its own. No edge leads to it.",
        when=lambda found: (
            [trial.result for trial in found[:8]] == COUNTS[:8] and any(_came(found, OF_ROOTS))
        ),
    ),
    Mistake(
        _STATE,
        when=lambda found: found[1].result == [2, 2, 1, 1] != _came(found, AGAIN),
    ),
    Mistake(
        "Some counts are too large: a node that is reached in several ways is looked at "
        "more than once. Note it when it is put on the list, not when it is taken off.",
        when=lambda found: counts_too_many([trial.result for trial in found]),
    ),
    Mistake(
        "It is right for small graphs. In a long one some nodes are never looked at: is "
        "there a limit on how many?",
        when=lambda found: _came(found, IN_CHAIN)[0] == 0,
    ),
]


GRADIENTS = [
    Mistake(_SHAPES, trouble=("IndexError", "unpack")),
    Mistake(
        "A KeyError: a node was run, or counted, before anything was known about it. Does "
        "root have its gradient at the beginning? And does no node run before its users?",
        trouble=("KeyError",),
    ),
    Mistake(
        "The heap compares what is on it, and nodes cannot be compared. Put pairs on it "
        "with a number in front, and each node once only: of equal numbers the nodes decide.",
        trouble=("'<' not supported", "'>' not supported"),
    ),
    Mistake(
        "Your nodes run as soon as the first gradient arrives, and send on too little. Who "
        "makes y wait for the second one?",
        like=walk("first come"),
    ),
    Mistake(
        "The second gradient to arrive at a node takes the place of the first. Add them.",
        like=walk("overwrites"),
    ),
    Mistake(
        "The local derivatives are missing: each gradient is passed on as it came.",
        like=walk("no slopes"),
    ),
    Mistake(
        "Only the last slope of each path counts. What is sent is the node's gradient times that.",
        like=walk("slopes alone"),
    ),
    Mistake(
        "You multiply by the source's value. The edge carries what to multiply by: its "
        "local derivative.",
        like=walk("value"),
    ),
    Mistake(
        "You wait for one gradient from each user. In x * x one user sends two, over two "
        "edges, and both have to be waited for.",
        like=walk("users"),
    ),
    Mistake(
        "A node runs more than once: it seems to wait for its users, and not for each edge. "
        "In x * x one user sends two.",
        like=walk("users, twice"),
    ),
    Mistake(
        "A node passes on the part that came last. It has to be the sum of all that came.",
        like=walk("last part"),
    ),
    Mistake(
        "Edges with a slope of zero are passed over. What goes along them is zero, and the "
        "node at their end waits for it.",
        like=walk("not along zero"),
    ),
    Mistake(
        "Nearly right: the gradients are rounded on the way or in the end. Leave them as they are.",
        when=lambda found: nearly(_came(found, "the list of the gradients in a graph")),
    ),
    Mistake(
        "Right as long as the numbers follow the order of making. In PyTorch each thread "
        "counts for itself, so they need not. Count edges: the number decides only among "
        "nodes that are ready.",
        like=walk("by number"),
    ),
    Mistake(
        "Those are the leaves alone. Keep the gradients of the nodes on the way, too: the "
        "dict has one entry for each node.",
        like=walk("leaves only"),
    ),
    Mistake(
        "The gradient of root itself has to be 1: if L moves by one, L moves by one.",
        when=lambda found: found[0].result[-1] != 1.0,
    ),
    Mistake(
        "The pass stops on its way: some nodes have no gradient in the end. Does each "
        "gradient that arrives take one off what its node waits for?",
        when=lambda found: None in found[0].result,
    ),
    Mistake(
        _STATE,
        when=lambda found: found[0].result == found[1].result != found[2].result,
    ),
    Mistake(
        "All sums are right, and the nodes run in the wrong order: of those that are ready "
        "you take the one that was made first. The heap gives its smallest entry.",
        like=walk("lowest"),
    ),
    Mistake(
        "All sums are right, but the order is another one. Of the nodes that are ready, "
        "the one with the highest number runs next; when and where it got ready plays no "
        "part.",
        when=lambda found: (
            _came(found, AGREE) == RANDOM
            and (_came(found, IN_LADDER), _came(found, IN_CHAIN)) == (2.0**LADDER, 1.0)
        ),
    ),
]


BACKWARD = [
    Mistake(
        "A leaf's .grad is None as long as nothing has arrived there: mind the first time.",
        trouble=("NoneType",),
    ),
    Mistake(
        "A node ran before anything had arrived there. Which node comes first?",
        trouble=("KeyError",),
    ),
    Mistake(
        "The second pass still finds gradients of the first one, and sends them again. "
        "They are not at the leaf: who else has a .grad?",
        when=lambda found: [trial.result for trial in found[:2]] == [12.0, 36.0],
    ),
    Mistake(
        "The second pass still finds what the first one had on its way. Make the dict for "
        "that anew in each pass, inside of the function.",
        like=passes("keeps the book"),
    ),
    Mistake(
        "Now the leaf forgets, too: each pass starts from nothing. Leaves collect, until "
        "zero_grad.",
        like=passes("forgets"),
    ),
    Mistake(
        "The second pass does nothing. It was asked for, so it counts.",
        like=passes("once"),
    ),
    Mistake(
        "A new gradient takes the place of the old one. In x * x two arrive in one pass, "
        "and both count.",
        like=passes("replaces"),
    ),
    Mistake(
        "A gradient on its way takes the place of the one before. In y + y two arrive at "
        "y, and both count.",
        like=passes("overwrites"),
    ),
    Mistake(
        "The slope is multiplied by the node's data. What travels is the node's gradient.",
        like=passes("data"),
    ),
    Mistake(
        "At each edge the leaf is given all that has come so far, so the first part counts "
        "again with the second. Add a part when it comes, or the sum in the end.",
        like=passes("at each edge"),
    ),
    Mistake(
        "A node passes on what it has as soon as the first gradient arrives. In which order "
        "do nodes run, so that all is in?",
        like=passes("queue"),
    ),
    Mistake(
        "The root keeps the 1 that it began with. Then a pass came from a root above it, "
        "and found that.",
        like=passes("keeps its root"),
    ),
    Mistake(
        "Where the root is a leaf itself, its .grad is overwritten by the 1. It collects, "
        "like every leaf.",
        like=passes("resets its root"),
    ),
    Mistake(
        "Nothing arrived in x.grad. The function has to write there; what it returns "
        "nobody looks at.",
        when=lambda found: found[0].result is None,
    ),
    Mistake(
        "The second pass leaves x.grad as it was. It was asked for, so it counts.",
        when=lambda found: [trial.result for trial in found[:2]] == [12.0, 12.0],
    ),
    Mistake(
        "One loss twice works now. Then two losses shared a node, and it went wrong: some "
        "node still keeps what an earlier pass, from another root, left there.",
        when=lambda found: (
            [trial.result for trial in found[:3]] == [12.0, 24.0, 36.0]
            and (found[3].result, found[4].result) != (120.0, 114.0)
        ),
    ),
    Mistake(
        "It relies on .grad being None at the beginning. What was in there has to stay, "
        "and the new gradient is added.",
        when=lambda found: found[0].result == 12.0 and found[5].result == 6.0,
    ),
]


ENGINE = [
    Mistake(
        "Is that one recursion for each step of a chain? Keep the nodes that are still to "
        "be visited in a list, and loop.",
        trouble=("RecursionError",),
    ),
    Mistake(
        "If each path is followed by itself, a ladder of forty diamonds takes forever.",
        trouble=("Endless",),
    ),
    Mistake(
        "n may be any number, such as 0.5 or -2. Multiplying n times does not get there.",
        trouble=("cannot be interpreted as an integer",),
    ),
    Mistake(
        "There is a method missing, or it has another name. Asked for: __pow__, exp, "
        "detach, backward.",
        trouble=("AttributeError", "unsupported operand"),
    ),
    Mistake(
        "A walk came to a node whose edges are None, and stumbled. Look for such nodes "
        "before the walk, on the whole way and not only at its root, and raise a "
        "RuntimeError yourself.",
        trouble=("NoneType",),
    ),
    Mistake(
        "Nothing arrived in x.grad: backward has to write there.",
        when=lambda found: found[0].result is None,
    ),
    Mistake(
        "x ** n is right for whole n that are positive. n may be any number, such as 0.5 or -2.",
        when=lambda found: (
            found[1].result == 12.0 and (found[2].result, found[3].result) != (0.25, -0.25)
        ),
    ),
    Mistake(
        "In the slope of x ** n something is missing: n appears in it twice, as a factor "
        "and in the exponent.",
        when=lambda found: found[1].result in (4.0, 8.0, 24.0),
    ),
    Mistake(
        "The slope of exp is what exp gives, not what it is given, and not that of a power.",
        when=lambda found: any(
            abs(found[4].result - wrong) < 1e-3 for wrong in (1.0, 2.0, 5.43656, 14.7781)
        ),
    ),
    Mistake(
        "A pass was refused although the one before had retain_graph=True: then the edges "
        "have to stay.",
        when=lambda found: found[6].result == REFUSED,
    ),
    Mistake(
        "The second pass took the place of the first. Leaves collect: add to .grad.",
        when=lambda found: found[7].result == 12.0,
    ),
    Mistake(
        "36 instead of 24: gradients on the way were kept from one pass to the next.",
        when=lambda found: found[7].result == 36.0,
    ),
    Mistake(
        "detach gave something that still has its history. A new value with the same data "
        "and without edges is what it takes.",
        when=lambda found: _came(found, "x.grad of y * y.detach()") == 108.0,
    ),
    Mistake(
        "detach cut off the value that it was called on. Leave that as it is, and make a new one.",
        when=lambda found: _came(found, "x.grad of y * y.detach()") is None,
    ),
    Mistake(
        "A second pass went through without an error. After a pass without "
        "retain_graph=True the edges have to be gone, and a node that lost its edges must "
        "not look like a leaf, which never had any.",
        when=lambda found: found[9].result == NO_ERROR,
    ),
    Mistake(
        "Say in the error's text what helps: retain_graph.",
        when=lambda found: OTHER_ERROR in (found[9].result, found[10].result),
    ),
    Mistake(
        "The pass is refused, as it should be, but by another kind of error. Raise a RuntimeError.",
        when=lambda found: OTHER_KIND in (found[9].result, found[10].result),
    ),
    Mistake(
        "The second pass from one root is refused. A pass from another root then came to a "
        "node that had been released, and went on: look at all nodes on the way.",
        when=lambda found: found[9].result == REFUSED and found[10].result == NO_ERROR,
    ),
    Mistake(
        "Leaves collect, and nobody else: here an inner node has a .grad after the pass.",
        when=lambda found: found[8].result is not None,
    ),
    Mistake(
        "A second pass that begins at a leaf is refused. It has no edges that could be let go.",
        when=lambda found: _came(found, "what came of the second of two") == REFUSED,
    ),
    Mistake(
        "A later pass is refused, and the edges are still there, with all nodes behind "
        "them. Letting them go is what gives the memory back.",
        when=lambda found: _came(found, KEPT),
    ),
]
