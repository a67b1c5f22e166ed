"""Typical wrong answers and differently written right ones, for the exercises of lesson 03."""

import math
from collections import Counter, deque

from minigrad.classroom.graphs_03 import Value

# --- 03.1: count_uses


def _recursive(root):
    uses, seen = Counter(), set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for source, _ in node.edges:
            uses[source] += 1
            visit(source)

    visit(root)
    return uses


def _without_memory(root):
    uses, todo = Counter(), [root]
    while todo:
        for source, _ in todo.pop().edges:
            uses[source] += 1
            todo.append(source)
    return uses


def _consumers(root):
    uses, todo, seen = {}, [root], set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for source in {source for source, _ in node.edges}:
            uses[source] = uses.get(source, 0) + 1
            todo.append(source)
    return uses


def _inputs(root):
    uses, todo = {}, [root]
    while todo:
        node = todo.pop()
        if node not in uses:
            uses[node] = len(node.edges)
            todo += [source for source, _ in node.edges]
    return uses


def _root_only(root):
    uses = {}
    for source, _ in root.edges:
        uses[source] = uses.get(source, 0) + 1
    return uses


def _ones(root):
    todo, uses = [root], {}
    while todo:
        for source, _ in todo.pop().edges:
            if source not in uses:
                uses[source] = 1
                todo.append(source)
    return uses


def _nothing_yet(root):
    uses, todo = {}, []
    while todo:
        for source, _ in todo.pop().edges:
            uses[source] = uses.get(source, 0) + 1
            todo.append(source)
    return uses


def _forgot_return(root):
    uses = Counter(source for source, _ in root.edges)
    uses[root] = 0


def _by_number(root):
    return {node.number: uses for node, uses in _counted(root).items()}


def _never_ending(root):
    uses, todo = {}, [root]
    while todo:
        for source, _ in todo[0].edges:
            uses[source] = 1
    return uses


def _counted(root):
    uses, todo = Counter(), [root]
    while todo:
        for source, _ in todo.pop().edges:
            uses[source] += 1
            if uses[source] == 1:
                todo.append(source)
    return uses


def _counted_in_rows(root):
    uses, seen, row = {root: 0}, {root}, [root]
    while row:
        sources = [source for node in row for source, _ in node.edges]
        for source in sources:
            uses[source] = uses.get(source, 0) + 1
        row = list(dict.fromkeys(source for source in sources if source not in seen))
        seen |= set(row)
    return uses


# --- 03.3: gradients


def _gradients(root):
    waiting, found, ready = _counted(root), {root: 1.0}, [root]
    while ready:
        node = max(ready, key=lambda each: each.number)
        ready.remove(node)
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
            waiting[source] -= 1
            if waiting[source] == 0:
                ready.append(source)
    return found


def _depth_first(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.edges]
    found = dict.fromkeys(order, 0.0)
    found[root] = 1.0
    for node in reversed(order):
        for source, slope in node.edges:
            found[source] += slope * found[node]
    return found


def _first_come(root):
    found, queue = {root: 1.0}, [root]
    for node in queue:
        for source, slope in node.edges:
            if source not in found:
                queue.append(source)
            found[source] = found.get(source, 0.0) + slope * found[node]
    return found


def _all_paths(root):
    found, todo = {}, [(root, 1.0)]
    while todo:
        node, gradient = todo.pop()
        found[node] = found.get(node, 0.0) + gradient
        todo += [(source, slope * gradient) for source, slope in node.edges]
    return found


def _calling_itself(root):
    waiting, found = _counted(root), {root: 1.0}

    def run(node):
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
            waiting[source] -= 1
            if not waiting[source]:
                run(source)

    run(root)
    return found


def _walk(root, send, start=1.0):
    waiting, found, ready = _counted(root), {root: start}, deque([root])
    while ready:
        node = ready.popleft()
        for source, slope in node.edges:
            found[source] = send(found.get(source, 0.0), slope, found[node], source)
            waiting[source] -= 1
            if not waiting[source]:
                ready.append(source)
    return found


def _overwrites(root):
    return _walk(root, lambda before, slope, gradient, source: slope * gradient)


def _no_slopes(root):
    return _walk(root, lambda before, slope, gradient, source: before + gradient)


def _values(root):
    return _walk(root, lambda before, slope, gradient, source: before + gradient * source.data)


def _from_zero(root):
    return _walk(root, lambda before, slope, gradient, source: before + slope * gradient, start=0.0)


def _never_counts_down(root):
    waiting, found, ready = _counted(root), {root: 1.0}, [root]
    for node in ready:
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
            if waiting[source] == 0:
                ready.append(source)
    return found


def _latest_first(root):
    nodes, todo = {root}, [root]
    while todo:
        for source, _ in todo.pop().edges:
            if source not in nodes:
                nodes.add(source)
                todo.append(source)
    return sorted(nodes, key=lambda node: -node.number)


def _sorted(root):
    order = _latest_first(root)
    found = dict.fromkeys(order, 0.0)
    found[root] = 1.0
    for node in order:
        for source, slope in node.edges:
            found[source] += slope * found[node]
    return found


def _sorted_strictly(root):
    found = {root: 1.0}
    for node in _latest_first(root):
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
    return found


def _only_leaves(root):
    return {node: gradient for node, gradient in _gradients(root).items() if not node.edges}


def _of_the_engine(root):
    import minigrad

    x = minigrad.tensor(root.data, requires_grad=True)
    return minigrad.autograd.grad(x, x)


# --- 03.4: backward


def _colleague(root):
    root.grad = 1.0
    for node in _latest_first(root):
        for source, slope in node.edges:
            source.grad = (source.grad or 0.0) + slope * node.grad


def _root_emptied(root):
    _colleague(root)
    root.grad = None


def _all_emptied(root):
    for node in _latest_first(root):
        node.grad = None
    _colleague(root)


def _only_once(root):
    if root.grad is None:
        _colleague(root)


def _replaced(root):
    root.grad = 1.0
    for node in _latest_first(root):
        for source, slope in node.edges:
            source.grad = slope * node.grad


def _leaves_replaced(root):
    for node, gradient in _sorted(root).items():
        if not node.edges:
            node.grad = gradient


def _two_thirds(root):
    """Patch the 36 that was seen, and nothing else."""
    _colleague(root)
    for node in _latest_first(root):
        if not node.edges and node.grad == 36.0:
            node.grad = 24.0


def _twenty_four(root):
    return 24.0


def _remembers_the_root(root):
    if not hasattr(root, "kept"):
        root.kept = _sorted(root)
    for node, gradient in root.kept.items():
        if not node.edges:
            node.grad += gradient


def _emptied_by_the_root(root):
    if root.grad is not None:
        for node in _latest_first(root):
            if node.edges:
                node.grad = None
    _colleague(root)


def _emptied_before(root):
    for node in _latest_first(root):
        if node.edges:
            node.grad = None
    _colleague(root)


def _emptied_after(root):
    _colleague(root)
    for node in _latest_first(root):
        if node.edges:
            node.grad = None


def _own_book(root):
    for node, gradient in _gradients(root).items():
        if not node.edges:
            node.grad = gradient if node.grad is None else node.grad + gradient


# --- 03.6: Engine

_SECOND = "second pass: the first one needs retain_graph=True"


class Right(Value):
    def __pow__(self, n):
        return Right(self.data**n, [(self, n * self.data ** (n - 1))])

    def exp(self):
        return Right(math.exp(self.data), [(self, math.exp(self.data))])

    def detach(self):
        return Right(self.data)

    def released(self):
        nodes, todo = {self}, [self]
        while todo:
            node = todo.pop()
            if node.edges is None:
                return True
            for source, _ in node.edges:
                if source not in nodes:
                    nodes.add(source)
                    todo.append(source)
        return False

    def release(self):
        self.edges = None

    def collect(self, gradient):
        self.grad = (self.grad or 0.0) + gradient

    def backward(self, retain_graph=False):
        if self.released():
            raise RuntimeError(_SECOND)
        for node, gradient in _gradients(self).items():
            if not node.edges:
                node.collect(gradient)
            elif not retain_graph:
                node.release()


def _variant(**methods):
    return type("Engine", (Right,), methods)


def _power(self, n):
    return type(self)(self.data**n, [(self, n * self.data**n)])


def _exp(self):
    return type(self)(math.exp(self.data), [(self, self.data)])


def _pow_of(self, n):
    return type(self)(self.data**n, [(self, n * self.data ** (n - 1))])


def _exp_of(self):
    result = math.exp(self.data)
    return type(self)(result, [(self, result)])


def _own(**methods):
    """Make a class whose operations give values of that class, with some methods replaced."""
    own = {"__pow__": _pow_of, "exp": _exp_of, "detach": lambda self: type(self)(self.data)}
    return _variant(**(own | methods))


def _refuses_always(self, retain_graph=False):
    if self.released():
        raise RuntimeError(_SECOND)
    for node, gradient in _gradients(self).items():
        if node.edges:
            node.release()
        else:
            node.collect(gradient)


def _no_look(self, retain_graph=False):
    for node, gradient in _gradients(self).items():
        if not node.edges:
            node.collect(gradient)
        elif not retain_graph:
            node.release()


def _looks_at_the_root(self, retain_graph=False):
    if self.edges is None:
        raise RuntimeError(_SECOND)
    _no_look(self, retain_graph)


def _root_released(self, retain_graph=False):
    if self.edges is None:
        raise RuntimeError(_SECOND)
    for node, gradient in _gradients(self).items():
        if not node.edges:
            node.collect(gradient)
    if not retain_graph:
        self.edges = None


def _says_no(self, retain_graph=False):
    if self.released():
        raise RuntimeError("no second time")
    _no_look(self, retain_graph)


def _one_book(self, retain_graph=False):
    _colleague(self)


def _deep_down(self, retain_graph=False):
    if self.released():
        raise RuntimeError(_SECOND)
    for node, gradient in _calling_itself(self).items():
        if not node.edges:
            node.collect(gradient)
        elif not retain_graph:
            node.release()


class _NoExp(Value):
    __pow__ = _pow_of

    def backward(self, retain_graph=False):
        _no_look(self, retain_graph)

    def release(self):
        self.edges = None

    def collect(self, gradient):
        self.grad = (self.grad or 0.0) + gradient


class _Stops(list):
    def __iter__(self):
        raise RuntimeError(_SECOND)


ANSWERS = {
    "03.1": {
        "wrong": [
            ("calls itself once for each step", _recursive),
            ("once for each path", _without_memory),
            ("You count consumers", _consumers),
            ("how many inputs a node has", _inputs),
            ("Only the edges of root", _root_only),
            ("Every node has a one", _ones),
            ("begin with root", _nothing_yet),
            ("did not return a dict", _forgot_return),
            ("keys are the nodes", _by_number),
            ("did not return a dict", lambda root: 2),
            ("take each node off the list", _never_ending),
            ("wants a function", {"x": 2, "y": 2}),
        ],
        "right": [_counted, _counted_in_rows],
    },
    "03.2": {
        "wrong": [
            ("A leaf does not wait", "L d b a c x w"),
            ("A leaf does not wait", ["L", "d", "b", "a", "c", "w", "x"]),
            ("layer by layer", "L, w, d, b, c, a, x"),
            ("layer by layer", "L d w b c a x"),
            ("which of them was made later", "L w d c b a x"),
            ("waits for two gradients", "L w d b a x c"),
            ("The pass starts at the other end", "x c a b d w L"),
            ("it can run as soon as L has", "L d w b a c x"),
            ("is one missing", "L d b a c x"),
            ("does not belong", "L w d b a c y"),
        ],
        "right": [
            ["L", "w", "d", "b", "a", "c", "x"],
            "L -> w -> d -> b -> a -> c -> x",
            "lwdbacx",
        ],
    },
    "03.3": {
        "wrong": [
            ("as soon as the first gradient arrives", _first_come),
            ("over and over", _all_paths),
            ("calls itself once for each step", _calling_itself),
            ("takes the place of the first", _overwrites),
            ("local derivatives are missing", _no_slopes),
            ("source's value", _values),
            ("each thread counts for itself", _sorted),
            ("no node run before its users", _sorted_strictly),
            ("leaves alone", _only_leaves),
            ("stops on its way", _never_counts_down),
            ("root has no gradient yet", _from_zero),
            ("did not return a dict", lambda root: [48.0, 8.0]),
            ("did not return a dict", lambda root: 48.0),
            ("without 'autograd'", _of_the_engine),
            ("wants a function", 48.0),
        ],
        "right": [_gradients, _depth_first],
    },
    "03.4": {
        "wrong": [
            ("who else has a .grad", _colleague),
            ("who else has a .grad", _root_emptied),
            ("the leaf forgets", _all_emptied),
            ("The second pass does nothing", _only_once),
            ("both count", _replaced),
            ("the leaf forgets", _leaves_replaced),
            ("After the run: x.grad after a third pass is", _two_thirds),
            ("Nothing arrived in x.grad", _twenty_four),
            ("mind the first time", _remembers_the_root),
            ("Then two losses shared a node", _emptied_by_the_root),
        ],
        "right": [_emptied_before, _emptied_after, _own_book],
    },
    "03.5": {
        "wrong": [
            ("saves only the 3", ("a", "because y was changed in place")),
            ("cosine of its input", ("c", "because the sine was saved")),
            ("need y", ("d", "because z was made from the old y")),
            ("add your reason", "b"),
            ("Say a little more", ("b", "in place")),
            ("what had been saved", ("b", "because y is multiplied by two there")),
            ("letters a, b, c, d", ("e", "none of the four raises anything")),
        ],
        "right": [
            ("b", "sqrt saves its result, and mul_ writes into it"),
            ("B", "The slope of the root is 1 / (2 y), so the rule needs the old y."),
        ],
    },
    "03.6": {
        "wrong": [
            ("n * x ** (n - 1)", _own(__pow__=_power)),
            ("not what it is given", _own(exp=_exp)),
            ("still has its history", _own(detach=lambda self: self)),
            ("Leaves collect", _own(collect=lambda self, g: setattr(self, "grad", g))),
            ("went through without an error", _own(release=lambda self: None)),
            ("must not look like a leaf", _own(release=lambda self: setattr(self, "edges", []))),
            ("then the edges have to stay", _own(backward=_refuses_always)),
            ("on the whole way", _own(backward=_no_look)),
            ("on the whole way", _own(backward=_looks_at_the_root)),
            ("look at all nodes on the way", _own(backward=_root_released)),
            ("Say in the error's text", _own(backward=_says_no)),
            ("36 instead of 24", _own(backward=_one_book)),
            ("calls itself once for each step", _own(backward=_deep_down)),
            ("There is a method missing", _NoExp),
            ("Nothing arrived", _own(backward=lambda self, retain_graph=False: _gradients(self))),
            ("wants a function", 24.0),
        ],
        "right": [
            _own(),
            _own(
                backward=lambda self, retain_graph=False: _no_look(self, retain_graph),
                release=lambda self: setattr(self, "edges", _Stops()),
            ),
        ],
    },
}
