"""Nodes and edges of the graph by hand, and how long they live."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def edge_of(torch, tensor):
    """Give the gradient edge of a tensor."""
    return torch.autograd.graph.get_gradient_edge(tensor)


@family
def outputs_of_many_saved(torch, log):
    """A saved output of a node with several keeps its number through hooks."""
    x = leaf(torch, (3,), 1)
    for hooked in (False, True):
        first, second, third = (x * 2).unbind(0)
        node = (second * third).grad_fn
        if hooked:
            node._raw_saved_self.register_hooks(lambda t: t.tolist(), torch.tensor)
            node._raw_saved_other.register_hooks(lambda t: t.tolist(), torch.tensor)
        saved, other = node._saved_self, node._saved_other
        log("numbers", saved.output_nr, other.output_nr, saved.grad_fn is first.grad_fn)
        log("gradient", torch.autograd.grad(saved * other, x))


@family
def nodes_called_by_hand(torch, log):
    """An accumulate node called by hand runs its own hooks no more than other nodes do."""
    x = leaf(torch, (2,), 1)
    end = edge_of(torch, x).node
    x.register_hook(log.hook("tensor hook"))
    x.register_post_accumulate_grad_hook(lambda x: log("post-accumulate", x.grad))
    end.register_prehook(lambda go: log("pre-hook"))
    end.register_hook(lambda gi, go: log("node hook"))
    result = end(torch.tensor([1.0, 2.0]))
    log("called", result, x.grad)
    log.raises("wrong shape", lambda: end(torch.tensor([1.0, 2.0, 3.0])))
    log.raises("None", lambda: end(None))
    log("x.grad", x.grad)


@family
def multi_grad_hooks_and_edges(torch, log):
    """Multi-grad hooks run for passes that start at edges, or go to edges."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a = x * y
    register = torch.autograd.graph.register_multi_grad_hook
    register([a, x], lambda gradients: log("all", gradients))
    register([a, x], lambda gradient: log("any", gradient), mode="any")
    out = a.sum()
    torch.autograd.backward(edge_of(torch, out), retain_graph=True)
    log("to an edge")
    torch.autograd.grad(out, edge_of(torch, a), retain_graph=True)
    log("from the tensor's own edge")
    torch.autograd.backward(edge_of(torch, a), torch.ones(2), inputs=[edge_of(torch, x)])


@family
def hooks_and_unreached_inputs(torch, log):
    """Hooks of tensors that a pass does not reach are not called, nor those of a failed one."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a, b = x * 2, w * 3
    for name, tensor in (("x", x), ("w", w), ("a", a), ("b", b)):
        tensor.register_hook(log.hook(name))
        tensor.grad_fn and tensor.grad_fn.register_hook(lambda gi, go, n=name: log(f"node {n}"))
    out = (a * b).sum()
    torch.autograd.grad(out, a, retain_graph=True)
    log("x alone")
    out.backward(inputs=[x], retain_graph=True)
    log("unused")
    c = leaf(torch, (2,), 3)
    log.raises("unused", lambda: torch.autograd.grad(out, c))


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
