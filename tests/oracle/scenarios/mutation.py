"""See the contexts of saved tensors, entered and left, and increment_version."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


@family
def disabling_hooks(torch, log):
    """disable_saved_tensors_hooks: the message, nesting, hooks that are active already."""
    graph = torch.autograd.graph

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return "entered"

    log.raises("allowed", enter)
    with graph.disable_saved_tensors_hooks("outer"):
        log.raises("outer", enter)
        with graph.disable_saved_tensors_hooks("inner"):
            log.raises("inner", enter)
        log.raises("outer again", enter)
    log.raises("allowed", enter)

    def disable_within():
        hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
        with hooks, graph.disable_saved_tensors_hooks("too late"):
            return "entered"

    log.raises("hooks active", disable_within)
    log.raises("allowed", enter)

    @graph.disable_saved_tensors_hooks("decorated")
    def decorated():
        return enter()

    log.raises("as a decorator", decorated)
    log.raises("allowed", enter)
    x = leaf(torch, (2,), 1)
    with graph.disable_saved_tensors_hooks("not now"):
        (x * x).sum().backward()
        node = (x * x).grad_fn
        node._raw_saved_self.register_hooks(lambda t: t, lambda t: t * 2)
        log("on a handle", node._saved_self)
    log("x.grad", x.grad)


@family
def misuse_of_the_context(torch, log):
    """Hooks that enter or leave contexts, contexts left out of order: the stack ends empty."""
    graph = torch.autograd.graph
    x = leaf(torch, (2,), 1)
    hooks = graph.saved_tensors_hooks

    class Mine(hooks):
        def __init__(self):
            super().__init__(lambda t: log("pack") or t.detach(), lambda t: log("unpack") or t)

    with Mine():
        y = x * x
    y.sum().backward()
    entered = hooks(lambda t: log("inner pack") or t.detach(), lambda t: t)

    def enter(tensor):
        log("enters")
        with entered:
            tensor.detach().requires_grad_() * 2
        return tensor.detach()

    with hooks(enter, lambda t: t):
        y = x.exp()
    y.sum().backward()
    log("x.grad", x.grad)
    context = Mine()
    for _ in range(2):
        with context:
            x.exp()
    with context, context:
        x.exp()
    x.exp()
    log("done")


@family
def increment_version(torch, log):
    """Say that a tensor was changed."""
    increment = torch.autograd.graph.increment_version
    x = leaf(torch, (2,), 1)
    a = x * 1
    y = a * a
    increment(a)
    log("version", a._version, a.view(-1)._version, a.detach()._version)
    log.raises("stale", lambda: y.sum().backward())
    b, c = torch.zeros(2), torch.zeros(2)
    increment((b, c, b))
    increment([b])
    increment(iter([c]))
    log("versions", b._version, c._version)
    increment(x)
    log("a leaf", x._version)
    log.raises("empty", lambda: increment([]))
    with torch.inference_mode():
        log.raises("inference", lambda: increment(torch.zeros(2)))
    log("versions", b._version, c._version)
