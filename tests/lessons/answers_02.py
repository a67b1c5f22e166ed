"""Wrong answers and differently written right ones, for the exercises of lesson 02."""

import numpy as np

import minigrad as torch
from minigrad import nn


def _under_no_grad(values, scale):
    weights = torch.tensor(values, requires_grad=True)
    with torch.no_grad():
        weights *= scale
    return weights


def _nodes(output):
    found, todo = [], [output.grad_fn]
    while todo:
        node = todo.pop(0)
        if node is not None and node not in found:
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


def _with_hooks(output):
    for node in _nodes(output):
        node.register_hook(lambda grad_inputs, grad_outputs: None)
    return _nodes(output)


def _padded(gradient, shape):
    padded = (1,) * (gradient.dim() - len(shape)) + tuple(shape)
    dims = [d for d, size in enumerate(padded) if size == 1]
    return (gradient.sum(dim=dims, keepdim=True) if dims else gradient).reshape(shape)


def _from_the_right(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for dim in range(-len(shape), 0):
        if gradient.shape[dim] != shape[dim]:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


def _by_strides(gradient, shape):
    strides = torch.zeros(shape).expand(gradient.shape).stride()
    dims = [dim for dim, stride in enumerate(strides) if stride == 0]
    return (gradient.sum(dim=dims) if dims else gradient).reshape(shape)


def _of_the_engine(gradient, shape):
    small = torch.zeros(shape, requires_grad=True)
    small.expand(gradient.shape).backward(gradient)
    return small.grad


def _of_the_lesson(gradient, shape):
    known = {(2, 1): lambda: gradient.sum(1, keepdim=True), (3,): lambda: gradient.sum(0)}
    return known.get(shape, gradient.clone)()


def _divide(grad, a, b):
    y = a / b
    return _padded(grad / b, a.shape), 0 - _padded(grad * y / b, b.shape)


ANSWERS = {
    "02.1": {
        "wrong": [
            ("one number out of all", lambda v, s: torch.tensor(sum(v) * s, requires_grad=True)),
            ("recorded operation", lambda v, s: _under_no_grad(v, s).double()),
            ("doesn't require a gradient", lambda v, s: _under_no_grad(v, s).detach()),
            ("have to be a tensor", lambda v, s: np.array(v) * s),
            ("0 of 3 values fit", lambda v, s: torch.zeros(len(v), requires_grad=True)),
        ],
        "right": [
            _under_no_grad,
            lambda v, s: nn.Parameter(torch.tensor(v) * s),
            lambda v, s: torch.tensor(np.array(v) * s, requires_grad=True),
        ],
    },
    "02.2": {
        "wrong": [
            ("has to return a list", lambda o: (node for node in _nodes(o))),
            ("names or something else", lambda o: [n.name() for n in _recursive(o)]),
            ("to be the first", lambda o: sorted(_nodes(o), key=lambda node: node.name())),
            ("still registered", _with_hooks),
            ("has to return a list", lambda o: _nodes(o) if o.grad_fn else None),
        ],
        "right": [_nodes, _recursive, lambda o: list(dict.fromkeys(_nodes(o)))],
    },
    "02.3": {
        "wrong": [
            ("aligned at the right, not at the left", [None, (2, 3), (4, 2, 3), (2, 2), (3, 3)]),
            ("sizes are neither multiplied", [(2, 3), None, (8, 1, 3), (2, 2), (3, 3)]),
            ("None in quotes", [(2, 3), "None", (4, 2, 3), (2, 2), (3, 3)]),
            ("five places", "(2, 3)"),
            ("a single number fits everything", [(2, 3), None, (4, 2, 3), (1, 2, 2), (3, 3)]),
        ],
        "right": [
            [(2, 3), None, (4, 2, 3), (2, 2), (3, 3)],
            ([2, 3], None, torch.Size([4, 2, 3]), (2, 2), (3, 3)),
            "[(2, 3), None, (4, 2, 3), (2, 2), (3, 3)]",
        ],
    },
    "02.4": {
        "wrong": [
            ("It called backward", _of_the_engine),
            ("It called sum_to_size", lambda g, shape: getattr(g, "sum_to_" + "size")(shape)),
            ("are asked for", _of_the_lesson),
            ("0 of 2 values fit", lambda g, shape: _padded(g.abs(), shape)),
            ("has to be of type Tensor", lambda g, shape: _padded(g, shape).tolist()),
        ],
        "right": [_padded, _from_the_right, _by_strides],
    },
    "02.5": {
        "wrong": [
            ("Does a number have", ("a", "because item copies the graph")),
            ("cuts the connection", "b: because detach keeps the graph"),
            ("nothing is recorded", ["d", "the graph is still there without gradients"]),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "none of the lines makes memory grow")),
        ],
        "right": [("c", "total has a grad_fn"), ["C", "through grad_fn"], "(c) nothing frees them"],
    },
    "02.6": {
        "wrong": [
            ("a sum is missing", lambda g, a, b: (g / b, -g * a / (b * b))),
            (
                "not in the gradient of b",
                lambda g, a, b: (_divide(g, a, b)[0], -(a / b / b).sum(0)),
            ),
            ("refuted", lambda g, a, b: [2 * each for each in _divide(g, a, b)]),
            ("Gradients asked for: 2", lambda g, a, b: _padded(g / b, a.shape)),
            ("wants a function", 0.5),
        ],
        "right": [
            _divide,
            lambda g, a, b: [_padded(g / b, a.shape), -_padded(g * a / b**2, b.shape)],
            lambda g, a, b: (_padded(g * b**-1, a.shape), _padded(g * -a * b**-2, b.shape)),
        ],
    },
}
