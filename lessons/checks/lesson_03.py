"""Check the exercises of lesson 03: each step of an engine, and a training loop."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.classroom import Choice, Hook, Order
from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.exercises import Finding, Objection
from minigrad.classroom.values import alike, describe

Answer = Callable[..., Any]
NOT_COUNTED = 10**9
LARGE = "the result on a ladder of 40 diamonds, a chain of 1,200 steps and 20 random graphs"
LATER = "not tried before the others are right"

# --- graphs, each a list of nodes with its root at the end


class Value:
    """A number that remembers how it was made, as in the lesson; visits of it are counted."""

    made = count()
    visits_left = NOT_COUNTED

    def __init__(self, data: float, edges: Any = ()) -> None:
        self.data, self._edges = data, edges
        self.number, self.grad = next(Value.made), None

    def __repr__(self) -> str:
        return f"Value({self.data:g})"

    @property
    def edges(self) -> Any:
        """The pairs of an input and a local derivative, for as long as visits are left."""
        Value.visits_left -= 1
        if Value.visits_left < 0:
            raise Objection(
                "It visits the same nodes over and over, once for each path. Remember which nodes "
                "you've seen, and take each node off the list."
            )
        return self._edges

    @edges.setter
    def edges(self, edges: Any) -> None:
        self._edges = edges

    def __add__(self, other: Any) -> Any:
        return type(self)(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: Any) -> Any:
        return type(self)(self.data * other.data, [(self, other.data), (other, self.data)])


def diamond() -> list[Any]:
    """Build the lesson's diamond: x, y = x * x, seven, u = seven * y, L; in this order."""
    x, seven = Value(3.0), Value(7.0)
    y = x * x
    u = seven * y
    return [x, y, seven, u, y + u]


def rugged() -> list[Any]:
    """Build a graph of fractions: x, w, zero, a = x * w, b = a * a, c = b * zero, d, L."""
    x, w, zero = Value(0.7123), Value(-1.3877), Value(0.0)
    a = x * w
    b = a * a
    c = b * zero
    d = c + a
    return [x, w, zero, a, b, c, d, d * b]


def uneven() -> list[Any]:
    """Build nodes with three edges and with one, all with the same number for data."""
    x, w = Value(0.5), Value(0.5)
    three = Value(0.5, [(x, 0.5), (w, -1.5), (x, 2.25)])
    return [x, w, three, Value(0.5, [(three, -0.25)])]


def ladder(make: Answer = Value) -> list[Any]:
    """Build a chain of 40 doublings, each y + y."""
    nodes = [make(3.0)]
    for _ in range(40):
        nodes.append(nodes[-1] + nodes[-1])
    return nodes


def chain(make: Answer = Value) -> list[Any]:
    """Build a chain of 1,200 additions: x, one, x + one, x + one + one, ..."""
    nodes = [make(3.0), make(1.0)]
    for step in range(1200):
        nodes.append(nodes[-1 if step else 0] + nodes[1])
    return nodes


OPERATIONS: tuple[Answer, ...] = (
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a**2,
    # kept small: exp of a large number says nothing
    lambda a, b: (a * b).exp() if abs(float(a.data) * float(b.data)) < 2 else a + b,
)


def agreeing(make: Answer, first: Answer) -> int:
    """Count the random graphs, of 20, on which the leaves get what minigrad gives them."""

    def grown(leaves: Sequence[Any], rng: Random) -> list[Any]:
        nodes = list(leaves)
        for _ in range(rng.randint(3, 9)):
            a, b = (nodes[-1 - min(int(rng.expovariate(0.6)), len(nodes) - 1)] for _ in range(2))
            nodes.append(rng.choice(OPERATIONS[: 2 if make is Value else 4])(a, b))
        return nodes

    def agrees(seed: int) -> bool:
        values = [Random(seed).uniform(0.4, 1.1) * sign for sign in (1, -1, 1)]
        tensors = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
        grown(tensors, Random(seed))[-1].backward()
        found = first(grown([*map(make, values)], Random(seed)))
        right = [0.0 if each.grad is None else each.grad.item() for each in tensors]
        return np.allclose([each or 0.0 for each in found], right, rtol=1e-9, atol=1e-12)

    return sum(map(agrees, range(20)))


def small_then_large(
    exercise: Hook, answer: Answer, small: Answer, first: Answer, make: Answer = Value
) -> dict[str, Any]:
    """Look at small graphs, and where these are right at large ones.

    Args:
        exercise: its solution tells what is right.
        answer: the learner's.
        small: gets an answer, and gives what is observed.
        first: gets a graph, and gives what its first three nodes get.
        make: makes the leaves.
    """
    seen = small(answer)
    if not alike([*seen.values()], [*small(exercise.solved).values()], 9):
        return seen | {LARGE: LATER}
    large: dict[str, Any] = {"ladder": first(ladder(make)), "chain": first(chain(make))}
    return seen | {LARGE: large | {"random": exercise is not USES and agreeing(make, first)}}


def visiting(subject: Answer, nodes: Sequence[Any], root: Any, fills_grad: bool = False) -> Any:
    """Call an answer, which may visit each node some forty times and has to leave it as it is."""

    def state() -> list[Any]:
        return [(list(n.edges), n.data, n.number, fills_grad or n.grad) for n in nodes]

    before = state()
    Value.visits_left = 40 * len(nodes) + 200
    try:
        result = subject(root)
    finally:
        Value.visits_left = NOT_COUNTED
    if state() != before:
        raise Objection("It changed the nodes that it was given. Keep your own data in a dict.")
    return result


def listed(subject: Answer, nodes: Sequence[Any], root: Any = None) -> list[Any]:
    """Call an answer that returns a dict from node to number, and list the numbers."""
    found = visiting(subject, nodes, root or nodes[-1])
    if not isinstance(found, Mapping) or not set(map(id, found)) <= set(map(id, nodes)):
        raise Objection(
            "It has to return a dict, a new one in each call, whose keys are nodes of this graph "
            "and whose values are numbers."
        )
    return [found.get(node, 0) for node in nodes]


IN_DIAMOND, AGAIN = "in the diamond (x, y, seven, u, L)", "in a second call on the same diamond"


def in_graphs(subject: Answer) -> dict[str, Any]:
    """Let an answer find a number for each node of several graphs."""
    x, same, half, held = Value(3.0), diamond(), diamond(), diamond()
    listed(subject, same)
    for node, number in zip(held, (4, 9, 2, 5, 7), strict=True):
        node.number, node.grad = number, 100.0
    graphs = {
        IN_DIAMOND: diamond(),
        "in x * x (x, root)": [x, x * x],
        AGAIN: same,
        "in a graph of fractions, where a factor is zero,": rugged(),
        "where a node has three edges, and one has a single one,": uneven(),
        "of a root without edges": [Value(2.0)],
        "where .grad held 100, and the numbers don't follow the order of making,": held,
    }
    found = {where: listed(subject, nodes) for where, nodes in graphs.items()}
    found["in the diamond with u as root"] = listed(subject, half, half[3])
    return {f"the result {where}": each for where, each in found.items()}


def first_three(answer: Answer) -> Answer:
    """Make a function that lists what an answer gives for the first nodes of a graph."""
    return lambda nodes: listed(answer, nodes)[:3]


# --- 03.1: counting


def count_uses(root: Any) -> Any:
    """Count the edges that lead to each node, as the solution does."""
    return USES.solved(root)


USES: Hook = Hook(
    id="03.1",
    asks="count_uses(root), which returns a dict from each node below root to the number of "
    "edges that lead to it",
    scenario=lambda answer: small_then_large(USES, answer, in_graphs, first_three(answer)),
    right="Each edge was looked at once: forty diamonds have 80 edges, and a trillion paths.",
    hints=(
        "Start from root. Keep a list of nodes that you still have to look at, and the dict. "
        "How do you notice that you've seen a node before?",
        "Take a node off the list. For each of its edges add one to the count of the source; "
        "if that made it one, the source is new, and goes onto the list.",
    ),
    mistakes=r"""
        ~ for source, _ in todo.pop().edges => for source in {s for s, _ in todo.pop().edges}
            You count users, not edges. In x * x one node uses x twice, over two edges, and a
            gradient comes along each of them.
        ~ return uses => return {node: len(node.edges) for node in [root, *uses]}
            You count how many inputs a node has. Count the other direction: how many edges lead
            to it.
        ~ if uses[source] == 1 => if False
            You count the edges of root only. Those of the nodes below it count, too.
        ~ return uses => return {node: uses[node] for node in uses if node.edges}
            Nodes without edges are left out. Leaves get gradients, too, and wait for all of them.
        ~ for source, _ in todo.pop().edges => for source in [s for s, slope in todo.pop().edges if slope]
            Edges with a slope of zero are left out. A gradient comes along them, too. It's zero,
            and the node waits for it.
        ~ Counter(), [root] => Counter([root]), [root]
            The root has a count. No edge leads to it.
        ~ return uses => root.calls = getattr(root, "calls", 0) + 1\n    return {n: k * root.calls for n, k in uses.items()}
        ? seen["the result " + AGAIN] != seen["the result " + IN_DIAMOND]
            A second call on the same graph gives something else: the first one left something on
            the nodes or in the function. Begin each call with a new dict.
        ~ if uses[source] == 1 => if True
        ? seen[LARGE] == LATER and all(a >= b for name in seen if name != LARGE for a, b in zip(seen[name], right[name]))
            Some counts are too large: you look more than once at a node that you reach in several
            ways. Note it when you put it on the list, not when you take it off.
    """,
)

# --- 03.2

ORDER = Order(
    id="03.2",
    asks="the names L, w, d, b, a, c and x in the order in which their nodes run",
    right="Leaves run as soon as they're complete. Of the others, the one made last runs first.",
    hints=(
        "Write after each name how many edges lead to it, and in which line it was made.",
        "After L two nodes are complete, and one of them is a leaf. After d two are complete "
        "again: which of them was made later?",
    ),
    mistakes="""
        = ["MulBackward0", "w", "AddBackward0", "MulBackward0", "MulBackward0", "MulBackward0", "x"]
        ? any(len(name) > 1 for name in answer)
            Use the names in the program, L, w, d, b, a, c and x. MulBackward0 is four of the nodes.
        = "xcabdwL"
        = "wLdbacx"
        ? answer[0] in "wdbacx"
            Only one node is ready at the beginning: the one where the backward pass starts. Yours
            has to wait for a gradient.
        = "Ldbacxw"
        = "Ldbacwx"
        = "Ldwbacx"
            A leaf doesn't wait for the others: as soon as its sum is complete, it's added to .grad.
        = "Ldwbcax"
        = "Lwdbcax"
            That's layer by layer, by distance from L. Distance doesn't matter. Of all nodes
            that are complete, the one made last is next.
        = "Lwdcbax"
            You let c run before b. Both are complete after d: which of them was made later?
        = "Lwdbaxc"
        ? "x" in answer[:-1]
            x is used in two lines, so it waits for two gradients. Where you put it, one of its users
            hasn't run yet. Which?
    """,
)

# --- 03.3: one pass


def gradients(root: Any) -> Any:
    """Find the gradient of each node, as the solution does."""
    return GRADIENTS.solved(root)


class Slope(float):
    """A local derivative that notes, when it is multiplied, between which nodes."""

    def along(self, node: Any, source: Any, notes: list[tuple[int, int]]) -> Slope:
        """Set where it is, and where it notes that."""
        self.way, self.notes = (node.number, source.number), notes
        return self

    def __mul__(self, other: Any) -> Any:
        self.notes.append(self.way)
        return float(self) * other

    __rmul__ = __mul__


def order_in_fan(subject: Answer, numbers: Sequence[int]) -> list[int]:
    """Watch in which order the nodes of a fan run; the right order where that isn't to be seen."""

    def ways(run: Answer) -> list[list[int]]:
        x, w = Value(1.5), Value(-0.5)
        a, b, c, d = x * w, x * x, w * w, w * x
        p, q = a * b, c * d
        nodes, notes = [x, w, a, b, c, d, p, q, p * q], list[tuple[int, int]]()
        for node, number in zip(nodes, numbers, strict=True):
            node.number = number
        for node in nodes:
            node.edges = [(n, Slope(slope).along(node, n, notes)) for n, slope in node.edges]
        visiting(run, nodes, nodes[-1])
        return [[*dict.fromkeys(way[end] for way in notes)] for end in (0, 1)]

    (right, _), (senders, receivers) = ways(gradients), ways(subject)
    # an engine may also collect when a node runs, instead of sending when it has run
    collects = [number for number in receivers if number not in numbers[:2]] == right[1:]
    return right if {*senders} != {*right} or collects else senders


ORDERS = {"the order in a fan": range(9), "the mixed order": (3, 0, 8, 2, 6, 7, 1, 5, 4)}


def gradients_run(answer: Answer) -> dict[str, Any]:
    """Let an answer compute the gradients of all nodes in several graphs."""
    seen = small_then_large(GRADIENTS, answer, in_graphs, first_three(answer))
    ready = seen[LARGE] != LATER
    return seen | {name: ready and order_in_fan(answer, fan) for name, fan in ORDERS.items()}


GRADIENTS: Hook = Hook(
    id="03.3",
    asks="gradients(root), which returns a dict from each node to the gradient of root with "
    "respect to it",
    scenario=gradients_run,
    without=("autograd",),
    right="20 random graphs, 40 diamonds in a row, 1,200 steps in a chain: that's an engine.",
    hints=(
        "Keep how many gradients each node still waits for, the sums so far, and a list of ready "
        "nodes. Only root is ready at the beginning.",
        "Take a ready node. For each of its edges add what it sends to the source's sum, take one "
        "off what the source waits for, and if nothing is left put the source onto the list.",
    ),
    mistakes=r"""
        ~ {root: 1.0} => {}
        ! KeyError
            You ran a node, or counted it, before anything was known about it. Does root have its
            gradient at the beginning? Do all users of a node run before it?
        ~ waiting[source] -= 1\n            if not waiting[source] => new = waiting[source]\n            waiting[source] = 0\n            if new
        | heappop(ready) => ready.pop(0)
        | heappush(ready, ( => ready.append((
            Your nodes run as soon as the first gradient arrives, and send too little. What makes y
            wait for the second one?
        ~ found.get(source, 0.0) + =>
            The second gradient to arrive at a node replaces the first. Add them.
        ~ slope * found[node] => found[node]
        ~ slope * found[node] => source.data * found[node]
        ~ slope * found[node] => slope
            A node sends along an edge its gradient times the edge's local derivative. Yours sends
            something else.
        ~ count_uses(root) => Counter(s for n in latest_first(root) for s in {s for s, _ in n.edges})
        | if not waiting[source] => if waiting[source] <= 0
            You wait for one gradient from each user. In x * x one user sends two, over two edges:
            wait for both.
        ~ while ready: => found = dict.fromkeys(latest_first(root), 0.0) | found\n    for node in latest_first(root):
        | _, node = heappop(ready) => pass
            Right as long as the numbers follow the order of making. In PyTorch each thread counts
            for itself, so they may not. Count edges: the number decides only among nodes that are
            ready.
        ~ -source.number => source.number
        ~ heappop(ready) => ready.pop()
        ? alike(seen[LARGE], right[LARGE]) and any(seen[name] != right[name] for name in ORDERS)
            All sums are right, but the nodes run in the wrong order. Of those that are ready, the
            one with the highest number runs next. The heap gives its smallest entry.
    """,
)

# --- 03.4: several passes


def latest_first(root: Any) -> list[Any]:
    """List the nodes that a root leads to, itself included, the latest first."""
    return sorted({root, *count_uses(root)}, key=lambda node: -node.number)


def passes_run(answer: Answer) -> dict[str, Any]:
    """Let an answer go several times through graphs, and look at the leaves."""

    def after(answer: Answer, nodes: list[Any], *roots: Any) -> list[Any]:
        for root in roots or nodes[-1:]:
            visiting(answer, [*nodes, root], root, fills_grad=True)
        return [node.grad for node in nodes[:3] if not node.edges]

    def small(answer: Answer) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for what, held, roots in (
            ("after one pass", None, lambda x, y: [y + y]),
            ("after a second pass", None, lambda x, y: [y + y] * 2),
            ("after a third pass", None, lambda x, y: [y + y] * 3),
            ("after passes from two losses that share y", None, lambda x, y: [y + y, y * y]),
            ("after a pass from y, and one from y * y", None, lambda x, y: [y, y * y]),
            ("after a pass from y, where it held 100 before", 100.0, lambda x, y: [y]),
            ("where x is the root itself, and held 5 before,", 5.0, lambda x, y: [x]),
        ):
            x: Any = Value(3.0)
            x.grad, y, nodes = held, x * x, diamond()
            seen[f"x.grad {what}"] = after(answer, [x, y], *roots(x, y))[0]
        leaves = after(answer, nodes, nodes[-1], nodes[-1])
        return seen | {"[x.grad, seven.grad] after two passes of the diamond": leaves}

    return small_then_large(PASSES, answer, small, lambda nodes: after(answer, nodes))


PASSES: Hook = Hook(
    id="03.4",
    asks="backward(root), fixed: it adds the gradient of each leaf to the leaf's .grad, "
    "however often it's called",
    scenario=passes_run,
    without=("autograd",),
    right="What travels belongs to one pass. Only the leaves have to collect.",
    hints=(
        "Print y.grad after each pass. What should the second pass find there when it begins?",
        "Keep gradients that travel in a dict, a new one in each pass. Or empty nodes with edges "
        "before the pass begins, but never a leaf, not even one that's the root.",
    ),
    mistakes=r"""
        ~ (node.grad or 0.0) => node.grad
        ! NoneType
            A leaf's .grad is None until something arrives there: think of the first time.
        ~ arrived.get(source, 0.0) => arrived.get(source, source.grad or 0.0)
        | if not node.edges: => node.grad = arrived[node]\n        if False:
        ? seen["x.grad after a second pass"] == 3 * seen["x.grad after one pass"]
            The second pass still finds gradients of the first, and sends them again. They aren't
            at the leaf: which other nodes have a .grad?
        ~ def => arrived = {}\ndef
        | arrived = {root: 1.0} => arrived[root] = 1.0
            The second pass still finds what traveled in the first. Make a new dict in each pass,
            inside the function.
        ~ (node.grad or 0.0) + =>
            Now the leaf forgets what earlier passes brought. Each pass adds to its .grad.
        ~ arrived = {root: 1.0} => if hasattr(root, "done"):\n        return\n    root.done = True\n    arrived = {root: 1.0}
        ? seen["x.grad after a second pass"] == seen["x.grad after one pass"] == 12
            The second pass leaves x.grad as it was. Each pass adds its gradient.
        ~ arrived.get(source, 0.0) + =>
            A new gradient replaces the one before. In y + y two arrive at y, and both count.
        ~ for node in latest_first(root): => nodes = [root]\n    for node in nodes:
        | arrived[source] = => if source not in nodes:\n                nodes.append(source)\n            arrived[source] =
            A node sends what it has as soon as the first gradient arrives. In which order do nodes
            have to run, so that all gradients are in?
        ~ arrived = => root.grad = None\n    arrived =
            If the root is a leaf itself, your 1 overwrites its .grad. It collects, like every
            leaf.
        ~ node.grad = => node.gradient =
        ? seen["x.grad after one pass"] is None
            Nothing arrived in x.grad. The function has to write there; what it returns isn't used.
        ~ arrived = => root.grad = 1.0\n    arrived =
        | arrived.get(source, 0.0) => arrived.get(source, source.edges and source.grad or 0.0)
        ? seen["x.grad after a third pass"] == 36 and seen["x.grad after passes from two losses that share y"] != 120
            One loss twice works now, but a pass from another root goes wrong. Some node still
            holds what an earlier pass left there, perhaps the 1 of its root.
    """,
)

MUTATED = Choice(
    id="03.5",
    asks="which of the four programs ends in an error, and why",
    right="It doesn't matter that y was changed, only whether some node had saved y.",
    model="The derivative of the square root is 1 / (2 y), so its node had saved y, its own "
    "result, and mul_ wrote into it. In the other three no node had saved y.",
    hints=(
        "For each program write down the local derivative, and which tensor it needs.",
        "Make each y and list the attributes of y.grad_fn that begin with _saved_. Where is y "
        "itself among them?",
    ),
    mistakes="""
        = "a"
            Multiplying by 3 saves only the 3. Does any derivative here need the old y?
        = "c"
            The derivative of the sine is the cosine of its input. So which tensor is saved? Is it
            the one that was changed?
        = "d"
            It's true that z uses y. Does the derivative of y + 1 need y?
    """,
)

# --- 03.6: a class

REFUSED, NO_ERROR = "a RuntimeError that names retain_graph", "no error"
BOTH = "the result of a second pass, both with retain_graph=True"
TWO, INNER = "x.grad after these two", ".grad of y, which is on the way"
AFTER = "the result of a pass after one without retain_graph=True"
OVER = "the result of a pass from another root over released nodes"
KEPT = "whether a root still holds its inputs after a pass without retain_graph=True"
CASES = ("x * x + x", "x ** 3", "x ** 0.5", "x ** -2", "x.exp()", "x.detach() * x")
CUT = "x.grad of y * y.detach() for y = x * x at x = 3"


@dataclass(frozen=True, kw_only=True)
class Written(Hook):
    """A class is to be written; one without any method isn't written yet."""

    def examine(self, answer: Any) -> Finding | None:
        """Look whether it was begun, and put it to work."""
        if isinstance(answer, type) and not any(map(callable, vars(answer).values())):
            raise Unsolved
        return super().examine(answer)


def again(root: Any, **how: Any) -> str:
    """Go through a graph, and report the result."""
    try:
        root.backward(**how)
    except Exception as error:
        names = "names" if "retain_graph" in str(error) else "doesn't name"
        return f"a {type(error).__name__} that {names} retain_graph"
    return NO_ERROR


def engine_run(engine: Answer) -> dict[str, Any]:
    """Put a class to work: its operations, its passes, what it lets go, what it cuts off."""

    def leaves(nodes: list[Any]) -> list[Any]:
        nodes[-1].backward()
        return [node.grad for node in nodes[:3]]

    def small(engine: Answer) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for what in CASES:
            x = engine(2.0)
            result = eval(what, {"x": x})
            if type(result) is not type(x):
                raise Objection(
                    f"{what} gave {describe(result)}. It has to be of the class of x, so that the "
                    "next operation finds exp, detach and backward."
                )
            seen[f"x.grad of {what} at x = 2"] = leaves([x, result])[0]
            seen[f"the number {what} at x = 2"] = result.data
        x, alone, cut = engine(3.0), engine(3.0), engine(3.0)
        y = x * x
        z = y + y
        z.backward(retain_graph=True)
        seen |= {BOTH: again(z, retain_graph=True), TWO: x.grad, INNER: y.grad}
        again(z)
        seen |= {AFTER: again(z), OVER: again(y + x)}
        alone.backward()
        seen["the result of the second of two passes that begin at a leaf"] = again(alone)
        square = cut * cut
        (square * square.detach()).backward()
        seen |= {CUT: cut.grad, "alone.grad": alone.grad}
        inner = cut * cut
        root, held = inner + cut, weakref.ref(inner)
        del inner
        root.backward()
        gc.collect()
        return seen | {"x.grad after a pass from another loss": cut.grad, KEPT: bool(held())}

    return small_then_large(ENGINE, engine, small, leaves, engine)


ENGINE: Hook = Written(
    id="03.6",
    asks="Engine, a class on top of Value with **, exp, detach and backward(retain_graph=False)",
    scenario=engine_run,
    right="Value, count_uses, gradients and this class: sixty lines that agree with minigrad.",
    hints=(
        "Look at __mul__ in Value: a result and a list of edges. What are the result and the slope "
        "of exp? And what are the edges of something detached?",
        "backward: call gradients(self), add to .grad where a node has no edges, and without "
        "retain_graph replace the edges of all others by something that a later walk recognizes.",
    ),
    mistakes=r"""
        ~ for node, gradient in => if not self.edges:\n            raise RuntimeError("retain_graph")\n        for node, gradient in
        ! retain_graph
            It refuses a pass through a new graph. Note on the nodes what's released, not on the
            class. And a leaf, which never had any edges, can't be released.
        ~ node.edges = Released() => node.edges = None
        ? "TypeError" in seen[AFTER] + seen[OVER]
            A pass came to a node whose edges are None. Look for such nodes before the pass, all of
            them and not only the root, and raise a RuntimeError yourself.
        ~ node.grad = => node.gradient =
        ? seen["x.grad of x ** 3 at x = 2"] is None
            Nothing arrived in x.grad: backward has to write there.
        ~ n * self.data ** (n - 1) => n * self.data**n
        ~ n * self.data ** (n - 1) => self.data ** (n - 1)
        ? seen["x.grad of x ** 3 at x = 2"] != 12
            Something is missing in the slope of x ** n. n appears in it twice: as a factor and in
            the exponent.
        ~ (self, result) => (self, self.data)
        ~ (self, result) => (self, 1.0)
        ? not alike(seen["x.grad of x.exp() at x = 2"], right["x.grad of x.exp() at x = 2"], 4)
            The slope of exp is the result of exp. It isn't the input, and not the slope of a power.
        ~ elif not retain_graph: => else:
        ? seen[BOTH] == REFUSED
            It refuses a pass although the one before had retain_graph=True. That one has to leave
            the edges where they are.
        ~ return Engine(self.data) => return self
        ~ return Engine(self.data) => self.edges = []\n        return self
        ? seen[CUT] in (108, None)
            detach has to return a new value, with the same data and without edges. The old one
            stays as it is.
        ~ Released() => []
        ~ elif not retain_graph => elif False
        ? seen[AFTER] == NO_ERROR
            A second pass ran without an error. After a pass without retain_graph=True the edges
            have to be gone, and a node that lost its edges must not look like a leaf, which never
            had any.
        ~ released by an earlier pass: give that one retain_graph=True => no second time
        ~ raise RuntimeError => raise ValueError
        ? not {seen[AFTER], seen[OVER]} <= {REFUSED, NO_ERROR}
            It refuses the pass, but with another error: raise a RuntimeError whose text says what
            helps, retain_graph.
        ~ elif not retain_graph => elif node is self and not retain_graph
        ? seen[AFTER] == REFUSED and seen[OVER] == NO_ERROR
            It refuses the second pass from one root. But a pass from another root went on over a
            released node. Look at all nodes on the way.
        ~ elif not retain_graph => elif hasattr(node, "gone"):\n                raise RuntimeError("retain_graph")\n            elif not retain_graph
        | node.edges = Released() => node.gone = True
        ? seen[KEPT]
            It refuses a later pass, but the edges are still there, with all nodes that they lead
            to. Let go of them to free the memory.
    """,
)

# --- 03.7: training


def train_run(train: Answer) -> dict[str, Any]:
    """Let an answer train a small network on three batches, after a gradient was left over."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    model(torch.ones(1, 3)).sum().backward()
    batches = [(torch.randn(5, 3), torch.tensor([0, 1, 1, 0, k])) for k in (0, 1, 1)]
    losses = train(model, torch.optim.SGD(model.parameters(), lr=0.5), iter(batches))
    if not isinstance(losses, list) or len(losses) != 3:
        raise Objection(
            f"From three batches it returned {describe(losses)}. It has to return a list with one "
            "loss for each batch. Make it above the loop, append inside, return it below."
        )
    weights = {f"{name} after three batches": p.detach() for name, p in model.named_parameters()}
    return {"the type of a loss": type(losses[0]).__name__, "the result": losses} | weights


TRAIN = Hook(
    id="03.7",
    asks="train(model, optimizer, batches), which trains on each batch and returns the losses",
    scenario=train_run,
    right="Nearly every network there is was trained by these lines.",
    hints=(
        "Four steps for each batch: the loss from model(images), zero_grad, backward, step.",
        "The loss is cross_entropy(model(images), labels). Append loss.item() to a list.",
    ),
    mistakes=r"""
        ~ optimizer.zero_grad() =>
            .grad still holds the gradients of earlier batches, so each step follows their sum.
        ~ optimizer.zero_grad() =>
        | loss.backward() => loss.backward()\n        optimizer.zero_grad()
        ~ loss.backward() =>
        ~ optimizer.step() =>
            The weights don't move. Is there a step, and what does .grad hold when it's taken?
        ~ optimizer.zero_grad() =>
        | optimizer.step() => optimizer.step()\n        optimizer.zero_grad()
            Your first step still follows a gradient that was there before you began. Empty .grad
            before each backward pass.
        ~ loss.item() => loss
        ~ loss.item() => loss.detach()
        ? seen["the type of a loss"] == "Tensor"
            Your list holds tensors. Each keeps its whole graph alive: append a Python number.
        ~ model(images), labels => labels, model(images)
        ! not implemented for 'Long'
            cross_entropy takes the scores first and the labels second. You've swapped them.
        ~ model(images) => model(images).softmax(1)
            cross_entropy wants the scores as the model gives them. It applies the softmax itself.
    """,
)

EXERCISES = [USES, ORDER, GRADIENTS, PASSES, MUTATED, ENGINE, TRAIN]
