"""Check the exercises of lesson 03, on the backward pass: each step of an engine of your own."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Order
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.graphs_03 import OVER, RANDOM
from minigrad.classroom.runs_03 import (
    NO_ERROR,
    OTHER_ERROR,
    REFUSED,
    counted_run,
    counting,
    engine,
    engine_run,
    gradients_run,
    passes,
    passes_run,
    stumbled,
    walk,
)

_RECURSION = (
    "Your function calls itself once for each step of a chain, and Python stops it after about a "
    "thousand. Keep the nodes that are still to be visited in a list, and loop."
)
_OVER = (
    "Your function comes back to the same nodes over and over; in a ladder of diamonds that is "
    "once for each path. Keep in mind where you have been, and take each node off the list."
)

EXERCISES = [
    Hook(
        id="03.1",
        asks="count_uses(root), which returns a dict from each node below root to the number of "
        "edges that lead to it",
        scenario=counted_run,
        reference=counting(),
        right="Each edge was looked at once: forty diamonds have 80 edges, and a trillion paths.",
        hints=(
            "Start from root, and keep two things: a list of nodes still to be looked at, and "
            "the dict. How do you notice that a node has been seen before?",
            "Take a node off the list. For each of its edges add one to the count of the source; "
            "if that made it one, the source is new, and goes onto the list.",
        ),
        mistakes=[
            Mistake(_RECURSION, when=stumbled("RecursionError")),
            Mistake(_OVER, when=stumbled(OVER)),
            Mistake(_OVER, like=counting("paths")),
            Mistake(
                "It did not return a dict from node to number. The keys are the nodes themselves.",
                when=stumbled("has to return a dict", "have to be the nodes"),
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
            Mistake(
                "The dict is empty. Does your loop begin with root?",
                when=lambda found: found[0].trouble is None and not any(found[0].result),
            ),
        ],
    ),
    Order(
        id="03.2",
        asks="the names L, w, d, b, a, c and x in the order in which their nodes run",
        expected=("L", "w", "d", "b", "a", "c", "x"),
        right="Two rules gave you that: leaves as soon as they are complete, and of the others the "
        "one that was made last.",
        hints=(
            "Write behind each name how many edges lead to it, and in which line it was made.",
            "After L two nodes are complete, and one of them is a leaf. After d two are complete "
            "again: which of them was made later?",
        ),
        mistakes=[
            Mistake(
                "That is how the forward pass goes. The pass starts at the other end.",
                when=lambda names: names[-1] == "L",
            ),
            Mistake(
                "A leaf does not wait for the others: as soon as its sum is complete it is added "
                "to .grad.",
                value=("L", "d", "b", "a", "c", "x", "w"),
            ),
            Mistake(
                "A leaf does not wait for the others: as soon as its sum is complete it is added "
                "to .grad.",
                value=("L", "d", "b", "a", "c", "w", "x"),
            ),
            Mistake(
                "That is layer by layer: all at one distance from L, then the next. Distance plays "
                "no part.",
                when=lambda names: (
                    list(names)
                    in (
                        ["L", "d", "w", "b", "c", "a", "x"],
                        ["L", "w", "d", "b", "c", "a", "x"],
                    )
                ),
            ),
            Mistake(
                "You let c run before b. Both are complete after d: which of them was made later?",
                value=("L", "w", "d", "c", "b", "a", "x"),
            ),
            Mistake(
                "x is used in two lines, so it waits for two gradients. Which of its users has not "
                "run yet where you put it?",
                when=lambda names: names.index("x") < len(names) - 1,
            ),
            Mistake(
                "w is a leaf: it can run as soon as L has.",
                when=lambda names: len(names) == 7 and names[:2] == ["L", "d"],
            ),
        ],
    ),
    Hook(
        id="03.3",
        asks="gradients(root), which returns a dict from each node to the gradient of root with "
        "respect to it",
        scenario=gradients_run,
        reference=walk(),
        without=("autograd", "requires_grad", "backward"),
        right=f"{RANDOM} random graphs, 40 diamonds in a row and 5,000 steps in a chain: this is "
        "what the engine does.",
        hints=(
            "Three things are kept: how many gradients each node still waits for, the sums so far, "
            "and a list of nodes that are ready. Only root is ready at the beginning.",
            "Take a ready node. For each (source, slope) of its edges: add slope times the node's "
            "gradient to the source's sum, take one off what the source waits for, and if nothing "
            "is left put the source onto the list.",
        ),
        mistakes=[
            Mistake(_RECURSION, when=stumbled("RecursionError")),
            Mistake(_OVER, when=stumbled(OVER)),
            Mistake(
                "It did not return a dict from node to number. The keys are the nodes themselves.",
                when=stumbled("has to return a dict", "have to be the nodes"),
            ),
            Mistake(
                "A KeyError: a node was run, or counted, before anything was known about it. Does "
                "root have its gradient at the beginning? And does no node run before its users?",
                when=stumbled("KeyError"),
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
                "You multiply by the source's value. The edge carries what to multiply by: its "
                "local derivative.",
                like=walk("value"),
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
                "The pass stops on its way: some nodes have no gradient in the end. Does each "
                "gradient that arrives take one off what its node waits for?",
                when=lambda found: found[0].result[-1] == 1.0 and None in found[0].result,
            ),
            Mistake(
                "root has no gradient yet. It begins with 1: if L moves by one, L moves by one.",
                when=lambda found: not found[0].result[-1],
            ),
        ],
    ),
    Hook(
        id="03.4",
        asks="backward(root), mended: it adds the gradient of each leaf to the leaf's .grad, "
        "however often it is called",
        scenario=passes_run,
        reference=passes(),
        without=("autograd", "requires_grad"),
        right="What travels belongs to one pass, what is collected belongs to the leaves.",
        hints=(
            "Print y.grad after each pass. What should the second pass find there when it begins?",
            "Either gradients on the way get a dict of their own, made anew in each pass, or nodes "
            "with edges are emptied before the pass begins. Leaves are never emptied.",
        ),
        mistakes=[
            Mistake(
                "A leaf's .grad is None as long as nothing has arrived there: mind the first time.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "The second pass still finds gradients of the first one, and sends them again. "
                "They are not at the leaf: who else has a .grad?",
                like=passes("naive"),
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
                like=passes("overwrites"),
            ),
            Mistake(
                "Nothing arrived in x.grad. The function has to write there; what it returns "
                "nobody looks at.",
                when=lambda found: found[0].trouble is None and found[0].result is None,
            ),
            Mistake(
                "One loss twice works now. Then two losses shared a node, and it went wrong: some "
                "node still keeps what an earlier pass, from another root, left there.",
                when=lambda found: (
                    [trial.result for trial in found[:3]] == [12.0, 24.0, 36.0]
                    and found[3].result != 120.0
                ),
            ),
            Mistake(
                "It relies on .grad being None at the beginning. What was in there has to stay, "
                "and the new gradient is added.",
                when=lambda found: found[0].result == 12.0 and found[4].result == 6.0,
            ),
        ],
    ),
    Choice(
        id="03.5",
        asks="which of the four programs ends in an error, and why",
        option="b",
        right="What counts is not that y was changed, but whether somebody had saved y.",
        why_not={
            "a": "Multiplying by 3 saves only the 3. Does any derivative here need what y was?",
            "c": "The derivative of the sine is the cosine of its input. Which tensor is saved "
            "then, and is it the one that was changed?",
            "d": "y is used by z, that is right. Does the derivative of y + 1 need y?",
        },
        mentions={
            "what had been saved": (
                "sav",
                "result",
                "output",
                "itself",
                "keep",
                "kept",
                "stor",
                "own",
                "needs",
                "remember",
                "derivative",
            )
        },
        hints=(
            "For each program write down the local derivative, and which tensor it needs.",
            "Make each y and list the attributes of y.grad_fn that begin with _saved_. In which of "
            "them is y itself among what was saved?",
        ),
    ),
    Hook(
        id="03.6",
        asks="Engine, a class on top of Value with **, exp, detach and "
        "backward(retain_graph=False)",
        scenario=engine_run,
        reference=engine(),
        right="Value, count_uses, gradients and this class: about sixty lines, and minigrad has "
        "nothing to object.",
        hints=(
            "Look at __mul__ in Value: a result and a list of edges. What are result and slope of "
            "exp? And what are the edges of something that is cut off?",
            "backward: call gradients(self), add to .grad where a node has no edges, and without "
            "retain_graph replace the edges of all others by something that a later walk "
            "recognizes: None, or an object that raises when it is looped over.",
        ),
        mistakes=[
            Mistake(_RECURSION, when=stumbled("RecursionError")),
            Mistake(
                "There is a method missing, or it has another name. Asked for: __pow__, exp, "
                "detach, backward.",
                when=stumbled("AttributeError", "unsupported operand"),
            ),
            Mistake(
                "A walk came to a node whose edges are None, and stumbled. Look for such nodes "
                "before the walk, on the whole way and not only at its root, and raise a "
                "RuntimeError yourself.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "A pass was refused although the one before had retain_graph=True: then the edges "
                "have to stay.",
                when=stumbled("RuntimeError"),
            ),
            Mistake(
                "Nothing arrived in x.grad: backward has to write there.",
                when=lambda found: found[0].trouble is None and found[0].result is None,
            ),
            Mistake(
                "The slope of x ** n is n * x ** (n - 1).",
                when=lambda found: found[0].result == 5.0 and found[1].result == 24.0,
            ),
            Mistake(
                "The slope of exp is what exp gives, not what it is given.",
                when=lambda found: found[1].result == 12.0 and found[2].result == 2.0,
            ),
            Mistake(
                "The second pass took the place of the first. Leaves collect: add to .grad.",
                when=lambda found: found[2].result is not None and found[3].result == 12.0,
            ),
            Mistake(
                "36 instead of 24: gradients on the way were kept from one pass to the next.",
                when=lambda found: found[3].result == 36.0,
            ),
            Mistake(
                "detach gave something that still has its history. A new value with the same data "
                "and without edges is what it takes.",
                when=lambda found: found[6].result == 108.0,
            ),
            Mistake(
                "A second pass went through without an error. After a pass without "
                "retain_graph=True the edges have to be gone, and a node that lost its edges must "
                "not look like a leaf, which never had any.",
                when=lambda found: found[4].result == NO_ERROR,
            ),
            Mistake(
                "Say in the error's text what helps: retain_graph.",
                when=lambda found: OTHER_ERROR in (found[4].result, found[5].result),
            ),
            Mistake(
                "The second pass from one root is refused. A pass from another root then came to a "
                "node that had been released, and went on: look at all nodes on the way.",
                when=lambda found: found[4].result == REFUSED and found[5].result == NO_ERROR,
            ),
        ],
    ),
]
