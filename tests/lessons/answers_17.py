"""Typical wrong answers and differently written right ones, for the checkpoints of lesson 17."""

import itertools
import weakref
from collections import defaultdict
from functools import partial
from importlib import import_module
from typing import ClassVar

import numpy as np

from minigrad.classroom.desk import checks

kinds = import_module(f"{checks('17').__name__}.kinds")
reference = import_module(f"{checks('17').__name__}.reference")
Recorded, Broadcasting = reference.Recorded, reference.Broadcasting
Differentiable, Hookable = reference.Differentiable, reference.Hookable
Module, HookedModule = reference.Module, reference.HookedModule
Handle, identity, run_hooks = reference.Handle, reference.identity, reference.run_hooks

# --- 17.1: Value


def value(
    add=lambda a, b: (1.0, 1.0),
    mul=lambda a, b: (b, a),
    wraps=True,
    right_side=True,
    walk="post",
    send="add",
    seed=1.0,
    resets=False,
    gives="value",
):
    """Make a class Value, right or wrong in some way."""

    class Value:
        def __init__(self, data, edges=()):
            self.data, self.edges, self.grad = data, edges, 0.0

        def __add__(self, other):
            return self._made(other, lambda a, b: a + b, add)

        def __mul__(self, other):
            return self._made(other, lambda a, b: a * b, mul)

        def _made(self, other, forward, slopes):
            if wraps and not isinstance(other, Value):
                other = Value(other)
            a, b = slopes(self.data, other.data)
            data = forward(self.data, other.data)
            return data if gives == "number" else Value(data, [(self, a), (other, b)])

        if right_side:
            __radd__, __rmul__ = __add__, __mul__

        def backward(self):
            if walk == "paths":
                return self._by_paths(1.0)
            order = self._order()
            if resets:
                for each in order:
                    each.grad = 0.0
            arrived = defaultdict(float, {self: seed})
            for each in order:
                for source, slope in each.edges:
                    if send == "add":
                        arrived[source] += slope * arrived[each]
                    elif send == "assign":
                        arrived[source] = slope * arrived[each]
                    elif send == "slopes":
                        arrived[source] += slope
                    elif send == "sum":
                        arrived[source] += slope + arrived[each]
            for each, gradient in arrived.items():
                each.grad += gradient

        def _by_paths(self, gradient):
            self.grad += gradient
            for source, slope in self.edges:
                source._by_paths(slope * gradient)

        def _order(self):
            if walk == "breadth":
                order = [self]
                for each in order:
                    order += [s for s, _ in each.edges if s not in order]
                return order
            if walk == "all the time":
                order = [self]
                for each in order:
                    order += [s for s, _ in each.edges]
                    if len(order) > 60:
                        break
                return order
            if walk == "pre":
                order = []

                def pre(each):
                    if each not in order:
                        order.append(each)
                        for source, _ in each.edges:
                            pre(source)

                pre(self)
                return order
            if walk == "one step":
                return [self]
            order, seen = [], set()

            def visit(each):
                if each not in seen:
                    seen.add(each)
                    for source, _ in each.edges:
                        visit(source)
                    order.append(each)

            visit(self)
            return order if walk == "forward" else order[::-1]

    return Value


class _Micrograd:
    """The way of closures, as micrograd has it: what a pass leaves in .grad inside, stays."""

    def __init__(self, data, children=()):
        self.data, self.grad = data, 0
        self._backward, self._prev = lambda: None, set(children)

    def __add__(self, other):
        other = other if isinstance(other, _Micrograd) else type(self)(other)
        out = type(self)(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, _Micrograd) else type(self)(other)
        out = type(self)(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo, visited = [], set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)

        build(self)
        self._begins(topo)
        self.grad = 1
        for v in reversed(topo):
            v._backward()

    def _begins(self, topo): ...

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other


class _MicrogradAnew(_Micrograd):
    """The same, with nothing left inside from the pass before."""

    def _begins(self, topo):
        for v in topo:
            v.grad = 0 if v._prev else v.grad


class _Tape:
    """One list of all operations, which a pass reads from its end."""

    lines: ClassVar = []
    clears = False

    def __init__(self, data):
        self.data, self.grad = data, 0.0

    def _made(self, other, forward, slopes):
        other = other if isinstance(other, _Tape) else type(self)(other)
        made = type(self)(forward(self.data, other.data))
        self.lines.append((made, self, other, slopes(self.data, other.data)))
        return made

    def __add__(self, other):
        return self._made(other, lambda a, b: a + b, lambda a, b: (1.0, 1.0))

    def __mul__(self, other):
        return self._made(other, lambda a, b: a * b, lambda a, b: (b, a))

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        arrived = defaultdict(float, {self: 1.0})
        for made, a, b, slopes in reversed(self.lines):
            for source, slope in zip((a, b), slopes, strict=True) if made in arrived else ():
                arrived[source] += slope * arrived[made]
        for each, gradient in arrived.items():
            each.grad += gradient
        if self.clears:
            self.lines.clear()


class _TapeThrownAway(_Tape):
    lines: ClassVar = []
    clears = True


class _LosesX(value()):
    def __radd__(self, other):
        return value()(self.data + other)


class _AddsInPlace(value()):
    def __add__(self, other):
        self.data = self.data + getattr(other, "data", other)
        return self


class _MicrogradAssigns(_Micrograd):
    def __mul__(self, other):
        other = other if isinstance(other, _Micrograd) else _MicrogradAssigns(other)
        out = _MicrogradAssigns(self.data * other.data, (self, other))

        def _backward():
            self.grad = other.data * out.grad
            other.grad = self.data * out.grad

        out._backward = _backward
        return out

    def __add__(self, other):
        other = other if isinstance(other, _Micrograd) else _MicrogradAssigns(other)
        out = _MicrogradAssigns(self.data + other.data, (self, other))

        def _backward():
            self.grad = out.grad
            other.grad = out.grad

        out._backward = _backward
        return out

    __radd__, __rmul__ = __add__, __mul__


class _Counting:
    """Counts first, and keeps what travels in a dict; .grad is None at first."""

    serial = itertools.count()
    skips_zero = False

    def __init__(self, data, *parents):
        self.data, self.parents, self.grad = float(data), parents, None
        self.number = next(_Counting.serial)

    def _of(self, x):
        return x if isinstance(x, _Counting) else type(self)(x)

    def __add__(self, other):
        return type(self)(
            self.data + self._of(other).data, (self, lambda g: g), (self._of(other), lambda g: g)
        )

    def __radd__(self, other):
        return self._of(other) + self

    def __mul__(self, other):
        other = self._of(other)
        return type(self)(
            self.data * other.data,
            (self, lambda g: g * other.data),
            (other, lambda g: g * self.data),
        )

    def __rmul__(self, other):
        return self._of(other) * self

    def backward(self):
        pending, todo = defaultdict(int), [self]
        seen = {self}
        while todo:
            for source, _ in todo.pop().parents:
                pending[source] += 1
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        gradients, ready = defaultdict(float, {self: 1.0}), [self]
        while ready:
            each = ready.pop()
            if not each.parents:
                each.grad = (each.grad or 0.0) + gradients[each]
            for source, send in each.parents:
                part = send(gradients[each])
                if self.skips_zero and not part:
                    continue
                gradients[source] += part
                pending[source] -= 1
                if pending[source] == 0:
                    ready.append(source)


class _NotReversed(_Counting):
    """Adds to .grad when a value has its turn, and inputs have theirs first."""

    def backward(self):
        order = []

        def visit(each):
            if each not in order:
                for source, _ in each.parents:
                    visit(source)
                order.append(each)

        visit(self)
        arrived = dict.fromkeys(order, 0.0) | {self: 1.0}
        for each in order:
            each.grad = (each.grad or 0.0) + arrived[each]
            for source, send in each.parents:
                arrived[source] += send(arrived[each])


class _SkipsZero(_Counting):
    skips_zero = True


class _ByNumber(_Counting):
    def backward(self):
        below, todo = {self}, [self]
        while todo:
            fresh = {source for source, _ in todo.pop().parents} - below
            below |= fresh
            todo += fresh
        sums = dict.fromkeys(below, 0.0)
        sums[self] = 1.0
        for each in sorted(below, key=lambda v: v.number, reverse=True):
            for source, send in each.parents:
                sums[source] += send(sums[each])
            if not each.parents:
                each.grad = (each.grad or 0) + sums[each]


class _WithoutBackward:
    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return self.data + other.data


class _EqualByNumber(_MicrogradAnew):
    """Compares as a dataclass does."""

    def __eq__(self, other):
        return self.data == other.data

    def __hash__(self):
        return hash(self.data)


# --- 17.2: Recorded


class _NotThroughResult(Recorded):
    def tanh(self):
        made = type(self)(np.tanh(self.data), self.requires_grad)
        if self.requires_grad:
            y = made.data
            made.inputs, made.rule = (self,), lambda g: (g * (1 - y**2),)
        return made


class _FixedType(Recorded):
    def result(self, data, inputs, rule):
        made = _FixedType(data, any(x.requires_grad for x in inputs))
        if made.requires_grad:
            made.inputs, made.rule = inputs, rule
        return made


class _KeepsConstants(Recorded):
    def result(self, data, inputs, rule):
        made = type(self)(data, any(x.requires_grad for x in inputs))
        made.inputs, made.rule = inputs, rule
        return made


class _AllMustAsk(Recorded):
    def result(self, data, inputs, rule):
        made = type(self)(data, all(x.requires_grad for x in inputs))
        if made.requires_grad:
            made.inputs, made.rule = inputs, rule
        return made


class _NeverAsks(Recorded):
    def result(self, data, inputs, rule):
        made = type(self)(data)
        made.inputs, made.rule = inputs, rule
        return made


class _Integers(Recorded):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.data = np.array(data)


class _NoFlag(Recorded):
    def __init__(self, data):
        super().__init__(data)


class _OneNumber(Recorded):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.number = 0


def _with(**methods):
    """Make the reference's Recorded with other methods."""
    return type("Recorded", (Recorded,), methods)


def _unary(forward, rule):
    def method(self):
        y = forward(self.data)
        return self.result(y, (self,), lambda g: rule(g, self.data, y))

    return method


def _binary(forward, rule):
    def method(self, other):
        other = self.wrap(other)
        a, b = self.data, other.data
        return self.result(forward(a, b), (self, other), lambda g: rule(g, a, b))

    return method


def _power(rule):
    def method(self, n):
        return self.result(self.data**n, (self,), lambda g: (rule(g, self.data, n),))

    return method


def _summing(spread):
    def method(self, axis=None, keepdims=False):
        shape = self.data.shape
        return self.result(
            self.data.sum(axis=axis, keepdims=keepdims),
            (self,),
            lambda g: (spread(g, shape, axis, keepdims),),
        )

    return method


def _puts_back_always(g, shape, axis, keep):
    return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), shape)


def _puts_back(g, shape, axis, keep):
    kept = axis is None or keep
    return np.broadcast_to(g if kept else np.expand_dims(g, axis), shape)


def _cuts(g, x, y):
    g = g.copy()
    g[x <= 0] = 0.0
    return (g,)


class _NegUp(Recorded):
    """Only -a is wrong; differences are made without it."""

    differences: ClassVar = {
        "__sub__": _binary(lambda a, b: a - b, lambda g, a, b: (g, -g)),
        "__rsub__": lambda self, other: self.wrap(other) - self,
    }
    __sub__, __rsub__ = differences.values()
    __neg__ = _unary(np.negative, lambda g, x, y: (g,))


def _relu_in_place(self):
    self.data[self.data < 0] = 0.0
    return self.result(self.data, (self,), lambda g: (g * (self.data > 0),))


def _mul_in_place(g, a, b):
    g *= b
    return g, g


def _tuple_missing(self):
    y = np.tanh(self.data)
    return self.result(y, (self,), lambda g: g * (1 - y**2))


def _one_gradient(self, other):
    other = self.wrap(other)
    return self.result(self.data * other.data, (self, other), lambda g: (g * other.data,))


def _with_n_as_input(self, n):
    n = self.wrap(n)
    x, y = self.data, n.data
    return self.result(x**y, (self, n), lambda g: (g * y * x ** (y - 1), g))


def _in_one_place(self, other):
    other = self.wrap(other)
    Recorded.last = self.data, other.data
    return self.result(
        self.data * other.data,
        (self, other),
        lambda g: (g * Recorded.last[1], g * Recorded.last[0]),
    )


class _Bare:
    requires_grad = False

    def __init__(self, data):
        self.data = np.array(data, float)


def _bare_numbers(self, other):
    return other if isinstance(other, Recorded) else _Bare(other)


def _numbers_alone(self, other):
    return type(self)(other) if isinstance(other, int | float) else other


def _copies(self, other):
    other = self.wrap(other)
    copies = tuple(type(self)(x.data, x.requires_grad) for x in (self, other))
    a, b = self.data, other.data
    return self.result(a * b, copies, lambda g: (g * b, g * a))


class _AnotherStyle:
    """Methods for rules, static helpers, partials; its own way of everything."""

    total = 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad, self.inputs, self.rule = None, (), None
        _AnotherStyle.total += 1
        self.number = _AnotherStyle.total

    def result(self, data, inputs, rule):
        out = self.__class__(data)
        out.requires_grad = True in [x.requires_grad for x in inputs]
        if out.requires_grad:
            out.inputs = tuple(inputs)
            out.rule = rule
        return out

    def _both(self, other):
        if not hasattr(other, "data") or isinstance(other, np.ndarray | np.generic):
            other = self.__class__(other)
        return self, other

    @staticmethod
    def _twice(g):
        return [g, g]

    def __add__(self, other):
        a, b = self._both(other)
        return self.result(a.data + b.data, [a, b], self._twice)

    def __sub__(self, other):
        a, b = self._both(other)
        return self.result(a.data - b.data, [a, b], lambda g: [g, -g])

    def __mul__(self, other):
        a, b = self._both(other)

        def rule(g):
            return g * b.data, a.data * g

        return self.result(np.multiply(a.data, b.data), (a, b), rule)

    def __radd__(self, other):
        return self.__add__(other)

    def __rmul__(self, other):
        return self.__mul__(other)

    def __rsub__(self, other):
        _, b = self._both(other)
        return b - self

    def __neg__(self):
        return self.result(-self.data, (self,), lambda g: (-g,))

    def __matmul__(self, other):
        def rule(g):
            return np.dot(g, np.transpose(other.data)), np.dot(np.transpose(self.data), g)

        return self.result(self.data.dot(other.data), (self, other), rule)

    def __pow__(self, exponent):
        def slope(g, x):
            return (exponent * np.power(x, exponent - 1) * g,)

        return self.result(np.power(self.data, exponent), (self,), partial(slope, x=self.data))

    def tanh(self):
        out = self.result(np.tanh(self.data), (self,), None)
        if out.requires_grad:
            kept = out.data
            out.rule = lambda g: (g - g * kept * kept,)
        return out

    def relu(self):
        mask = self.data > 0
        return self.result(
            np.where(mask, self.data, 0.0), (self,), lambda g: (np.where(mask, g, 0.0),)
        )

    def sum(self, axis=None, keepdims=False):
        kept_shape = self.data.sum(axis=axis, keepdims=True).shape
        return self.result(
            np.sum(self.data, axis=axis, keepdims=keepdims),
            (self,),
            lambda g: (np.broadcast_to(np.reshape(g, kept_shape), self.data.shape),),
        )


class _Composed(Recorded):
    """Subtraction and negation by other ways; relu by a mask times the tensor."""

    def relu(self):
        return self * type(self)((self.data > 0) * 1.0)

    def __neg__(self):
        return 0 - self

    def __sub__(self, other):
        other = self.wrap(other)
        return self.result(self.data - other.data, (self, other), lambda g: (g, -g))

    def __rsub__(self, other):
        return self.wrap(other) - self


# --- 17.3: unbroadcast


def _loop(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def _pairs_of_sizes(gradient, shape):
    filled = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(k for k, (a, b) in enumerate(zip(gradient.shape, filled, strict=True)) if a != b)
    return (
        np.add.reduce(gradient, axis=axes, keepdims=True).reshape(shape)
        if axes
        else gradient.reshape(shape)
    )


def _one_by_one(gradient, shape):
    out = np.zeros(shape)
    added = gradient.ndim - len(shape)
    for index in np.ndindex(*gradient.shape):
        place = tuple(0 if size == 1 else i for i, size in zip(index[added:], shape, strict=True))
        out[place] += gradient[index]
    return out


def _by_einsum(gradient, shape):
    letters = "abcdef"[: gradient.ndim]
    added = gradient.ndim - len(shape)
    kept = "".join(x for x, size in zip(letters[added:], shape, strict=True) if size != 1)
    return np.einsum(f"{letters}->{kept}", gradient).reshape(shape)


def _axes_not_shifted(gradient, shape):
    added = gradient.ndim - len(shape)
    axes = tuple(range(added)) + tuple(axis for axis, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=tuple(set(axes)), keepdims=True).reshape(shape)


def _axes_move(gradient, shape):
    for axis in range(gradient.ndim - len(shape)):
        gradient = gradient.sum(axis=axis)
    return _loop(gradient, shape)


def _reshape_only(gradient, shape):
    return gradient.reshape(shape)


def _sums_axis_zero(gradient, shape):
    return gradient if gradient.shape == shape else gradient.sum(axis=0)


def _in_place(gradient, shape):
    result = _loop(gradient, shape).copy()
    gradient *= 0
    return result


def _squeezes_first(gradient, shape):
    return _one_by_one(np.squeeze(gradient), shape)


def _no_return(gradient, shape):
    gradient = _loop(gradient, shape)


def _broadcasts(gradient, shape):
    return np.broadcast_to(gradient, shape)


def _only_where_needed(gradient, shape):
    for axis, size in enumerate(shape):
        if gradient.shape[axis] != size:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def _same_size(gradient, shape):
    return gradient if gradient.size == np.prod(shape) else _loop(gradient, shape)


def _mean(gradient, shape):
    added = gradient.ndim - len(shape)
    gradient = gradient.mean(axis=tuple(range(added)))
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.mean(axis=axis, keepdims=True)
    return gradient


def _leading(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    return gradient


def _stretched(gradient, shape):
    added = gradient.ndim - len(shape)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis=axis + added, keepdims=True)
    return gradient


def _squeezes(gradient, shape):
    return np.squeeze(_loop(gradient, shape))


def _first_row(gradient, shape):
    added = gradient.ndim - len(shape)
    for _ in range(added):
        gradient = gradient[0]
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = np.take(gradient, [0], axis=axis)
    return gradient


# --- 17.4: the engine


def engine(
    base=Differentiable,
    send="add",
    wait="edges",
    keep="copy",
    walk="heap",
    errors=True,
    calls=True,
    goes_on=True,
    inner=False,
    constants=False,
    order=lambda t: (bool(t.inputs), -t.number),
    counts_aside=False,
    recursive=False,
    clears=False,
    skips_zero=False,
    release=False,
):
    """Make an engine, right or wrong in some way."""

    class Answer(Broadcasting):
        def complete(self, gradient):
            if not self.inputs or inner:
                if keep == "overwrite":
                    self.grad = gradient.copy()
                elif self.grad is None:
                    self.grad = gradient if keep.startswith("same") else np.array(gradient)
                elif keep.endswith("in place"):
                    self.grad += gradient
                else:
                    self.grad = self.grad + gradient
            return gradient if goes_on != "none" else None

        def backward(self, gradient=None):
            if errors and not self.requires_grad:
                raise RuntimeError("no graph")
            if gradient is None:
                if errors and self.data.size != 1:
                    raise RuntimeError("several entries")
                gradient = np.ones_like(self.data)
            waiting = defaultdict(int)
            seen = set()

            def count(tensor):
                if tensor in seen:
                    return
                seen.add(tensor)
                for source in set(tensor.inputs) if wait == "users" else tensor.inputs:
                    waiting[source] += 1
                    if recursive:
                        count(source)
                    else:
                        todo.append(source)

            todo = [self]
            count(self)
            while todo:
                count(todo.pop())
            arrived, ready, done = {self: gradient}, [self], set()
            while ready:
                if walk == "queue":
                    tensor = ready.pop(0)
                else:
                    ready.sort(key=order)
                    tensor = ready.pop(0)
                if clears and tensor is self:
                    for each in seen:
                        each.grad = None
                current = arrived[tensor]
                finished = tensor.complete(current) if calls is True else current
                if calls == "leaves" and not tensor.inputs:
                    finished = tensor.complete(current)
                if calls is False and not tensor.inputs:
                    tensor.grad = np.array(current) + (0 if tensor.grad is None else tensor.grad)
                if goes_on is not True:
                    finished = current
                parts = tensor.rule(finished) if tensor.inputs else ()
                for source, part in zip(tensor.inputs, parts, strict=True):
                    if not source.requires_grad and not constants:
                        continue
                    if skips_zero and not np.any(part):
                        continue
                    if source not in arrived or send == "assign":
                        arrived[source] = part
                    elif send == "in place":
                        arrived[source] += part
                    else:
                        arrived[source] = arrived[source] + part
                    waiting[source] -= 1
                    if wait == "nobody":
                        if source not in done:
                            done.add(source)
                            ready.append(source)
                    elif wait == "each":
                        ready.append(source)
                    elif waiting[source] <= 0 and source not in done:
                        done.add(source)
                        ready.append(source)
                if release:
                    tensor.inputs = ()

    return Answer


class _AsksGrad(Differentiable):
    def complete(self, gradient):
        if self.inputs or not self.grad:
            return super().complete(gradient)
        self.grad = self.grad + gradient
        return gradient


class _GivesWhatIsCollected(Differentiable):
    def complete(self, gradient):
        gradient = super().complete(gradient)
        return gradient if self.inputs else self.grad


class _Topological(Broadcasting):
    """A depth-first order with a stack of its own; then sorted by number."""

    def complete(self, gradient):
        if self.inputs == () and self.requires_grad:
            fresh = np.zeros_like(self.data) if self.grad is None else self.grad
            self.grad = fresh + gradient
        return gradient

    def backward(self, gradient=None):
        if not self.requires_grad:
            raise RuntimeError("does not require grad")
        if gradient is None:
            if self.data.size > 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = np.ones(self.data.shape)
        users, stack = {self: 0}, [self]
        while stack:
            node = stack.pop()
            for source in node.inputs:
                if not source.requires_grad:
                    continue
                if source not in users:
                    users[source] = 0
                    stack.append(source)
                users[source] += 1
        buffer = {self: [gradient]}
        leaves, others = [], []
        (others if self.inputs else leaves).append(self)
        while leaves or others:
            if leaves:
                node = leaves.pop()
            else:
                node = max(others, key=lambda t: t.number)
                others.remove(node)
            total = node.complete(sum(buffer.pop(node)))
            if not node.inputs:
                continue
            for source, part in zip(node.inputs, node.rule(total), strict=True):
                if not source.requires_grad:
                    continue
                buffer.setdefault(source, []).append(part)
                users[source] -= 1
                if users[source] == 0:
                    (others if source.inputs else leaves).append(source)


class _InPlaceOnOwnCopies(Differentiable):
    """Adds in place, but only to arrays of its own."""

    def complete(self, gradient):
        if not self.inputs:
            if self.grad is None:
                self.grad = np.zeros_like(self.data)
            self.grad += gradient
        return gradient


class _RecursiveSend(Broadcasting):
    def complete(self, gradient):
        if not self.inputs:
            self.grad = gradient.copy() if self.grad is None else self.grad + gradient
        return gradient

    def backward(self, gradient=None):
        if not self.requires_grad or (gradient is None and self.data.size != 1):
            raise RuntimeError("several entries, or no graph")
        gradient = np.ones_like(self.data) if gradient is None else gradient
        gradient = self.complete(gradient)
        if self.inputs:
            for source, part in zip(self.inputs, self.rule(gradient), strict=True):
                if source.requires_grad:
                    source.backward(part)


class _MarksTensors(Differentiable):
    def backward(self, gradient=None):
        if getattr(self, "done", False):
            return
        self.done = True
        super().backward(gradient)


class _WritesIntoTheGiven(Differentiable):
    def backward(self, gradient=None):
        if gradient is not None:
            gradient *= 1.5
            gradient /= 1.5
            gradient += 1e-3
        super().backward(gradient)


class _EmptiesFirst(Differentiable):
    def backward(self, gradient=None):
        todo = [self]
        seen = set()
        while todo:
            each = todo.pop()
            if each not in seen:
                seen.add(each)
                each.grad = None
                todo += each.inputs
        super().backward(gradient)


class _OnRecorded(Recorded):
    complete = Differentiable.complete
    backward = Differentiable.backward


class _NeedsNoShape(Differentiable):
    def backward(self, gradient=None):
        if gradient is None and self.data.shape != ():
            raise RuntimeError("no number")
        super().backward(gradient)


class _OfANumber(Differentiable):
    def backward(self, gradient=None):
        super().backward(1.0 if gradient is None and self.data.size == 1 else gradient)


class _ZeroIsOnes(Differentiable):
    def backward(self, gradient=None):
        given = gradient is not None and np.any(gradient)
        several = gradient is not None and self.data.size > 1
        super().backward(gradient if given else np.ones_like(self.data) if several else None)


class _TensorForGrad(Differentiable):
    def complete(self, gradient):
        super().complete(gradient)
        if not self.inputs:
            self.grad = Broadcasting(self.grad)
        return gradient


class _ForgetsToReturn(Differentiable):
    def complete(self, gradient):
        super().complete(gradient)


class _ValueErrors(Differentiable):
    def backward(self, gradient=None):
        if gradient is None and self.data.size != 1:
            raise ValueError("several entries")
        super().backward(gradient)


# --- 17.5: hooks on tensors


class _WithList(Differentiable):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self._registered = []

    def register_hook(self, hook):
        entry = [hook]
        self._registered.append(entry)
        registered = self._registered

        class Taken:
            def remove(self):
                registered[:] = [each for each in registered if each is not entry]

        return Taken()

    def complete(self, gradient):
        for entry in tuple(self._registered):
            out = entry[0](gradient)
            if out is not None:
                gradient = out
        return super().complete(gradient)


class _LazyTable(Differentiable):
    tables: ClassVar = weakref.WeakKeyDictionary()

    def register_hook(self, hook):
        table = self.tables.setdefault(self, {})
        key = object()
        table[key] = hook

        def remove():
            table.pop(key, None)

        handle = type("H", (), {})()
        handle.remove = remove
        return handle

    def complete(self, gradient):
        for hook in [*self.tables.get(self, {}).values()]:
            given = hook(gradient)
            gradient = given if given is not None else gradient
        return Differentiable.complete(self, gradient)


def hookable(
    table="own",
    when="before",
    uses=True,
    returns=True,
    copy=True,
    key="number",
    reverse=False,
    none=True,
    truth=False,
    each_gets="previous",
    handle=True,
    leaves=True,
    inner=True,
    strict_remove=False,
):
    """Make a class with hooks, right or wrong in some way."""

    class Answer(Differentiable):
        hooks: ClassVar = {}

        def __init__(self, data, requires_grad=False):
            super().__init__(data, requires_grad)
            if table == "own":
                self.hooks = {}

        def register_hook(self, hook):
            name = hook if key == "hook" else next(Handle.keys) if key == "number" else 0
            hooks = self.hooks
            hooks[name] = hook

            class Taken:
                def remove(self):
                    if strict_remove:
                        del hooks[name]
                    elif key == "all":
                        hooks.clear()
                    else:
                        hooks.pop(name, None)

            return Taken() if handle else None

        def called(self, gradient):
            hooks = self.hooks.values()
            hooks = list(hooks) if copy else hooks
            hooks = list(hooks)[::-1] if reverse else hooks
            arrived = gradient
            for hook in hooks:
                given = hook(arrived if each_gets == "arrived" else gradient)
                if not uses:
                    continue
                if truth:
                    gradient = given if given else gradient
                elif given is not None or not none:
                    gradient = given
            return gradient

        def complete(self, gradient):
            hooked = (leaves or self.inputs) and (inner or not self.inputs)
            if when == "after":
                super().complete(gradient)
                return self.called(gradient)
            out = self.called(gradient) if hooked else gradient
            below = super().complete(out if uses != "upstream" else gradient)
            return out if uses == "upstream" else below if returns else gradient

    return Answer


class _HooksInRule(Differentiable):
    """Calls hooks on the parts that it sends, once for each use."""

    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.hooks = {}

    def register_hook(self, hook):
        return Handle(self.hooks, hook)

    def result(self, data, inputs, rule):
        def calling(gradient):
            parts = list(rule(gradient))
            for at, source in enumerate(inputs):
                for hook in list(source.hooks.values()):
                    given = hook(parts[at])
                    parts[at] = parts[at] if given is None else given
            return tuple(parts)

        return super().result(data, inputs, calling)


class _CountsThoseThere(Hookable):
    def register_hook(self, hook):
        name = len(self.hooks)
        self.hooks[name] = hook
        handle = Handle({}, hook)
        handle.remove = lambda: self.hooks.pop(name, None)
        return handle


class _GivesATensor(Hookable):
    def register_hook(self, hook):
        return super().register_hook(lambda gradient: hook(type(self)(gradient)))


class _StopsAtTheFirst(Hookable):
    def complete(self, gradient):
        answers = (hook(gradient) for hook in list(self.hooks.values()))
        given = next((each for each in answers if each is not None), gradient)
        return Differentiable.complete(self, given)


class _CollectsTwice(Hookable):
    def complete(self, gradient):
        gradient = super().complete(gradient)
        return Differentiable.complete(self, gradient)


class _Refuses(Hookable):
    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError("no gradient will ever come here")
        return super().register_hook(hook)


class _PastTheClassBelow(Hookable):
    def complete(self, gradient):
        for hook in list(self.hooks.values()):
            given = hook(gradient)
            gradient = gradient if given is None else given
        return gradient


class _ForgetsToGoOn(Hookable):
    def complete(self, gradient):
        super().complete(gradient)


class _ForgetsFlag(Hookable):
    def __init__(self, data, requires_grad=False):
        super().__init__(data)


# --- 17.6: modules


class _Sorted(Module):
    def named_parameters(self):
        return sorted(super().named_parameters(), key=lambda pair: pair[0])


class _SortsModules(Module):
    def named_parameters(self):
        own = [(name, each) for name, each in super().named_parameters() if "." not in name]
        return own + sorted(
            super().named_parameters()[len(own) :], key=lambda p: p[0].split(".")[0]
        )


class _AsGenerator(Module):
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
            if isinstance(each, _AsGenerator):
                for inner, parameter in each.named_parameters(seen):
                    yield name + "." + inner, parameter


class _WithSetattr:
    """Sorts attributes when they are assigned, as PyTorch does."""

    def __init__(self):
        for table in ("_parameters", "_modules", "_before", "_after"):
            object.__setattr__(self, table, {})

    def __setattr__(self, name, each):
        if isinstance(each, kinds.mine("17.5")) and each.requires_grad and not each.inputs:
            self._parameters[name] = each
        elif isinstance(each, _WithSetattr):
            self._modules[name] = each
        object.__setattr__(self, name, each)

    def named_parameters(self):
        found = {}
        for name, each in self._parameters.items():
            found.setdefault(id(each), (name, each))
        for name, module in self._modules.items():
            for inner, each in module.named_parameters():
                found.setdefault(id(each), (f"{name}.{inner}", each))
        return found.values()

    def register_forward_pre_hook(self, hook):
        return Handle(self._before, hook)

    def register_forward_hook(self, hook):
        return Handle(self._after, hook)

    def __call__(self, *args):
        for hook in [*self._before.values()]:
            out = hook(self, args)
            if out is None:
                continue
            args = out if type(out) is tuple else (out,)
        y = self.forward(*args)
        for hook in [*self._after.values()]:
            out = hook(self, args, y)
            if out is not None:
                y = out
        return y


def _parameters(kind):
    def named_parameters(self):
        found = []
        for name, each in vars(self).items():
            if kind == "everything" and hasattr(each, "data"):
                found.append((name, each))
            elif kind == "crashes":
                if each.requires_grad:
                    found.append((name, each))
            elif getattr(each, "requires_grad", False) and (kind == "results" or not each.inputs):
                found.append((name, each))
            if isinstance(each, Module) and kind in ("own order", "plain names", "twice"):
                inner = each.named_parameters()
                found += [(n if kind == "plain names" else f"{name}.{n}", p) for n, p in inner]
        if kind in ("one level", "results", "everything", "own first"):
            for name, each in vars(self).items():
                if isinstance(each, Module):
                    inner = (
                        [
                            (n, p)
                            for n, p in vars(each).items()
                            if getattr(p, "requires_grad", False)
                        ]
                        if kind == "one level"
                        else each.named_parameters()
                    )
                    found += [(f"{name}.{n}", p) for n, p in inner]
        return None if kind == "none" else found

    return type("Answer", (Module,), {"named_parameters": named_parameters})


def calling(
    uses_pre=True,
    uses_post=True,
    wraps=True,
    reverse=False,
    copy=True,
    none=True,
    pre=True,
    post=True,
    star=True,
    tables="own",
    original=False,
):
    """Make a Module whose call is right, or wrong in some way."""

    class Answer(Module):
        def __init__(self):
            super().__init__()
            if tables == "class":
                self.forward_pre_hooks, self.forward_hooks = Answer.before, Answer.after

        def __call__(self, *args):
            given = args
            hooks = self.forward_pre_hooks.values()
            for hook in (list(hooks)[::-1] if reverse else list(hooks)) if pre else ():
                out = hook(self, args if star else args[0])
                if uses_pre and out is not None:
                    args = out if isinstance(out, tuple) or not wraps else (out,)
            result = self.forward(*args)
            hooks = self.forward_hooks.values()
            hooks = list(hooks) if copy else hooks
            for hook in (list(hooks)[::-1] if reverse else hooks) if post else ():
                out = hook(self, given if original else args, result)
                if uses_post and (out is not None or not none):
                    result = out
            return result

    Answer.before, Answer.after = {}, {}
    return Answer


class _TurnedPairs(Module):
    def named_parameters(self):
        return [(tensor, name) for name, tensor in super().named_parameters()]


class _Unwritten(Module):
    def register_forward_hook(self, hook): ...


class _ForgetsResult(Module):
    def __call__(self, *args):
        super().__call__(*args)


class _ForwardAlone(Module):
    def __call__(self, *args):
        return self.forward(*args)


class _OneArgument(Module):
    def __call__(self, x):
        return super().__call__(x)


class _NoHandles(Module):
    def register_forward_hook(self, hook):
        self.forward_hooks[len(self.forward_hooks)] = hook


class _KeyByFunction(Module):
    def register_forward_hook(self, hook):
        hooks = self.forward_hooks
        hooks[hook] = hook

        class Taken:
            def remove(self):
                del hooks[hook]

        return Taken()


class _KeyByFunctionTwice(Module):
    def register_forward_hook(self, hook):
        handle = Handle({}, hook)
        self.forward_hooks[hook] = hook
        handle.remove = lambda: self.forward_hooks.pop(hook, None)
        return handle


class _CountsThoseOnModule(Module):
    def register_forward_pre_hook(self, hook):
        hooks, name = self.forward_pre_hooks, len(self.forward_pre_hooks)
        hooks[name] = hook
        handle = Handle({}, hook)
        handle.remove = lambda: hooks.pop(name, None)
        return handle


class _ListsOnce(Module):
    """Takes what it lists for known by something that is not the tensor itself."""

    by: ClassVar = staticmethod(lambda name, tensor: name)

    def named_parameters(self, prefix="", seen=None):
        seen = set() if seen is None else seen
        for name, each in vars(self).items():
            known = hasattr(each, "inputs") and self.by(name, each) in seen
            if getattr(each, "requires_grad", False) and not each.inputs and not known:
                seen.add(self.by(name, each))
                yield prefix + name, each
        for name, each in vars(self).items():
            if isinstance(each, Module):
                yield from each.named_parameters(f"{prefix}{name}.", seen)


class _ListsOnceByValue(_ListsOnce):
    by: ClassVar = staticmethod(lambda name, tensor: str(tensor.data))


class _LastNameOnly(Module):
    def named_parameters(self):
        for name, each in super().named_parameters():
            yield ".".join(name.split(".")[-2:]), each


class _RemembersAll(_ListsOnce):
    by: ClassVar = staticmethod(lambda name, tensor: id(tensor))

    def named_parameters(self, prefix="", seen=None):
        kept = vars(self).setdefault("_seen", set())
        return super().named_parameters(prefix, kept if seen is None else seen)


class _AsDict(Module):
    def named_parameters(self):
        return dict(super().named_parameters())


class _HooksOnForward(Module):
    def register_forward_hook(self, hook):
        handle = super().register_forward_hook(hook)
        bare = type(self).forward

        def hooked_forward(*args):
            result = bare(self, *args)
            for each in list(self.forward_hooks.values()):
                given = each(self, args, result)
                result = result if given is None else given
            return result

        vars(self)["forward"] = hooked_forward
        return handle

    def __call__(self, *args):
        for hook in list(self.forward_pre_hooks.values()):
            given = hook(self, args)
            if given is not None:
                args = given if isinstance(given, tuple) else (given,)
        return self.forward(*args)


class _Cached(Module):
    def named_parameters(self):
        if "_kept" not in vars(self):
            vars(self)["_kept"] = list(super().named_parameters())
        return self._kept


class _SkipsHidden(Module):
    def named_parameters(self):
        return [(n, t) for n, t in super().named_parameters() if not n.startswith("_")]


class _LooksTooEarly(Module):
    def __init__(self):
        super().__init__()
        self._found = list(super().named_parameters())

    def named_parameters(self):
        return self._found


# --- 17.7: hooks on modules


def hooked(
    gate_in=True,
    gate_out=True,
    store="call",
    replaces=True,
    swapped=False,
    legacy="rule",
    without_input=True,
    legacy_replaces=True,
    forwards=True,
    removed=True,
    each_gets="previous",
    takes="tuple",
    both="",
):
    """Make a module with backward hooks, right or wrong in some way."""
    shared = {}

    class Answer(Module):
        def __init__(self):
            super().__init__()
            self.full, self.old = {}, {}

        def register_full_backward_hook(self, hook):
            handle = Handle(self.full, hook)
            if not removed:
                handle.remove = lambda: None
            return handle

        def register_backward_hook(self, hook):
            return Handle(self.old, hook)

        def _called(self, hooks, grad_input, grad_output):
            arrived = grad_input
            for hook in hooks:
                pair = (arrived if each_gets == "arrived" else grad_input), grad_output
                given = hook(self, *(pair[::-1] if swapped else pair))
                if given is not None:
                    grad_input = given
            return grad_input

        def __call__(self, x):
            run = super().__call__ if forwards else self.forward
            full, old = list(self.full.values()), list(self.old.values())
            if not full:
                y = run(x)
            else:
                inside = identity(x) if gate_in else x
                y = run(inside)
                y = identity(y) if gate_out else y
                kept = shared if store == "shared" else vars(self) if store == "module" else {}

                def at_output(g):
                    kept["arrived"] = g
                    if without_input and not x.requires_grad:
                        self._called(full, (None,), (g,))

                def at_input(g):
                    out = (kept["arrived"],)
                    came = self._called(full, (out[0] if both == "output" else g,), out)
                    if takes == "whole":
                        return came
                    return came[0] if replaces else None

                y.register_hook(at_output)
                inside.register_hook(at_input)
            if old and y.inputs:
                self._legacy(y, x, old)
            return y

        def _legacy(self, y, x, old):
            rule = y.rule
            if legacy == "rule":

                def hooking(g):
                    parts = tuple(rule(g))
                    came = self._called(old, parts, (g,))
                    return came if legacy_replaces else parts

                y.rule = hooking
            elif legacy == "output":
                y.register_hook(lambda g: self._called(old, (g,), (g,))[0])
            elif legacy == "input":
                kept = {}
                y.register_hook(lambda g: kept.update(g=g))
                x.register_hook(lambda g: self._called(old, (g,), (kept["g"],))[0])
            elif legacy == "first":
                y.rule = lambda g: self._called(old, (rule(g)[0],), (g,))

    return Answer


class _GateNodes(Module):
    """The right one by rules of gates alone, without tensor hooks."""

    def __init__(self):
        super().__init__()
        self.__dict__.update(_full={}, _old={})

    def register_full_backward_hook(self, hook):
        return Handle(self._full, hook)

    def register_backward_hook(self, hook):
        return Handle(self._old, hook)

    def __call__(self, x):
        full, state = [*self._full.values()], {}

        def into(g):
            state["out"] = (g,)
            if not x.requires_grad:
                run_hooks(full, self, (None,), (g,))
            return (g,)

        def out_of(g):
            return run_hooks(full, self, (g,), state["out"])

        if full:
            x_in = x.result(x.data, (x,), out_of)
            y = Module.__call__(self, x_in)
            y = y.result(y.data, (y,), into)
        else:
            y = Module.__call__(self, x)
        for hook in self._old.values() if y.inputs else ():
            y.rule = self._hooking(hook, y.rule)
        return y

    def _hooking(self, hook, rule):
        def hooking(g):
            parts = tuple(rule(g))
            given = hook(self, parts, (g,))
            return parts if given is None else given

        return hooking


class _LooksInThePass(HookedModule):
    """Looks its hooks up when gradients come."""

    def between_gates(self, x):
        module, at_call = self, dict(self.full_hooks)

        def all_that_are_there(*args):
            return (run_hooks(list(module.full_hooks.values()), *args),)[0]

        self.full_hooks = {0: all_that_are_there}
        try:
            return super().between_gates(x)
        finally:
            self.full_hooks.clear()
            self.full_hooks = at_call


class _NoneIsAnAnswer(HookedModule):
    def register_full_backward_hook(self, hook):
        return super().register_full_backward_hook(lambda *args: (hook(*args)[0],))


class _ForgetsSuper(HookedModule):
    def __init__(self):
        self.full_hooks, self.legacy_hooks = {}, {}


class _CutsTheGraph(HookedModule):
    def between_gates(self, x):
        return super().between_gates(type(x)(x.data, requires_grad=x.requires_grad))


class _LateInALoop(HookedModule):
    def __call__(self, x):
        hooks, self.legacy_hooks = self.legacy_hooks, {}
        y = super().__call__(x)
        self.legacy_hooks = hooks
        for hook in list(hooks.values()) if y.inputs else ():
            before = y.rule

            def rule(g, before=before):
                return run_hooks([hook], self, before(g), (g,))  # noqa: B023

            y.rule = rule
        return y


class _KeepsTheFirst(HookedModule):
    def register_full_backward_hook(self, hook):
        kept = []

        def with_the_first(module, grad_input, grad_output):
            kept.append(grad_output)
            return hook(module, grad_input, kept[0])

        return super().register_full_backward_hook(with_the_first)


class _RemovesAll(HookedModule):
    def register_full_backward_hook(self, hook):
        handle = super().register_full_backward_hook(hook)
        handle.remove = self.full_hooks.clear
        return handle


class _OneHook(HookedModule):
    def register_full_backward_hook(self, hook):
        self.full_hooks.clear()
        return super().register_full_backward_hook(hook)


class _TwoThings(HookedModule):
    def register_full_backward_hook(self, hook):
        return super().register_full_backward_hook(
            lambda module, grad_input, grad_output: hook(grad_input, grad_output)
        )


class _BareIdentity(HookedModule):
    def between_gates(self, x):
        return super().between_gates(x.result(x.data, (x,), lambda g: g))


class _AnswersAtTheResult(HookedModule):
    """Without a gradient at the argument, what hooks give back changes that at the result."""

    def __call__(self, x):
        if x.requires_grad or not self.full_hooks:
            return super().__call__(x)
        result = identity(Module.__call__(self, x))
        hooks = list(self.full_hooks.values())
        if result.requires_grad:
            result.register_hook(lambda g: run_hooks(hooks, self, (None,), (g,))[0])
        return result


class _TablesOfTheClass(HookedModule):
    full: ClassVar = {}

    def __init__(self):
        super().__init__()
        self.full_hooks = _TablesOfTheClass.full


class _NeedsAGradient(HookedModule):
    def between_gates(self, x):
        result = super().between_gates(x)
        result.rule.__name__  # noqa: B018  (as if there always were one)
        return result


class _NotRegistered(Module):
    def register_full_backward_hook(self, hook):
        self.full = hook

    def register_backward_hook(self, hook):
        self.old = hook


class _OnFirstModule(HookedModule):
    """A full hook that is the legacy kind."""

    def register_full_backward_hook(self, hook):
        return Handle(self.legacy_hooks, hook)


class _OnlyWhenCalledLast(HookedModule):
    """Keeps one place for what arrives, for all calls of the module."""

    def between_gates(self, x):
        hooks = list(self.full_hooks.values())
        self.arrived = getattr(self, "arrived", [])

        def at_output(gradient):
            self.arrived.append(gradient)
            if not x.requires_grad:
                run_hooks(hooks, self, (None,), (gradient,))

        def at_input(gradient):
            return run_hooks(hooks, self, (gradient,), (self.arrived[0],))[0]

        gate = identity(x)
        result = identity(Module.__call__(self, gate))
        result.register_hook(at_output)
        gate.register_hook(at_input)
        return result


ANSWERS = {
    "17.1": {
        "wrong": [
            ("the second took the place of the first", value(send="assign")),
            ("the second took the place of the first", _MicrogradAssigns),
            ("Each factor got itself", value(mul=lambda a, b: (a, b))),
            ("Both derivatives are 1", value(mul=lambda a, b: (1.0, 1.0))),
            ("Those are the inputs themselves", value(add=lambda a, b: (a, b))),
            ("on either side", value(wraps=False)),
            ("nothing yet for 1 + x and 2 * x", value(right_side=False)),
            ("Nothing arrived", value(seed=0.0)),
            ("have its turn before its inputs", _NotReversed),
            ("Only the last factor", value(send="slopes")),
            ("Each path is followed", value(walk="paths")),
            ("before all its gradients were in", value(walk="breadth")),
            ("Each value has its turn once", value(walk="all the time")),
            ("The value that backward is called on comes first", value(walk="forward")),
            ("the walk ends behind the first step", value(walk="one step")),
            ("before all its gradients were in", value(walk="pre")),
            ("overwritten, or emptied", value(resets=True)),
            ("mixed up", _Micrograd),
            ("must not be missing in the next", _TapeThrownAway),
            ("Two values that hold the same number", _EqualByNumber),
            ("told that it came", _SkipsZero),
            ("the way back to x is missing", _LosesX),
            ("changed x itself", _AddsInPlace),
            ("begins with the value of the sum", value(seed=-2.0)),
            ("It has to be a Value again", value(gives="number")),
            ("x * y and 1 + x and 2 * x and x.backward()", _WithoutBackward),
            ("its name, without brackets", value()(3.0)),
            ("wants a class", lambda data: data),
        ],
        "right": [value(), _MicrogradAnew, _Counting, _ByNumber, _Tape, reference.Value],
    },
    "17.2": {
        "wrong": [
            ("does not go through self.result", _NotThroughResult),
            ("type(self)", _FixedType),
            ("is a constant, too", _KeepsConstants),
            ("ask for any, not for all", _AllMustAsk),
            ("requires a gradient if one of the inputs does", _NeverAsks),
            ("into floats", _Integers),
            ("requires_grad, too, by name", _NoFlag),
            ("a later one has a higher number", _OneNumber),
            (
                "Each factor got g times itself",
                _with(__mul__=_binary(lambda a, b: a * b, lambda g, a, b: (g * a, g * b))),
            ),
            (
                "The local derivative alone",
                _with(__mul__=_binary(lambda a, b: a * b, lambda g, a, b: (b, a))),
            ),
            (
                "g is not 1 everywhere",
                _with(
                    __add__=_binary(
                        lambda a, b: a + b, lambda g, a, b: (np.ones_like(g), np.ones_like(g))
                    )
                ),
            ),
            (
                "with a plus sign",
                _with(__sub__=_binary(lambda a, b: a - b, lambda g, a, b: (g, g))),
            ),
            (
                "is what is taken away",
                _with(
                    __rsub__=lambda self, other: self.result(
                        other - self.data, (self,), lambda g: (g,)
                    )
                ),
            ),
            ("the number comes first", _with(__rsub__=lambda self, other: self - other)),
            ("exponent is as it was", _with(__pow__=_power(lambda g, x, n: g * n * x**n))),
            ("n in front is missing", _with(__pow__=_power(lambda g, x, n: g * x ** (n - 1)))),
            ("right for squares alone", _with(__pow__=_power(lambda g, x, n: g * 2 * x))),
            (
                "The local derivative alone",
                _with(__pow__=_power(lambda g, x, n: n * x ** (n - 1))),
            ),
            (
                "not the input",
                _with(tanh=_unary(np.tanh, lambda g, x, y: (g * (1 - x**2),))),
            ),
            (
                "The square is missing",
                _with(tanh=_unary(np.tanh, lambda g, x, y: (g * (1 - y),))),
            ),
            (
                "a second time",
                _with(tanh=_unary(np.tanh, lambda g, x, y: (g * (1 - np.tanh(y) ** 2),))),
            ),
            (
                "the sigmoid",
                _with(tanh=_unary(np.tanh, lambda g, x, y: (g * y * (1 - y),))),
            ),
            (
                "a tuple with one gradient for each input",
                _with(tanh=_tuple_missing),
            ),
            ("the only input is a", _with(__pow__=_with_n_as_input)),
            ("for each result by itself", _with(__mul__=_in_one_place)),
            ("It has no data of its own", _with(wrap=lambda self, other: other)),
            ("If a grows, -a falls by as much", _NegUp),
            ("has the opposite sign", _with(__neg__=lambda self: self * 1, **_NegUp.differences)),
            ("no axis at all", _with(sum=_summing(_puts_back))),
            ("not always an array", _with(relu=_unary(lambda x: np.maximum(x, 0), _cuts))),
            ("All inputs are tensors", _with(wrap=_bare_numbers)),
            ("whatever is none is made one", _with(wrap=_numbers_alone)),
            ("its rule gives 1 gradients", _with(__mul__=_one_gradient)),
            ("themselves and not copies", _with(__mul__=_copies)),
            (
                "g goes through everywhere",
                _with(relu=_unary(lambda x: np.maximum(x, 0), lambda g, x, y: (g,))),
            ),
            (
                "The slope above zero is 1",
                _with(relu=_unary(lambda x: np.maximum(x, 0), lambda g, x, y: (g * y,))),
            ),
            (
                "it is the input that decides",
                _with(relu=_unary(lambda x: np.maximum(x, 0), lambda g, x, y: (np.maximum(g, 0),))),
            ),
            (
                "PyTorch takes 0",
                _with(relu=_unary(lambda x: np.maximum(x, 0), lambda g, x, y: (g * (x >= 0),))),
            ),
            ("wrote into the data", _with(relu=_relu_in_place)),
            (
                "wrote into the gradient",
                _with(__mul__=_binary(lambda a, b: a * b, _mul_in_place)),
            ),
            ("is not used", _with(sum=_summing(lambda g, shape, axis, keep: np.ones(shape)))),
            (
                "has to be put back first",
                _with(sum=_summing(lambda g, shape, axis, keep: g * np.ones(shape))),
            ),
            (
                "Nothing has to be put back",
                _with(sum=_summing(_puts_back_always)),
            ),
            (
                "the input's shape",
                _with(sum=_summing(lambda g, shape, axis, keep: g)),
            ),
            (
                "A sum divides by nothing",
                _with(sum=_summing(lambda g, shape, axis, keep: g * np.ones(shape) / 6)),
            ),
            (
                "Neither of the two is transposed",
                _with(__matmul__=_binary(lambda a, b: a @ b, lambda g, a, b: (g @ b, a @ g))),
            ),
            (
                "turned around",
                _with(__matmul__=_binary(lambda a, b: a @ b, lambda g, a, b: (b.T @ g, g @ a.T))),
            ),
            (
                "elementwise products",
                _with(__matmul__=_binary(lambda a, b: a @ b, lambda g, a, b: (g * b, g * a))),
            ),
            (
                "have changed places",
                _with(__matmul__=_binary(lambda a, b: a @ b, lambda g, a, b: (a.T @ g, g @ b.T))),
            ),
            (
                "not what NumPy gives",
                _with(__matmul__=_binary(lambda a, b: a * b, lambda g, a, b: (g * b, g * a))),
            ),
            ("nothing yet for", type("Recorded", (), {"__init__": lambda self, data: None})),
        ],
        "right": [Recorded, _AnotherStyle, _Composed],
    },
    "17.3": {
        "wrong": [
            ("You take the mean", _mean),
            ("has stretched", _leading),
            ("are still there", _stretched),
            ("keepdims keeps an axis", _squeezes),
            ("counted from the left", _axes_not_shifted),
            ("sum before you reshape", _reshape_only),
            ("One copy is kept", _first_row),
            ("nothing is summed", lambda gradient, shape: gradient),
            (
                "summed into one number",
                lambda g, shape: g if g.shape == shape else np.full(shape, g.sum()),
            ),
            ("It raised ValueError", _squeezes_first),
            ("None", _no_return),
            ("It changed what it was given", _in_place),
            ("It raised ValueError", _broadcasts),
            ("drops them", _same_size),
            ("Too much is left", _only_where_needed),
            ("Too much is left", _sums_axis_zero),
            ("have moved up", _axes_move),
        ],
        "right": [_loop, _pairs_of_sizes, _one_by_one, _by_einsum, reference.unbroadcast],
    },
    "17.4": {
        "wrong": [
            ("the second took the place of the first", engine(send="assign")),
            ("before all of its gradient was there", engine(wait="nobody")),
            ("which arm comes first", engine(wait="nobody", walk="queue")),
            ("when both parts are in", engine(wait="each")),
            ("a zero counts", engine(skips_zero=True)),
            ("The second pass took the place", engine(keep="overwrite")),
            ("The second pass took the place", _EmptiesFirst),
            (".grad is for leaves", engine(inner=True)),
            ("A constant has a .grad", engine(constants=True)),
            ("one and the same array", engine(keep="same")),
            ("a leaf kept it", engine(keep="same in place")),
            ("added to in place", engine(send="in place")),
            ("Raise a RuntimeError", engine(errors=False)),
            ("its kind is another", _ValueErrors),
            ("What is counted are edges", engine(wait="users")),
            ("or a .grad", _AsksGrad),
            ("stays in its .grad", _GivesWhatIsCollected),
            ("complete is never called", engine(calls=False)),
            ("for leaves only", engine(calls="leaves")),
            ("What complete gave back was not used", engine(goes_on=False)),
            ("the order is another", engine(order=lambda t: -t.number)),
            ("the order is another", engine(order=lambda t: (bool(t.inputs), t.number))),
            ("the order is another", engine(walk="queue")),
            ("calls itself once for each step", engine(recursive=True)),
            ("The second pass did nothing", _MarksTensors),
            ("belongs to the caller", _WritesIntoTheGiven),
            ("The second pass did nothing", engine(release=True)),
            ("more than once for one tensor", _RecursiveSend),
            ("build it on Broadcasting", type("D", (), {"complete": 1, "backward": print})),
            ("nothing yet for complete(gradient)", type("D", (Broadcasting,), {"backward": print})),
            ("built on Broadcasting", _OnRecorded),
            ("a gradient of zero is one, too", _ZeroIsOnes),
            ("It has to be an array", _TensorForGrad),
            ("One entry is enough", _NeedsNoShape),
            ("not with a plain number", _OfANumber),
            ("has to return what goes on", _ForgetsToReturn),
        ],
        "right": [
            Differentiable,
            engine(),
            _Topological,
            _InPlaceOnOwnCopies,
            engine(keep="in place"),
        ],
    },
    "17.5": {
        "wrong": [
            ("never called", hookable(leaves=False, inner=False)),
            ("for leaves as well", hookable(leaves=False)),
            ("The hook was never called", hookable(inner=False)),
            (".grad was filled before", hookable(when="after")),
            ("What hooks give back is not used", hookable(uses=False)),
            ("complete has to return what", hookable(returns=False)),
            ("has to get what the hook gave back", hookable(uses="upstream")),
            ("Ask `is None`", hookable(truth=True)),
            ("order is turned around", hookable(reverse=True)),
            ("None went on", hookable(none=False)),
            ("Each got the gradient as it arrived", hookable(each_gets="arrived")),
            ("made once for the whole class", hookable(table="class")),
            ("Registered twice", hookable(key="hook")),
            ("Only the last hook is left", hookable(key="last")),
            ("has to return a handle", hookable(handle=False)),
            ("should not end in an error", hookable(strict_remove=True)),
            ("go through a copy", hookable(copy=False)),
            ("gets a name that is taken", _CountsThoseThere),
            ("the gradient alone, as an array", _GivesATensor),
            ("All have their turn", _StopsAtTheFirst),
            ("The leaves collected twice", _CollectsTwice),
            ("called for each part", _HooksInRule),
            ("hand it on", _ForgetsFlag),
            ("No leaf has collected", _PastTheClassBelow),
            ("has to return what goes on", _ForgetsToGoOn),
            ("build it on what the last", type("H", (Broadcasting,), {"register_hook": print})),
            ("nothing yet for register_hook", type("H", (Differentiable,), {"f": print})),
        ],
        "right": [Hookable, _Refuses, hookable(), _WithList, _LazyTable],
    },
    "17.6": {
        "wrong": [
            ("sorted by name", _Sorted),
            ("Modules come in the order", _SortsModules),
            ("an underscore in front", _SkipsHidden),
            ("is no parameter", _parameters("results")),
            ("The constant was taken", _parameters("everything")),
            ("Not every attribute is a tensor", _parameters("crashes")),
            ("Only the module's own", _parameters("flat")),
            ("One level down it ends", _parameters("one level")),
            ("a dot stand in front", _parameters("plain names")),
            ("the order is not", _parameters("own order")),
            ("listed once", _parameters("own first")),
            ("gives None", _parameters("none")),
            ("look anew", _Cached),
            ("gets the names alone", _AsDict),
            ("not its name", _ListsOnce),
            ("nothing has been assigned yet", _LooksTooEarly),
            ("look anew", _RemembersAll),
            ("taken for one", _ListsOnceByValue),
            ("on each level", _LastNameOnly),
            ("by itself gets no hooks", _HooksOnForward),
            ("gets a name that is taken", _CountsThoseOnModule),
            ("the name comes first", _TurnedPairs),
            ("nothing yet for register_forward_hook", _Unwritten),
            ("gives back what comes of it", _ForgetsResult),
            ("It was never called", _ForwardAlone),
            ("It was never called", calling(pre=False)),
            ("It was never called", calling(post=False)),
            ("forward got the old arguments", calling(uses_pre=False)),
            ("What they give back is not used", calling(uses_post=False)),
            ("make a tuple of it", calling(wraps=False)),
            ("opposite order", calling(reverse=True)),
            ("None means: leave it", calling(none=False)),
            ("It is a tuple", calling(star=False)),
            ("go through a copy", calling(copy=False)),
            ("tables of hooks of its own", calling(tables="class")),
            ("the arguments that forward got", calling(original=True)),
            ("all arguments", _OneArgument),
            ("Registering has to give a handle", _NoHandles),
            ("A second remove should do nothing", _KeyByFunction),
            ("is there once", _KeyByFunctionTwice),
        ],
        "right": [Module, _AsGenerator, _WithSetattr, calling()],
    },
    "17.7": {
        "wrong": [
            ("It was never called", _NotRegistered),
            ("what a legacy hook sees", _OnFirstModule),
            ("have changed places", hooked(swapped=True)),
            ("Both are what arrives", hooked(both="output")),
            ("What the hook gives back is not used", hooked(replaces=False)),
            ("take it out", hooked(takes="whole")),
            ("also those that go past the module", hooked(gate_in=False)),
            ("lead the result through a node", hooked(gate_out=False)),
            ("Each call has its own pair", _OnlyWhenCalledLast),
            ("not on the module", hooked(store="module")),
            ("not on the module", hooked(store="shared")),
            ("only the last one is left", _OneHook),
            ("call the hook when the one at the result is there", hooked(without_input=False)),
            ("the one before it gave back", hooked(each_gets="arrived")),
            ("Whoever was removed", hooked(removed=False)),
            ("what a full hook sees", hooked(legacy="input")),
            ("Both are what arrives", hooked(legacy="output")),
            ("What the hook gives back is not used", hooked(legacy_replaces=False)),
            ("It has two inputs", hooked(legacy="first")),
            ("It was never called", hooked(legacy="nothing")),
            ("past __call__ of the class below", hooked(forwards=False)),
            ("note them then", _LooksInThePass),
            ("leaves grad_input as it is", _NoneIsAnAnswer),
            ("super().__init__()", _ForgetsSuper),
            ("the graph is cut", _CutsTheGraph),
            ("made in a loop", _LateInALoop),
            ("with three things", _TwoThings),
            ("must not be found by the other", _KeepsTheFirst),
            ("something else than its own", _RemovesAll),
            ("The rule of an identity gives a tuple", _BareIdentity),
            ("nobody is there to get it", _AnswersAtTheResult),
            ("called for another module", _TablesOfTheClass),
            ("nothing is to be done", _NeedsAGradient),
            ("build it on what the last", type("M", (), {"register_backward_hook": print})),
            ("nothing yet for register_full", type("M", (Module,), {"f": print})),
        ],
        "right": [HookedModule, hooked(), _GateNodes],
    },
}
