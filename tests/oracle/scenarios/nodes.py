"""See what a student can ask a node of the graph: name, edges, metadata, saved values, a call."""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def names_and_edges(torch, log):
    """name(), the class's name, next_functions and the variable of an accumulate node."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    node = y.grad_fn
    log("mul", node.name(), type(node).__name__, node.next_functions)
    leaf = node.next_functions[0][0]
    log("leaf", leaf.name(), type(leaf).__name__, leaf.variable is x, leaf.next_functions)
    log("same object", y.grad_fn is node, (y + 1).grad_fn.next_functions[0][0] is node)
    log("a leaf has none", x.grad_fn is None)
    log("hashable", len({node, y.grad_fn, leaf}))
    with_leaf = (x + x).grad_fn.next_functions
    log("one accumulate node", with_leaf[0][0] is with_leaf[1][0], with_leaf[0][0] is leaf)


@family
def several_outputs(torch, log):
    """The rows of an iteration share one node, each with its output number."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    first, second = x * 2
    total = first + second
    edges = total.grad_fn.next_functions
    log("edges", edges, edges[0][0] is edges[1][0])
    log("numbers", first.output_nr, second.output_nr)


@family
def metadata(torch, log):
    """A dict that stays with the node as long as the graph."""
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    y.grad_fn.metadata["note"] = "kept"
    log("metadata", dict(y.grad_fn.metadata), dict((y * 2).grad_fn.metadata))


@family
def saved_values(torch, log):
    """What a node has saved can be looked at until it is freed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    log("mul", y.grad_fn._saved_self, y.grad_fn._saved_other)
    e = x.exp()
    log("exp", e.grad_fn._saved_result)
    p = x**3
    log("pow", p.grad_fn._saved_self, p.grad_fn._saved_exponent, p.grad_fn._saved_self is x)
    p.sum().backward()
    log.raises("freed", lambda: p.grad_fn._saved_self)


@family
def calling_a_node(torch, log):
    """A node can be called with gradients like a function."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    log("mul", y.grad_fn(torch.tensor([1.0, 10.0])))
    s = x.sum()
    log("sum", s.grad_fn(torch.tensor(5.0)))
    log.raises("too many", lambda: y.grad_fn(torch.tensor([1.0]), torch.tensor([1.0])))
    log("nothing accumulated", x.grad)


@family
def order_can_be_changed(torch, log):
    """The sequence number decides among nodes that are ready, and can be set."""
    x = torch.tensor(1.0, requires_grad=True)
    a, b = x * 2, x * 3
    a.register_hook(log.hook("a"))
    b.register_hook(log.hook("b"))
    total = a + b
    total.backward(retain_graph=True)
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    log("changed")
    total.backward()


@family
def callbacks_at_the_end(torch, log):
    """A callback queued in a hook runs at the end of that backward."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2

    def queue(grad):
        log("hook")
        engine = torch.autograd.Variable._execution_engine
        engine.queue_callback(lambda: log("callback", x.grad))

    y.register_hook(queue)
    y.backward()
    log("after")


@family
def nested_backwards(torch, log):
    """A backward started inside a backward, many levels deep, works and leaves grad mode alone."""
    depth = 40
    x = torch.tensor(1.0, requires_grad=True)
    reached = []

    def level(number):
        y = x * 1.0

        def deeper(grad):
            reached.append(number)
            if number < depth:
                with torch.enable_grad():
                    level(number + 1)

        y.register_hook(deeper)
        y.backward()

    level(1)
    log("levels", len(reached), x.grad, torch.is_grad_enabled())
