"""Put the learner's engine (17.4) and tensor hooks (17.5) to work, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.classroom.exercises import Mistake, Objection

from .kinds import Probe, listed

LONG, LADDER = 10_000, 40

# ------------------------------------------------------------------ 17.4


def _leaf(made: Any, data: Any) -> Any:
    return made(np.array(data, float), requires_grad=True)


def _grads(*tensors: Any) -> list[Any]:
    for tensor in tensors:
        if not isinstance(tensor.grad, np.ndarray | np.generic | float | None):
            raise Objection(
                f"A .grad is a {type(tensor.grad).__name__}. It has to be an array, as NumPy has "
                "them."
            )
    return [listed(tensor.grad) for tensor in tensors]


def _once(function: Callable[..., Any], *data: Any) -> Callable[[Any], list[Any]]:
    def run(made: Any) -> list[Any]:
        leaves = [_leaf(made, each) for each in data]
        function(*leaves).backward()
        return _grads(*leaves)

    return run


def _diamonds(made: Any) -> list[Any]:
    def short(x: Any) -> Any:
        y = x * x
        return y + 7 * y

    def long(x: Any) -> Any:
        y = x * x
        u = 7 * y
        return u + y

    def deep(x: Any) -> Any:
        y = x * x
        u = 7 * y
        return y + (u + u).tanh() * 0.0

    found = [_once(each, 3.0)(made)[0] for each in (short, long)]
    return [*found, _once(deep, 3.0)(made)[0]]


def _edges(made: Any) -> list[Any]:
    def square_last(x: Any) -> Any:
        return 7 * x + x * x

    def square_first(x: Any) -> Any:
        return x * x + 7 * x

    return [_once(each, 3.0)(made)[0] for each in (square_last, square_first)]


def _not_leaves(made: Any) -> list[Any]:
    x, constant = _leaf(made, 3.0), made(5.0)
    y = x * constant
    (y * y).backward()
    return [listed(x.grad), y.grad, constant.grad]


def _passes(made: Any) -> list[Any]:
    x = _leaf(made, 3.0)
    y = x * x
    z = y + y
    z.backward()
    found = [listed(x.grad)]
    x.grad = np.array(100.0)
    for _ in range(2):
        z.backward()
        found.append(listed(x.grad))
    return found


def _two_roots(made: Any) -> list[Any]:
    x = _leaf(made, 3.0)
    y = x * x
    first, second = 2 * y, y * y
    first.backward()
    between = listed(x.grad)
    second.backward()
    return [between, listed(x.grad)]


def _given(made: Any) -> list[Any]:
    x, gradient = _leaf(made, [1.0, 2.0]), np.array([1.0, 10.0])
    y = x * 3
    y.backward(gradient)
    if not np.array_equal(gradient, [1.0, 10.0]):
        raise Objection("It wrote into the gradient that it was given: that belongs to the caller.")
    z = _leaf(made, [1.0, 2.0])
    z.backward(gradient)
    z.backward(gradient)
    if not np.array_equal(gradient, [1.0, 10.0]):
        raise Objection(
            "After two passes the array that was given to backward has changed: a leaf kept it as "
            "its .grad, and added to it in place. A leaf needs an array of its own."
        )
    nothing, one = _leaf(made, [1.0, 2.0]), _leaf(made, [1.0])
    (nothing * 3).backward(np.zeros(2))
    (one * 3).backward(np.zeros(1))
    return [*_grads(x, z), *_grads(nothing, one)]


def _refused(tensor: Any, *given: Any) -> str:
    try:
        tensor.backward(*given)
    except RecursionError:
        raise
    except Exception as error:
        return "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
    return "no error"


def _errors(made: Any) -> list[str]:
    x = _leaf(made, [1.0, 2.0])
    constant = made(3.0)
    several, nothing = _refused(x * 2), _refused(constant * constant)
    given = _refused(made(3.0), np.array(1.0))
    if x.grad is not None and several != "no error":
        raise Objection("A pass was refused, and something was added to .grad all the same.")
    return [several, nothing, given]


def _handing_on(made: Any, a: Any, b: Any) -> Any:
    """Add two tensors by a rule that hands one and the same array to both."""
    total = a + b
    total.rule = _to_both
    return total


def _own_arrays(made: Any) -> str:
    x, y = _leaf(made, [1.0, 2.0]), _leaf(made, [3.0, 4.0])
    _handing_on(made, x, y).sum().backward()
    if np.shares_memory(np.asarray(x.grad), np.asarray(y.grad)):
        raise Objection(
            "After a pass through x + y, x.grad and y.grad are one and the same array: the sum "
            "handed the same one to both. Whoever changes one in place, and an optimizer or your "
            "own += may, changes the other. Give each leaf an array of its own."
        )
    return "right"


def _aliased(made: Any) -> list[Any]:
    x, y = _leaf(made, [1.0, 2.0]), _leaf(made, [3.0, 4.0])
    total = _handing_on(made, x, y).sum()
    for _ in range(2):
        total.backward()
    a, b = _leaf(made, [2.0, 2.0]), _leaf(made, [3.0, 3.0])
    c, d = a * 1, b * 1
    more = 10 * c
    s = _handing_on(made, c, d)  # runs before `more`: then more is added to what c has got
    (s + more).sum().backward()
    return [*_grads(x, y), *_grads(a, b)]


def _completed(made: Any) -> list[Any]:
    calls: list[str] = []
    names: dict[int, str] = {}

    class Noting(made):
        def complete(self, gradient: Any) -> Any:
            if id(self) in names:
                calls.append(f"{names[id(self)]} {float(np.sum(gradient)):g}")
            return super().complete(gradient)

    x, w = (Noting(v, requires_grad=True) for v in (2.0, 4.0))
    k = Noting(5.0)
    c = x * k
    a = x * 2
    b = a * a
    d = b + c
    root: Any = d * w
    aside = a * 100  # a use that does not lead to the root
    named = {"x": x, "w": w, "c": c, "a": a, "b": b, "d": d, "L": root, "aside": aside, "k": k}
    names.update({id(tensor): name for name, tensor in named.items()})
    root.backward()
    return calls


_ORDER = ["L 1", "w 26", "d 4", "b 4", "a 32", "c 4", "x 84"]


def _what_is_returned(made: Any) -> list[Any]:
    class Changing(made):
        factor = 1.0

        def complete(self, gradient: Any) -> Any:
            return super().complete(self.factor * gradient)

    x, w = (Changing(v, requires_grad=True) for v in (2.0, 3.0))
    y = x * w
    y.factor, w.factor = 10.0, 100.0
    (y * 2).backward()
    return _grads(x, w)


def _completed_twice(made: Any) -> list[Any]:
    x = _leaf(made, 3.0)
    return [*(listed(x.complete(np.array(g))) for g in (2.0, 3.0)), listed(x.grad)]


def _left_alone(made: Any) -> list[Any]:
    x = _leaf(made, 3.0)
    y = x * x
    z = y + 7 * y
    before = [(len(t.inputs), callable(t.rule), t.data.tolist()) for t in (y, z)]
    z.backward()
    after = [(len(t.inputs), callable(t.rule), t.data.tolist()) for t in (y, z)]
    return [before == after, x.data.tolist()]


def _ladder(made: Any) -> Any:
    x = y = _leaf(made, 3.0)
    for _ in range(LADDER):
        y = y + y
    y.backward()
    return listed(x.grad)


def _chain(made: Any) -> Any:
    x = y = _leaf(made, 3.0)
    for _ in range(LONG):  # what -y does, past all that costs time
        y = y.result(-y.data, (y,), _turned)
        y.rule = _turned
    y.backward()
    return listed(x.grad)


def _turned(gradient: Any) -> tuple[Any]:
    return (-gradient,)


def _to_both(gradient: Any) -> tuple[Any, Any]:
    return gradient, gradient


_SEND = "What a tensor sends to its inputs is what its rule makes of the gradient that is complete."

ENGINE_TROUBLES = [
    Mistake(
        "A leaf has no rule: it only collects. Ask for inputs before you call the rule.",
        trouble=("not callable",),
    ),
    Mistake(
        "backward() has to do without a gradient, too: backward(self, gradient=None).",
        trouble=("required positional argument: 'gradient'",),
    ),
    Mistake(
        "None went on in place of a gradient: complete has to return what goes on.",
        trouble=("NoneType",),
    ),
    Mistake(
        "What travels are arrays, from the start: the root begins with ones of its own shape, not "
        "with a plain number.",
        trouble=("'float' object", "'int' object"),
    ),
    Mistake(
        "A tensor was met that nothing had arrived for, or that was not counted. The root has its "
        "gradient at the beginning, and no other tensor runs before its users.",
        trouble=("KeyError",),
    ),
    Mistake(
        "A heap compares what is on it, and tensors cannot be compared. Put a tuple on it that "
        "begins with numbers: whether it has inputs, and its number with a minus.",
        trouble=("'<' not supported",),
    ),
    Mistake(
        "Add out of place: an array that a rule gave may be one that cannot be written to, and it "
        "is not yours.",
        trouble=("read-only",),
    ),
]

_LOST = Mistake(
    "One of the two gradients is lost: the second took the place of the first. What arrives is "
    "added to what has arrived.",
    when=lambda seen: float(np.sum(seen)) == 3.0,
)

ENGINE = [
    Probe(
        "x.grad and w.grad after (x * w).backward(), for x = 3 and w = -2",
        _once(lambda x, w: x * w, 3.0, -2.0),
        [-2.0, 3.0],
        _SEND,
        [
            Mistake(
                "Nothing arrived at the leaves. The root begins with a gradient of ones, its parts "
                "go along inputs, and a leaf keeps what arrives in .grad.",
                when=lambda seen: None in seen,
            ),
            Mistake(
                "Each got its own number: the engine does no calculus, it hands what is complete "
                "to the rule.",
                value=[3.0, -2.0],
            ),
        ],
    ),
    Probe(
        "x.grad after (x * x).backward(), for x = 3",
        _once(lambda x: x * x, 3.0),
        [6.0],
        "x stands twice among the inputs, and what comes along both edges is added.",
        [
            _LOST,
            Mistake(
                "x had its turn once for each edge, each time with all that was there. It has one "
                "turn, when both parts are in.",
                when=lambda seen: seen[0] > 6.0,
            ),
        ],
    ),
    Probe(
        "x.grad after (x * x).backward(), for x of shape (1, 1)",
        _once(lambda x: x * x, [[3.0]]),
        [[[6.0]]],
        "One entry is enough for a pass without a gradient, whatever the shape; and .grad has the "
        "shape of the leaf.",
        [_LOST],
    ),
    Probe(
        "x.grad in three diamonds: y + 7 * y, 7 * y + y, and y + (14 * y).tanh() * 0, y = x * x",
        _diamonds,
        [48.0, 48.0, 6.0],
        "A tensor is complete when a part has come along each edge that leads to it in this pass. "
        "Then it runs, once.",
        [
            Mistake(
                "Nothing came through: it waits for more parts than ever come. Was an edge counted "
                "twice? Go through the inputs of each tensor once.",
                when=lambda seen: seen[0] is None,
            ),
            Mistake(
                "It depends on which arm comes first: y ran when the first part had arrived. Count "
                "before the pass how many edges lead to each tensor, and let it wait for them.",
                when=lambda seen: seen[0] != seen[1],
            ),
            Mistake(
                "Both orders agree, and the sum at y has got lost: its rule has to be given all "
                "that arrived there, 8, and not ones.",
                when=lambda seen: seen[0] == seen[1] < 48.0,
            ),
            Mistake(
                "Too much: something was sent twice. Each tensor runs once, when its sum is "
                "complete.",
                when=lambda seen: max(seen[:2]) > 48.0,
            ),
            Mistake(
                "Tensors that wait for a gradient of zero have to wait, too: a zero counts as a "
                "gradient that has arrived.",
                when=lambda seen: seen[:2] == [48.0, 48.0],
            ),
        ],
    ),
    Probe(
        "x.grad after 7 * x + x * x and after x * x + 7 * x, for x = 3",
        _edges,
        [13.0, 13.0],
        "Two edges lead from x * x to x, and a third one from 7 * x. What is counted are edges: an "
        "input that stands there twice counts twice. A set knows it once.",
        [
            Mistake(
                "x had its turn before all of its gradient was there. Count the edges that lead to "
                "it before the second walk, and wait until as many parts have come.",
                when=lambda seen: seen[1] != 13.0,
            ),
        ],
    ),
    Probe(
        "The gradients in ((x @ w + b).tanh() ** 2).sum() / 2, with a bias that is broadcast",
        _once(
            lambda x, w, b: ((x @ w + b).tanh() ** 2).sum() * 0.5,
            [[0.5, -1.0], [0.2, 0.3], [1.5, 0.4]],
            [[0.3, -0.2], [0.1, 0.7]],
            [0.1, -0.3],
        ),
        lambda: _by_minigrad(),
        _SEND,
        [
            Mistake(
                "The gradient of the bias has not the bias's shape: nobody has summed over its "
                "copies. Is your class built on Broadcasting, where each rule ends with this sum?",
                when=lambda seen: np.shape(seen[2]) != (2,),
            ),
        ],
    ),
    Probe(
        "After a pass: x.grad, the .grad of an inner tensor, and that of a constant",
        _not_leaves,
        [150.0, None, None],
        "Leaves that require a gradient collect, and nobody else: neither what an operation made "
        "nor a constant.",
        [
            Mistake(
                "An inner tensor has a .grad after the pass. What travels belongs into a dict of "
                "the pass; .grad is for leaves.",
                when=lambda seen: seen[1] is not None,
            ),
            Mistake(
                "A constant has a .grad now, and nobody has asked for it: look at requires_grad "
                "before you send.",
                when=lambda seen: seen[2] is not None,
            ),
        ],
    ),
    Probe(
        "x.grad after a pass from z = y + y with y = x * x; then it is set to 100, and two more "
        "passes follow",
        _passes,
        [12.0, 112.0, 124.0],
        "Each pass is worth the same, and a leaf adds them up.",
        [
            Mistake(
                "The second pass took the place of the first. A leaf adds to its .grad; emptying "
                "it is left to whoever trains.",
                value=[12.0, 12.0, 12.0],
            ),
            Mistake(
                "The second pass did nothing. What is counted or marked for one pass must not be "
                "left for the next, and the graph has to stay as it is.",
                value=[12.0, 100.0, 100.0],
            ),
            Mistake(
                "What travels and what is collected are mixed up: the second pass began with "
                "gradients of the first. What travels lives in the pass and ends with it.",
                when=lambda seen: seen[1] > 112.0,
            ),
        ],
    ),
    Probe(
        "x.grad after a pass from 2 * y, and after another from y * y, with y = x * x",
        _two_roots,
        [12.0, 120.0],
        "Two losses share y. Each pass starts from its own root with its own gradients only.",
        [
            Mistake(
                "Nothing came through: the pass waits for a use that does not lead to its root. "
                "Count the edges in each pass anew, beginning at the root.",
                when=lambda seen: None in seen,
            ),
        ],
    ),
    Probe(
        "x.grad after x.backward(), where x itself is a leaf, of shape (1, 1)",
        _once(lambda x: x, [[3.0]]),
        [[[1.0]]],
        "A root that is a leaf collects as well: ones of its own shape, not a plain number.",
    ),
    Probe(
        "With a gradient given, backward(np.array([1, 10])): x.grad for y = 3 * x, and that of a "
        "leaf that is the root, after two passes; and for y = 3 * x with zeros given, for two "
        "entries and for one",
        _given,
        [[3.0, 30.0], [2.0, 20.0], [0.0, 0.0], [0.0]],
        "A gradient that is given takes the place of the ones at the root.",
        [
            Mistake(
                "Zeros that were given were taken for nothing given. Ask `is None`: a gradient of "
                "zero is one, too.",
                when=lambda seen: (
                    seen[:2] == [[3.0, 30.0], [2.0, 20.0]]
                    and [seen[2], seen[3]] != [[0.0] * 2, [0.0]]
                ),
            ),
            Mistake(
                "An array was asked whether it is true, as by `if` or `not`: the gradient that was "
                "given, or a .grad. Ask `is None`, and nothing else: zeros are a gradient, too.",
                trouble=("truth value", "ambiguous"),
            ),
        ],
    ),
    Probe(
        "What happens for a root with two entries and no gradient given, for one that requires no "
        "gradient, and for such a one when a gradient is given",
        _errors,
        ["RuntimeError", "RuntimeError", "RuntimeError"],
        "All have to end in a RuntimeError that says what is missing.",
        [
            Mistake(
                "An error is right, and its kind is another: who catches it asks for the kind. "
                "Raise a RuntimeError.",
                when=lambda seen: "no error" not in seen,
            ),
            Mistake(
                "A root with several entries has no gradient of its own accord: ones would be that "
                "of its sum, and nobody has asked for a sum. Raise a RuntimeError.",
                when=lambda seen: seen[0] != "RuntimeError",
            ),
            Mistake(
                "A root that requires no gradient has no graph, and a pass from it does nothing in "
                "silence, where somebody expected gradients. Raise a RuntimeError.",
                when=lambda seen: seen[1:] != ["RuntimeError", "RuntimeError"],
            ),
        ],
    ),
    Probe("Arrays of their own", _own_arrays, "right", ""),
    Probe(
        "x.grad and y.grad after two passes through x + y; a.grad and b.grad of c + d + 10 * c, "
        "where c = a and d = b",
        _aliased,
        [[2.0, 2.0], [2.0, 2.0], [11.0, 11.0], [1.0, 1.0]],
        "x + y hands the same array to both inputs. Whoever writes into it with += changes what "
        "the other has got: add out of place, or copy first.",
        [
            Mistake(
                "Too much arrived where one array was handed to two: it was added to in place, and "
                "the other input saw it. Write a + b and not a += b for what is on its way.",
                when=lambda seen: seen[3] != [1.0, 1.0] or max(*seen[0], *seen[1]) > 2.0,
            ),
        ],
    ),
    Probe(
        "The calls of complete in d * w with c = x * k, a = x * 2, b = a * a, d = b + c, where k "
        "is a constant, 5, and L the result: each with the gradient that it got",
        _completed,
        _ORDER,
        "complete is called once for each tensor that the pass reaches, with the whole sum; of the "
        "ready ones a leaf is first, and then the one that was made last.",
        [
            Mistake(
                "complete is never called. The engine hands it each gradient that is complete, and "
                "goes on with what comes back: the next checkpoint hangs in there.",
                value=[],
            ),
            Mistake(
                "It is called for leaves only. Every tensor gets its turn, the root and the inner "
                "ones too.",
                when=lambda seen: {each[0] for each in seen} <= {"x", "w"},
            ),
            Mistake(
                "It is called for inner tensors, and not for leaves. A leaf has its turn as well.",
                when=lambda seen: not {each[0] for each in seen} & {"x", "w"},
            ),
            Mistake(
                "A tensor that is used aside, and does not lead to the root, was visited: begin at "
                "the root.",
                when=lambda seen: any(each.startswith("aside") for each in seen),
            ),
            Mistake(
                "k had a turn, and k is a constant: a tensor that requires no gradient gets none.",
                when=lambda seen: any(each.startswith("k") for each in seen),
            ),
            Mistake(
                "It is called more than once for one tensor, with parts. Wait until the sum is "
                "complete.",
                when=lambda seen: len(seen) > len(_ORDER),
            ),
            Mistake(
                "The gradients are right, the order is another. Of the tensors that are ready, "
                "leaves go first, and of the others the one with the highest number.",
                when=lambda seen: sorted(seen) == sorted(_ORDER),
            ),
            Mistake(
                "A tensor had its turn before all of its gradient was there, and complete got a "
                "part of the sum. Count the edges that lead to it before the second walk, and wait "
                "until as many parts have come.",
                when=lambda seen: len({each[0] for each in seen}) == len(_ORDER),
            ),
        ],
    ),
    Probe(
        "x.grad and w.grad of 2 * (x * w), where complete of x * w gives ten times what it got and "
        "that of w a hundred times",
        _what_is_returned,
        [60.0, 4000.0],
        "What complete gives back is what goes on: hand this to the rule.",
        [
            Mistake(
                "What complete gave back was not used: the rule got the gradient as it had "
                "arrived.",
                value=[6.0, 400.0],
            ),
            Mistake(
                "The leaf got its gradient past complete: adding to .grad is done in complete, and "
                "nowhere else.",
                when=lambda seen: seen[1] in (4.0, 40.0),
            ),
        ],
    ),
    Probe(
        "What complete gives back for a leaf that is called with 2 and then with 3, and its .grad",
        _completed_twice,
        [2.0, 3.0, 5.0],
        "complete gives back the gradient that goes on, here the one that it got. What a leaf has "
        "collected stays in its .grad.",
    ),
    Probe(
        "Whether inputs, rules and data are after a pass what they were",
        _left_alone,
        [True, 3.0],
        "A pass leaves the graph as it is. What it has to keep in mind goes into dicts of its own.",
    ),
    Probe(
        f"{LADDER} diamonds in a row, y = y + y",
        _ladder,
        2.0**LADDER,
        "Each doubling doubles the gradient.",
        [
            Mistake(
                "It comes back to the same tensors over and over: once for each path, and there "
                "are a trillion. Look at each tensor's inputs once, and run it once.",
                trouble=("Endless",),
            ),
        ],
        most_lines=150_000,
    ),
    Probe(
        f"x.grad at the beginning of a chain of {LONG:,} operations, y = -y",
        _chain,
        1.0,
        "Each turns the sign around, and in the end it is what it was.",
        [
            Mistake(
                "It calls itself once for each step of the chain, and Python stops that. Keep the "
                "tensors that are still to be visited in a list, and loop.",
                trouble=("RecursionError",),
            ),
            Mistake(
                "In a long chain it takes too long: does it look through all tensors again for "
                "each of them? A dict or a set knows at once.",
                trouble=("Endless",),
            ),
        ],
        most_lines=4_000_000,
        again=False,
    ),
]


def _by_minigrad() -> list[Any]:
    import minigrad as torch

    x, w, b = (
        torch.tensor(data, dtype=torch.float64, requires_grad=True)
        for data in (
            [[0.5, -1.0], [0.2, 0.3], [1.5, 0.4]],
            [[0.3, -0.2], [0.1, 0.7]],
            [0.1, -0.3],
        )
    )
    (((x @ w + b).tanh() ** 2).sum() * 0.5).backward()
    return [listed(each.grad) for each in (x, w, b)]


# ------------------------------------------------------------------ 17.5


def _watching(calls: list[Any]) -> Callable[[Any], None]:
    def hook(gradient: Any) -> None:
        if hasattr(gradient, "requires_grad"):
            raise Objection(
                f"A hook got a {type(gradient).__name__}. It gets the gradient alone, as an array."
            )
        calls.append(listed(gradient))

    return hook


def _sum_once(made: Any) -> list[Any]:
    calls: list[Any] = []
    x = _leaf(made, 3.0)
    y = x * x
    y.register_hook(_watching(calls))
    (y + 7 * y).backward()
    return calls


def _leaf_hook(made: Any) -> list[Any]:
    seen: list[Any] = []
    x = _leaf(made, 3.0)

    def hook(gradient: Any) -> None:
        seen.append([listed(gradient), listed(x.grad)])

    x.register_hook(hook)
    (x * x).backward()
    return seen


def _replaced(made: Any) -> list[Any]:
    x, w = _leaf(made, 3.0), _leaf(made, 5.0)
    y = x * w
    y.register_hook(lambda g: 10 * g)
    w.register_hook(lambda g: 100 * g)
    (2 * y).backward()
    return _grads(x, w)


def _to_zero(made: Any) -> list[Any]:
    x = _leaf(made, [3.0, 4.0])
    y = x * 2
    y.register_hook(lambda g: np.zeros_like(g))
    z = _leaf(made, 3.0)
    z.register_hook(lambda g: 0 * g)
    total = y.sum() + z
    total.backward()
    return _grads(x, z)


def _in_order(made: Any) -> list[Any]:
    calls: list[Any] = []
    x = _leaf(made, 3.0)

    def plus_one(gradient: Any) -> Any:
        calls.append(["first", listed(gradient)])
        return gradient + 1

    def look(gradient: Any) -> None:
        calls.append(["second", listed(gradient)])

    def triple(gradient: Any) -> Any:
        calls.append(["third", listed(gradient)])
        return 3 * gradient

    for hook in (plus_one, look, triple):
        x.register_hook(hook)
    (x * 5).backward()
    return [calls, listed(x.grad)]


def _each_pass(made: Any) -> list[Any]:
    calls: list[Any] = []
    x = _leaf(made, 3.0)
    y = x * 2
    y.register_hook(_watching(calls))
    for _ in range(3):
        (y * 4).backward()
    return [calls, listed(x.grad)]


def _own_hooks(made: Any) -> list[Any]:
    calls: list[Any] = []
    x, w = _leaf(made, 3.0), _leaf(made, 5.0)
    x.register_hook(_watching(calls))
    y = x * w
    y.backward()
    return calls


def _handle(made: Any) -> list[Any]:
    x, calls = _leaf(made, 3.0), list[Any]()
    watch = _watching(calls)
    handles = [x.register_hook(watch) for _ in range(2)]
    if not all(callable(getattr(handle, "remove", None)) for handle in handles):
        raise Objection(
            "register_hook has to return a handle: something with a method remove. It returned "
            f"{type(handles[0]).__name__}."
        )
    counts = []
    for action in (None, handles[0].remove, handles[0].remove, handles[1].remove):
        if action:
            action()
        calls.clear()
        (x * 2).backward()
        counts.append(len(calls))
    return [*counts, listed(x.grad)]


def _later_ones(made: Any) -> list[str]:
    x, calls = _leaf(made, 3.0), list[str]()

    def named(name: str) -> Callable[[Any], None]:
        return lambda gradient: calls.append(name)

    first = x.register_hook(named("first"))
    second = x.register_hook(named("second"))
    first.remove()
    x.register_hook(named("third"))
    (x * 2).backward()
    calls.append("and then")
    first.remove()
    second.remove()
    (x * 2).backward()
    return calls


def _removes_itself(made: Any) -> list[Any]:
    x = _leaf(made, 3.0)
    calls: list[str] = []
    handles: dict[str, Any] = {}

    def once(gradient: Any) -> None:
        calls.append("once")
        handles["once"].remove()

    def always(gradient: Any) -> None:
        calls.append("always")

    handles["once"] = x.register_hook(once)
    x.register_hook(always)
    for _ in range(2):
        (x * 2).backward()
    return calls


def _adds_another(made: Any) -> list[str]:
    x = _leaf(made, 3.0)
    calls: list[str] = []

    def first(gradient: Any) -> None:
        calls.append("first")
        if len(calls) == 1:
            x.register_hook(lambda g: calls.append("added"))

    x.register_hook(first)
    for _ in range(2):
        (x * 2).backward()
    return calls


def _on_root(made: Any) -> list[Any]:
    calls: list[Any] = []
    x = _leaf(made, 3.0)
    y = x * 4
    y.register_hook(_watching(calls))
    y.register_hook(lambda g: g * 2)
    y.backward()
    return [calls, listed(x.grad)]


def _still(made: Any) -> str:
    x = _leaf(made, [1.0, 2.0])
    y = x * 3
    if not isinstance(y, made):
        raise Objection("Results have to be of your class, so that they have hooks as well.")
    y.register_hook(lambda g: None)
    z = made([1.0, 2.0])
    if z.requires_grad or not made([1.0], requires_grad=True).requires_grad:
        raise Objection("requires_grad of a new tensor is not what was asked for: hand it on.")
    return "right"


_NONE = (
    "None went on in place of a gradient. Where a hook returns None, what was there goes on; and "
    "complete has to return what goes on."
)

HOOK_TROUBLES = [Mistake(_NONE, trouble=("NoneType",))]

HOOKS = [
    Probe("Tensors of the new class", _still, "right", ""),
    Probe(
        "The calls of a hook on x, in x * w",
        _own_hooks,
        [5.0],
        "Each tensor has hooks of its own.",
        [
            Mistake(
                "A hook gets one thing, the gradient: hook(gradient).",
                trouble=("positional argument",),
            ),
            Mistake(
                "The hook was called for other tensors, too: is the table of hooks made once for "
                "the whole class? Make one for each tensor, in __init__.",
                when=lambda seen: len(seen) > 1,
            ),
            Mistake(
                "It was never called. Who calls hooks, and when? See complete, for leaves as well "
                "as for the others.",
                value=[],
            ),
        ],
    ),
    Probe(
        "What a hook on y gets in y + 7 * y",
        _sum_once,
        [8.0],
        "A hook is called once in a pass, with the whole sum.",
        [
            Mistake(
                "The hook was never called. Who calls hooks, and when? See complete.", value=[]
            ),
            Mistake(
                "It was called for each part that arrived. A hook is called once, when the sum is "
                "complete.",
                when=lambda seen: len(seen) > 1,
            ),
        ],
    ),
    Probe(
        "A hook on a leaf, x * x at x = 3: what it gets, and what is in x.grad at that moment",
        _leaf_hook,
        [[6.0, None]],
        "On a leaf the hook comes first, and then .grad.",
        [
            Mistake("It was never called on a leaf.", value=[]),
            Mistake(
                ".grad was filled before the hook had its say. Call the hooks, and then let the "
                "leaf collect.",
                when=lambda seen: seen[0][1] is not None,
            ),
        ],
    ),
    Probe(
        "x.grad and w.grad of 2 * (x * w), where a hook on x * w gives ten times what it got, and "
        "one on w a hundred times",
        _replaced,
        [100.0, 6000.0],
        "What a hook gives back takes the place of the gradient, for .grad and for all that lies "
        "nearer to the inputs.",
        [
            Mistake(
                "No leaf has collected anything: hand the gradient to the complete of the class "
                "below, super().complete(...).",
                when=lambda seen: None in seen,
            ),
            Mistake(
                "The leaves collected twice: the complete of the class below was called twice. "
                "Keep what it gives, and return that.",
                value=[200.0, 12000.0],
            ),
            Mistake(
                "What hooks give back is not used. Complete has to go on with it.",
                value=[10.0, 6.0],
            ),
            Mistake(
                "On an inner tensor it counts, on a leaf it does not: .grad has to get what the "
                "hook gave back.",
                value=[100.0, 60.0],
            ),
            Mistake(
                "On a leaf it counts, on an inner tensor it does not: complete has to return what "
                "the hook gave back, for that is what goes on.",
                value=[10.0, 600.0],
            ),
        ],
    ),
    Probe(
        "x.grad and z.grad where hooks give back zeros",
        _to_zero,
        [[0.0, 0.0], 0.0],
        "A gradient of zero is an answer, too. Only None means: leave it as it is.",
        [
            Mistake(
                "Zeros were taken for no answer, or could not be asked whether they are true. Ask "
                "`is None`, and nothing else.",
                trouble=("truth value", "ambiguous"),
            ),
        ],
    ),
    Probe(
        "Three hooks on one leaf: who is called with what, and x.grad in the end",
        _in_order,
        [[["first", 5.0], ["second", 6.0], ["third", 6.0]], 18.0],
        "Hooks are called in the order in which they were registered, and each gets what the one "
        "before it gave back; None leaves it as it is.",
        [
            Mistake(
                "The order is turned around: first registered, first called.",
                when=lambda seen: [call[0] for call in seen[0]] == ["third", "second", "first"],
            ),
            Mistake(
                "Each got the gradient as it arrived. A hook gets what the one before gave back.",
                when=lambda seen: [call[1] for call in seen[0]] == [5.0, 5.0, 5.0],
            ),
            Mistake(
                "Only the last hook is left: a tensor may have several.",
                when=lambda seen: [call[0] for call in seen[0]] == ["third"],
            ),
            Mistake(
                "Behind the first hook that gave something back, nobody was called any more. All "
                "have their turn.",
                when=lambda seen: [call[0] for call in seen[0]] == ["first"],
            ),
        ],
    ),
    Probe(
        "What a hook on y gets in three passes, and x.grad",
        _each_pass,
        [[4.0, 4.0, 4.0], 24.0],
        "A hook stays until it is removed, and is called in each pass.",
    ),
    Probe(
        "The number of calls, with one function registered twice; after the first handle's remove, "
        "after the same once more, and after the second one's; and x.grad after these four passes, "
        "each worth 2",
        _handle,
        [2, 1, 1, 0, 8.0],
        "A handle removes its own registration, and nothing else; doing so again is harmless.",
        [
            Mistake(
                "Registered twice, a function is called twice: by the function itself as a key, "
                "the second takes the place of the first.",
                when=lambda seen: seen[0] == 1,
            ),
            Mistake(
                "One handle took both off. It has to know its own registration: a number of its "
                "own for each one, and not the function, does that.",
                when=lambda seen: seen[:2] == [2, 0] or seen[:3] == [2, 1, 0],
            ),
            Mistake(
                "remove took nothing off, or not the hook it should.",
                when=lambda seen: seen[1] == 2,
            ),
            Mistake(
                "A hook that was removed goes on changing the gradient.",
                when=lambda seen: seen[:4] == [2, 1, 1, 0],
            ),
            Mistake(
                "A second remove has nothing to do, and should not end in an error.",
                trouble=("KeyError", "ValueError", "IndexError"),
            ),
        ],
    ),
    Probe(
        "Who is called when the first of two hooks was removed and a third one registered; and "
        "then, when the second one was removed, too",
        _later_ones,
        ["second", "third", "and then", "third"],
        "A handle stands for its own registration, however many come and go before and after it.",
        [
            Mistake(
                "The third one took the place of the second. The number of hooks that there are "
                "now is no name for a hook: when one has gone, the next gets a name that is taken. "
                "Count all that were ever registered.",
                when=lambda seen: "second" not in seen,
            ),
        ],
    ),
    Probe(
        "A hook that removes itself when it is called, with another one behind it, in two passes",
        _removes_itself,
        ["once", "always", "always"],
        "A hook may be removed while hooks are being called. Go through a copy of the table.",
        [
            Mistake(
                "The table changed while you went through it: go through a copy, list(...).",
                trouble=("changed size", "mutated", "StopIteration"),
            ),
            Mistake(
                "The hook behind the one that removed itself was left out: in a list, those behind "
                "move up. Go through a copy.",
                value=["once", "always"],
            ),
            Mistake(
                "A hook that removed itself was called again.",
                when=lambda seen: seen.count("once") > 1,
            ),
        ],
    ),
    Probe(
        "A hook that registers another one when it is called, in two passes",
        _adds_another,
        ["first", "first", "added"],
        "What is registered while hooks are being called waits for the next pass.",
        [
            Mistake(
                "Go through a copy of the table, list(...).", trouble=("changed size", "mutated")
            )
        ],
    ),
    Probe(
        "Hooks on the root, one that looks and one that doubles, for y = 4 * x",
        _on_root,
        [[1.0], 8.0],
        "The root has hooks like any other tensor, and they are called with the gradient that it "
        "begins with.",
    ),
]
