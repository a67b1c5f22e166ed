"""Typical wrong answers and differently written right ones, for the exercises of lesson 02."""

import numpy as np

import minigrad as torch
from minigrad import nn

# --- 02.1: weights


def _colleague(values, scale):
    return torch.tensor(values, requires_grad=True) * scale


def _kept(values, scale):
    weights = torch.tensor(values, requires_grad=True) * scale
    weights.retain_grad()
    return weights


def _in_place(values, scale):
    weights = torch.tensor(values, requires_grad=True)
    weights *= scale
    return weights


def _flag_on_a_result(values, scale):
    return (torch.tensor(values, requires_grad=True) * scale).requires_grad_()


def _not_asked(values, scale):
    with torch.no_grad():
        return torch.tensor(values, requires_grad=True) * scale


def _detached(values, scale):
    return _colleague(values, scale).detach()


def _only_made(values, scale):
    weights = torch.tensor(values) * scale
    weights.requires_grad_()


def _list_in_place(values, scale):
    for place in range(len(values)):
        values[place] *= scale
    return torch.tensor(values, requires_grad=True)


def _under_no_grad(values, scale):
    weights = torch.tensor(values, requires_grad=True)
    with torch.no_grad():
        weights *= scale
    return weights


# --- 02.2: walk


def _nodes(output):
    found, todo = [], [output.grad_fn]
    while todo:
        node = todo.pop(0)
        if node is None or node in found:
            continue
        found.append(node)
        todo += [source for source, _ in node.next_functions]
    return found


def _recursive(output):
    found = []

    def visit(node):
        if node is not None and node not in found:
            found.append(node)
            for source, _ in node.next_functions:
                visit(source)

    visit(output.grad_fn)
    return found


def _paths(output):
    def below(node):
        if node is None:
            return []
        return [node] + [each for source, _ in node.next_functions for each in below(source)]

    return below(output.grad_fn)


def _twice(output):
    found, todo, seen = [], [output.grad_fn], set()
    while todo:
        node = todo.pop(0)
        if node is not None:
            found.append(node)
            todo += [source for source, _ in node.next_functions if node not in seen]
            seen.add(node)
    return found


def _no_none(output):
    found = [output.grad_fn]
    for node in found:
        found += [source for source, _ in node.next_functions if source not in found]
    return found


def _with_none(output):
    found = [] if output.grad_fn is None else [output.grad_fn]
    for node in found:
        if node is not None:
            for source, _ in node.next_functions:
                if source not in found:
                    found.append(source)
    return found


def _edges(output):
    found = [] if output.grad_fn is None else [(output.grad_fn, 0)]
    for node, _ in found:
        for edge in node.next_functions:
            if edge[0] is not None and edge not in found:
                found.append(edge)
    return found


def _forgot_return(output):
    _nodes(output)


def _by_name(output):
    found = _nodes(output)
    return list({node.name(): node for node in reversed(found)}.values())[::-1]


def _once_at_each_node(output):
    def below(node):
        sources = dict.fromkeys(source for source, _ in node.next_functions if source)
        return [node] + [each for source in sources for each in below(source)]

    return below(output.grad_fn) if output.grad_fn else []


def _paths_then_once(output):
    return list(dict.fromkeys(_paths(output)))


def _remembers(output, seen=set()):  # noqa: B006
    found = [node for node in _nodes(output) if node not in seen]
    seen.update(found)
    return found


def _sorted(output):
    return sorted(_nodes(output), key=lambda node: node.name())


def _first_edges(output):
    found, node = [], output.grad_fn
    while node is not None:
        found.append(node)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def _none_for_a_leaf(output):
    return _nodes(output) if output.grad_fn else None


def _with_hooks(output):
    for node in _nodes(output):
        node.register_hook(lambda grad_inputs, grad_outputs: None)
    return _nodes(output)


def _after_backward(output):
    if output.grad_fn is not None:
        output.sum().backward()
    return _nodes(output)


def _levels(output):
    level, found = [output.grad_fn] if output.grad_fn else [], []
    while level:
        found += level
        sources = (source for node in level for source, _ in node.next_functions)
        level = list(dict.fromkeys(s for s in sources if s is not None and s not in found))
    return found


def _neighbors(output):
    if output.grad_fn is None:
        return []
    return [output.grad_fn, *dict.fromkeys(s for s, _ in output.grad_fn.next_functions if s)]


def _root_only(output):
    return [output.grad_fn] if output.grad_fn else []


def _operations(output):
    return [node for node in _nodes(output) if node.next_functions]


# --- 02.4: unbroadcast


def _right(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def _padded(gradient, shape):
    padded = (1,) * (gradient.dim() - len(shape)) + tuple(shape)
    dims = [d for d, size in enumerate(padded) if size == 1]
    return (gradient.sum(dim=dims, keepdim=True) if dims else gradient).reshape(shape)


def _multiplied(gradient, shape):
    """Sum where sizes differ, from the right; then drop what is missing."""
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for dim in range(-len(shape), 0):
        if gradient.shape[dim] != shape[dim]:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


def _mean(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.mean(dim=0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.mean(dim=dim, keepdim=True)
    return gradient


def _missing_only(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    return gradient


def _dropped(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for dim in reversed(range(len(shape))):
        if shape[dim] == 1:
            gradient = gradient.sum(dim=dim)
    return gradient


def _only_ones(gradient, shape):
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def _last(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=-1)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def _no_dims(gradient, shape):
    missing = gradient.dim() - len(shape)
    gradient = gradient.sum(dim=tuple(range(missing)))
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def _first_one(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    return gradient.sum(dim=shape.index(1), keepdim=True) if 1 in shape else gradient


def _drops_one(gradient, shape):
    if gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def _ones_at_the_end(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for _ in range(tuple(shape).count(1)):
        gradient = gradient.sum(dim=-1, keepdim=True)
    return gradient


def _shifting(gradient, shape):
    for dim in range(gradient.dim() - len(shape)):
        gradient = gradient.sum(dim=dim)
    return _right(gradient, shape)


def _of_the_lesson(gradient, shape):
    if shape == (2, 1):
        return gradient.sum(dim=1, keepdim=True)
    if shape == (3,):
        return gradient.sum(dim=0)
    return gradient.sum() if shape == () else gradient


def _without_signs(gradient, shape):
    return _right(gradient.abs(), shape)


def _another(gradient, shape):
    return _right(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), shape)


def _number_as_row(gradient, shape):
    return _right(gradient, shape) if shape else gradient.sum().reshape(1)


def _by_grad(gradient, shape):
    small = torch.zeros(shape, requires_grad=True)
    return torch.autograd.grad(small.expand(gradient.shape), small, gradient)[0]


def expand(shape, dims):
    return (1,) * (dims - len(shape)) + tuple(shape)


def _with_a_helper(gradient, shape):
    for dim, size in enumerate(expand(shape, gradient.dim())):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient.reshape(shape)


def _by_strides(gradient, shape):
    strides = torch.zeros(shape).expand(gradient.shape).stride()
    dims = [dim for dim, stride in enumerate(strides) if stride == 0]
    return (gradient.sum(dim=dims) if dims else gradient).reshape(shape)


def _of_the_engine(gradient, shape):
    small = torch.zeros(shape, requires_grad=True)
    small.expand(gradient.shape).backward(gradient)
    return small.grad


def _emptied(gradient, shape):
    result = _right(gradient, shape).clone()
    gradient.zero_()
    return result


def _as_list(gradient, shape):
    return _right(gradient, shape).tolist()


# --- 02.6: divide_rule


def _divide(grad, a, b):
    return _right(grad / b, a.shape), _right(-grad * a / b**2, b.shape)


def _divide_by_result(grad, a, b):
    for_a = grad / b
    return [_right(for_a, a.shape), _right(-for_a * (a / b), b.shape)]


def _reused(grad, a, b):
    for_a = _right(grad / b, a.shape)
    return for_a, _right(-for_a * a / b, b.shape)


def _by_quotient(grad, a, b):
    y = a / b
    return _right(grad / b, a.shape), 0 - _right(grad * y / b, b.shape)


def _summed_first(grad, a, b):
    return _right(grad, a.shape) / b, -_right(grad, b.shape) * a / (b * b)


ANSWERS = {
    "02.1": {
        "wrong": [
            ("still the result of a recorded operation", _colleague),
            ("retain_grad lets you see", _kept),
            ("in place, which is refused", _in_place),
            ("still the result of a recorded operation", _flag_on_a_result),
            ("nobody asks for its gradient", _not_asked),
            ("nobody asks for its gradient", _detached),
            ("the scale got lost", lambda values, scale: torch.tensor(values, requires_grad=True)),
            ("None", _only_made),
            ("It changed the list", _list_in_place),
            ("A list cannot be multiplied", lambda values, scale: torch.tensor(values * scale)),
            ("in there twice", lambda values, scale: _under_no_grad(values, scale * scale)),
            ("divides by the scale", lambda values, scale: _under_no_grad(values, 1 / scale)),
            ("values is not used", lambda v, s: (torch.ones(len(v)) * s).requires_grad_()),
            ("One number for all", lambda v, s: torch.tensor(sum(v) * s, requires_grad=True)),
            ("still the result", lambda values, scale: _under_no_grad(values, scale).double()),
            ("has to be of type Tensor", lambda values, scale: [v * scale for v in values]),
            ("has to be of type Tensor", lambda values, scale: np.array(values) * scale),
            ("whatever goes in", lambda values, scale: torch.zeros(3, requires_grad=True)),
            ("wants a function", torch.tensor([0.1], requires_grad=True)),
        ],
        "right": [
            lambda values, scale: (torch.tensor(values) * scale).requires_grad_(),
            lambda values, scale: torch.tensor([v * scale for v in values], requires_grad=True),
            lambda values, scale: nn.Parameter(torch.tensor(values) * scale),
            lambda values, scale: _colleague(values, scale).detach().requires_grad_(),
            _under_no_grad,
            lambda values, scale: torch.tensor(np.array(values) * scale, requires_grad=True),
            lambda values, scale: _not_asked(values, scale).clone().requires_grad_(),
        ],
    },
    "02.2": {
        "wrong": [
            ("is in your list twice", _paths),
            ("each path", _paths_then_once),
            ("used in two places", _once_at_each_node),
            ("A second call", _remembers),
            ("to be the first, in every list", _sorted),
            ("follow one edge", _first_edges),
            ("Asked for is an empty list", _none_for_a_leaf),
            ("still registered", _with_hooks),
            ("A walk only looks", _after_backward),
            ("a generator", lambda output: (node for node in _nodes(output))),
            ("is in your list twice", _twice),
            ("Somewhere it meets a None", _no_none),
            ("None is in your list", _with_none),
            ("pairs of a node and a number", _edges),
            ("names or something else", lambda output: [n.name() for n in _nodes(output)]),
            ("Is a return missing", _forgot_return),
            ("has to return a list", lambda output: set(_nodes(output))),
            ("has to return a list", lambda output: len(_nodes(output))),
            ("The nodes of the leaves are missing", _operations),
            ("be different nodes", _by_name),
            ("one step from output.grad_fn", _neighbors),
            ("that you start from is missing", lambda output: _nodes(output)[1:]),
            ("has to be the first", lambda output: _nodes(output)[::-1]),
            ("Its edges lead on", _root_only),
            ("Every list is empty", lambda output: []),
            ("wants a function", ["MulBackward0", "AccumulateGrad"]),
        ],
        "right": [_nodes, _recursive, _levels, lambda output: list(dict.fromkeys(_nodes(output)))],
    },
    "02.3": {
        "wrong": [
            ("aligned at the right, not at the left", [None, (2, 3), (4, 2, 3), (2, 2), (3, 3)]),
            ("aligned at the right, not at the left", [(2, 3), (2, 3), None, (2, 2), (3, 3)]),
            ("Entry [0]: they fit", [None, None, (4, 2, 3), (2, 2), (3, 3)]),
            ("a column and a row", [(2, 3), None, (4, 2, 3), (2, 2), (3, 1)]),
            ("a column and a row", [(2, 3), None, (4, 2, 3), (2, 2), (3,)]),
            ("Entry [2]: they fit", [(2, 3), None, None, (2, 2), (3, 3)]),
            ("in whichever of the two it is", [(2, 3), None, (4, 1, 3), (2, 2), (3, 3)]),
            ("in whichever of the two it is", [(2, 3), None, (4, 2, 1), (2, 2), (3, 3)]),
            ("a single number fits everything", [(2, 3), None, (4, 2, 3), None, (3, 3)]),
            ("a single number fits everything", [(2, 3), None, (4, 2, 3), (), (3, 3)]),
            ("no shapes", [(2, 3), False, (4, 2, 3), (2, 2), (3, 3)]),
            ("None in quotes", [(2, 3), "None", (4, 2, 3), (2, 2), (3, 3)]),
            ("values fit", [(2, 3), 0, (4, 2, 3), (2, 2), (3, 3)]),
            ("without quotes", [(2, 3), "error", (4, 2, 3), (2, 2), (3, 3)]),
            ("There are 9 values here", [(2, 3), None, (4, 2, 3), (2, 2), 9]),
            ("five places", "(2, 3)"),
            ("five places", [(2, 3), (4, 2, 3), (2, 2), (3, 3)]),
            ("numbers of entries", [6, None, 24, 4, 9]),
            ("opposite order", [(3, 3), (2, 2), (4, 2, 3), None, (2, 3)]),
            ("() is the shape of a single number", [(2, 3), (), (4, 2, 3), (2, 2), (3, 3)]),
            ("columns keep their order", [(3, 2), None, (4, 2, 3), (2, 2), (3, 3)]),
            ("as the longer of the two", [(2, 3), None, (4, 1, 3, 1), (2, 2), (3, 3)]),
            ("neither multiplied", [(2, 3), None, (8, 1, 3), (2, 2), (3, 3)]),
            ("adds none", [(2, 3), None, (4, 2, 3), (1, 2, 2), (3, 3)]),
        ],
        "right": [
            [(2, 3), None, (4, 2, 3), (2, 2), (3, 3)],
            ([2, 3], None, torch.Size([4, 2, 3]), (2, 2), (3, 3)),
        ],
    },
    "02.4": {
        "wrong": [
            ("passed on as it came", lambda gradient, shape: gradient),
            ("arrange entries anew", lambda gradient, shape: gradient.reshape(shape)),
            ("You take the mean", _mean),
            ("Those of size 1 are not yet", _missing_only),
            ("see keepdim", _dropped),
            ("You sum the last dimensions", _last),
            ("sum(dim=()) takes all", _no_dims),
            ("Only what was repeated", lambda g, shape: torch.zeros(shape) + g.sum()),
            ("missing in shape are still there", _only_ones),
            ("It called backward", _of_the_engine),
            ("derivative found for it", _by_grad),
            ("It called sum_to_size", lambda g, shape: getattr(g, "sum_to_" + "size")(shape)),
            ("a shape may have several", _first_one),
            ("takes away one missing", _drops_one),
            ("sum the last dimension for each 1", _ones_at_the_end),
            ("one less", _shifting),
            ("shapes of the specification", _of_the_lesson),
            ("the signs do not", _without_signs),
            ("use its argument", _another),
            ("() is the shape", _number_as_row),
            ("changed what it was given", _emptied),
            ("has to be of type Tensor", _as_list),
            ("Zeros of the right shape", lambda gradient, shape: torch.zeros(shape)),
            ("wants a function", (2, 1)),
        ],
        "right": [_right, _padded, _multiplied, _with_a_helper, _by_strides],
    },
    "02.5": {
        "wrong": [
            ("Does a number know", ("a", "because item copies the graph")),
            ("cuts the thread", ("b", "because detach keeps the graph")),
            ("nothing is recorded", ("d", "the graph is still there without gradients")),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "none of the lines makes memory grow")),
        ],
        "right": [
            ("c", "total has a grad_fn, and through it all graphs are reached"),
            ("c", "total -> grad_fn -> node of each loss -> saved tensors"),
            ("c", "unlike the others it is not cut off, total drags the record of each pass along"),
            ("c", "no backward() frees the saved values, and total leads to all of them"),
        ],
    },
    "02.6": {
        "wrong": [
            (
                "A sign is lost",
                lambda g, a, b: (_right(g / b, a.shape), _right(g * a / (b * b), b.shape)),
            ),
            (
                "One b is missing",
                lambda g, a, b: (_right(g / b, a.shape), _right(-g * a / b, b.shape)),
            ),
            (
                "slope of 1 / b",
                lambda g, a, b: (_right(g / b, a.shape), _right(-g / (b * b), b.shape)),
            ),
            (
                "the slopes alone",
                lambda g, a, b: (
                    _right(torch.ones_like(g) / b, a.shape),
                    _right(-torch.ones_like(g) * a / (b * b), b.shape),
                ),
            ),
            ("a sum is missing", lambda g, a, b: (g / b, -g * a / (b * b))),
            ("What arrives, the first argument,", lambda g, a, b: (1 / b, -a / (b * b))),
            ("before it is summed", lambda g, a, b: (_right(1 / b, a.shape), None)),
            (
                "the rule of a product",
                lambda g, a, b: (_right(g * b, a.shape), _right(g * a, b.shape)),
            ),
            ("opposite order", lambda g, a, b: _divide(g, a, b)[::-1]),
            ("multiply first, then sum", _summed_first),
            ("which is summed already", _reused),
            (
                "takes it out again",
                lambda g, a, b: (_divide(g, a, b)[0], _right(-g * a / b * b, b.shape)),
            ),
            (
                "the two are exchanged",
                lambda g, a, b: (_divide(g, a, b)[0], _right(-g * b / a**2, b.shape)),
            ),
            ("It gave 1 gradients", lambda g, a, b: _right(g / b, a.shape)),
            ("wants a function", 0.5),
        ],
        "right": [_divide, _divide_by_result, _by_quotient],
    },
}
