"""See the order among tensor hooks, retain_grad, node hooks, accumulation and post-accumulate
hooks.
"""

from __future__ import annotations

from .tools import Family

family = Family()


def accumulate_node(x):
    """Reach a leaf's accumulate node."""
    return x.view_as(x).grad_fn.next_functions[0][0]


@family
def retain_grad_comes_after_hooks(torch, log):
    """What retain_grad keeps includes the changes of all tensor hooks, also of those registered
    after it.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(log.hook("before", lambda g: g * 2))
    y.retain_grad()
    y.retain_grad()
    y.register_hook(log.hook("after", lambda g: g * 5))
    y.register_hook(lambda g: log("y.grad in the hook", y.grad))
    (y * torch.tensor([1.0, -1.0])).sum().backward()
    log("y.grad", y.grad)
    log("x.grad", x.grad)


@family
def retained_grads_add_up(torch, log):
    """.grad of an inner tensor that retains it adds up over backward calls, as a leaf's does."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    for scale in (1.0, 10.0):
        (y * scale).sum().backward(retain_graph=True)
        log("grads", y.grad, x.grad)


@family
def retain_grad_on_a_leaf(torch, log):
    """On a leaf retain_grad does nothing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.retain_grad()
    log("retains", x.retains_grad)
    (x * 2).sum().backward()
    log("x.grad", x.grad)


@family
def retain_grad_ignores_node_prehooks(torch, log):
    """Node pre-hooks run after tensor hooks and after retain_grad, whatever was
    registered first.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 3

    def prehook(grads):
        log("node pre-hook", grads)
        return (grads[0] * 100,)

    y.grad_fn.register_prehook(prehook)
    y.register_hook(log.hook("tensor hook", lambda g: g * 2))
    y.retain_grad()
    y.grad_fn.register_hook(
        lambda grad_inputs, grad_outputs: log("node hook", grad_inputs, grad_outputs)
    )
    y.backward()
    log("grads", y.grad, x.grad)


@family
def everything_on_one_leaf(torch, log):
    """At a leaf: tensor hooks, the node's pre-hooks, accumulation, post-accumulate hooks, the
    node's hooks.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = accumulate_node(x)
    node.register_hook(
        lambda grad_inputs, grad_outputs: log("node hook", grad_inputs, grad_outputs, x.grad)
    )
    node.register_prehook(lambda grads: log("node pre-hook", grads, x.grad))
    x.register_post_accumulate_grad_hook(lambda t: log("post-accumulate", t, t.grad))
    x.register_hook(lambda g: log("tensor hook", g, x.grad))
    log("same node", accumulate_node(x) is node, node.name(), node.variable is x)
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    log("x.grad", x.grad)


@family
def node_hooks_replace(torch, log):
    """A node's pre-hook replaces what comes in, its hook what goes out; both as tuples."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * w

    def after(grad_inputs, grad_outputs):
        log("after", grad_inputs, grad_outputs)
        return (grad_inputs[0] * 10, grad_inputs[1] + 1)

    first = y.grad_fn.register_prehook(lambda grads: log("first", grads))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_prehook(lambda grads: log("third", grads))
    y.grad_fn.register_hook(after)
    y.grad_fn.register_hook(
        lambda grad_inputs, grad_outputs: log("later", grad_inputs, grad_outputs)
    )
    y.sum().backward(retain_graph=True)
    log("grads", x.grad, w.grad)
    first.remove()
    y.sum().backward()


@family
def node_hooks_see_none(torch, log):
    """Inputs that need no gradient are None in a node hook's grad_inputs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log("mul", grad_inputs, grad_outputs))
    z = y + 1
    z.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log("add", grad_inputs, grad_outputs))
    s = z.sum()
    s.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log("sum", grad_inputs, grad_outputs))
    s.backward()


@family
def node_hooks_on_broadcasting(torch, log):
    """What the grad_inputs of a node with a broadcast input look like."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.tensor([0.5, -0.5], requires_grad=True)
    y = x + b
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log("add", grad_inputs, grad_outputs))
    y.backward(torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
    log("grads", x.grad, b.grad)


@family
def node_hook_errors(torch, log):
    """A node hook's result must have as many entries as there are gradients."""
    x = torch.tensor([1.0], requires_grad=True)

    def with_prehook(result):
        y = x * 2
        y.grad_fn.register_prehook(lambda grads: result)
        y.backward()

    def with_hook(result):
        y = x * 2
        y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: result)
        y.backward()

    one = torch.tensor([1.0])
    log.raises("pre-hook, two", lambda: with_prehook((one, one)))
    log.raises("pre-hook, a number", lambda: with_prehook((1.0,)))
    log.raises("hook, one of two", lambda: with_hook((one,)))
    log.raises("hook, shape", lambda: with_hook((torch.tensor([1.0, 2.0]), None)))


@family
def retain_grad_follows_in_place_hooks_stay(torch, log):
    """An in-place operation: earlier hooks stay with the old value, later ones have the new,
    retain_grad moves.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(log.hook("old value"))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(log.hook("new value"))
    y.sum().backward()
    log("grads", y.grad, x.grad)


@family
def backward_with_inputs(torch, log):
    """backward(inputs=...) runs the hooks on the way and of what is asked for, no others."""
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([2.0], requires_grad=True)
    y = x * w
    z = y * y
    for name, tensor in (("x", x), ("w", w), ("y", y), ("z", z)):
        tensor.register_hook(log.hook(name))
    x.register_post_accumulate_grad_hook(lambda t: log("x post-accumulate", t.grad))
    w.register_post_accumulate_grad_hook(lambda t: log("w post-accumulate", t.grad))
    z.backward(inputs=[w], retain_graph=True)
    log("grads", x.grad, w.grad)
    z.backward(inputs=x, retain_graph=True)
    log("grads", x.grad, w.grad)
    z.backward(inputs=[y])
    log("y.grad", y.grad)


@family
def post_accumulate_order_and_effects(torch, log):
    """Post-accumulate hooks get the tensor, in order, after .grad is updated, and may step and
    reset.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def step(tensor):
        log("step", tensor is x, tensor.grad, torch.is_grad_enabled())
        with torch.no_grad():
            tensor -= 0.5 * tensor.grad

    def reset(tensor):
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    handle = x.register_post_accumulate_grad_hook(reset)
    x.register_post_accumulate_grad_hook(lambda t: log("last", t.grad))
    (x * x).sum().backward()
    log("x", x, x.grad)
    handle.remove()
    (x * x).sum().backward()
    log("x", x, x.grad)


@family
def post_accumulate_counts(torch, log):
    """Once per backward, with the gradient added up; not at all for autograd.grad or a leaf not
    reached.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([1.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: log("x", t.grad))
    u.register_post_accumulate_grad_hook(lambda t: log("u", t.grad))
    x.register_hook(log.hook("tensor hook"))
    y = x * x + x
    y.sum().backward(retain_graph=True)
    y.sum().backward(retain_graph=True)
    log("grad", torch.autograd.grad(y.sum(), x))


@family
def post_accumulate_errors(torch, log):
    """Only on leaves, and None must be returned."""
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    log.raises("inner", lambda: y.register_post_accumulate_grad_hook(lambda t: None))
    with x.register_post_accumulate_grad_hook(lambda t: t.grad):
        log.raises("returns", lambda: y.backward())
    log("x.grad", x.grad)
    with x.register_post_accumulate_grad_hook(lambda t: log("inside", t.grad)):
        (x * 2).backward()
    (x * 2).backward()
