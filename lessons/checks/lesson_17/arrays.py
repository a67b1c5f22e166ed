"""Ask for a class of numbers (17.1), one of arrays (17.2), and the shape of a gradient (17.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any

import numpy as np

from minigrad.classroom.exercises import Objection

from .kinds import Checkpoint, FunctionCheckpoint, Probe, listed

# --- 17.1


def slopes(made: Any, function: Callable[..., Any], *numbers: float) -> list[Any]:
    """Give the gradients of some numbers in a function of them."""
    leaves = [made(number) for number in numbers]
    function(*leaves).backward()
    return [leaf.grad for leaf in leaves]


def new_values(made: Any) -> Any:
    """Whether x + x and x * x are Values, other ones than x, and the data of x after that.

    An operation makes a new Value, so that the next operation and backward find what they need.
    Others may still need x as it was.
    """
    x = made(3.0)
    return [*(hasattr(y, "backward") and y is not x for y in (x + x, x * x)), x.data]


def forward(made: Any) -> Any:
    """The data of x + y and of x * y, for x = 3 and y = -2.

    The forward pass comes first: data is what plain numbers would give.
    """
    return [(made(3.0) + made(-2.0)).data, (made(3.0) * made(-2.0)).data]


def with_numbers(made: Any) -> Any:
    """The data of x * 2 + 1, 2 * x and 1 + x, for x = 3.

    One side may be a plain number, which has no data of its own: make a Value of it first. Python
    calls __rmul__ for 2 * x and __radd__ for 1 + x.
    """
    return [(made(3.0) * 2 + 1).data, (2 * made(3.0)).data, (1 + made(3.0)).data]


def of_sum(made: Any) -> Any:
    """The gradients of x + y, for x = 3 and y = -5.

    In a sum each input moves the result as much as itself: its local derivative is 1, whatever the
    numbers. And backward begins with a gradient of 1.
    """
    return slopes(made, lambda x, y: x + y, 3.0, -5.0)


def of_product(made: Any) -> Any:
    """The gradients of x * y, for x = 3 and y = -2.

    If one factor moves a little, the other one decides how far the product moves.
    """
    return slopes(made, lambda x, y: x * y, 3.0, -2.0)


def beside_numbers(made: Any) -> Any:
    """The gradient of x in each of x + 1, 1 + x, x * 2 and 2 * x.

    Where a 0 stands, the way back to x is missing: a result keeps x, on either side of the sign.
    """
    operations = (lambda x: x + 1, lambda x: 1 + x, lambda x: x * 2, lambda x: 2 * x)
    return [slopes(made, each, 3.0)[0] for each in operations]


def chained(made: Any) -> Any:
    """The gradient of x in 2 * (x * 5 + 1).

    Along a chain, local derivatives are multiplied: what has arrived, times the slope. The value
    that backward is called on has its turn first, leaves come last.
    """
    return slopes(made, lambda x: 2 * (x * 5 + 1), 3.0)[0]


def used_twice(made: Any) -> Any:
    """The gradient of x in x * x and in x + x, for x = 3.

    x has two edges here. A gradient comes along each of them, and the second must not take the
    place of the first: they are added.
    """
    return [slopes(made, each, 3.0)[0] for each in (lambda x: x * x, lambda x: x + x)]


def short_first(x: Any) -> Any:
    """Build a diamond whose short arm comes first."""
    y = x * x
    return y + 7 * y


def long_first(x: Any) -> Any:
    """Build a diamond whose long arm comes first."""
    y = x * x
    u = 7 * y
    return u + y


def diamonds(made: Any) -> Any:
    """The gradient of x in y + 7 * y and in 7 * y + y, with y = x * x at x = 3.

    y passes its sum on once, when all its gradients are in: every value that uses y has its turn
    before y, whichever arm comes first.
    """
    return [slopes(made, each, 3.0)[0] for each in (short_first, long_first)]


def equal_numbers(made: Any) -> Any:
    """The gradients of x and y in x * y * x, where both are 1.

    Two values that hold the same number are still two. Does your class compare by numbers, as a
    dataclass does, where a set, a dict or `in` asks? Ask whether they are the same object.
    """
    return slopes(made, lambda x, y: x * y * x, 1.0, 1.0)


def with_zero(made: Any) -> Any:
    """The gradient of x in y + 7 * y * 0, with y = x * x at x = 3.

    A gradient of zero is one, too: count it as arrived.
    """

    def function(x: Any) -> Any:
        y = x * x
        return y + 7 * y * 0

    return slopes(made, function, 3.0)[0]


def two_losses(made: Any) -> Any:
    """x.grad after a pass from x * 2 and then one from x * 5.

    A leaf collects: each pass adds to what is in .grad. Emptying it is up to others.
    """
    x = made(3.0)
    (x * 2).backward()
    (x * 5).backward()
    return x.grad


def shared_graph(made: Any) -> Any:
    """x.grad at x = 3 after two passes from 7 * y, and one from 5 * y, with the same y = x * x.

    Each pass is worth what it is worth alone: 42, 42 and 30.
    """
    x = made(3.0)
    y = x * x
    loss, found = 7 * y, []
    for each in (loss, loss, 5 * y):
        each.backward()
        found.append(x.grad)
    return found


def up(x: Any, steps: int) -> Any:
    """Build a ladder of diamonds."""
    for _ in range(steps):
        x = x + x
    return x


def ladder(made: Any) -> Any:
    """The gradient of x after 24 diamonds in a row, y = y + y.

    There are 16 million paths. Don't follow each by itself: run each value once, and
    pass on the sum.
    """
    return slopes(made, lambda x: up(x, 24), 3.0)


VALUE = Checkpoint(
    id="17.1",
    asks="Value, a class of numbers with +, * and backward()",
    probes=[
        *(new_values, forward, with_numbers, of_sum, of_product, beside_numbers, chained),
        *(used_twice, diamonds, equal_numbers, with_zero, two_losses, shared_graph, ladder),
    ],
    methods="__add__ x + y; __mul__ x * y; __radd__ 1 + x; __rmul__ 2 * x; backward x.backward()",
    programs="scalars",
    right="150 random graphs agree with minigrad. What follows is the same idea, with arrays "
    "instead of numbers.",
    hints=(
        "A Value keeps pairs: an input, and the slope with respect to it. A sum has slopes 1 and "
        "1. What are those of a product? backward needs an order in which each value comes before "
        "its inputs: visit the inputs first, then note the value, and read that list from its end.",
        "backward in four steps: list all values below this one, inputs before users; make a dict "
        "of what arrives in this pass, 1 for yourself and 0 for the others; go through the list "
        "from its end, and for each pair of a value add slope times what arrived at the value to "
        "what arrives at the input; add what arrived to each grad.",
    ),
    mistakes=r"""
        ~ | {self: 1.0} =>
        ~ reversed(order) => order
        ? probe in ("of_sum", "of_product") and not any(seen)
            Nothing arrived. Does backward begin with a gradient of 1 at the value that it's called
            on, does it follow all edges from there, and does each value run before its inputs?
        ~ if value not in order: => if True:
        ? probe == "used_twice" and seen[0] > 6.0 or probe == "diamonds" and max(seen) > 48.0
            Too much: a value ran more than once, so part of its gradient was passed on again. Each
            value runs once.
        ~ for source, slope in value.edges: => edges, value.edges = value.edges, ()\n            for source, slope in edges:
        ? probe == "two_losses" and seen == 2.0 or probe == "shared_graph" and seen[1] == 42.0
        ? probe in ("two_losses", "shared_graph") and "Error" in raised
            The second pass did less than the first. What you mark, count or throw away in one pass
            must not be missing in the next: count in backward, from the value that it's called on.
        ~ arrived = {value: 0.0 for value in order} | {self: 1.0} => self.grad = 1.0
        | value.grad += arrived[value] => pass
        | arrived[source] += slope * arrived[value] => source.grad += slope * value.grad
        ? probe == "shared_graph" and seen[0] == 42.0 and seen[2] > 114.0
            Too much: what travels and what is collected are mixed up. What the first pass left in
            the .grad of y, or of the loss itself, went down a second time. Keep what travels apart
            from .grad, in a dict of the pass.
    """,
)

# --- 17.2

A = np.array([[1.5, -0.5, 2.0], [0.7, 3.0, -1.2]])
B = np.array([[0.3, 2.0, -1.0], [1.1, -0.4, 0.9]])
G = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
S, T = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[7.0, -1.0], [2.0, 4.0]])


def pulled(result: Any, gradient: Any, leaves: Sequence[Any]) -> list[Any]:
    """Walk through what operations have left, and give the gradients of some leaves.

    Args:
        result: what it begins with.
        gradient: of the result.
        leaves: whose gradients are wanted.
    """
    waiting = {id(result): result}
    found: dict[int, Any] = {id(result): np.array(gradient, float)}
    while waiting:
        tensor = max(waiting.values(), key=lambda each: each.number)
        del waiting[id(tensor)]
        if not tensor.inputs:
            continue
        arrived = found[id(tensor)]
        kept = arrived.copy()
        parts = tensor.rule(arrived)
        if not np.array_equal(kept, arrived):
            raise Objection("A rule wrote into the gradient that it was given. Make a new array.")
        many = len(parts) if isinstance(parts, tuple | list) else "no tuple"
        if many != len(tensor.inputs):
            raise Objection(
                f"A result has {len(tensor.inputs)} inputs, and its rule gives {many}. It has to "
                "give a tuple with one gradient for each input, also where there is only one."
            )
        for source, part in zip(tensor.inputs, parts, strict=True):
            if source.requires_grad:
                part = np.array(listed(part), float)
                if part.size == 1 and np.shape(source.data) == ():  # 17.3 will see to the shape
                    part = part.reshape(())[()]  # and a bare number is what NumPy goes on with
                found[id(source)] = found.get(id(source), 0.0) + part
                waiting[id(source)] = source
    return [listed(found.get(id(leaf))) for leaf in leaves]


def operation(written: str, why: str, *arrays: Any, gradient: Any = G) -> Probe:
    """Make a probe of an operation: its value, and the gradients of its inputs."""
    function = eval(f"lambda a, b=None: {written}")

    def probe(made: Any) -> Any:
        tensors = [made(array.copy(), requires_grad=True) for array in arrays]
        result = function(*tensors)
        first = pulled(result, gradient, tensors)
        function(*(made(array + 1.0, requires_grad=True) for array in arrays))
        if pulled(result, gradient, tensors) != first:
            raise Objection(
                "The rule gives something else after another operation of the same kind, on other "
                "numbers: keep what a rule needs for each result by itself, and don't change it."
            )
        if any(not np.array_equal(t.data, array) for t, array in zip(tensors, arrays, strict=True)):
            raise Objection("It wrote into the data of its input. Compute a new array.")
        return [listed(result.data), *first]

    shapes = " and ".join(str(array.shape) for array in arrays)
    probe.__doc__ = (
        f"For {written} on {shapes}, the value and the gradients of the inputs.\n\n{why}"
    )
    probe.__name__ = written
    return probe


SPREAD = (
    "Each entry that was summed gets what arrived at its sum. So g is spread over the shape of the "
    "input. Where the axis is gone from the result, put it back first; with keepdims=True it is "
    "still there; and a single number, of shape (), has no axis at all."
)
BY_SHAPES = (
    "Look at the shapes. For C = A B with A of shape (n, k) and B of shape (k, m), g has C's, "
    "(n, m). Which products of g with A or B, one of them transposed, have the shapes of A and B?"
)
POWER = "The power rule holds for every n: n comes in front, and the exponent goes down by one."
TANH = "The derivative is one minus the square of the result, not of the input, times g."
RELU = "The input decides, not g: above zero g goes through, elsewhere and at zero nothing does."
NUMBER = "A tensor may hold a single number. Then a rule gets a number of NumPy, not an array."


def sums() -> list[Probe]:
    """Try sums over every axis of a matrix, a vector and a number."""
    found = []
    for array in (A, np.arange(9.0).reshape(3, 3), A[0], A[0, 0]):
        axes = ["", *(f"axis={axis}" for axis in range(-1, max(array.ndim, 1)))]
        for settings in (*axes, *(f"{axis}, keepdims=True".strip(", ") for axis in axes)):
            shape = eval(f"array.sum({settings})", {"array": array}).shape
            gradient = np.arange(2.0, 2.0 + prod(shape)).reshape(shape)
            found.append(operation(f"a.sum({settings})", SPREAD, array, gradient=gradient))
    return found


OPERATIONS = [
    operation("a + b", "A sum passes what arrives, g, to both inputs as it is.", A, B),
    operation("a * b", "Each input gets g times the other factor.", A, B),
    operation("a * a", "a is both factors: it gets a gradient for each.", A),
    operation("a - b", "If b grows, a - b falls.", A, B),
    operation(
        "1 - a", "Python calls a.__rsub__(1): the number comes first, and a is taken away.", A
    ),
    operation("3 * a + 1 - a * 2 - 4", "A number is a constant of shape ().", A),
    operation("-a", "If a grows, -a falls by as much.", A),
    operation("a ** 3", POWER, A),
    operation("a ** -0.5", POWER, np.abs(A)),
    operation("a.tanh()", TANH, A),
    operation("a.relu()", RELU, A, gradient=G * np.sign(B)),
    operation("a.relu()", RELU, A * (A < 3)),
    *sums(),
    operation("a @ b", BY_SHAPES, S, T, gradient=np.array([[1.0, 10.0], [100.0, 1000.0]])),
    operation("a @ b", BY_SHAPES, A, np.arange(12.0).reshape(3, 4), gradient=[[1.0, 2, 3, 4]] * 2),
    operation("(a * b + a).tanh()", "Each operation keeps what its own rule needs.", A, B),
    operation(
        "(2 - a * b).relu() + (-(a ** 3)).tanh() - b", NUMBER, A[0, 0], B[0, 0], gradient=3.0
    ),
]


def new(made: Any) -> Any:
    """Of Recorded([1, 2]) the kind of its data, its data, .grad, number of inputs and
    requires_grad, which is True for one that was made with requires_grad=True.

    A new tensor holds an array of floats (kind f), has no .grad yet, and nothing made it: inputs is
    empty. It takes requires_grad by name, and requires no gradient unless told to.
    """
    x, y = made([1, 2]), made([1, 2], requires_grad=True)
    found = [x.data.dtype.kind, listed(x.data), x.grad, len(x.inputs)]
    return [*found, bool(x.requires_grad), bool(y.requires_grad)]


def product(made: Any) -> Any:
    """For y = a * b: data, the number of inputs, and whether they are a and b, in this order.

    inputs is a tuple of all tensors that went in, themselves and not copies: the gradient finds its
    way by them, and the rule gives one gradient for each.
    """
    a, b = made([1.0, 2.0], requires_grad=True), made([3.0, 4.0], requires_grad=True)
    y = a * b
    same = [each is given for each, given in zip(y.inputs, (a, b), strict=False)]
    return [listed(y.data), len(y.inputs), *same]


def beside(made: Any) -> Any:
    """Where a number or an array stands beside a: for seven operations, whether all inputs are
    tensors of your class; and the number of inputs of a ** 3.

    Make whatever isn't a tensor a constant one first, with type(self). It may be on either side:
    for 1 - a Python calls __rsub__. In a ** n the n is a plain number, and a the only input.
    """
    a, other = made([1.0, 2.0], requires_grad=True), np.ones(2)
    found = [a * 2, 2 * a, a + 1, 1 - a, a * other, a - other, a**3]
    tensors = [all(isinstance(each, made) for each in y.inputs) for y in found]
    return [tensors, len(found[-1].inputs)]


def by_result(made: Any) -> Any:
    """What result gives for 5 times x: data, the number of inputs, what the rule makes of [1, 10],
    whether it requires a gradient, and whether a result of constants does.

    result(data, inputs, rule) makes a tensor of this data that keeps the other two, and requires a
    gradient if one of the inputs does.
    """
    x, constant = made([1.0, 2.0], requires_grad=True), made([1.0, 2.0])
    y, z = (each.result(each.data * 5, (each,), lambda g: (5 * g,)) for each in (x, constant))
    (gradient,) = y.rule(np.array([1.0, 10.0]))
    return [y.data, len(y.inputs), gradient, bool(y.requires_grad), bool(z.requires_grad)]


CALLS = (
    "__add__ a + b; __radd__ 1 + a; __mul__ a * b; __rmul__ 2 * a; __sub__ a - b; __rsub__ 1 - a; "
    "__neg__ -a; __pow__ a ** n; __matmul__ a @ b; sum a.sum(); tanh a.tanh(); relu a.relu()"
)


def on_top(made: Any) -> Any:
    """On a class that is built on yours: the operations that don't go through self.result, and
    those whose results are not of that class.

    The next checkpoint plugs into self.result, and sees only what goes through it. Make results
    with type(self), so that they can do what the class on top of yours can do.
    """
    calls: list[Any] = []

    class Inner(made):
        def result(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            return super().result(*args, **kwargs)

    past, other = [], []
    for each in CALLS.split("; "):
        written = each.split(" ", 1)[1]
        calls.clear()
        names = {"a": Inner(S, requires_grad=True), "b": Inner(T, requires_grad=True), "n": 2}
        if not isinstance(eval(written, names), Inner):
            other.append(written)
        elif not calls:
            past.append(written)
    return [past, other]


def asking(made: Any) -> Any:
    """Whether results require a gradient, two with one input that does, and two with none; and how
    many inputs the last two keep.

    A result requires a gradient if any of its inputs does, not only if all do. If none does, it is
    a constant, too, and keeps nothing: no gradient will ever come.
    """
    yes, no = made([1.0, 2.0], requires_grad=True), made([3.0, 4.0])
    results = [yes * no, no + yes, no * no, (no + no).tanh()]
    return [*(bool(y.requires_grad) for y in results), *(len(y.inputs) for y in results[2:])]


def numbered(made: Any) -> Any:
    """Whether number grows in the order of making.

    Each tensor, also a result, gets the next number of one count for all: a later one has a higher
    number.
    """
    a = made([1.0], requires_grad=True)
    b = a.tanh()
    c = made([2.0])
    return bool(a.number < b.number < c.number < (b * c).number)


RECORDED = Checkpoint(
    id="17.2",
    asks="Recorded, a class of arrays whose operations note their inputs and a rule",
    probes=[new, asking, product, beside, by_result, on_top, numbered, *OPERATIONS],
    methods=f"result result(data, inputs, rule); {CALLS}",
    right="Every rule agrees with minigrad's. From here on you don't have to derive anything.",
    hints=(
        "Write result first, then a + b, and copy its form: compute with .data, name the inputs, "
        "and write the rule as a function of g that gives a tuple. A number becomes a Recorded "
        "first. Subtraction can be a sum with -1 times the other.",
        "The rules: a product gives each factor g times the other; n * x ** (n - 1) for a power; "
        "1 - y ** 2 for tanh, with the result y; for a product of matrices look at the shapes; and "
        "for a sum g has to be spread over the input's shape, with np.expand_dims(g, axis) before "
        "it where the axis is gone.",
    ),
    mistakes=r"""
        ~ (g * b, g * a) => (g * a, g * b)
            Each factor got g times itself. The derivative with respect to one is the other.
        ~ (g, g) => (np.ones_like(g), np.ones_like(g))
        ~ (g * b, g * a) => (b, a)
        ~ g * n * x => n * x
        ~ g * (1 - y**2) => 1 - y**2
        ~ g * (self.data > 0) => 1.0 * (self.data > 0)
        ~ g * np.ones_like(self.data) => np.ones_like(self.data)
            The local derivative alone: a rule gets g, the gradient that arrives at the result, and
            multiplies by it.
        ~ return -self + other => return self - other
            The value has the opposite sign. For 1 - a Python calls a.__rsub__(1), and the number
            comes first.
    """,
)

# --- 17.3

CASES: dict[tuple[int, ...], list[tuple[int, ...]]] = {
    (2, 3): [(2, 3)],
    (4, 3): [(3,), (1, 3), (4, 1), (), (1, 1), (1,)],
    (3, 3): [(3,), (3, 1)],
    (2, 4, 3): [(4, 1), (2, 1, 3), (1, 4, 1)],
    (2, 2, 2): [(2, 1)],
    (1, 3): [(3,), (1, 3)],
    (2, 1, 3): [(1, 3)],
    (2, 4, 1): [(4, 1)],
    (): [()],
}
"""A gradient's shape, and shapes that its input may have."""


def inputs(rng: Random) -> list[tuple[Any, ...]]:
    """Draw a gradient for each case."""
    return [
        (np.array([rng.uniform(-2, 2) for _ in range(prod(have))]).reshape(have), want)
        for have, shapes in CASES.items()
        for want in shapes
    ]


UNBROADCAST = FunctionCheckpoint(
    id="17.3",
    asks="unbroadcast(gradient, shape), which sums a gradient down to the shape of an input",
    inputs=inputs,
    right="The sum over all copies, from shapes alone. With one function, everything broadcasts.",
    hints=(
        "Line the two shapes up from the right. Which axes of the gradient have nothing below "
        "them, and where does the shape have a 1?",
        "Collect the axes in a tuple: the first gradient.ndim - len(shape) ones, and of the others "
        "those where the shape says 1, counted from the gradient's left. Sum over them with "
        "keepdims=True, and reshape at the end.",
    ),
    mistakes="""
        ~ gradient.sum( => gradient.mean(
            You take the mean. An entry that was copied to several places gets the sum of what
            comes from all of them.
        ~ (*range(added), *stretched) => (*range(added),)
        | , keepdims=True).reshape(shape) => )
            Axes that broadcasting has put in front are summed. Those that it has stretched, where
            the shape says 1, are not.
        ~ , keepdims=True).reshape(shape) => )
        ~ .reshape(shape) => .squeeze()
            The sums are right, and axes of length 1 are gone. The result has to have the shape
            that was asked for: keepdims keeps an axis, and reshape brings it back.
        ~ gradient.sum(axis=axes, keepdims=True) => gradient[tuple(slice(0, 1) if k in axes else slice(None) for k in range(gradient.ndim))]
            One copy is kept, and the others go. An entry that was copied to several places gets
            the sum of what comes from all of them.
        ~ .reshape(shape) =>
        ? any(t.result.shape != t.args[1] for t in trials) and alike([each.ravel() for each in seen], [each.ravel() for each in right])
            The sums are right, the shape is another: axes that broadcasting has put in front are
            still there, with length 1. reshape(shape) drops them.
        ~ return gradient.sum(axis=axes, keepdims=True).reshape(shape) => return gradient if gradient.shape == shape else gradient.sum() * np.ones(shape)
            Everything is summed into one number. Each entry of the input collects from its own
            copies only.
        ~ [added + axis for => [axis for
        ! AxisError, out of bounds, IndexError, duplicate
            Shapes are lined up from the right, and axes are counted from the left: axis 0 of the
            shape may be a later one of the gradient. And in a loop, when an axis is summed, those
            after it move up, unless keepdims keeps it.
        ~ gradient.sum(axis=axes, keepdims=True) => gradient
        ! reshape
            To bring a result into a shape, it has to have as many entries: sum before you reshape.
            And shapes are lined up from the right.
        ~ return gradient.sum(axis=axes, keepdims=True).reshape(shape) => return gradient
        ? any(t.result.size > prod(t.args[1]) for t in trials)
            Too much is left: not every axis that was added or stretched has been summed. There may
            be several of both kinds.
    """,
)
