"""See a step that is recorded (`differentiable=True`), and grad modes around steps."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()


def step_through(torch, log, **options):
    """Step on a copy of a leaf, recorded, and differentiate through the step."""
    start = leaf(torch, (2,), 1)
    w = start.clone()
    optimizer = torch.optim.SGD([w], lr=0.5, differentiable=True, **options)
    w.retain_grad()
    for _ in range(2):
        w.grad = leaf(torch, (2,), 2)
        log("step", optimizer.step(), w)
    log("graph", graph(w))
    (w**2).sum().backward()
    log("through", start.grad, w.is_leaf, w.requires_grad)


@family
def plain(torch, log):
    """Without momentum the parameter takes one operation a step."""
    step_through(torch, log)


@family
def maximize(torch, log):
    """Going uphill."""
    step_through(torch, log, maximize=True)


@family
def weight_decay(torch, log):
    """With weight decay the direction depends on the parameter."""
    step_through(torch, log, weight_decay=0.25)


@family
def momentum(torch, log):
    """With momentum the direction depends on the gradients before."""
    step_through(torch, log, momentum=0.5)


@family
def nesterov(torch, log):
    """With Nesterov's momentum, and weight decay."""
    step_through(torch, log, momentum=0.5, nesterov=True, weight_decay=0.25)


@family
def on_a_leaf(torch, log):
    """A leaf that requires a gradient can't be changed in place where operations are recorded."""
    w = leaf(torch, (2,), 1)
    optimizer = torch.optim.SGD([w], lr=0.5, differentiable=True)
    log("no gradient", optimizer.step())
    w.grad = leaf(torch, (2,), 2)
    log.raises("step", lambda: optimizer.step())
    with torch.no_grad():
        log.raises("no_grad outside", lambda: optimizer.step())
    log("grad mode", torch.is_grad_enabled(), w)


@family
def a_group_of_its_own_setting(torch, log):
    """The default decides, not what a group says of itself."""
    w = leaf(torch, (2,), 1)
    w.grad = leaf(torch, (2,), 2)
    optimizer = torch.optim.SGD([{"params": [w], "differentiable": True}], lr=0.5)
    log.raises("step", lambda: optimizer.step())
    log("stepped", w)


@family
def a_rate_in_a_tensor(torch, log):
    """A learning rate kept in a tensor is read at each step; it may need a gradient."""
    w = leaf(torch, (2,), 1)
    w.grad = leaf(torch, (2,), 2)
    rate = torch.tensor(0.5)
    optimizer = torch.optim.SGD([w], lr=rate)
    optimizer.step()
    log("stepped", w)
    rate.mul_(2)
    optimizer.step()
    log("stepped", w, optimizer.state_dict(), optimizer.param_groups[0]["lr"] is rate)
    start, rate = leaf(torch, (2,), 1), torch.tensor(0.5, requires_grad=True)
    w = start.clone()
    w.retain_grad()
    w.grad = leaf(torch, (2,), 2)
    optimizer = torch.optim.SGD([w], lr=rate, differentiable=True)
    optimizer.step()
    (w**2).sum().backward()
    log("gradient of the rate", rate.grad, start.grad)


@family
def a_decay_in_a_tensor(torch, log):
    """The same for weight decay."""
    w = leaf(torch, (2,), 1)
    w.grad = leaf(torch, (2,), 2)
    optimizer = torch.optim.SGD([w], lr=0.5, weight_decay=torch.tensor(0.5), momentum=0.25)
    optimizer.step()
    log("stepped", w, optimizer.state_dict())
    start, decay = leaf(torch, (2,), 1), torch.tensor(0.5, requires_grad=True)
    w = start.clone()
    w.retain_grad()
    w.grad = leaf(torch, (2,), 2, requires_grad=False)
    optimizer = torch.optim.SGD([w], lr=0.5, weight_decay=decay, differentiable=True)
    optimizer.step()
    (w**2).sum().backward()
    log("gradient of the decay", decay.grad, start.grad)
    log.raises("negative", lambda: torch.optim.SGD([w], weight_decay=torch.tensor(-0.5)))
