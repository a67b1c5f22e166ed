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
