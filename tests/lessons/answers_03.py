"""Wrong answers and differently written right ones, for the exercises of lesson 03."""

import math
from bisect import insort
from collections import Counter
from operator import attrgetter, itemgetter

from minigrad import nn
from minigrad.classroom.desk import checks

Value = checks("03").Value


def _nodes(root):
    nodes = [root]
    for node in nodes:
        nodes += dict.fromkeys(n for n, _ in node.edges if n not in nodes)
    return sorted(nodes, key=lambda node: -node.number)


def _counted(root):
    return Counter(source for node in _nodes(root) for source, _ in node.edges)


def _on_a_stack(root):
    uses, stack = {root: 0}, [root]
    while stack:
        for source, _ in stack.pop().edges:
            stack += [source] * (source not in uses)
            uses[source] = uses.get(source, 0) + 1
    return uses


def _recursive(root, uses=None):
    uses = Counter() if uses is None else uses
    for source, _ in root.edges:
        uses[source] += 1
        if uses[source] == 1:
            _recursive(source, uses)
    return uses


def _one_dict_for_all(root, uses=Counter()):  # noqa: B006
    uses.update(_counted(root))
    return uses


def _in_order(take):
    def gradients(root):
        waiting, found, ready = _counted(root), {root: 1.0}, [root]
        while ready:
            node = take(ready)
            ready.remove(node)
            for source, slope in node.edges:
                found[source] = found.get(source, 0.0) + slope * found[node]
                waiting[source] -= 1
                ready += [source] * (not waiting[source])
        return found

    return gradients


_number = attrgetter("number")
_gradients = _in_order(lambda ready: max(ready, key=_number))


def _collecting(root):
    waiting, users, found, ready = _counted(root), {root: []}, {}, [root]
    while ready:
        node = ready.pop()
        found[node] = sum(slope * found[user] for user, slope in users[node]) or float(node is root)
        for source, slope in node.edges:
            users.setdefault(source, []).append((node, slope))
            waiting[source] -= 1
            if waiting[source] == 0:
                insort(ready, source, key=_number)
    return found


def _all_paths(root):
    found, todo = {}, [(root, 1.0)]
    while todo:
        node, gradient = todo.pop()
        found[node] = found.get(node, 0.0) + gradient
        todo += [(source, slope * gradient) for source, slope in node.edges]
    return found


def _in_grad(root):
    root.grad = 1.0
    for node in _nodes(root):
        for source, slope in node.edges:
            source.grad = (source.grad or 0.0) + slope * node.grad
    return {node: node.grad for node in _nodes(root)}


def _add(held, gradient):
    return (held or 0.0) + gradient


def _leaves(collect, gradients=_gradients):
    def backward(root):
        for node, gradient in gradients(root).items():
            if not node.edges:
                node.grad = collect(node.grad, gradient)

    return backward


def _emptied_by_the_root(root):
    for node in _nodes(root) if root.grad is not None else ():
        node.grad = None if node.edges else node.grad
    _in_grad(root)


def _inner_ones_emptied(root):
    for node in _nodes(root):
        node.grad = None if node.edges else node.grad
    root.grad = _add(root.grad, 1.0)
    for node in _nodes(root):
        for source, slope in node.edges:
            source.grad = _add(source.grad, slope * node.grad)


class _Stops(list):
    def __iter__(self):
        raise RuntimeError("give the first pass retain_graph=True")


class Engine(Value):
    def __pow__(self, n):
        return type(self)(self.data**n, [(self, n * self.data ** (n - 1))])

    def exp(self):
        return type(self)(math.exp(self.data), [(self, math.exp(self.data))])

    def detach(self):
        return type(self)(self.data)

    def backward(self, retain_graph=False):
        _leaves(_add)(self)
        for node in [] if retain_graph else _nodes(self):
            node.edges = node.release() if node.edges else []

    def release(self):
        return _Stops()


def _engine(**methods):
    return type("Mine", (Engine,), methods)


def _trained(model, optimizer, batches, empty=nn.Module.zero_grad, passes=1, **how):
    losses = []
    for inputs, targets in batches:
        losses += [nn.CrossEntropyLoss(**how)(model(inputs), targets)]
        empty(model)
        for _ in range(passes):
            losses[-1].backward(retain_graph=True)
        optimizer.step()
    return [float(loss) for loss in losses]


ANSWERS = {
    "03.1": {
        "wrong": [
            ("RecursionError", _recursive),
            ("a new one in each call", _one_dict_for_all),
            ("whose keys are nodes", lambda root: Counter(n.number for n in _counted(root))),
            ("values fit", lambda root: {n: k - 1 for n, k in _counted(root).items()}),
            ("wants a function", {"x": 2, "y": 2}),
        ],
        "right": [_counted, _on_a_stack, lambda root: dict(_counted(root)) | {root: 0}],
    },
    "03.2": {
        "wrong": [
            ("waits for two gradients", "L w d b a x c"),
            ("is one missing", "L d b a c x"),
            ("does not belong", "y w d b a c L"),
            ("as soon as its sum is complete", "L, d, w, b, a, c, x"),
            ("Only one node is ready", ["w", "L", "d", "b", "a", "c", "x"]),
        ],
        "right": [list("Lwdbacx"), "L -> w -> d -> b -> a -> c -> x", "lwdbacx"],
    },
    "03.3": {
        "wrong": [
            ("in the wrong order", _in_order(itemgetter(0))),
            ("over and over", _all_paths),
            ("It changed the nodes", _in_grad),
            ("has to return a dict", lambda root: [48.0, 8.0]),
            ("2 of 5 values fit", lambda root: dict.fromkeys(_gradients(root), 1.0)),
        ],
        "right": [_gradients, _collecting, _in_order(lambda ready: sorted(ready, key=_number)[-1])],
    },
    "03.4": {
        "wrong": [
            ("which other nodes have a .grad", _in_grad),
            ("the leaf forgets", _leaves(lambda held, gradient: gradient)),
            ("Nothing arrived in x.grad", lambda root: 24.0),
            ("from another root", _emptied_by_the_root),
            ("over and over", _leaves(_add, _all_paths)),
        ],
        "right": [
            _leaves(_add),
            _leaves(_add, _collecting),
            _leaves(_add, _in_order(itemgetter(0))),
            _inner_ones_emptied,
        ],
    },
    "03.5": {
        "wrong": [
            ("saves only the 3", ("a", "because y was changed in place")),
            ("cosine of its input", "c) because the sine was saved"),
            ("need y", ["d", "because z was made from the old y"]),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "none of the four raises anything")),
        ],
        "right": [("b", "sqrt saves its result"), "B: the rule needs y", ["b", "y was saved"]],
    },
    "03.6": {
        "wrong": [
            ("the result of exp. It isn't the input", _engine(exp=lambda self: self**2)),
            ("whose edges are None", _engine(release=lambda self: None)),
            ("must not look like a leaf", _engine(release=lambda self: [])),
            ("has to be of the class of x", _engine(__pow__=lambda self, n: Value(self.data**n))),
            ("unsupported operand", _engine(detach=lambda self: self.data)),
        ],
        "right": [
            Engine,
            _engine(detach=lambda self: type(self)(self.data + 0.0)),
            _engine(exp=lambda self: type(self)(e := math.e**self.data, [(self, e)])),
        ],
    },
    "03.7": {
        "wrong": [
            ("follows their sum", lambda m, o, b: _trained(m, o, b, empty=id)),
            ("one loss for each batch", lambda m, o, b: _trained(m, o, b)[-1]),
            ("one loss for each batch", lambda m, o, b: _trained(m, o, [next(b)])),
            ("values fit", lambda m, o, b: _trained(m, o, b, passes=2)),
            ("values fit", lambda m, o, b: _trained(m, o, b, reduction="sum")),
        ],
        "right": [
            _trained,
            lambda m, o, b: list(map(lambda each: _trained(m, o, [each])[0], b)),
            lambda m, o, b: _trained(m, o, b, lambda m: [p.grad.zero_() for p in m.parameters()]),
        ],
    },
}
