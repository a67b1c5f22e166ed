"""Ask for an engine (17.4), hooks on tensors (17.5), modules (17.6) and hooks on them (17.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.classroom.exercises import Objection

from .arrays import long_first, short_first, up
from .kinds import Checkpoint, Probe, listed, mine

# --- 17.4


def leaf(made: Any, data: Any) -> Any:
    """Make a leaf of a class of tensors."""
    return made(np.array(data, float), requires_grad=True)


def grads(*tensors: Any) -> list[Any]:
    """Give the gradients of tensors as lists."""
    for tensor in tensors:
        if not isinstance(tensor.grad, np.ndarray | np.generic | float | None):
            raise Objection(f"A .grad is a {type(tensor.grad).__name__}. It has to be an array.")
    return [listed(tensor.grad) for tensor in tensors]


def once(made: Any, function: Callable[..., Any], *data: Any) -> list[Any]:
    """Run one pass, and give the gradients of the leaves."""
    leaves = [leaf(made, each) for each in data]
    function(*leaves).backward()
    return grads(*leaves)


def of_product(made: Any) -> Any:
    """x.grad and w.grad after (x * w).backward(), for x = 3 and w = -2.

    The engine does no calculus: what a tensor sends to its inputs is what its rule returns for the
    complete gradient.
    """
    return once(made, lambda x, w: x * w, 3.0, -2.0)


def square(made: Any) -> Any:
    """x.grad after (x * x).backward(), for x = 3 and for x of shape (1, 1).

    x is among the inputs twice, and what arrives along both edges is added: it runs once, when both
    parts are there. One entry is enough for a pass without a gradient, whatever the shape.
    """
    return [once(made, lambda x: x * x, data) for data in (3.0, [[3.0]])]


def diamonds(made: Any) -> Any:
    """x.grad in the diamonds y + 7 * y, 7 * y + y, and y + (14 * y).tanh() * 0, with y = x * x.

    A tensor is complete when a part has arrived along each edge that leads to it in this pass, even
    if the part is zero. Then it runs once, with the sum.
    """

    def deep(x: Any) -> Any:
        y = x * x
        u = 7 * y
        return y + (u + u).tanh() * 0.0

    return [once(made, each, 3.0)[0] for each in (short_first, long_first, deep)]


def edges(made: Any) -> Any:
    """x.grad after 7 * x + x * x and after x * x + 7 * x, for x = 3.

    Two edges lead from x * x to x, and a third one from 7 * x. Count edges: an input that is
    there twice counts twice. A set would hold it only once.
    """
    return [once(made, each, 3.0)[0] for each in (lambda x: 7 * x + x * x, lambda x: x * x + 7 * x)]


def network(made: Any) -> Any:
    """The gradients in ((x @ w + b).tanh() ** 2).sum() / 2, with a bias that is broadcast.

    Each has the shape of its tensor. The class is built on Broadcasting, where each rule ends with
    a sum over the copies of the bias.
    """
    x, w = [[0.5, -1.0], [0.2, 0.3], [1.5, 0.4]], [[0.3, -0.2], [0.1, 0.7]]
    return once(made, lambda x, w, b: ((x @ w + b).tanh() ** 2).sum() * 0.5, x, w, [0.1, -0.3])


def not_leaves(made: Any) -> Any:
    """After a pass: x.grad, the .grad of an inner tensor, and that of a constant.

    .grad is for leaves that require a gradient. What travels belongs in a dict of the pass; and
    look at requires_grad before you send.
    """
    x, constant = leaf(made, 3.0), made(5.0)
    y = x * constant
    (y * y).backward()
    return grads(x, y, constant)


def passes(made: Any) -> Any:
    """x.grad after a pass from y + y with y = x * x; then it is set to 100, and two more passes
    follow.

    Each pass gives the same, and a leaf adds them up. Don't empty .grad yourself.
    """
    x = leaf(made, 3.0)
    y = x * x
    z, found = y + y, []
    for _ in range(3):
        z.backward()
        found.append(listed(x.grad))
        x.grad = x.grad if len(found) > 1 else np.array(100.0)
    return found


def two_roots(made: Any) -> Any:
    """x.grad after a pass from 2 * y, and after another from y * y, with y = x * x; and after
    x.backward(), where x itself is a leaf, of shape (1, 1).

    Each pass starts from its own root, and uses that don't lead to this root don't count in it. A
    leaf that is the root collects as well: ones of its own shape, not a plain number.
    """
    x, found = leaf(made, 3.0), []
    y = x * x
    for root in (2 * y, y * y):
        root.backward()
        found.append(listed(x.grad))
    return [*found, *once(made, lambda x: x, [[3.0]])]


def given(made: Any) -> Any:
    """With backward(np.array([1, 10])): x.grad for 3 * x, that of a leaf that is the root, after two
    passes, and the array after that; and x.grad with zeros given, for two entries and for one.

    A gradient that is given replaces the ones at the root, even if it is zero. The array belongs to
    the caller, and must not change: a leaf needs an array of its own.
    """
    x, root, gradient = leaf(made, [1.0, 2.0]), leaf(made, [1.0, 2.0]), np.array([1.0, 10.0])
    for each in (x * 3, root, root):
        each.backward(gradient)
    two, one = leaf(made, [1.0, 2.0]), leaf(made, [1.0])
    (two * 3).backward(np.zeros(2))
    (one * 3).backward(np.zeros(1))
    return [*grads(x, root), gradient.tolist(), *grads(two, one)]


def errors(made: Any) -> Any:
    """The error for a root with two entries and no gradient given, for one that requires no
    gradient, and for such a one when a gradient is given; and x.grad after that.

    Each has to end in a RuntimeError, before anything is collected: ones for several entries would
    be the gradient of their sum, which you didn't ask for, and where nothing requires a gradient a
    pass would silently do nothing.
    """
    x, found = leaf(made, [1.0, 2.0]), []
    constant = made(3.0)
    for root, more in ((x * 2, ()), (constant * constant, ()), (made(3.0), (np.array(1.0),))):
        try:
            root.backward(*more)
            found.append("no error")
        except Exception as error:
            found.append(
                "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
            )
    return [*found, listed(x.grad)]


def handing_on(a: Any, b: Any) -> Any:
    """Add two tensors by a rule that hands the same array to both."""
    total = a + b
    total.rule = lambda gradient: (gradient, gradient)
    return total


def same_arrays(made: Any) -> Any:
    """After a pass through x + y, whether x.grad and y.grad share an array; both after another
    pass; and the gradients of a and b in c + d + 10 * c, where c = a and d = b.

    x + y sends the same array to both inputs, and whatever changes it in place, as += does, changes
    it for both: add out of place, and give each leaf an array of its own.
    """
    x, y = leaf(made, [1.0, 2.0]), leaf(made, [3.0, 4.0])
    total = handing_on(x, y).sum()
    total.backward()
    found = [np.shares_memory(np.asarray(x.grad), np.asarray(y.grad))]
    total.backward()
    a, b = leaf(made, [2.0, 2.0]), leaf(made, [3.0, 3.0])
    c, d = a * 1, b * 1
    more = 10 * c
    s = handing_on(c, d)  # runs before `more`: then more is added to what c has got
    (s + more).sum().backward()
    return [*found, *grads(x, y, a, b)]


def watched(made: Any, calls: list[str]) -> Any:
    """Make a class on top of one, which notes what complete gets, and multiplies that."""

    class Watched(made):
        name, factor = "", 1.0

        def complete(self, gradient: Any) -> Any:
            if self.name:
                calls.append(f"{self.name} {float(np.sum(gradient)):g}")
            return super().complete(self.factor * gradient)

    return Watched


def completed(made: Any) -> Any:
    """The calls of complete in L = d * w with c = x * 5, a = x * 2, b = a * a and d = b + c: each
    with the gradient that it got.

    complete is called once for each tensor that the pass reaches, with the whole sum. Of those that
    are ready, leaves come first, then the one that was made last.
    """
    calls: list[str] = []
    kind = watched(made, calls)
    x, w, k = kind(2.0, requires_grad=True), kind(4.0, requires_grad=True), kind(5.0)
    c, a = x * k, x * 2
    b = a * a
    d = b + c
    root, aside = d * w, a * 100  # a use that does not lead to the root
    for name, tensor in zip("xwkcabdL-", (x, w, k, c, a, b, d, root, aside), strict=True):
        tensor.name = name
    root.backward()
    return calls


def given_back(made: Any) -> Any:
    """x.grad and w.grad of 2 * (x * w), where complete of x * w gives ten times what it got, and
    that of w a hundred times.

    What complete returns is what goes on: hand this to the rule. A leaf collects in complete,
    and nowhere else.
    """
    x, w = (watched(made, [])(number, requires_grad=True) for number in (2.0, 3.0))
    y = x * w
    y.factor, w.factor = 10.0, 100.0
    (y * 2).backward()
    return grads(x, w)


def completed_twice(made: Any) -> Any:
    """What complete returns for a leaf that is called with 2 and then with 3, and its .grad.

    complete returns the gradient that goes on, here the one that it got. What a leaf has
    collected stays in its .grad.
    """
    x = leaf(made, 3.0)
    return [*(listed(x.complete(np.array(g))) for g in (2.0, 3.0)), listed(x.grad)]


def ladder(made: Any) -> Any:
    """x.grad after 40 diamonds in a row, y = y + y.

    There are a trillion paths. Don't come back to a tensor for each of them: look at each tensor's
    inputs once, and run it once.
    """
    return once(made, lambda x: up(x, 40), 3.0)


def turned(gradient: Any) -> tuple[Any]:
    """Turn the sign, as the rule of -y does."""
    return (-gradient,)


def chain(made: Any) -> Any:
    """x.grad at the beginning of a chain of 5,000 operations, y = -y.

    In a long chain it takes too long to look through all tensors again for each of them: a dict or
    a set knows at once. And Python stops a function that calls itself at each step: keep the tensors
    that are still to be visited in a list, and loop.
    """
    x = y = leaf(made, 3.0)
    for _ in range(5_000):  # what -y does, past all that costs time
        y = y.result(-y.data, (y,), turned)
        y.rule = turned
    y.backward()
    return listed(x.grad)


ENGINE = Checkpoint(
    id="17.4",
    asks="Differentiable, a class on top of Broadcasting with complete(gradient) and "
    "backward(gradient=None)",
    probes=[
        *(of_product, square, diamonds, edges, network, not_leaves, passes, two_roots, given),
        *(errors, same_arrays, completed, given_back, completed_twice, ladder, chain),
    ],
    methods="complete complete(gradient); backward backward()",
    most_lines={"chain": 4_000_000},
    base=("Broadcasting", "result"),
    programs="graphs",
    right="Five thousand operations, forty diamonds and 150 random programs: you have an engine.",
    hints=(
        "Two walks. The first counts, with a list of tensors still to be looked at, how many edges "
        "lead to each tensor from this root. The second keeps what has arrived in a dict and the "
        "ready tensors on a heap.",
        "The second walk: take a ready tensor, hand what arrived to complete, hand what that gives "
        "to the rule, and for each input and its part: add the part to what has arrived (out of "
        "place), take one off the count, and at zero push it. On the heap a triple sorts by "
        "itself: (bool(t.inputs), -t.number, t).",
    ),
    mistakes=r"""
        ~ parts = tensor.rule(gradient) if tensor.inputs else () => parts = tensor.rule(gradient)
        ! not callable
            A leaf has no rule: it only collects. Ask for inputs before you call the rule.
        ~ return gradient =>
        ! NoneType
            None went on instead of a gradient: complete has to return what goes on.
        ~ np.ones_like(self.data) => 1.0
        ! 'float' object, 'int' object
            Gradients are arrays from the start: the root begins with ones of its own shape, not
            with a plain number.
        ~ {self: gradient} => {}
        ~ if not waiting[source]: => if True:
        ! KeyError
            A tensor ran before anything had arrived for it, or ran twice. The root has its gradient
            at the beginning, and every other tensor runs once, after its users.
        ~ -source.number, source => source
        ! '<' not supported
            A heap compares what is on it, and tensors can't be compared. Put a tuple on it that
            begins with numbers: whether it has inputs, and its number with a minus.
        ~ self.grad = gradient.copy() if self.grad is None else self.grad + gradient => pass
        ? probe == "of_product" and None in seen
            Nothing arrived at the leaves. The root begins with a gradient of ones, its parts go
            along inputs, and a leaf keeps what arrives in .grad.
        ~ if not waiting[source]: => if waiting.pop(source, 0):
        | waiting[source] -= 1 => pass
        ? probe == "diamonds" and min(seen[:2]) < 48.0 or probe == "edges" and seen[1] < 13.0
            A tensor ran before all of its gradient was there. Count before the second walk how
            many edges lead to each tensor, and let it wait for as many parts.
        ~ for source, part in zip(tensor.inputs, => inputs, tensor.inputs = tensor.inputs, ()\n            for source, part in zip(inputs,
        ? probe == "passes" and seen[1:] == [100.0, 100.0]
            The second pass did nothing. What is counted or marked for one pass must not be left
            for the next, and the graph has to stay as it is.
        ~ if gradient is None: => if not gradient:
        ! truth value, ambiguous
            An array was asked whether it is true, as by `if` or `not`: the gradient that was given,
            or a .grad. Ask `is None`, and nothing else.
        ~ gradient = tensor.complete(arrived.pop(tensor)) => gradient = arrived.pop(tensor)\n            if not tensor.inputs:\n                tensor.complete(gradient)
        ? probe == "completed" and len(seen) < len(right)
            complete isn't called for every tensor. The engine hands it each gradient that is
            complete, of the root, inner tensors and leaves: the next checkpoint plugs in there.
    """,
)

# --- 17.5


def watching(calls: list[Any]) -> Callable[[Any], None]:
    """Make a hook that notes the gradients it gets."""

    def hook(gradient: Any) -> None:
        if hasattr(gradient, "requires_grad"):
            raise Objection(f"A hook got a {type(gradient).__name__}. It gets the array alone.")
        calls.append(listed(gradient))

    return hook


def handle(found: Any) -> Any:
    """Object where registering gave no handle."""
    if not callable(getattr(found, "remove", None)):
        raise Objection(
            "Registering has to return a handle, something with a method remove. It returned "
            f"{type(found).__name__}."
        )
    return found


def at_work(made: Any, register: str) -> tuple[Any, Callable[[], None]]:
    """Make a tensor or a module that has such hooks, and what runs them."""
    if register == "register_hook":
        x = leaf(made, [3])
        return x, lambda: (x * 2).backward()
    module = bare(made)
    return module, lambda: module(t([3], True)).backward()


def registrations(made: Any, register: str) -> Any:
    """REGISTER: who is called, with one function registered first and another twice; when the first
    is removed; when it is removed again and a last one registered; and when one of the two is
    removed.

    A handle removes its own registration, and nothing else, however many come and go: give each a
    number that no other one ever gets. A second remove does nothing.
    """
    calls, found = list[str](), []
    hooked, run = at_work(made, register)

    def put(name: str) -> Any:
        return handle(getattr(hooked, register)(hooks[name]))

    hooks = {n: lambda *_, n=n: calls.append(n) for n in ("first", "twice", "last")}
    first, twice, _ = put("first"), put("twice"), put("twice")
    for action in (None, first.remove, lambda: (first.remove(), put("last")), twice.remove):
        if action:
            action()
        calls.clear()
        run()
        found.append(list(calls))
    return found


def while_called(made: Any, register: str) -> Any:
    """REGISTER: who is called in two passes, with a hook that removes itself and registers another
    one, and one after it.

    Hooks may come and go while hooks are being called: go through a copy of the table, list(...).
    What is registered then waits for the next pass.
    """
    calls, kept = list[str](), list[Any]()
    hooked, run = at_work(made, register)

    def once_only(*_: Any) -> None:
        calls.append("once")
        kept[0].remove()
        getattr(hooked, register)(lambda *_: calls.append("added"))

    kept.append(getattr(hooked, register)(once_only))
    getattr(hooked, register)(lambda *_: calls.append("always"))
    for _ in range(2):
        run()
    return calls


def on(register: str, probe: Callable[[Any, str], Any]) -> Probe:
    """Make a probe for one way to register hooks."""

    def found(made: Any) -> Any:
        return probe(made, register)

    found.__doc__ = (probe.__doc__ or "").replace("REGISTER", register)
    found.__name__ = probe.__name__
    return found


def new_tensors(made: Any) -> Any:
    """Of the new class: whether results are of it, and requires_grad of a tensor that doesn't ask
    for it and of one that does.

    Results have hooks as well, and __init__ hands requires_grad on.
    """
    x = leaf(made, [1.0, 2.0])
    return [isinstance(x * 3, made), bool(made([1.0, 2.0]).requires_grad), bool(x.requires_grad)]


def own_hooks(made: Any) -> Any:
    """What hooks get in L = y + 7 * y, with y = x * w: one on w, one on y, one on L.

    Each tensor has a table of hooks of its own, made in __init__. Each is called once in a pass,
    with the whole sum; a leaf's and the root's hooks are called like all others.
    """
    calls: list[list[Any]] = [[], [], []]
    x, w = leaf(made, 3.0), leaf(made, 5.0)
    y = x * w
    root = y + 7 * y
    for tensor, seen in zip((w, y, root), calls, strict=True):
        tensor.register_hook(watching(seen))
    root.backward()
    return calls


def on_leaf(made: Any) -> Any:
    """A hook on a leaf, in x * x at x = 3: what it gets, and what is in x.grad at that moment.

    On a leaf the hooks are called first, and then it collects in .grad.
    """
    seen: list[Any] = []
    x = leaf(made, 3.0)
    x.register_hook(lambda gradient: seen.append([listed(gradient), listed(x.grad)]))
    (x * x).backward()
    return seen


def replaced(made: Any) -> Any:
    """x.grad and w.grad of 2 * (x * w), where a hook on x * w gives ten times what it got, and one
    on w a hundred times.

    What a hook returns replaces the gradient, for .grad and for everything closer to the inputs:
    hand it to the complete of the class below, once, and return it.
    """
    x, w = leaf(made, 3.0), leaf(made, 5.0)
    y = x * w
    y.register_hook(lambda g: 10 * g)
    w.register_hook(lambda g: 100 * g)
    (2 * y).backward()
    return grads(x, w)


def to_zero(made: Any) -> Any:
    """x.grad and z.grad where hooks return zeros.

    A gradient of zero is an answer, too. Only None means: leave it as it is.
    """
    x, z = leaf(made, [3.0, 4.0]), leaf(made, 3.0)
    y = x * 2
    y.register_hook(lambda g: np.zeros_like(g))
    z.register_hook(lambda g: 0 * g)
    (y.sum() + z).backward()
    return grads(x, z)


def in_order(made: Any) -> Any:
    """Three hooks on one leaf, plus one, one that looks, times three: who is called with what, and
    x.grad in the end.

    All are called, in the order in which they were registered, and each gets what the one before it
    returned. None leaves it as it is.
    """
    x, calls = leaf(made, 3.0), list[Any]()
    hooks = {"first": lambda g: g + 1, "second": lambda g: None, "third": lambda g: 3 * g}
    for name, hook in hooks.items():

        def noting(gradient: Any, name: str = name, hook: Any = hook) -> Any:
            calls.append([name, listed(gradient)])
            return hook(gradient)

        x.register_hook(noting)
    (x * 5).backward()
    return [calls, listed(x.grad)]


HOOKS = Checkpoint(
    id="17.5",
    asks="Hookable, a class on top of yours with register_hook(hook)",
    probes=[
        *(new_tensors, own_hooks, on_leaf, replaced, to_zero, in_order),
        *(on("register_hook", each) for each in (registrations, while_called)),
    ],
    methods="register_hook register_hook(hook); complete complete(gradient)",
    base=('mine("17.4")', "backward"),
    programs="hooks",
    right="Called once, with the sum, before .grad: 150 random programs call the same hooks with "
    "the same gradients as minigrad.",
    hints=(
        "complete gets exactly what a hook should see. What has to happen before the complete of "
        "the class below, and what has to be handed to it?",
        "A dict in __init__, from a number to a hook; a handle that knows the dict and its number, "
        "and pops it; and in complete a loop over list(self.hooks.values()), in which an answer "
        "other than None becomes the gradient.",
    ),
    mistakes=r"""
        ~ replaced = hook(gradient) => replaced = hook(self, gradient)
        ! positional argument
            A hook gets one thing, the gradient: hook(gradient).
        ~ list(self.hooks.values()) => list(self.hooks.values()) if self.inputs else ()
        ~ list(self.hooks.values()) => () if self.inputs else list(self.hooks.values())
        ? probe == "own_hooks" and [] in seen and max(map(len, seen)) == 1
            A hook was never called. Call hooks in complete, for leaves as well as for all others.
        ~ return super() => super()
        ~ gradient if replaced is None else replaced => replaced
        ! 'NoneType'
            None went on instead of a gradient. Where a hook returns None, the gradient stays as it
            was. And complete has to return what goes on.
        ~ gradient if replaced is None else replaced => replaced if replaced else gradient
        ! truth value, ambiguous
            Zeros were taken for no answer, or were asked whether they are true. Ask `is None`, and
            nothing else.
        ~ next(Handle.keys) => hook
        ? probe == "registrations" and seen[0] == ["first", "twice"]
            Registered twice, a function is called twice. With the function itself as the key, the
            second registration replaces the first.
        ~ self.table.pop(self.key, None) => del self.table[self.key]
        ! KeyError, ValueError, IndexError
            A second remove has nothing to do, and shouldn't end in an error.
    """,
)

# --- 17.6


def t(data: Any, requires_grad: bool = False) -> Any:
    """Make a tensor of the class that the learner goes on with."""
    return mine("17.5")(np.array(data, float), requires_grad=requires_grad)


def bare(made: Any, forward: Callable[..., Any] = lambda x: x * 2, **kept: Any) -> Any:
    """Make a module of a class, with a function for its forward and with attributes."""
    module = type("Made", (made,), {"forward": lambda self, *args: forward(*args)})()
    for name, value in kept.items():
        setattr(module, name, value)
    return module


def example(made: Any) -> Any:
    """Make the network of the worked example on a class of modules: f0, and f1 with its f."""

    def linear(weight: float, bias: float) -> Any:
        w, b = t([[weight]], True), t([bias], True)
        return bare(made, lambda x: x @ w + b, weight=w, bias=b)

    f0, f = linear(0.3, 0.1), linear(0.4, 0.2)
    f1 = bare(made, lambda x: f(x) ** 2, f=f)
    return bare(made, lambda x: f1(f0(x)), f0=f0, f1=f1)


def pairs(module: Any) -> list[tuple[str, Any]]:
    """List the named parameters, and object to anything but a list of pairs."""
    given = module.named_parameters()
    found: list[Any] = [given] if given is None else [*given]
    fits = (isinstance(p, tuple | list) and len(p) == 2 and isinstance(p[0], str) for p in found)
    if not all(fits):
        raise Objection(
            "named_parameters has to give pairs, of a name and then its tensor: return a list of "
            "them, or use yield. It gave something else, such as a dict, turned pairs or None."
        )
    return found


def names(module: Any) -> list[str]:
    """List the names of the parameters."""
    return [name for name, _ in pairs(module)]


def as_tuple(args: Any) -> list[Any]:
    """Object where a hook got no tuple, and give the arrays in it."""
    if not isinstance(args, tuple):
        raise Objection(
            f"A hook got a bare {type(args).__name__}. It gets a tuple, even of one entry."
        )
    return [listed(each) for each in args]


def called(made: Any) -> Any:
    """The result of a module with forward(x, y) = x * y + 1, called with 2 and 3.

    module(...) comes to __call__, which hands all arguments to forward and returns its result.
    """
    return listed(bare(made, lambda x, y: x * y + 1)(t([2]), t([3])).data)


def own_tensors(made: Any) -> Any:
    """named_parameters of a module with tensors b and _a, a constant, self.last = self.b * 2, a number
    and a list: the names, and which of the tensors is b.

    Parameters are the attributes that are leaves and require a gradient, whatever their names, in
    the order in which they were assigned; vars(self) has them all. A result, such as self.last, has
    inputs, and a leaf has none.
    """
    kept = {"number": 3.0, "words": ["a list"], "constant": t([3])}
    module = bare(made, b=t([1], True), _a=t([2], True), **kept)
    module.last = module.b * 2
    found = pairs(module)
    return [[name for name, _ in found], [each is module.b for _, each in found]]


def tree(made: Any) -> Any:
    """named_parameters of a net with f0, f1 and a number scale; f0 has an f with an offset; f1 has a
    number gain and an f with weight, bias and shift.

    A module's own tensors come first, then those of its modules in the order of assignment, with
    the module's name and a dot in front, on each level.
    """
    net = example(made)
    net.scale, net.f1.gain = t(1, True), t(1, True)
    net.f0.f, net.f1.f.shift = bare(made, offset=t([3], True)), t([2], True)
    return names(net)


def shared(made: Any) -> Any:
    """named_parameters of a module to which a module second was assigned, and then first; and of one
    with a module under two names, and a tensor under a third.

    Modules come in the order in which they were assigned. Each tensor is listed once, under the
    name that comes first, also where a module or a tensor has several: an optimizer must not step
    it twice.
    """
    one, other = (bare(made, weight=t([1], True)) for _ in range(2))
    sharing = bare(made, first=one, second=one, tied=one.weight)
    return [names(bare(made, second=one, first=other)), names(sharing)]


def looked_again(made: Any) -> Any:
    """named_parameters, twice; the data, after another tensor was assigned; and the names in a module
    without any.

    It lists what is there now: look again in each call.
    """
    module = bare(made, weight=t([1], True))
    first = [names(module), names(module)]
    module.weight = t([2], True)
    return [first, [listed(each.data) for _, each in pairs(module)], names(bare(made))]


def on_others(made: Any) -> Any:
    """The number of calls of hooks on another module, and of a module's own where module.forward(x)
    is called by itself.

    Each module has tables of hooks of its own, made in __init__. And hooks belong to the call of
    the module: forward is the bare computation, and has no hooks.
    """
    one, other, calls = bare(made), bare(made), list[int]()
    one.register_forward_hook(lambda *_: calls.append(1))
    one.register_forward_pre_hook(lambda *_: calls.append(1))
    other(t([1]))
    found = len(calls)
    one.forward(t([3]))
    return [found, len(calls)]


def pre_looks(made: Any) -> Any:
    """A forward pre-hook that looks, on a module that doubles 3: the result, whether it got the
    module, and the arguments.

    A forward pre-hook gets the module and a tuple of the arguments. What it returns replaces
    them: a tuple, or one tensor alone. None leaves them.
    """
    module, calls = bare(made), list[Any]()
    module.register_forward_pre_hook(lambda m, args: calls.append([m is module, as_tuple(args)]))
    return [listed(module(t([3])).data), calls]


def pre_replaces(made: Any) -> Any:
    """Two forward pre-hooks, times ten and plus one, on a module that doubles 3; again, where the
    first gives one tensor alone; and x * 2 + y for 1 and 10, which a pre-hook swaps.

    What a pre-hook returns replaces all arguments: a tuple, or one tensor alone. The next pre-hook gets that: first registered, first called.
    """
    found = []
    for give in (lambda args: (args[0] * 10,), lambda args: args[0] * 10):
        module = bare(made)
        module.register_forward_pre_hook(lambda _, args, give=give: give(args))
        module.register_forward_pre_hook(lambda _, args: (args[0] + 1,))
        found.append(listed(module(t([3])).data))
    swapped = bare(made, lambda x, y: x * 2 + y)
    swapped.register_forward_pre_hook(lambda _, args: args[::-1])
    return [*found, listed(swapped(t([1]), t([10])).data)]


def post_looks(made: Any) -> Any:
    """A forward hook that looks, on a module that doubles 3, where a pre-hook gives ten times that:
    the result; whether it got the module, the arguments, the result.

    A forward hook gets the module, the tuple of arguments that forward got, and the result. What it
    returns replaces the result. None leaves it.
    """
    module, calls = bare(made), list[Any]()
    module.register_forward_pre_hook(lambda m, args: (args[0] * 10,))
    module.register_forward_hook(
        lambda m, args, y: calls.append([m is module, as_tuple(args), listed(y.data)])
    )
    return [listed(module(t([3])).data), calls]


def post_replaces(made: Any) -> Any:
    """Two forward hooks, one times ten and one plus one, on a module that doubles 3.

    What a forward hook returns replaces the result, and the next one gets that: first registered,
    first called.
    """
    module = bare(made)
    module.register_forward_hook(lambda _, args, result: result * 10)
    module.register_forward_hook(lambda _, args, result: result + 1)
    return listed(module(t([3])).data)


def inner_calls(made: Any) -> Any:
    """Who is called in net(x), with both kinds of hooks on all modules of the worked example.

    Modules inside are called as functions as well, and have their hooks: pre-hooks, forward, hooks,
    for each.
    """
    net, calls = example(made), list[str]()
    for name, module in {"net": net, "f0": net.f0, "f1": net.f1, "f": net.f1.f}.items():
        module.register_forward_pre_hook(lambda _, args, name=name: calls.append(f"into {name}"))
        module.register_forward_hook(lambda _, args, y, name=name: calls.append(f"out of {name}"))
    net(t([[0.3]]))
    return calls


def gradients(net: Any, needs: bool = True) -> list[Any]:
    """Run the worked example, and give the gradients of x and of the four parameters."""
    tensors = [t([[0.3]], needs), *(each for _, each in pairs(net))]
    for each in tensors:
        each.grad = None
    ((net(tensors[0]) - 1) ** 2).backward()
    return [listed(each.grad) for each in tensors]


def unhooked(made: Any) -> Any:
    """The gradients of the worked example without any hook: x, f0's two, f1.f's two.

    Where no hook is registered, what a module computes is a graph like any other.
    """
    return gradients(example(made))


MODULE = Checkpoint(
    id="17.6",
    asks="Module, with __call__, named_parameters and two kinds of forward hooks",
    probes=[
        *(called, own_tensors, tree, shared, looked_again, on_others, pre_looks, pre_replaces),
        *(post_looks, post_replaces, inner_calls, unhooked),
        *(on("register_forward_pre_hook", each) for each in (registrations, while_called)),
        *(on("register_forward_hook", each) for each in (registrations, while_called)),
    ],
    methods="__call__ module(x); named_parameters named_parameters(); register_forward_pre_hook "
    "register_forward_pre_hook(hook); register_forward_hook register_forward_hook(hook)",
    right="A module is a function that knows its parameters and calls hooks.",
    hints=(
        "vars(self) is the dict of all attributes, in the order in which they were assigned. For "
        "the order that is asked for, go through it twice: once for tensors, once for modules, "
        "each of which can list its own. And __call__ has three parts.",
        "To list each tensor once: a dict from tensor to name, filled with setdefault, and turned "
        "around in the end. __call__: a loop in which a pre-hook may replace args (a tensor alone "
        "becomes a tuple), self.forward(*args), and a loop in which a hook may replace the result.",
    ),
    mistakes=r"""
        ~ getattr(value, "requires_grad", False) => hasattr(value, "data")
        ? probe == "own_tensors" and "constant" in seen[0]
            The constant was taken for a parameter, too: look at requires_grad.
        ~ for name, value in vars(self).items():\n            if getattr => for name, value in ():\n            if getattr
        ? probe == "own_tensors" and seen == [[], []]
            Nothing was found. Look when named_parameters is called: in Module's own __init__
            nothing has been assigned yet. If you ask whether an attribute is a Tensor: run the
            cell of this answer again, because Tensor may be the class from before.
        ~ getattr(value, "requires_grad", False) => value.requires_grad
        ! no attribute 'requires_grad', no attribute 'inputs'
            Not every attribute is a tensor: ask before you look at requires_grad.
        ~ isinstance(value, Module) => False
            Only the module's own tensors are there. Its modules have parameters too, and so do
            theirs.
        ~ names.setdefault(parameter, => inner in [n.split(".")[-1] for n in names.values()] or names.setdefault(parameter,
        ? probe == "tree" and "f1.f.shift" in seen and "f1.f.weight" not in seen
            f1.f.weight is missing, where f0.weight has been listed. They are two tensors: list
            each tensor once, not each name.
        ~ value.named_parameters() => [(n, p) for n, p in vars(value).items() if getattr(p, "requires_grad", False)]
        ? probe == "tree" and len(seen) == 4 and "f1.gain" in seen
            It ends one level down. A module's modules have modules, too: let each list its own.
        ~ hook in list(self.forward_pre_hooks.values()) => hook in ()
        ~ hook in list(self.forward_hooks.values()) => hook in ()
        ? probe in ("pre_looks", "post_looks") and seen[1] == []
            It was never called.
        ~ result if replaced is None else replaced => replaced
        ? probe == "post_looks" and "NoneType" in raised
            The hook's None became the module's result. None means: leave it as it is.
    """,
)

# --- 17.7

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


def hooked(module: Any, register: str = FULL, factor: float | None = None) -> list[Any]:
    """Put a hook on a module that notes each call, and may return a multiple of grad_input."""
    calls: list[Any] = []

    def hook(which: Any, grad_input: Any, grad_output: Any) -> Any:
        calls.append([which is module, as_tuple(grad_input), as_tuple(grad_output)])
        return None if factor is None else tuple(g if g is None else factor * g for g in grad_input)

    getattr(module, register)(hook)
    return calls


def pair(made: Any, register: str) -> Any:
    """REGISTER on f1 of the worked example: whether it got f1, grad_input and grad_output, for each
    call.

    A full hook gets what leaves the module at its argument, and what arrives at its result, once,
    when both are there. A legacy hook gets what the last operation makes of the gradient that
    arrives, and this gradient. Each module has tables of hooks of its own.
    """
    net = example(made)
    calls = hooked(net.f1, register)
    gradients(net)
    return calls


def doubled(made: Any, register: str) -> Any:
    """REGISTER on f1, with a hook that doubles grad_input: the gradients of x, f0's two, f1.f's
    two.

    What a full hook returns replaces what leaves the module: everything from there toward the
    inputs is doubled, and the module's own parameters aren't. A legacy hook sits on the last
    operation, and everything below it is doubled, f1's own parameters too.
    """
    net = example(made)
    hooked(net.f1, register, 2.0)
    return gradients(net)


def several(made: Any, register: str) -> Any:
    """REGISTER, two hooks on f1, the first gives ten times what it got: what each of them gets.

    First registered, first called, and each hook gets the grad_input that the one before it returned. A module may have several.
    """
    net = example(made)
    first, second = hooked(net.f1, register, 10.0), hooked(net.f1, register)
    gradients(net)
    return [first, second]


def late(made: Any, register: str) -> Any:
    """REGISTER: who is called, with one hook registered before the module was called, and one after
    that.

    Only hooks that are there when the module is called count: copy them then, into a list.
    """
    net, calls = example(made), list[str]()
    getattr(net.f1, register)(lambda *_: calls.append("before"))
    loss = (net(t([[0.3]], True)) - 1) ** 2
    getattr(net.f1, register)(lambda *_: calls.append("after"))
    loss.backward()
    return calls


def two_passes(made: Any, register: str) -> Any:
    """REGISTER: the number of calls in two passes, each with its forward; and what a hook on x * 2
    gets in two passes through one graph, with 1 and 10 given.

    A hook is called in each pass with what has arrived in this pass. What was kept from the first
    must not be found by the second.
    """
    net, module = example(made), bare(made)
    calls = hooked(net.f1, register)
    for _ in range(2):
        gradients(net)
    of_one_graph, result = hooked(module, register), module(t([3], True))
    for each in (1.0, 10.0):
        result.backward(np.array([each]))
    return [len(calls), [[grad_input[0], out] for _, grad_input, out in of_one_graph]]


def own_nodes(made: Any) -> Any:
    """A full hook on x * 2 + 1, and one that gives ten times grad_input, on a module that returns
    its argument, where the loss uses the argument and what forward gave, too: the pairs, and
    x.grad.

    A hook on the argument itself sees all its uses, also those that go past the module; so does one
    on what forward gave, and that may be the argument. Send the argument through a node that
    belongs to this call, and the result, too.
    """
    found = []
    for forward, factor in ((lambda x: x * 2 + 1, None), (lambda x: x, 10.0)):
        last: list[Any] = []

        def keeping(x: Any, forward: Any = forward, last: list[Any] = last) -> Any:
            last.append(forward(x))
            return last[0]

        module, x = bare(made, keeping), t([3], True)
        calls, product = hooked(module, FULL, factor), x * 2
        (module(product) * 3 + 5 * product + 7 * last[0]).backward()
        found.append([calls, listed(x.grad)])
    return found


def calls_itself(made: Any) -> Any:
    """Full hooks on a module that is called twice, f0(f0(x)), and on one that calls itself once, with
    10 times itself of 2 * x, and inside 3 * x: the pairs.

    Each call has its own pair. Keep what arrives in a variable of the call, and not on the module or
    in one place for all: one call may be inside the other.
    """

    def forward(x: Any) -> Any:
        started.append(x)
        return module(x * 2) * 10 if len(started) == 1 else x * 3

    net, module, started = example(made), bare(made, forward), list[Any]()
    twice, inside = hooked(net.f0), hooked(module)
    net.f0(net.f0(t([[0.3]], True))).sum().backward()
    module(t([3], True)).backward()
    return [twice, inside]


def on_data(made: Any) -> Any:
    """Full hooks where the data need no gradient: the calls of one on f0, with another one that gives
    ten more than grad_output, those of one on a module without parameters, and the gradients.

    Nothing will ever arrive at the argument: call the hook of f0 when the gradient at the result is
    there, with None for grad_input, and don't use what it returns. Where the result requires no
    gradient either, there is nothing to do.
    """
    net, before = example(made), bare(made)
    calls = hooked(net.f0)
    net.f0.register_full_backward_hook(lambda module, i, o: (10.0 + o[0],))
    nothing = hooked(before)
    before(t([[0.15]]))
    return [calls, nothing, gradients(net, needs=False)]


def last_of_sum(made: Any) -> Any:
    """A legacy hook that doubles, on x * 2 + x * 3 and on a module that returns its argument, a leaf,
    with 10 arriving: the pairs, and x.grad.

    The last operation is the sum. It has two inputs, so grad_input has two entries, and what the
    hook returns replaces both. Where a module returns its argument, a leaf, no
    operation has made the result, so there is nothing to hook.
    """
    found = []
    for forward in (lambda x: x * 2 + x * 3, lambda x: x):
        module, x = bare(made, forward), t([3], True)
        calls = hooked(module, LEGACY, 2.0)
        module(x).backward(np.array([10.0]))
        found.append([calls, listed(x.grad)])
    return found


def all_kinds(made: Any) -> Any:
    """The order of a forward pre-hook, a forward hook and a full hook on f1.

    Forward hooks go on working: build on super().__call__, which calls them.
    """
    net, calls = example(made), list[str]()
    net.f1.register_forward_pre_hook(lambda *_: calls.append("before"))
    net.f1.register_forward_hook(lambda *_: calls.append("after"))
    net.f1.register_full_backward_hook(lambda *_: calls.append("backward"))
    gradients(net)
    return calls


OF_BOTH = (several, late, two_passes, registrations, while_called)

MODULE_HOOKS = Checkpoint(
    id="17.7",
    asks="HookedModule, a class on top of yours with full and legacy backward hooks",
    probes=[
        *(unhooked, on(FULL, pair), on(FULL, doubled), own_nodes, calls_itself),
        *(on(FULL, each) for each in OF_BOTH),
        *(on_data, on(LEGACY, pair), on(LEGACY, doubled), last_of_sum),
        *(on(LEGACY, each) for each in OF_BOTH),
        all_kinds,
    ],
    methods=f"{FULL} {FULL}(hook); {LEGACY} {LEGACY}(hook)",
    base=('mine("17.6")', "register_forward_hook"),
    right="The worked example of this course, from your own code: -0.40796 where the full hook "
    "sits, and -1.0199 where the legacy hook sits.",
    hints=(
        "An identity is x.result(x.data, (x,), lambda g: (g,)). Send the argument through one "
        "before super().__call__, and the result through another after it; each has a "
        "register_hook. For the legacy kind: what is result.rule, and what if another function "
        "stood there that calls it?",
        "The hook at the result comes first: it keeps its gradient in a list of this call. The one "
        "at the argument then has both, calls the module's hooks, and returns the entry of the "
        "tuple. If the argument requires no gradient, the hook at the result calls them with None. "
        "The legacy rule calls the old rule, then the hooks with tuple(parts) and (g,).",
    ),
    mistakes=r"""
        ~ super().__init__()\n =>
        ! object has no attribute 'forward
            Does __init__ begin with super().__init__()? The class below makes its tables there.
        ~ self.between_gates(x) if self.full_hooks else super().__call__(x) => super().__call__(x)
        ~ if self.legacy_hooks and result.inputs: => if False:
        ? probe == "pair" and seen == []
            It was never called.
        ~ Handle(self.full_hooks, hook) => Handle(self.legacy_hooks, hook)
            That's what a legacy hook sees: the gradient inside, before the last operation. What
            leaves the module is known only at its argument.
        ~ hook(module, grad_input, grad_output) => hook(module, grad_output, grad_input)
        ? probe == "pair" and seen == [[True, *right[0][:0:-1]]]
            grad_input and grad_output are swapped: what arrives at the result is
            grad_output.
        ~ run_hooks(hooks, self, (gradient,), tuple(arrived)) => run_hooks(hooks, self, tuple(arrived), tuple(arrived))
        ~ run_hooks(hooks, self, tuple(rule(g)), (g,)) => run_hooks(hooks, self, (g,), (g,))
        ? probe == "pair" and len(seen) == 1 and seen[0][1] == seen[0][2]
            Both are what arrives at the result. grad_input is what the module, or for a legacy
            hook its last operation, makes of it.
        ~ (gradient,), tuple(arrived))[0] => (gradient,), tuple(arrived))
        ! 'tuple', sequence, inhomogeneous
            A module's hook returns a tuple, and a tensor's hook an array: take it out of the
            tuple.
        ~ grad_input = grad_input if replaced is None else replaced => grad_input = replaced
        ~ arrived[:] = [gradient] => pass
        | tuple(arrived) => (arrived[0],)
        ? probe in ("pair", "doubled") and "NoneType" in raised
        ! KeyError, UnboundLocal, IndexError
            A hook that returns None leaves grad_input as it is: ask `is None`. Or one of the two
            gradients hadn't arrived: keep the one at the result until the other comes.
        ~ hook(module, grad_input, grad_output) => hook(grad_input, grad_output)
        ! positional argument
            A hook is called with three things: hook(module, grad_input, grad_output).
        ~ lambda g: (g,)) => lambda g: g)
        ? probe == "pair" and raised.split(":")[0] in ("TypeError", "ValueError", "AxisError")
            The rule of an identity gives a tuple, too, with one gradient, (g,). And a gradient has
            the shape of its tensor.
        ~ gate = identity(x) => gate = type(x)(x.data, requires_grad=x.requires_grad)
        ? probe == "doubled" and None in seen[:3]
            Nothing arrived before f1: its argument cuts the graph. The identity has to be a
            result, x.result(...), that keeps the argument as its input.
    """,
)
