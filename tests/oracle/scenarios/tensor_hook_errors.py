"""See what hooks on tensors are refused for, and what their bad results lead to."""

from __future__ import annotations

from .tools import Family

family = Family()


def _backward_with(torch, log, label, result):
    """Run a backward in which a hook on an inner tensor returns what is given."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: result)
    log.raises(label, lambda: y.sum().backward())
    log("x.grad", x.grad)


@family
def wrong_type(torch, log):
    """A hook's result must be None or a tensor."""
    _backward_with(torch, log, "float", 1.0)
    _backward_with(torch, log, "string", "gradient")
    _backward_with(torch, log, "list", [1.0, 2.0])
    _backward_with(torch, log, "tuple", (torch.tensor([1.0, 2.0]),))
    _backward_with(torch, log, "bool", True)
    _backward_with(torch, log, "array", torch.tensor([1.0, 2.0]).numpy())


@family
def wrong_dtype(torch, log):
    """A hook's result must have the gradient's dtype."""
    _backward_with(torch, log, "float64", torch.tensor([1.0, 2.0], dtype=torch.float64))
    _backward_with(torch, log, "int64", torch.tensor([1, 2]))


@family
def no_gradient_required(torch, log):
    """A hook can only be registered where a gradient will come."""
    x = torch.tensor([1.0])
    log.raises("plain", lambda: x.register_hook(lambda grad: None))
    y = torch.tensor([1.0], requires_grad=True)
    log.raises("detached", lambda: y.detach().register_hook(lambda grad: None))
    with torch.no_grad():
        z = y * 2
    log.raises("made under no_grad", lambda: z.register_hook(lambda grad: None))
    log.raises("retain_grad", lambda: x.retain_grad())
    log.raises("post accumulate", lambda: x.register_post_accumulate_grad_hook(lambda t: None))


@family
def wrong_grad_assignments(torch, log):
    """.grad takes None or a tensor that fits."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def assign(value):
        x.grad = value

    log.raises("float", lambda: assign(1.0))
    log.raises("shape", lambda: assign(torch.tensor([1.0])))
    log.raises("dtype", lambda: assign(torch.tensor([1.0, 2.0], dtype=torch.float64)))
    log.raises("itself", lambda: assign(x))
    log.raises("fitting", lambda: assign(torch.tensor([5.0, 6.0])))
    log("x.grad", x.grad)
    log.raises("None", lambda: assign(None))
    log("x.grad", x.grad)
