"""See gradient edges in the place of tensors, and nodes: who they are, what they can be asked."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def edge_of(torch, tensor):
    """Give the gradient edge of a tensor."""
    return torch.autograd.graph.get_gradient_edge(tensor)


@family
def what_an_edge_is(torch, log):
    """Node and output number, for inner tensors, leaves and one of several outputs."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    a, b = y.unbind(0)
    for name, tensor in (("inner", y), ("leaf", x), ("first", a), ("second", b)):
        edge = edge_of(torch, tensor)
        log(name, edge.node, edge.output_nr, type(edge).__name__, edge._fields, len(edge))
    log("same", edge_of(torch, y).node is y.grad_fn)
    log("leaf", edge_of(torch, x).node is y.grad_fn.next_functions[0][0])
    log("equal", edge_of(torch, y) == edge_of(torch, y), edge_of(torch, a) == edge_of(torch, b))
    log.raises("constant", lambda: edge_of(torch, torch.tensor(1.0)))
    log.raises("detached", lambda: edge_of(torch, y.detach()))


@family
def an_edge_of_a_view(torch, log):
    """The edge of a view whose base was changed in place."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    part = y[:1]
    before = edge_of(torch, part).node
    y.mul_(3)
    log("after", edge_of(torch, part).node, edge_of(torch, part).node is before)


@family
def as_inputs(torch, log):
    """grad() and backward() take edges where they take tensors."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    z = y.exp()
    edge = edge_of(torch, y)
    total = z.sum()
    log("grad", torch.autograd.grad(total, edge, retain_graph=True))
    log("mixed", torch.autograd.grad(total, (edge, x, edge_of(torch, x)), retain_graph=True))
    total.backward(inputs=edge_of(torch, x), retain_graph=True)
    log("leaf", x.grad)
    total.backward(inputs=[edge], retain_graph=True)
    log("inner", x.grad)
    log("create_graph", torch.autograd.grad(total, edge, create_graph=True))


@family
def put_together_by_hand(torch, log):
    """An edge to another output of a node, made without its tensor, starts a pass there."""
    x = leaf(torch, (2,), 1)
    first, _ = (x * 2).unbind()
    edge = torch.autograd.graph.GradientEdge(first.grad_fn, 1)
    torch.autograd.backward(edge, torch.tensor(3.0))
    log("gradient", x.grad)
    edge = torch.autograd.graph.GradientEdge(edge_of(torch, x).node, 0)
    torch.autograd.backward(edge, torch.tensor([1.0, 2.0]))
    log("of a leaf", x.grad)
    log.raises("shape", lambda: torch.autograd.backward(edge, torch.ones(3)))


@family
def as_inputs_refused(torch, log):
    """Unused edges, and materialize_grads."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    y, v = x * 2, w * 3
    edge = edge_of(torch, v)
    grad = torch.autograd.grad
    log.raises("unused", lambda: grad(y.sum(), edge, retain_graph=True))
    log.raises("allowed", lambda: grad(y.sum(), edge, allow_unused=True, retain_graph=True))
    log.raises("materialize", lambda: grad(y.sum(), edge, materialize_grads=True))
    used = edge_of(torch, y)
    log.raises("used", lambda: grad(y.sum(), used, materialize_grads=True))


@family
def as_roots(torch, log):
    """A pass may start at edges."""
    x = leaf(torch, (2,), 1)
    y = x * x
    total = y.sum()
    start = torch.tensor([1.0, 10.0])
    torch.autograd.backward(edge_of(torch, y), start, retain_graph=True)
    log("with a gradient", x.grad)
    torch.autograd.backward([edge_of(torch, total)], retain_graph=True)
    log("a scalar", x.grad)
    torch.autograd.backward([edge_of(torch, y), total], [start, None], retain_graph=True)
    log("mixed", x.grad)
    log("grad", torch.autograd.grad(edge_of(torch, y), x, start, retain_graph=True))
    log("leaf", torch.autograd.grad(edge_of(torch, x), x, start))
    torch.autograd.backward(edge_of(torch, x), start)
    log("leaf", x.grad)
    node, number, _ = edge_of(torch, y)
    made = torch.autograd.graph.GradientEdge(node, number)
    torch.autograd.backward(made, start)
    log("made by hand", x.grad)


@family
def as_roots_refused(torch, log):
    """No gradient for a vector, wrong shapes, no such output."""
    x = leaf(torch, (2,), 1)
    y = x * x
    backward = torch.autograd.backward
    log.raises("no gradient", lambda: backward(edge_of(torch, y)))
    log.raises("shape", lambda: backward(edge_of(torch, y), torch.tensor([1.0, 2.0, 3.0])))
    log.raises("number", lambda: backward(edge_of(torch, y), 3.0))
    log.raises("neither", lambda: backward(3.0))
    log.raises("a node", lambda: backward(y.grad_fn, torch.tensor([1.0, 2.0])))


@family
def an_edge_keeps_no_values(torch, log):
    """Hooks on the tensor run, and its grad is not kept, when only the edge is left."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    y.register_hook(log.hook("hook"))
    y.retain_grad()
    edge = edge_of(torch, y)
    z = y.sum()
    del y
    log("grad", torch.autograd.grad(z, edge, retain_graph=True))
    z.backward()
    log("x.grad", x.grad)


@family
def the_accumulate_node(torch, log):
    """One node for a leaf while anything holds it."""
    x = leaf(torch, (2,), 1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    log("again", x.view_as(x).grad_fn.next_functions[0][0] is node)
    log("edge", edge_of(torch, x).node is node, (x * x).grad_fn.next_functions[1][0] is node)
    node.metadata["note"] = 1
    del node
    log("new", "note" in x.view_as(x).grad_fn.next_functions[0][0].metadata)
    y = x * 2
    y.grad_fn.next_functions[0][0].metadata["note"] = 2
    log("held by a graph", "note" in (x * 3).grad_fn.next_functions[0][0].metadata)


@family
def hooks_of_an_accumulate_node(torch, log):
    """Hooks on the accumulate node last while anything holds the node."""
    x = leaf(torch, (2,), 1)
    held = x.view_as(x)
    node = held.grad_fn.next_functions[0][0]
    node.register_hook(lambda grad_inputs, grad_outputs: log("post", grad_inputs, grad_outputs))
    node.register_prehook(lambda grad_outputs: log("pre", grad_outputs))
    del node
    (x * 2).sum().backward()
    del held
    log("let go")
    (x * 2).sum().backward()
    log("x.grad", x.grad)


@family
def attributes_of_nodes(torch, log):
    """name, next_functions, metadata, variable, requires_grad and sequence numbers."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    node, end = y.grad_fn, y.grad_fn.next_functions[0][0]
    for each in (node, end):
        log("name", each.name(), type(each).__name__, each.next_functions, each.metadata)
        log("repr", repr(each))
        log("a node", isinstance(each, torch.autograd.graph.Node), callable(each))
    log("subclass", issubclass(type(node), torch.autograd.graph.Node), issubclass(int, type(node)))
    log("variable", end.variable is x)
    log.raises("no variable", lambda: node.variable)
    log("order", (y * 2).grad_fn._sequence_nr() > node._sequence_nr(), end._sequence_nr())
    log("input nr", [n for _, n in (y + y).grad_fn.next_functions])
    log("equal", node == y.grad_fn, node != end, hash(node) == hash(y.grad_fn))


@family
def calling_nodes(torch, log):
    """Nodes are functions of gradients; what they compute is recorded."""
    x = leaf(torch, (2,), 1)
    y = x * x
    log("mul", y.grad_fn(torch.tensor([1.0, 10.0])))
    with torch.no_grad():
        log("no_grad", y.grad_fn(torch.tensor([1.0, 10.0])))
    end = y.grad_fn.next_functions[0][0]
    log.raises("accumulate", lambda: end(torch.tensor([1.0, 10.0])))
    log("x.grad", x.grad)
    log.raises("accumulate", lambda: end(torch.tensor([1.0, 10.0])))
    log("x.grad", x.grad)
    log.raises("none", lambda: y.grad_fn())
    log.raises("two", lambda: y.grad_fn(x, x))
    log.raises("None", lambda: y.grad_fn(None))
    node = x.unbind(0)[0].grad_fn
    log("unbind", node(torch.tensor(3.0), torch.tensor(5.0)))
    log.raises("unbind with one", lambda: node(torch.tensor(3.0)))
    log.raises("unbind with None", lambda: node(None, torch.tensor(5.0)))
    y.grad_fn.register_hook(lambda gi, go: log("hook", gi, go))
    y.grad_fn.register_prehook(lambda go: log("pre-hook", go))
    y.register_hook(log.hook("tensor hook"))
    y.grad_fn(torch.tensor([1.0, 10.0]))
    y.sum().backward()
    log.raises("freed", lambda: y.grad_fn(torch.tensor([1.0, 10.0])))
