# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return,misc"
# ruff: noqa: D101, D102, D103
"""Hold the reference's answers to lesson 17, word for word as they stand in the solution notebook.

Who has not solved a checkpoint goes on from here. A test compares each section with its cell.
"""

from collections import Counter
from functools import wraps
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

_answers: dict[str, Any] = {}


def checkpoints() -> list[str]:
    """List the checkpoints."""
    return list(_answers)


def mine(checkpoint: str) -> Any:
    """Give the reference's answer to a checkpoint: in here nobody else has any."""
    return _answers[checkpoint]


# --- 17.1


class Value:
    def __init__(self, data, edges=()):
        self.data, self.grad, self.edges = data, 0.0, edges

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        order = []

        def visit(value):
            if value not in order:
                for source, _ in value.edges:
                    visit(source)
                order.append(value)

        visit(self)
        arrived = {value: 0.0 for value in order} | {self: 1.0}
        for value in reversed(order):
            value.grad += arrived[value]
            for source, slope in value.edges:
                arrived[source] += slope * arrived[value]


# --- 17.2


class Recorded:
    made = count()

    def __init__(self, data, requires_grad=False):
        self.data, self.requires_grad = np.asarray(data, dtype=float), requires_grad
        self.grad, self.inputs, self.rule = None, (), None
        self.number = next(Recorded.made)

    def result(self, data, inputs, rule):
        made = type(self)(data, any(x.requires_grad for x in inputs))
        if made.requires_grad:
            made.inputs, made.rule = inputs, rule
        return made

    def wrap(self, other):
        return other if isinstance(other, Recorded) else type(self)(other)

    def __add__(self, other):
        other = self.wrap(other)
        return self.result(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        a, b = self.data, self.wrap(other).data
        return self.result(a * b, (self, self.wrap(other)), lambda g: (g * b, g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return self.result(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g))

    def __pow__(self, n):
        x = self.data
        return self.result(x**n, (self,), lambda g: (g * n * x ** (n - 1),))

    def tanh(self):
        y = np.tanh(self.data)
        return self.result(y, (self,), lambda g: (g * (1 - y**2),))

    def relu(self):
        return self.result(np.maximum(self.data, 0), (self,), lambda g: (g * (self.data > 0),))

    def sum(self, axis=None, keepdims=False):
        def rule(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return (g * np.ones_like(self.data),)

        return self.result(self.data.sum(axis=axis, keepdims=keepdims), (self,), rule)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -self.wrap(other)

    def __rsub__(self, other):
        return -self + other

    __radd__, __rmul__ = __add__, __mul__


_answers["17.1"], _answers["17.2"] = Value, Recorded

# --- 17.3


def unbroadcast(gradient, shape):
    added = gradient.ndim - len(shape)
    stretched = [added + axis for axis, size in enumerate(shape) if size == 1]
    axes = (*range(added), *stretched)
    return gradient.sum(axis=axes, keepdims=True).reshape(shape)


_answers["17.3"] = unbroadcast

# --- given behind 17.3


to_shape = mine("17.3")


class Broadcasting(mine("17.2")):
    def result(self, data, inputs, rule):
        @wraps(rule)
        def reduced(gradient):
            pairs = zip(rule(gradient), inputs, strict=True)
            return tuple(to_shape(part, x.data.shape) for part, x in pairs)

        return super().result(data, inputs, reduced)


# --- 17.4


class Differentiable(Broadcasting):
    def complete(self, gradient):
        if not self.inputs:
            self.grad = gradient.copy() if self.grad is None else self.grad + gradient
        return gradient

    def backward(self, gradient=None):
        if not self.requires_grad:
            raise RuntimeError("nothing that leads here requires a gradient")
        if gradient is None:
            if self.data.size != 1:
                raise RuntimeError("a gradient is needed: there is more than one entry")
            gradient = np.ones_like(self.data)
        waiting, todo = Counter(), [self]
        while todo:
            for source in todo.pop().inputs:
                waiting[source] += 1
                if waiting[source] == 1:
                    todo.append(source)
        arrived, ready = {self: gradient}, [(0, 0, self)]
        while ready:
            tensor = heappop(ready)[-1]
            gradient = tensor.complete(arrived.pop(tensor))
            parts = tensor.rule(gradient) if tensor.inputs else ()
            for source, part in zip(tensor.inputs, parts, strict=True):
                if source.requires_grad:
                    arrived[source] = arrived[source] + part if source in arrived else part
                    waiting[source] -= 1
                    if not waiting[source]:
                        heappush(ready, (bool(source.inputs), -source.number, source))


_answers["17.4"] = Differentiable

# --- 17.5


class Handle:
    keys = count()

    def __init__(self, table, hook):
        self.table, self.key = table, next(Handle.keys)
        table[self.key] = hook

    def remove(self):
        self.table.pop(self.key, None)


class Hookable(mine("17.4")):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.hooks = {}

    def register_hook(self, hook):
        return Handle(self.hooks, hook)

    def complete(self, gradient):
        for hook in list(self.hooks.values()):
            replaced = hook(gradient)
            gradient = gradient if replaced is None else replaced
        return super().complete(gradient)


_answers["17.5"] = Hookable

# --- 17.6


class Module:
    def __init__(self):
        self.forward_pre_hooks, self.forward_hooks = {}, {}

    def register_forward_pre_hook(self, hook):
        return Handle(self.forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        return Handle(self.forward_hooks, hook)

    def named_parameters(self):
        names = {}
        for name, value in vars(self).items():
            if getattr(value, "requires_grad", False) and not value.inputs:
                names.setdefault(value, name)
        for name, value in vars(self).items():
            if isinstance(value, Module):
                for inner, parameter in value.named_parameters():
                    names.setdefault(parameter, f"{name}.{inner}")
        return [(name, parameter) for parameter, name in names.items()]

    def __call__(self, *args):
        for hook in list(self.forward_pre_hooks.values()):
            replaced = hook(self, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
        result = self.forward(*args)
        for hook in list(self.forward_hooks.values()):
            replaced = hook(self, args, result)
            result = result if replaced is None else replaced
        return result


_answers["17.6"] = Module

# --- 17.7


def identity(x):
    return x.result(x.data, (x,), lambda g: (g,))


def run_hooks(hooks, module, grad_input, grad_output):
    for hook in hooks:
        replaced = hook(module, grad_input, grad_output)
        grad_input = grad_input if replaced is None else replaced
    return grad_input


class HookedModule(mine("17.6")):
    def __init__(self):
        super().__init__()
        self.full_hooks, self.legacy_hooks = {}, {}

    def register_full_backward_hook(self, hook):
        return Handle(self.full_hooks, hook)

    def register_backward_hook(self, hook):
        return Handle(self.legacy_hooks, hook)

    def __call__(self, x):
        result = self.between_gates(x) if self.full_hooks else super().__call__(x)
        if self.legacy_hooks and result.inputs:
            hooks, rule = list(self.legacy_hooks.values()), result.rule
            result.rule = lambda g: run_hooks(hooks, self, tuple(rule(g)), (g,))
        return result

    def between_gates(self, x):
        hooks, arrived = list(self.full_hooks.values()), []

        def at_output(gradient):
            arrived[:] = [gradient]
            if not x.requires_grad:
                run_hooks(hooks, self, (None,), (gradient,))

        def at_input(gradient):
            return run_hooks(hooks, self, (gradient,), tuple(arrived))[0]

        gate = identity(x)
        result = identity(super().__call__(gate))
        if result.requires_grad:
            result.register_hook(at_output)
        if gate.requires_grad:
            gate.register_hook(at_input)
        return result


_answers["17.7"] = HookedModule
