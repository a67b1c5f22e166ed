"""Typical wrong answers and differently written right ones, for the exercises of lesson 03."""

import math
import sys
from bisect import insort
from collections import Counter, deque
from heapq import heappop, heappush
from importlib import import_module

from minigrad.classroom.desk import checks

Value = import_module(f"{checks('03').__name__}.graphs").Value

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


def _no_zeros(root):
    uses, todo = Counter(), [root]
    while todo:
        for source, slope in todo.pop().edges:
            if slope:
                uses[source] += 1
                if uses[source] == 1:
                    todo.append(source)
    return uses


def _no_leaves(root):
    return {node: count for node, count in _counted(root).items() if node.edges}


def _seen_too_late(root):
    uses, seen, todo = Counter(), set(), [root]
    while todo:
        node = todo.pop(0)
        seen.add(node)
        for source, _ in node.edges:
            uses[source] += 1
            if source not in seen:
                todo.append(source)
    return uses


def _first_hundred(root):
    uses, todo = Counter(), [root]
    for _ in range(100):
        for source, _ in todo.pop().edges if todo else ():
            uses[source] += 1
            if uses[source] == 1:
                todo.append(source)
    return uses


def _kept_on_the_nodes(root):
    nodes, todo = {root}, [root]
    while todo:
        for source, _ in todo.pop().edges:
            source.uses = getattr(source, "uses", 0) + 1
            if source not in nodes:
                nodes.add(source)
                todo.append(source)
    return {node: node.uses for node in nodes - {root}}


def _one_dict_for_all(root, uses=Counter()):  # noqa: B006
    todo = [root]
    while todo:
        for source, _ in todo.pop().edges:
            if source not in uses:
                todo.append(source)
            uses[source] += 1
    return uses


def _pairs_of_edges(root):
    uses, todo = Counter(), [root]
    while todo:
        node = todo.pop()
        if node.edges:
            (a, _), (b, _) = node.edges
            todo += [each for each in {a, b} if each not in uses]
            uses.update([a, b])
    return uses


def _root_counted(root):
    return Counter([root]) + _counted(root)


def _with_a_higher_limit(root):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        return _recursive(root)
    finally:
        sys.setrecursionlimit(limit)


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


def _in_order(take):
    """Make a gradients whose order is that of take(ready)."""

    def gradients(root):
        waiting, found, waits = _counted(root), {root: 1.0}, [root]
        while waits:
            node = take(waits)
            waits.remove(node)
            for source, slope in node.edges:
                found[source] = found.get(source, 0.0) + slope * found[node]
                waiting[source] -= 1
                if not waiting[source]:
                    waits.append(source)
        return found

    return gradients


def _collecting(root):
    """Let each node collect when it runs, in place of sending when it has run."""
    waiting, users, found, ready = _counted(root), {root: []}, {}, [root]
    while ready:
        node = ready.pop()
        found[node] = (
            sum(slope * found[user] for user, slope in users[node]) if users[node] else 1.0
        )
        for source, slope in node.edges:
            users.setdefault(source, []).append((node, slope))
            waiting[source] -= 1
            if waiting[source] == 0:
                insort(ready, source, key=lambda each: each.number)
    return found


def _numbers_on_the_heap(root):
    waiting, known, found = _counted(root), {}, Counter()
    heap, known[root.number], found[root] = [-root.number], root, 1.0
    while heap:
        node = known[-heappop(heap)]
        for source, slope in node.edges:
            known[source.number] = source
            found[source] += found[node] * slope
            waiting[source] -= 1
            if waiting[source] < 1:
                heappush(heap, -source.number)
    return found


def _nodes_on_the_heap(root):
    waiting, found, heap = _counted(root), {root: 1.0}, [root]
    while heap:
        node = heappop(heap)
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
            waiting[source] -= 1
            if not waiting[source]:
                heappush(heap, source)
    return found


def _waits_for_users(root):
    waiting, found, ready = _consumers(root), {root: 1.0}, [root]
    for node in ready:
        for source, slope in node.edges:
            found[source] = found.get(source, 0.0) + slope * found[node]
            waiting[source] -= 1
            if waiting[source] <= 0:
                ready.append(source)
    return found


def _in_grad(root):
    _colleague(root)
    return {node: node.grad for node in _latest_first(root)}


def _taken_apart(root):
    found = _gradients(root)
    for node in found:
        node.edges = ()
    return found


def _rounded_sums(root):
    return {node: round(gradient, 4) for node, gradient in _gradients(root).items()}


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


def _emptied_but_the_root(root):
    _colleague(root)
    for node in _latest_first(root)[1:]:
        if node.edges:
            node.grad = None


def _emptied_after(root):
    held = root.grad or 0.0
    _colleague(root)
    if not root.edges:
        root.grad += held
    for node in _latest_first(root):
        if node.edges:
            node.grad = None


def _one_book_for_all(root, arrived={}):  # noqa: B006
    arrived[root] = 1.0
    for node in _latest_first(root):
        for source, slope in node.edges:
            arrived[source] = arrived.get(source, 0.0) + slope * arrived[node]
        if not node.edges:
            node.grad = (node.grad or 0.0) + arrived[node]


def _at_each_edge(root):
    arrived = {root: 1.0}
    for node in _latest_first(root):
        for source, slope in node.edges:
            arrived[source] = arrived.get(source, 0.0) + slope * arrived[node]
            if not source.edges:
                source.grad = (source.grad or 0.0) + arrived[source]


def _by_paths(root, gradient=1.0):
    if not root.edges:
        root.grad = (root.grad or 0.0) + gradient
    for source, slope in root.edges:
        _by_paths(source, slope * gradient)


def _from_the_wrong_end(root):
    arrived = {root: 1.0}
    for node in reversed(_latest_first(root)):
        for source, slope in node.edges:
            arrived[source] = arrived.get(source, 0.0) + slope * arrived[node]


def _first_come_collected(root):
    for node, gradient in _first_come(root).items():
        if not node.edges:
            node.grad = (node.grad or 0.0) + gradient


def _put_aside(root):
    nodes = _latest_first(root)
    before = {node: node.grad for node in nodes}
    for node in nodes:
        node.grad = 0.0
    root.grad = 1.0
    for node in nodes:
        for source, slope in node.edges:
            source.grad += slope * node.grad
    for node in nodes:
        node.grad = before[node] if node.edges else (before[node] or 0.0) + node.grad


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


def _whole_n(self, n):
    result = self
    for _ in range(n - 1):
        result = result * self
    return result


def _released_for_all():
    released = []

    def backward(self, retain_graph=False):
        if released:
            released.clear()
            raise RuntimeError(_SECOND)
        for node, gradient in _gradients(self).items():
            if not node.edges:
                node.collect(gradient)
            elif not retain_graph:
                released.append(node)

    return backward


def _value_error(self, retain_graph=False):
    if self.released():
        raise ValueError(_SECOND)
    _no_look(self, retain_graph)


def _inner_too(self, retain_graph=False):
    if self.released():
        raise RuntimeError(_SECOND)
    for node, gradient in _gradients(self).items():
        node.collect(gradient)
        if node.edges and not retain_graph:
            node.release()


def _flag_only(self, retain_graph=False):
    found = _gradients(self)
    if any(getattr(node, "gone", False) for node in found):
        raise RuntimeError(_SECOND)
    for node, gradient in found.items():
        if not node.edges:
            node.collect(gradient)
        else:
            node.gone = not retain_graph


def _along_paths(self, retain_graph=False):
    if self.released():
        raise RuntimeError(_SECOND)
    _by_paths(self)
    for node in _latest_first(self):
        if node.edges and not retain_graph:
            node.release()


class _Stops(list):
    def __iter__(self):
        raise RuntimeError(_SECOND)


ANSWERS = {
    "03.1": {
        "wrong": [
            ("calls itself once for each step", _recursive),
            ("Each path is followed by itself", _without_memory),
            ("You count consumers", _consumers),
            ("how many inputs a node has", _inputs),
            ("Only the edges of root", _root_only),
            ("Every node has a one", _ones),
            ("begin with root", _nothing_yet),
            ("it returned nothing", _forgot_return),
            ("have to be the nodes themselves", _by_number),
            ("has to return a dict", lambda root: 2),
            ("slope of zero are left out", _no_zeros),
            ("without edges are left out", _no_leaves),
            ("when it is put on the list", _seen_too_late),
            ("a limit on how many", _first_hundred),
            ("left something behind", _kept_on_the_nodes),
            ("a node of another graph", _one_dict_for_all),
            ("Nodes differ", _pairs_of_edges),
            ("uses of its own", _root_counted),
            ("calls itself once for each step", _with_a_higher_limit),
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
            ("Only one node is ready at the beginning", "x w L d b a c"),
            ("A node runs once", "L w d b a x c x"),
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
            ("order is another one", _depth_first),
            ("order is another one", _in_order(lambda ready: ready[0])),
            ("order is another one", _in_order(lambda ready: ready[-1])),
            ("that was made first", _in_order(lambda r: min(r, key=lambda n: n.number))),
            ("nodes cannot be compared", _nodes_on_the_heap),
            ("wait for its users", _waits_for_users),
            ("left something in .grad", _in_grad),
            ("changed the edges", _taken_apart),
            ("rounded", _rounded_sums),
            ("leaves alone", _only_leaves),
            ("stops on its way", _never_counts_down),
            ("gradient of root itself", _from_zero),
            ("has to return a dict", lambda root: [48.0, 8.0]),
            ("has to return a dict", lambda root: 48.0),
            ("has to work without that", _of_the_engine),
            ("wants a function", 48.0),
        ],
        "right": [_gradients, _collecting, _numbers_on_the_heap],
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
            ("root is a leaf itself", _emptied_before),
            ("keeps the 1", _emptied_but_the_root),
            ("inside of the function", _one_book_for_all),
            ("At each edge", _at_each_edge),
            ("over and over", _by_paths),
            ("Which node comes first", _from_the_wrong_end),
            ("as soon as the first gradient arrives", _first_come_collected),
        ],
        "right": [_emptied_after, _own_book, _put_aside],
    },
    "03.5": {
        "wrong": [
            ("saves only the 3", ("a", "because y was changed in place")),
            ("cosine of its input", ("c", "because the sine was saved")),
            ("need y", ("d", "because z was made from the old y")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "none of the four raises anything")),
        ],
        "right": [
            ("b", "sqrt saves its result, and mul_ writes into it"),
            ("B", "The slope of the root is 1 / (2 y), so the rule needs the old y."),
            ("b", "sqrt keeps its output y; y was then written to."),
            ("b", "mul_ modifies y which sqrt needs in backward; in a, c, d nobody needs y"),
        ],
    },
    "03.6": {
        "wrong": [
            ("n appears in it twice", _own(__pow__=_power)),
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
            ("one recursion for each step", _own(backward=_deep_down)),
            ("no method for x.exp()", _NoExp),
            ("may be any number", _own(__pow__=_whole_n)),
            ("x ** 3 gave a plain Value", _own(__pow__=lambda self, n: Value(self.data**n))),
            ("gave a plain float", _own(detach=lambda self: self.data)),
            ("by the name of retain_graph", _own(backward=lambda self, keep_graph=False: None)),
            ("not to the class", _own(backward=_released_for_all())),
            ("another kind of error", _own(backward=_value_error)),
            ("nobody else", _own(backward=_inner_too)),
            ("edges are still there", _own(backward=_flag_only)),
            ("each path", _own(backward=_along_paths)),
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
