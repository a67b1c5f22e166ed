"""Put the learner's Value (17.1) and Recorded (17.2) to work, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.classroom.exercises import Mistake, Objection

from .kinds import Probe, listed
from .programs import array_of

# ------------------------------------------------------------------ 17.1


def _leaf_gradients(made: Any, function: Callable[..., Any], *numbers: float) -> list[Any]:
    leaves = [made(number) for number in numbers]
    function(*leaves).backward()
    return [leaf.grad for leaf in leaves]


def _both_diamonds(made: Any) -> list[Any]:
    def short_first(x: Any) -> Any:
        y = x * x
        return y + made(7.0) * y

    def long_first(x: Any) -> Any:
        y = x * x
        u = made(7.0) * y
        return u + y

    return [_leaf_gradients(made, each, 3.0)[0] for each in (short_first, long_first)]


def _with_zero(x: Any) -> Any:
    y = x * x
    return y + 7 * y * 0


def _ladder(made: Any) -> Any:
    x = y = made(3.0)
    for _ in range(24):
        y = y + y
    y.backward()
    return x.grad


def _two_losses(made: Any) -> Any:
    x = made(3.0)
    (x * made(2.0)).backward()
    (x * made(5.0)).backward()
    return x.grad


def _one_loss_twice(made: Any) -> Any:
    x = made(3.0)
    y = x * x
    loss = made(7.0) * y
    for _ in range(2):
        loss.backward()
    return x.grad


def _losses_that_share(made: Any) -> Any:
    x = made(3.0)
    y = x * x
    first, second = made(2.0) * y, made(5.0) * y
    first.backward()
    second.backward()
    return x.grad


def _kinds(made: Any) -> str:
    x = made(3.0)
    for what, result in (("x + x", x + x), ("x * x", x * x)):
        if not hasattr(result, "backward"):
            raise Objection(f"{what} gives a {type(result).__name__}. {_AGAIN}")
        if result is x or x.data != 3.0:
            raise Objection(
                f"{what} changed x itself, and others may still need x as it was. An operation "
                "makes a new Value."
            )
    return "right"


_AGAIN = "It has to be a Value again, so that the next operation and backward find what they need."


_NUMBERS = (
    "An operand may be a plain number, on either side of the sign. It has no data of its own: make "
    "one of your class of it, and look at what Python calls for 2 * x (__rmul__) and for 1 + x "
    "(__radd__)."
)
_UNWRAPPED = Mistake(
    _NUMBERS, trouble=("unsupported operand", "'int' object has no", "'float' object has no")
)
_NOTHING = (
    "Nothing arrived. Does backward begin with a gradient of 1 at the value that it is called on, "
    "does it go along all edges from there, and does each value have its turn before its inputs?"
)

_LEFT = (
    "The first pass left something behind that is in the way of the second: what one pass marks "
    "or keeps in mind must end with it."
)
_MIXED = (
    "Too much: what travels and what is collected are mixed up. What the first pass has left in "
    "the .grad of y, or of the loss itself, went down a second time. What a pass sends on is what "
    "has arrived in this pass alone: keep it apart from .grad, in a dict of the pass, say."
)

VALUE = [
    Probe(
        "The data of x + y and of x * y, for x = 3 and y = -2",
        lambda made: [(made(3.0) + made(-2.0)).data, (made(3.0) * made(-2.0)).data],
        [1.0, -6.0],
        "The forward pass comes first: data is what plain numbers would give.",
        [Mistake(_AGAIN, trouble=("'float' object has no", "'int' object has no"))],
    ),
    Probe("The type of what an operation gives", _kinds, "right", ""),
    Probe(
        "The data of x * 2 + 1, 2 * x and 1 + x, for x = 3",
        lambda made: [(made(3.0) * 2 + 1).data, (2 * made(3.0)).data, (1 + made(3.0)).data],
        [7.0, 6.0, 4.0],
        _NUMBERS,
        [_UNWRAPPED],
    ),
    Probe(
        "The gradients of x + y, for x = 3 and y = -5",
        lambda made: _leaf_gradients(made, lambda x, y: x + y, 3.0, -5.0),
        [1.0, 1.0],
        "In a sum each input moves the result as much as itself: its local derivative is 1.",
        [
            Mistake(_NOTHING, when=lambda seen: not any(seen)),
            Mistake(
                "Those are the inputs themselves. A local derivative is how fast the result moves "
                "with an input.",
                when=lambda seen: sorted(seen) == [-5.0, 3.0],
            ),
            Mistake(
                "backward begins with the value of the sum, -2. It begins with the derivative of "
                "the result with respect to itself, and that is 1, whatever the value.",
                value=[-2.0, -2.0],
            ),
        ],
    ),
    Probe(
        "The gradients of x * y, for x = 3 and y = -2",
        lambda made: _leaf_gradients(made, lambda x, y: x * y, 3.0, -2.0),
        [-2.0, 3.0],
        "The local derivative of a product with respect to one factor is the other factor.",
        [
            Mistake(_NOTHING, when=lambda seen: not any(seen)),
            Mistake(
                "Each factor got itself for a derivative. If x moves a little, by what is that "
                "multiplied?",
                value=[3.0, -2.0],
            ),
            Mistake(
                "Both derivatives are 1, as in a sum. If one factor moves, the other one decides "
                "how far the product moves.",
                value=[1.0, 1.0],
            ),
        ],
    ),
    Probe(
        "The gradients of x in x + 1, 1 + x, x * 2 and 2 * x",
        lambda made: [
            _leaf_gradients(made, each, 3.0)[0]
            for each in (lambda x: x + 1, lambda x: 1 + x, lambda x: x * 2, lambda x: 2 * x)
        ],
        [1.0, 1.0, 2.0, 2.0],
        "A plain number becomes a Value that takes part like any other, on either side.",
        [
            Mistake(
                "Where a 0 stands, the number is right and the way back to x is missing: a result "
                "has to keep x, on whichever side of the sign it stands.",
                when=lambda seen: 0.0 in seen,
            ),
        ],
    ),
    Probe(
        "The gradient of x in 2 * (x * 5 + 1)",
        lambda made: _leaf_gradients(made, lambda x: 2 * (x * 5 + 1), 3.0)[0],
        10.0,
        "Behind each other, local derivatives are multiplied: what arrives, times the slope.",
        [
            Mistake(
                "Only the last factor counts here: what is sent on has to be multiplied by what "
                "has arrived.",
                when=lambda seen: seen in (5.0, 2.0),
            ),
            Mistake("The factors are added here. Along a chain they are multiplied.", value=7.0),
            Mistake(
                "Nothing came through the values in between: the walk ends behind the first step, "
                "or they had their turn before anything had arrived. The value that backward is "
                "called on comes first, leaves come last.",
                value=0.0,
            ),
        ],
    ),
    Probe(
        "The gradient of x in x * x, for x = 3",
        lambda made: _leaf_gradients(made, lambda x: x * x, 3.0)[0],
        6.0,
        "x has two edges here, and a gradient comes along each of them: they are added.",
        [
            Mistake(
                "x is used twice, and of the two gradients only one is left: the second took the "
                "place of the first. What arrives is added to what is there.",
                value=3.0,
            ),
        ],
    ),
    Probe(
        "The gradient of x in x + x",
        lambda made: _leaf_gradients(made, lambda x: x + x, 3.0)[0],
        2.0,
        "x is used twice, and what arrives over the second edge is added to what came over the "
        "first.",
    ),
    Probe(
        "The gradient of x in two diamonds, y + 7 * y and 7 * y + y with y = x * x at x = 3",
        _both_diamonds,
        [48.0, 48.0],
        "A value that is used twice passes its sum on once, when both parts are in.",
        [
            Mistake(
                "It is right in one order and not in the other: y passed something on before all "
                "its gradients were in. Who uses a value has to come first.",
                when=lambda seen: (seen[0] == 48.0) != (seen[1] == 48.0),
            ),
            Mistake(
                "Too much: y passed on what it had each time something arrived, so that the first "
                "part went down twice. Each value has its turn once.",
                when=lambda seen: max(seen) > 48.0,
            ),
            Mistake(
                "Too little: y had its turn when the first part had come, and what came later was "
                "never passed on. Put the values in an order in which users come first.",
                when=lambda seen: 0 < min(seen) < 48.0,
            ),
        ],
    ),
    Probe(
        "The gradients of x and y in x * y * x, where both are 1",
        lambda made: _leaf_gradients(made, lambda x, y: x * y * x, 1.0, 1.0),
        [2.0, 1.0],
        "Two values that hold the same number are still two. Does something ask whether they are "
        "equal, a set, a dict or `in`, and does your class compare by numbers, as a dataclass does?"
        " Ask whether they are the same object.",
    ),
    Probe(
        "The gradient of x in y + 7 * y * 0, with y = x * x at x = 3",
        lambda made: _leaf_gradients(made, _with_zero, 3.0)[0],
        6.0,
        "A gradient of zero is one, too: a value that waits for it has to be told that it came.",
    ),
    Probe(
        "x.grad after a pass from x * 2 and then one from x * 5",
        _two_losses,
        7.0,
        "A leaf collects: each pass adds to what is in .grad, and emptying it is left to others.",
        [
            Mistake(
                "Only the second pass is to be seen: the first one's gradient was overwritten, or "
                "emptied at the beginning. A leaf collects.",
                value=5.0,
            ),
            Mistake(
                "Only the first pass is to be seen. What is counted or marked is left from the "
                "pass before, or counts uses that do not lead to this loss: count in backward, "
                "anew in each pass, and begin at the value that it is called on.",
                value=2.0,
            ),
            Mistake(_LEFT, trouble=("KeyError", "IndexError")),
        ],
    ),
    Probe(
        "x.grad after two passes from one loss, 7 * y with y = x * x, x = 3",
        _one_loss_twice,
        84.0,
        "The second pass is worth as much as the first, 42.",
        [
            Mistake(
                "The second pass did nothing. What is marked, counted or thrown away in one pass "
                "must not be missing in the next.",
                value=42.0,
            ),
            Mistake(_MIXED, when=lambda seen: seen > 84.0),
            Mistake(_LEFT, trouble=("Error",)),
        ],
    ),
    Probe(
        "x.grad after a pass from 2 * y and one from 5 * y, with the same y = x * x, x = 3",
        _losses_that_share,
        42.0,
        "The two losses share y, and each pass is worth what it is worth alone: 12 and 30.",
        [
            Mistake(_MIXED, when=lambda seen: seen > 42.0),
            Mistake(
                "The second loss added nothing. A pass must leave what is below y as it was, for "
                "the other loss.",
                value=12.0,
            ),
            Mistake(_LEFT, trouble=("Error",)),
        ],
    ),
    Probe(
        "24 diamonds in a row, y = y + y",
        _ladder,
        2.0**24,
        "Each doubling doubles the gradient.",
        [
            Mistake(
                "Each path is followed by itself, and there are 16 million of them. Let each value "
                "have its turn once, and hand on the sum.",
                trouble=("Endless",),
            ),
        ],
        most_lines=100_000,
    ),
]

# ------------------------------------------------------------------ 17.2

A = np.array([[1.5, -0.5, 2.0], [0.7, 3.0, -1.2]])
B = np.array([[0.3, 2.0, -1.0], [1.1, -0.4, 0.9]])
G = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
MIXED = G * np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]])
S, T, H = (
    np.array([[1.0, 2.0], [3.0, 5.0]]),
    np.array([[7.0, -1.0], [2.0, 4.0]]),
    np.array([[1.0, 10.0], [100.0, 1000.0]]),
)
POSITIVE = np.abs(A)
AT_ZERO = np.array([[1.5, 0.0, 2.0], [-0.7, 3.0, -1.2]])


def pulled(result: Any, gradient: Any, leaves: Sequence[Any]) -> list[Any]:
    """Walk through what operations have left, and give the gradients of some leaves.

    Args:
        result: what it begins with.
        gradient: of the result.
        leaves: whose gradients are wanted.
    """
    order: list[Any] = []
    seen: set[int] = set()

    def visit(tensor: Any) -> None:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            for source in tensor.inputs:
                visit(source)
            order.append(tensor)

    visit(result)
    found: dict[int, Any] = {id(result): np.array(gradient, float)}
    for tensor in reversed(order):
        if not tensor.inputs or id(tensor) not in found:
            continue
        arrived = found[id(tensor)]
        kept = arrived.copy()
        parts = tensor.rule(arrived)
        if not np.array_equal(kept, arrived):
            raise Objection(
                "A rule wrote into the gradient that it was given, and others may hold the same "
                "array. Compute a new one."
            )
        if not isinstance(parts, tuple | list):
            raise Objection(
                f"A rule gave {type(parts).__name__} alone. It has to give a tuple with one "
                "gradient for each input, also where there is one input only."
            )
        if len(parts) != len(tensor.inputs):
            raise Objection(
                f"A result has {len(tensor.inputs)} inputs, and its rule gives {len(parts)} "
                "gradients. One for each, in the same order."
            )
        for source, part in zip(tensor.inputs, parts, strict=True):
            if source.requires_grad:
                before = found.get(id(source))
                part = array_of(part)
                part = np.array(part, float)
                if part.size == 1 and np.shape(source.data) == ():  # 17.3 will see to the shape
                    part = part.reshape(())[()]  # and a bare number is what NumPy goes on with
                found[id(source)] = part if before is None else before + part
    return [listed(found.get(id(leaf))) for leaf in leaves]


def _operation(
    written: str,
    function: Callable[..., Any],
    arrays: Sequence[Any],
    gradient: Any,
    says: str,
    *known: Mistake,
    on_torch: Callable[..., Any] | None = None,
) -> Probe:
    """Try one operation: its value, and the gradients of its inputs, against minigrad's."""

    def run(made: Any) -> list[Any]:
        tensors = [made(array.copy(), requires_grad=True) for array in arrays]
        result = function(*tensors)
        first = pulled(result, gradient, tensors)
        if pulled(result, gradient, tensors) != first:
            raise Objection("Run twice, the rule gives something else: what does it change?")
        function(*(made(array + 1.0, requires_grad=True) for array in arrays))
        if pulled(result, gradient, tensors) != first:
            raise Objection(
                "After another operation of the same kind, on other numbers, the rule of the first "
                "gives something else: what a rule needs has to be kept for each result by itself."
            )
        if any(not np.array_equal(t.data, array) for t, array in zip(tensors, arrays, strict=True)):
            raise Objection(
                "It wrote into the data of its input, which others may still need. Compute a new "
                "array."
            )
        return [array_of(result.data).tolist(), *first]

    def wants() -> list[Any]:
        tensors = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays]
        result = (on_torch or function)(*tensors)
        result.backward(torch.tensor(gradient, dtype=torch.float64))
        return [each.tolist() for each in (result, *(t.grad for t in tensors))]

    shapes = " and ".join(str(array.shape) for array in arrays)
    forward = Mistake(
        "It begins with the forward pass: data of the result is not what NumPy gives.",
        when=lambda seen: not np.allclose(seen[0], wants()[0]),
    )
    turned = Mistake(
        "The value has the opposite sign. In a difference, who is taken away from whom? Of 1 - a "
        "Python makes a.__rsub__(1), and the number comes first in it.",
        when=lambda seen: np.allclose(seen[0], np.negative(wants()[0])),
    )
    return Probe(
        f"For {written} on {'shape' if len(arrays) == 1 else 'shapes'} {shapes}, the value and the "
        "gradients that rules give",
        run,
        wants,
        says,
        [
            *(Mistake(each.says, trouble=each.trouble) for each in known if each.trouble),
            turned,
            forward,
            *(each for each in known if not each.trouble),
        ],
    )


def _gives(says: str, *gradients: Any, trouble: tuple[str, ...] = ()) -> Mistake:
    """Recognize wrong gradients, whatever the value."""
    if trouble:
        return Mistake(says, trouble=trouble)

    def seen(found: Sequence[Any]) -> bool:
        return all(
            np.shape(have) == np.shape(want) and np.allclose(have, want)
            for have, want in zip(found[1:], gradients, strict=True)
        )

    return Mistake(says, when=seen)


_NO_G = (
    "The local derivative alone: a rule gets g, the gradient that arrives at the result, and "
    "multiplies by it."
)


def _with_interface(made: Any) -> list[Any]:
    a, b = made([1.0, 2.0], requires_grad=True), made([3.0, 4.0], requires_grad=True)
    y = a * b
    same = [each is given for each, given in zip(y.inputs, (a, b), strict=False)]
    return [array_of(y.data).tolist(), len(y.inputs), *same]


def _inputs_of(made: Any) -> list[Any]:
    a = made([1.0, 2.0], requires_grad=True)
    for written, function in (
        ("a * 2", lambda: a * 2),
        ("2 * a", lambda: 2 * a),
        ("a + 1", lambda: a + 1),
        ("1 - a", lambda: 1 - a),
        ("a ** 3", lambda: a**3),
        ("a * np.ones(2)", lambda: a * np.ones(2)),
        ("a - np.ones(2)", lambda: a - np.ones(2)),
    ):
        other = next((x for x in function().inputs if not isinstance(x, made)), None)
        if other is not None:
            raise Objection(
                f"Among the inputs of {written} is a {type(other).__name__}. All inputs are "
                "tensors of your class: whatever is none is made one first, with type(self)."
            )
    power = a**3
    return [len(power.inputs), any(x is a for x in power.inputs)]


def _with_arrays(made: Any) -> list[Any]:
    a, array = made([1.0, 2.0], requires_grad=True), np.array([3.0, 5.0])
    return [(a * array).data.tolist(), (a - array).data.tolist(), (a + array).data.tolist()]


def _new(made: Any) -> list[Any]:
    x = made([1, 2])
    return [x.data.dtype.kind, x.data.tolist(), bool(x.requires_grad), x.grad, len(x.inputs)]


def _asks(made: Any) -> list[Any]:
    yes, no = made([1.0, 2.0], requires_grad=True), made([3.0, 4.0])
    results = [yes * no, no + yes, no * no, (no + no).tanh()]
    return [*(bool(r.requires_grad) for r in results), *(len(r.inputs) for r in results[2:])]


def _numbered(made: Any) -> bool:
    a = made([1.0], requires_grad=True)
    b = a.tanh()
    c = made([2.0])
    d = b * c
    return bool(a.number < b.number < c.number < d.number)


_ALL = {
    "a + b": lambda a, b: a + b,
    "a * b": lambda a, b: a * b,
    "a @ b": lambda a, b: a @ b,
    "a ** 2": lambda a, b: a**2,
    "a.tanh()": lambda a, b: a.tanh(),
    "a.relu()": lambda a, b: a.relu(),
    "a.sum()": lambda a, b: a.sum(),
    "a - b": lambda a, b: a - b,
    "-a": lambda a, b: -a,
    "1 - a": lambda a, b: 1 - a,
    "2 * a": lambda a, b: 2 * a,
    "1 + a": lambda a, b: 1 + a,
}


def _through_result(made: Any) -> str:
    calls: list[Any] = []

    class Inner(made):
        def result(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            return super().result(*args, **kwargs)

    for written, function in _ALL.items():
        a, b = (Inner(array, requires_grad=True) for array in (S, T))
        calls.clear()
        made_by = function(a, b)
        if not isinstance(made_by, Inner):
            raise Objection(
                f"{written} on tensors of a class that is built on yours gives a "
                f"{type(made_by).__name__}. Make results with type(self), so that they can do "
                "what the class on top of yours can do."
            )
        if not calls:
            raise Objection(
                f"{written} does not go through self.result. The next checkpoint hangs in there, "
                "and sees what goes through it only."
            )
    return "right"


def _identity(made: Any) -> list[Any]:
    x = made([1.0, 2.0], requires_grad=True)
    y = x.result(x.data * 5, (x,), lambda g: (5 * g,))
    constant = made([1.0, 2.0])
    z = constant.result(constant.data, (constant,), lambda g: (g,))
    (gradient,) = y.rule(np.array([1.0, 10.0]))
    asks = [bool(y.requires_grad), bool(z.requires_grad)]
    return [y.data.tolist(), len(y.inputs), gradient.tolist(), *asks]


_SPREAD = (
    "Each entry that was summed gets what arrived at its sum. So g is spread over the shape of the "
    "input; where the axis is gone from the result, it has to be put back first."
)
_KEPT = (
    "With keepdims=True the axis is still there, with length 1. Nothing has to be put back: g is "
    "spread over the shape of the input, and no more."
)
_NO_AXIS = (
    "A single number has the shape () and no axis at all. NumPy takes axis=0 and axis=-1 for it "
    "nevertheless, and the sum is the number itself: no axis is gone, so none is put back."
)
_BY_SHAPES = (
    "Look at the shapes. For C = A B with A of shape (n, k) and B of shape (k, m), g has C's, "
    "(n, m): which products of g with A or B, one of them transposed, have the shapes of A and B?"
)


def _sum(array: Any, **settings: Any) -> Probe:
    written = ", ".join(f"{key}={value}" for key, value in settings.items() if value is not False)
    shape = array.sum(**settings).shape
    spread = _KEPT if settings.get("keepdims") else _SPREAD if array.ndim else _NO_AXIS
    gradient = np.arange(2.0, 2.0 + np.prod(shape, dtype=int)).reshape(shape)
    named = {"axis": "dim", "keepdims": "keepdim"}
    other = {"dim": None} | {named[key]: value for key, value in settings.items()}
    known = [
        _gives(spread, trouble=("broadcast", "shape", "axis")),
        _gives("Every entry got 1: what arrives, g, is not used.", np.ones_like(array)),
        _gives(
            "The gradient is divided by something, as for a mean. A sum divides by nothing.",
            np.broadcast_to(gradient if not settings else np.ones(1), array.shape) / array.size,
        )
        if not settings
        else _gives(spread, gradient),
        _gives(
            "That has the shape of the sum. The input's gradient has the input's shape.", gradient
        ),
    ]
    return _operation(
        f"a.sum({written})",
        lambda a: a.sum(**settings),
        [array],
        gradient,
        spread,
        *known,
        on_torch=lambda a: a.sum(**other),
    )


def _square_sum() -> Probe:
    square, gradient = np.arange(9.0).reshape(3, 3), np.array([1.0, 10.0, 100.0])
    return _operation(
        "a.sum(axis=1)",
        lambda a: a.sum(axis=1),
        [square],
        gradient,
        _SPREAD,
        _gives(
            "The gradients of the rows went to the columns: NumPy lines shapes up from the right, "
            "and where a matrix is square, nothing complains. Put the missing axis back first.",
            np.broadcast_to(gradient, (3, 3)),
        ),
        on_torch=lambda a: a.sum(dim=1),
    )


RECORDED = [
    Probe(
        "Recorded([1, 2]): the kind of its data (f for floats), the data, requires_grad, .grad and "
        "the number of inputs",
        _new,
        ["f", [1.0, 2.0], False, None, 0],
        "A new tensor holds an array of floats, requires no gradient unless told to, has no .grad "
        "yet, and nothing made it: inputs is empty.",
        [
            Mistake(
                "Whole numbers stay whole in NumPy, and gradients are not whole: turn data into "
                "floats when a tensor is made.",
                when=lambda seen: seen[0] != "f",
            ),
            Mistake("It has to take requires_grad, too, by name.", trouble=("requires_grad'",)),
        ],
    ),
    Probe(
        "For y = a * b with a = [1, 2] and b = [3, 4]: data, the number of inputs, and whether "
        "they are a and b themselves, in this order",
        _with_interface,
        [[3.0, 8.0], 2, True, True],
        "inputs is a tuple of the tensors that went in, as they stand, themselves and not copies: "
        "by them the gradient finds its way.",
        [
            Mistake("It has to take requires_grad, too, by name.", trouble=("requires_grad'",)),
            Mistake(
                "Only what requires a gradient is among the inputs. All that went in belong there: "
                "the rule gives one gradient for each.",
                when=lambda seen: seen[1] == 1,
            ),
        ],
    ),
    Probe(
        "What is among the inputs where a number or an array stands beside a; and of a ** 3 how "
        "many there are, and whether a is among them",
        _inputs_of,
        [1, True],
        "In a ** n the n is a plain number, and not an input: the only input is a.",
        [_UNWRAPPED],
    ),
    Probe(
        "The data of a * b, a - b and a + b, where a is a tensor and b a NumPy array",
        _with_arrays,
        [[3.0, 10.0], [-2.0, -3.0], [4.0, 7.0]],
        "An array on the right becomes a constant tensor, as a number does: whatever is no tensor "
        "is made one.",
    ),
    Probe(
        "What result gives for 5 times x: data, the number of inputs, what the rule makes of "
        "[1, 10], whether it requires a gradient, and whether a result of constants does",
        _identity,
        [[5.0, 10.0], 1, [5.0, 50.0], True, False],
        "result(data, inputs, rule) makes a tensor of this data that keeps the other two, and "
        "requires a gradient if one of the inputs does.",
    ),
    Probe("Each operation, on a class built on yours", _through_result, "right", ""),
    Probe(
        "Whether results require a gradient, with one input that does and with none; and how many "
        "inputs the last two keep",
        _asks,
        [True, True, False, False, 0, 0],
        "A result requires a gradient if any of its inputs does. If none does, nothing has to be "
        "kept: no gradient will ever come.",
        [
            Mistake(
                "One input that requires a gradient is enough: ask for any, not for all.",
                when=lambda seen: not all(seen[:2]),
            ),
            Mistake(
                "What was computed from constants alone is a constant, too: a leaf without inputs "
                "and rule.",
                when=lambda seen: any(seen[2:]),
            ),
        ],
    ),
    Probe(
        "Whether number grows in the order of making",
        _numbered,
        True,
        "Each tensor, also a result, gets the next number of one count for all: a later one has a "
        "higher number.",
    ),
    _operation(
        "a + b",
        lambda a, b: a + b,
        [A, B],
        G,
        "A sum hands what arrives to both inputs as it is.",
        _gives(
            "Every entry got 1: a rule hands on g, and g is not 1 everywhere.",
            np.ones_like(A),
            np.ones_like(A),
        ),
    ),
    _operation(
        "a * b",
        lambda a, b: a * b,
        [A, B],
        G,
        "Each input gets g times the other factor.",
        _gives(
            "Each factor got g times itself. The derivative with respect to one is the other.",
            G * A,
            G * B,
        ),
        _gives(_NO_G, B, A),
    ),
    _operation(
        "a * a",
        lambda a: a * a,
        [A],
        G,
        "The same tensor is both factors: it stands twice among the inputs, and gets a gradient "
        "for each.",
        _gives("Only one of the two gradients is there: a stands twice among the inputs.", G * A),
    ),
    _operation(
        "a - b",
        lambda a, b: a - b,
        [A, B],
        G,
        "If b grows, a - b falls.",
        _gives("b got g with a plus sign. If b grows, a - b falls.", G, G),
        _gives(
            "The two have changed places, or both signs are off: a gets g, b gets its negative.",
            -G,
            G,
        ),
    ),
    _operation(
        "1 - a",
        lambda a: 1 - a,
        [A],
        G,
        "Python calls a.__rsub__(1) for it, and there the order is turned around: if a grows, it "
        "falls.",
        _gives("The sign is lost: in 1 - a the tensor is what is taken away.", G),
    ),
    _operation(
        "3 * a + 1 - a * 2 - 4",
        lambda a: 3 * a + 1 - a * 2 - 4,
        [A],
        G,
        "A number is a constant of shape (): it takes part, and needs no gradient. Mind who stands "
        "left of the sign.",
        _UNWRAPPED,
    ),
    _operation(
        "-a",
        lambda a: -a,
        [A],
        G,
        "If a grows, -a falls by as much.",
        _gives(_NO_G, -np.ones_like(A)),
    ),
    _operation(
        "a ** 3",
        lambda a: a**3,
        [A],
        G,
        "The power rule: n comes in front, and the exponent goes down by one.",
        _gives(
            "The exponent is as it was: in the derivative of a power it goes down by one.",
            G * 3 * A**3,
        ),
        _gives("The n in front is missing.", G * A**2),
        _gives("That is right for squares alone: where does n come in?", G * 2 * A),
        _gives(_NO_G, 3 * A**2),
    ),
    _operation(
        "a ** -0.5",
        lambda a: a**-0.5,
        [POSITIVE],
        G,
        "The power rule holds for every number n, also for negative ones and fractions.",
    ),
    _operation(
        "a.tanh()",
        lambda a: a.tanh(),
        [A],
        G,
        "The derivative of the tanh is one minus its square, the square of its result.",
        _gives("It is the result that is squared, not the input.", G * (1 - A**2)),
        _gives("The square is missing: one minus the square of the result.", G * (1 - np.tanh(A))),
        _gives(
            "tanh is taken a second time here: what is squared is the result as it is.",
            G * (1 - np.tanh(np.tanh(A)) ** 2),
        ),
        _gives(
            "That is the rule of another function, the sigmoid.", G * np.tanh(A) * (1 - np.tanh(A))
        ),
        _gives(_NO_G, 1 - np.tanh(A) ** 2),
    ),
    _operation(
        "a.relu()",
        lambda a: a.relu(),
        [A],
        MIXED,
        "Where the input is above zero g goes through, elsewhere nothing does.",
        _gives(
            "g goes through everywhere. Where the input is negative, the result stands still.",
            MIXED,
        ),
        _gives(
            "g was multiplied by the value itself. The slope above zero is 1.",
            MIXED * np.maximum(A, 0),
        ),
        _gives(
            "relu was applied to the gradient: it is the input that decides.",
            np.maximum(MIXED, 0),
        ),
        _gives(
            "The sign of the gradient plays a part here, and should not: it is the input that "
            "decides what goes through.",
            np.maximum(MIXED, 0) * (A > 0),
        ),
        _gives(_NO_G, (A > 0) * 1.0),
    ),
    _operation(
        "a.relu(), with a zero among the entries,",
        lambda a: a.relu(),
        [AT_ZERO],
        G,
        "At zero itself there is a choice. PyTorch takes 0 for the derivative, and so do we.",
    ),
    *(_sum(A, **each) for each in ({}, {"axis": 0}, {"axis": 1})),
    _square_sum(),
    *(_sum(A, **each) for each in ({"axis": 1, "keepdims": True}, {"keepdims": True})),
    *(
        _sum(array, axis=axis, keepdims=keepdims)
        for array in (A, A[0], A[0, 0])
        for axis in (0, -1)
        for keepdims in (False, True)
    ),
    _sum(A[0, 0]),
    _operation(
        "a @ b",
        lambda a, b: a @ b,
        [S, T],
        H,
        _BY_SHAPES,
        _gives(
            "Neither of the two is transposed, and on square matrices nothing complains. "
            + _BY_SHAPES,
            H @ T,
            S @ H,
        ),
        _gives(
            "Both products are turned around: does g stand on the left or on the right of the "
            "transposed factor? " + _BY_SHAPES,
            T.T @ H,
            H @ S.T,
        ),
        _gives("Those are elementwise products. " + _BY_SHAPES, H * T, H * S),
        _gives(
            "The two have changed places: the first gradient is that of the left factor.",
            S.T @ H,
            H @ T.T,
        ),
        _gives(_NO_G, np.ones((2, 2)) @ T.T, S.T @ np.ones((2, 2))),
        _gives(
            "Each got its own factor transposed. The gradient of one is made of the other.",
            H @ S.T,
            T.T @ H,
        ),
        _gives(_BY_SHAPES, trouble=("matmul", "shape")),
    ),
    _operation(
        "a @ b",
        lambda a, b: a @ b,
        [A, np.arange(12.0).reshape(3, 4)],
        np.arange(8.0).reshape(2, 4),
        _BY_SHAPES,
        _gives(_BY_SHAPES, trouble=("matmul", "shape", "broadcast")),
    ),
    _operation(
        "(a * b + a).tanh()",
        lambda a, b: (a * b + a).tanh(),
        [A, B],
        G,
        "Operations behind each other: each keeps what its own rule needs, as it was.",
    ),
    _operation(
        "(2 - a * b).relu() + (-(a ** 3)).tanh() - b",
        lambda a, b: (2 - a * b).relu() + (-(a**3)).tanh() - b,
        [np.array(0.5), np.array(-0.7)],
        3.0,
        "A tensor may hold a single number, of shape (). What arrives at a rule is a single number "
        "of NumPy then, and not always an array.",
    ),
]
