"""See corners of the graph API: versions of what is unpacked, edges to changed tensors, repeats."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def edge_of(torch, tensor):
    """Give the gradient edge of a tensor."""
    return torch.autograd.graph.get_gradient_edge(tensor)


@family
def versions_of_saved_results(torch, log):
    """A saved result shares values and version with the tensor."""
    x = leaf(torch, (2,), 1)
    b = x.exp()
    saved = b.grad_fn._saved_result
    log("before", saved, b._version, saved._version)
    with torch.no_grad():
        b += 1
    log("after", saved, b._version, saved._version)
    log.raises("asked again", lambda: b.grad_fn._saved_result)


@family
def versions_through_hooks(torch, log):
    """What is unpacked has the version counter of what the unpack hook gave."""
    x = leaf(torch, (2,), 1)
    kept = torch.tensor([5.0, 6.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: kept):
        y = x.sin() + 0 * x
        a = x * 1
        z = a * a
    saved = y.grad_fn.next_functions[0][0]._saved_self
    kept.add_(1)
    log("shared", saved._version, kept._version, saved)
    a.add_(1)
    log.raises("stale tensors are not noticed", lambda: z.sum().backward())
    log("x.grad", x.grad)


@family
def functions_unpack_what_hooks_give(torch, log):
    """A saved tensor of a Function may be changed within its backward if it was unpacked."""

    class Changes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            before = x._version
            x.mul_(1)
            log("versions", before, x._version)
            return grad * x

    x = leaf(torch, (2,), 1)
    a = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        y = Changes.apply(a)
    y.sum().backward()
    log("grad", x.grad, a._version)


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
def hooks_entered_and_left_while_unpacking(torch, log):
    """An unpack hook that enters or leaves contexts breaks nothing."""
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(torch, (2,), 1)
    entered = hooks(lambda t: log("entered packs") or t.detach(), lambda t: t)

    def enter(tensor):
        entered.__enter__()
        return tensor

    with hooks(lambda t: t.detach(), enter):
        y = x.sin()
    y.sum().backward()
    log("x.grad", x.grad)
    x.cos()
    log("nothing packed")

    def leave(tensor):
        hooks.__exit__(active, None, None, None)
        return tensor

    active = hooks(lambda t: log("packs") or t.detach(), leave)
    with active:
        y = x.sin()
        y.sum().backward()
        x.cos()
    x.cos()
    log("x.grad", x.grad)


@family
def edges_of_changed_tensors(torch, log):
    """An edge taken before a change in place leads to the old value, one taken after to the new."""
    x = leaf(torch, (2,), 1)
    a = x.clone()
    before = edge_of(torch, a)
    a.mul_(3)
    after = edge_of(torch, a)
    out = (a * a).sum()
    log("before", before.node, torch.autograd.grad(out, before, retain_graph=True))
    log("after", after.node, torch.autograd.grad(out, after, retain_graph=True))
    log("tensor", torch.autograd.grad(out, a, retain_graph=True))
    log("both", torch.autograd.grad(out, (after, before, x)))


@family
def the_same_input_several_times(torch, log):
    """Inputs and roots may repeat, a root may be an input."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    out = y.sum()
    grad = torch.autograd.grad
    log("twice", grad(out, (y, y, edge_of(torch, y), x, x), retain_graph=True))
    log("itself", grad(out, out, retain_graph=True))
    log("itself by edge", grad(edge_of(torch, out), edge_of(torch, out), retain_graph=True))
    log("a leaf", grad(x.sum(), x), grad(x, x, torch.ones(2)))
    log("roots", grad((out, out, y), (x, out), (None, None, torch.ones(2)), retain_graph=True))
    out.backward(inputs=[y, y, x, x])
    log("backward", y.grad, x.grad)


@family
def a_leaf_switched_off(torch, log):
    """A leaf that requires no gradient any more gets none; its hooks run all the same."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    x.register_hook(log.hook("tensor hook"))
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    out = (x * w).sum()
    x.requires_grad_(False)
    out.backward(retain_graph=True)
    log("off", x.grad, w.grad)
    x.requires_grad_()
    out.backward()
    log("on", x.grad, w.grad)


@family
def metadata_is_one_dict(torch, log):
    """The metadata is the same dict each time, also on accumulate nodes and Functions."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    node, end = y.grad_fn, y.grad_fn.next_functions[0][0]
    for each in (node, end):
        each.metadata["a"] = [1]
        log("same", each.metadata is each.metadata, each.metadata)
    log("not shared", (x * 2).grad_fn.metadata)


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
def names_of_functions(torch, log):
    """Functions as nodes: name, class, callable, instance of Node."""

    class Mine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    node = Mine.apply(leaf(torch, (2,), 1)).grad_fn
    log("names", node.name(), type(node).__name__, isinstance(node, torch.autograd.graph.Node))
    log("class", issubclass(type(node), torch.autograd.graph.Node), node.metadata)
    log("edges", node.next_functions)
    log.raises("called", lambda: node(torch.ones(2)))


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
