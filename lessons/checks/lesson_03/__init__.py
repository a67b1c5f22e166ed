"""Check the exercises of lesson 03, on the backward pass: each step of an engine of your own."""

from __future__ import annotations

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Order

from .engine import ClassExercise, engine, engine_run
from .graphs import RANDOM
from .mistakes import BACKWARD, COUNT_USES, ENGINE, GRADIENTS
from .runs import (
    counted_run,
    counting,
    gradients_run,
    passes,
    passes_run,
    walk,
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
        mistakes=COUNT_USES,
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
                "Only one node is ready at the beginning, whatever the others' numbers: the one "
                "from which the pass starts.",
                when=lambda names: names[0] != "L",
            ),
            Mistake(
                "A node runs once, when all its gradients are in, however many edges lead to it.",
                when=lambda names: len(names) != len(set(names)),
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
        without=("autograd",),
        right=f"{RANDOM} random graphs, 40 diamonds in a row and 2,000 steps in a chain: this is "
        "what the engine does.",
        hints=(
            "Three things are kept: how many gradients each node still waits for, the sums so far, "
            "and a list of nodes that are ready. Only root is ready at the beginning.",
            "Take a ready node. For each (source, slope) of its edges: add slope times the node's "
            "gradient to the source's sum, take one off what the source waits for, and if nothing "
            "is left put the source onto the list.",
        ),
        mistakes=GRADIENTS,
    ),
    Hook(
        id="03.4",
        asks="backward(root), mended: it adds the gradient of each leaf to the leaf's .grad, "
        "however often it is called",
        scenario=passes_run,
        reference=passes(),
        without=("autograd",),
        right="What travels belongs to one pass, what is collected belongs to the leaves.",
        hints=(
            "Print y.grad after each pass. What should the second pass find there when it begins?",
            "Either gradients on the way get a dict of their own, made anew in each pass, or nodes "
            "with edges are emptied before the pass begins. Leaves are never emptied, "
            "not even one that is the root.",
        ),
        mistakes=BACKWARD,
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
        model="The slope of the square root is 1 / (2 y), so its node had saved y, its own result; "
        "mul_ wrote into it before the node ran. In the other three nobody had saved y.",
        hints=(
            "For each program write down the local derivative, and which tensor it needs.",
            "Make each y and list the attributes of y.grad_fn that begin with _saved_. In which of "
            "them is y itself among what was saved?",
        ),
    ),
    ClassExercise(
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
        mistakes=ENGINE,
    ),
]
