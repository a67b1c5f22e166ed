"""Typical wrong answers and differently written right ones, for the checkpoints of lesson 17."""

import operator
from functools import partial
from importlib import import_module
from typing import ClassVar

import numpy as np

from minigrad.classroom import tables
from minigrad.classroom.desk import checks

kinds = import_module(f"{checks('17').__name__}.kinds")
solved = kinds.reference()
Recorded, Broadcasting = solved["Recorded"], solved["Broadcasting"]
Differentiable, Hookable = solved["Differentiable"], solved["Hookable"]
Module, HookedModule = solved["Module"], solved["HookedModule"]
Handle, identity, run_hooks = solved["Handle"], solved["identity"], solved["run_hooks"]


# --- 17.1


class Closures:
    """As micrograd has it: what a pass leaves in .grad inside, stays."""

    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources, self.send = data, 0.0, sources, lambda: None

    def made(self, other, forward, slopes):
        other = other if isinstance(other, Closures) else type(self)(other)
        out = type(self)(forward(self.data, other.data), (self, other))

        def send():
            for source, slope in zip((self, other), slopes(self.data, other.data), strict=True):
                source.grad += slope * out.grad

        out.send = send
        return out

    def __add__(self, other):
        return self.made(other, operator.add, lambda a, b: (1.0, 1.0))

    def __mul__(self, other):
        return self.made(other, operator.mul, lambda a, b: (b, a))

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for source in value.sources:
                    visit(source)
                order.append(value)

        visit(self)
        self.begin(order)
        self.grad = 1.0
        for value in reversed(order):
            value.send()

    def begin(self, order): ...


class ClosuresAnew(Closures):
    def begin(self, order):
        for value in order:
            value.grad = 0.0 if value.sources else value.grad


# --- 17.2


def binary(forward, rule):
    def method(self, other):
        other = self.wrap(other)
        a, b = self.data, other.data
        return self.result(forward(a, b), (self, other), partial(rule, a, b))

    return method


class ByFactory(Recorded):
    __add__ = __radd__ = binary(np.add, lambda a, b, g: [g, g])
    __mul__ = __rmul__ = binary(np.multiply, lambda a, b, g: (b * g, a * g))
    __sub__ = binary(np.subtract, lambda a, b, g: (g, np.negative(g)))
    __matmul__ = binary(np.dot, lambda a, b, g: (np.dot(g, b.T), np.dot(a.T, g)))


# --- 17.3


def loop(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def pairs_of_sizes(gradient, shape):
    filled = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(k for k, (a, b) in enumerate(zip(gradient.shape, filled, strict=True)) if a != b)
    return np.add.reduce(gradient, axis=axes, keepdims=True).reshape(shape)


def by_einsum(gradient, shape):
    letters = "abcdef"[: gradient.ndim]
    below = letters[gradient.ndim - len(shape) :]
    kept = "".join(x for x, size in zip(below, shape, strict=True) if size != 1)
    return np.einsum(f"{letters}->{kept}", gradient).reshape(shape)


def no_return(gradient, shape):
    gradient = loop(gradient, shape)


def in_place(gradient, shape):
    result = loop(gradient, shape).copy()
    gradient *= 0
    return result


def only_where_needed(gradient, shape):
    for axis, size in enumerate(shape):
        if gradient.shape[axis] != size:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


# --- 17.4


class Sorted(Broadcasting):
    """Visits by a stack, keeps parts in lists, and looks for the highest number each time."""

    def complete(self, gradient):
        if not self.inputs:
            self.grad = (np.zeros_like(self.data) if self.grad is None else self.grad) + gradient
        return gradient

    def backward(self, gradient=None):
        if not self.requires_grad or (gradient is None and self.data.size > 1):
            raise RuntimeError("no graph, or several entries")
        users, stack = {self: 0}, [self]
        while stack:
            for source in stack.pop().inputs:
                if source not in users:
                    users[source] = 0
                    stack.append(source)
                users[source] += 1
        parts = {self: [np.ones(self.data.shape) if gradient is None else gradient]}
        ready = [self]
        while ready:
            node = max(ready, key=lambda t: (not t.inputs, t.number))
            ready.remove(node)
            total = node.complete(sum(parts.pop(node)))
            for source, part in zip(
                node.inputs, node.rule(total) if node.inputs else (), strict=True
            ):
                if source.requires_grad:
                    parts.setdefault(source, []).append(part)
                    users[source] -= 1
                    ready += [source] * (users[source] == 0)


class InPlaceOnOwn(Differentiable):
    def complete(self, gradient):
        if not self.inputs:
            self.grad = np.zeros_like(self.data) if self.grad is None else self.grad
            self.grad += gradient
        return gradient


class SendsAtOnce(Broadcasting):
    complete = Differentiable.complete

    def backward(self, gradient=None):
        if not self.requires_grad or (gradient is None and self.data.size != 1):
            raise RuntimeError("several entries, or no graph")
        gradient = self.complete(np.ones_like(self.data) if gradient is None else gradient)
        for source, part in (
            zip(self.inputs, self.rule(gradient), strict=True) if self.inputs else ()
        ):
            if source.requires_grad:
                source.backward(part)


class AsksGrad(Differentiable):
    def complete(self, gradient):
        if self.inputs or not self.grad:
            return super().complete(gradient)
        self.grad = self.grad + gradient
        return gradient


# --- 17.5


class WithList(Differentiable):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.registered = []

    def register_hook(self, hook):
        entry, registered = [hook], self.registered
        registered.append(entry)
        handle = type("Taken", (), {})()
        handle.remove = lambda: registered.__setitem__(
            slice(None), [each for each in registered if each is not entry]
        )
        return handle

    def complete(self, gradient):
        for (hook,) in tuple(self.registered):
            out = hook(gradient)
            if out is not None:
                gradient = out
        return super().complete(gradient)


# --- 17.6


class AsGenerator(Module):
    def named_parameters(self, seen=None):
        seen = set() if seen is None else seen
        for name, each in self.__dict__.items():
            if (
                hasattr(each, "rule")
                and each.requires_grad
                and not each.inputs
                and each not in seen
            ):
                seen.add(each)
                yield name, each
        for name, each in self.__dict__.items():
            if isinstance(each, AsGenerator):
                for inner, parameter in each.named_parameters(seen):
                    yield name + "." + inner, parameter


class Remembers(Module):
    def named_parameters(self):
        known = vars(self).setdefault("known", set())
        for name, each in super().named_parameters():
            if each not in known:
                known.add(each)
                yield name, each


# --- 17.7


class GateRules(Module):
    """Full hooks by rules of gates alone, without tensor hooks."""

    def __init__(self):
        super().__init__()
        self.full, self.old = {}, {}

    def register_full_backward_hook(self, hook):
        return Handle(self.full, hook)

    def register_backward_hook(self, hook):
        return Handle(self.old, hook)

    def __call__(self, x):
        full, kept = [*self.full.values()], []

        def into(g):
            kept[:] = [g]
            if not x.requires_grad:
                run_hooks(full, self, (None,), (g,))
            return (g,)

        if full:
            y = super().__call__(
                x.result(x.data, (x,), lambda g: run_hooks(full, self, (g,), (*kept,)))
            )
            y = y.result(y.data, (y,), into)
        else:
            y = super().__call__(x)
        for hook in self.old.values() if y.inputs else ():
            y.rule = partial(self.old_rule, hook, y.rule)
        return y

    def old_rule(self, hook, rule, g):
        parts = tuple(rule(g))
        given = hook(self, parts, (g,))
        return parts if given is None else given


class LateInALoop(HookedModule):
    def __call__(self, x):
        hooks, self.legacy_hooks = self.legacy_hooks, {}
        y = super().__call__(x)
        self.legacy_hooks = hooks
        for hook in list(hooks.values()) if y.inputs else ():
            before = y.rule
            y.rule = lambda g, before=before: run_hooks([hook], self, before(g), (g,))  # noqa: B023
        return y


class AnswersAtTheResult(HookedModule):
    def __call__(self, x):
        if x.requires_grad or not self.full_hooks:
            return super().__call__(x)
        result, hooks = identity(Module.__call__(self, x)), list(self.full_hooks.values())
        if result.requires_grad:
            result.register_hook(lambda g: run_hooks(hooks, self, (None,), (g,))[0])
        return result


class NotRegistered(Module):
    def register_full_backward_hook(self, hook):
        self.full = hook

    register_backward_hook = register_full_backward_hook


class TablesOfTheClass(HookedModule):
    full: ClassVar = {}

    def __init__(self):
        super().__init__()
        self.full_hooks = TablesOfTheClass.full


# --- all of them

EDITED = r"""
17.1 right ~ reversed(order) => order[::-1] | {self: 1.0} => dict([(self, 1.0)])
17.1 right ~ value.grad += => value.grad = value.grad + | isinstance(other, Value) => \
hasattr(other, "data")
17.1 the same object ~ __radd__, => __eq__ = lambda a, b: a.data == b.data\n    __hash__ = \
lambda a: hash(a.data)\n    __radd__,
17.1 Others may still need x as it was ~ return Value(self.data + other.data, [(self, 1.0), \
(other, 1.0)]) => self.data += other.data\n        return self
17.2 right ~ g * (self.data > 0) => np.where(self.data > 0, g, 0.0) | x**n => np.power(x, n)
17.2 right ~ self * -1 => 0 - self | -self + other => self.wrap(other) + self * -1
17.2 wrote into the data ~ np.maximum(self.data, 0) => np.maximum(self.data, 0, out=self.data)
17.2 wrote into the gradient ~ (g * b, g * a) => (np.multiply(g, b, out=g), g)
17.2 gives no tuple ~ (g * (1 - y**2),) => g * (1 - y**2)
17.2 for each result by itself ~ return self.result(a * b => Recorded.ab = a, b\n        return \
self.result(a * b | (g * b, g * a) => (g * self.ab[1], g * self.ab[0])
17.2 themselves and not copies ~ (self, self.wrap(other)) => (type(self)(a, self.requires_grad), \
self.wrap(other))
17.2 Make whatever isn't a tensor ~ isinstance(other, Recorded) => not isinstance(other, int)
17.4 right ~ gradient.copy() => np.array(gradient) | (0, 0, self) => (False, -self.number, self)
17.4 It has to be an array ~ return gradient => self.grad = self.grad if self.inputs else \
Broadcasting(self.grad)\n        return gradient
17.4 Don't empty .grad yourself ~ arrived, ready => for each in (self, *waiting):\n            \
each.grad = None\n        arrived, ready
17.5 right ~ return Handle(self.hooks, hook) => handle = Handle(self.hooks, hook)\n        return \
handle | gradient if replaced is None else replaced => [replaced, gradient][replaced is None]
17.5 right ~ list(self.hooks.values()) => tuple(self.hooks.values())
17.5 It gets the array alone ~ Handle(self.hooks, hook) => Handle(self.hooks, lambda g: \
hook(type(self)(g)))
17.5 has to return a handle ~ return Handle => Handle
17.5 hands requires_grad on ~ (data, requires_grad) => (data)
17.5 All are called ~ gradient = gradient if replaced is None else replaced => if replaced is not \
None:\n                return super().complete(replaced)
17.5 go through a copy ~ list(self.hooks.values()) => self.hooks.values()
17.5 On a leaf the hooks are called first ~ return super().complete(gradient) => return gradient \
| for hook in => gradient = super().complete(gradient)\n        for hook in
17.6 right ~ return [(name, parameter) for => yield from [(name, parameter) for
17.6 right ~ vars(self).items() => self.__dict__.items() | list(self.forward_hooks.values()) => \
[*self.forward_hooks.values()]
17.6 all arguments ~ def __call__(self, *args): => def __call__(self, x):\n        args = (x,)
17.6 has to give pairs ~ [(name, parameter) for parameter, name in names.items()] => names
17.6 has to return a handle ~ return Handle(self.forward_hooks => Handle(self.forward_hooks
17.6 It gets a tuple ~ hook(self, args) => hook(self, *args)
17.7 not be found by the second ~ arrived[:] = [gradient] => arrived.append(gradient) \
| tuple(arrived) => (arrived[0],)
17.7 right ~ tuple(rule(g)) => (*rule(g),) | tuple(arrived) => (arrived[-1],)
17.7 right ~ arrived[:] = [gradient] => arrived.clear()\n            arrived.append(gradient)
"""
"""Solutions with other words in them: what is said to it, or right, and the edits."""

ANSWERS = {
    "17.1": {
        "wrong": [
            ("mixed up", Closures),
            ("nothing yet for x * y", type("Value", (), {"__add__": max, "__radd__": max})),
            ("without brackets", Closures(3.0)),
        ],
        "right": [ClosuresAnew],
    },
    "17.2": {"wrong": [], "right": [ByFactory]},
    "17.3": {
        "wrong": [
            ("None", no_return),
            ("It changed what it was given", in_place),
            ("Too much is left", only_where_needed),
            ("It raised ValueError", lambda gradient, shape: np.broadcast_to(gradient, shape)),
            ("those after it move up", lambda g, shape: loop(g.sum(axis=0).sum(axis=1), shape)),
        ],
        "right": [loop, pairs_of_sizes, by_einsum],
    },
    "17.4": {
        "wrong": [
            ("once for each tensor", SendsAtOnce),
            ("or a .grad", AsksGrad),
            ("class Differentiable(Broadcasting)", type("D", (), {"backward": print})),
        ],
        "right": [Sorted, InPlaceOnOwn],
    },
    "17.5": {"wrong": [], "right": [WithList]},
    "17.6": {"wrong": [("look again in each call", Remembers)], "right": [AsGenerator]},
    "17.7": {
        "wrong": [
            ("A module may have several", LateInALoop),
            ("don't use what it returns", AnswersAtTheResult),
            ("tables of hooks of its own", TablesOfTheClass),
            ("It was never called", NotRegistered),
        ],
        "right": [GateRules],
    },
}
for line in EDITED.replace("\\\n", "").strip().split("\n"):
    words, _, edits = line[5:].partition(" ~ ")
    program = tables.solution(line[:4])
    pairs = (each.replace("\\n", "\n").split(" => ") for each in edits.split(" | "))
    answer = program.edited(dict(pairs)).answer(solved)
    known = ANSWERS[line[:4]]
    known["right"].append(answer) if words == "right" else known["wrong"].append((words, answer))
