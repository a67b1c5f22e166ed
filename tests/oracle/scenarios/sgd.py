"""See torch.optim.SGD step by step, with each of its options."""

from __future__ import annotations

from .tools import Family

family = Family()

OPTIONS = {
    "plain": {"lr": 0.125},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "dampening": {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "weight_decay": {"lr": 0.1, "weight_decay": 0.25},
    "maximize": {"lr": 0.01, "maximize": True},
    "maximize with momentum and decay": {
        "lr": 0.01,
        "momentum": 0.5,
        "weight_decay": 0.5,
        "maximize": True,
    },
    "everything": {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.1, "nesterov": True},
    "default learning rate": {},
}


def add_descent(name, options):
    """Make a scenario of five steps on a fixed quadratic with coupled coordinates."""

    def scenario(torch, log):
        w = torch.nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 3.0]]))
        b = torch.nn.Parameter(torch.tensor([0.25, -0.75]))
        unused = torch.nn.Parameter(torch.tensor([9.0]))
        optimizer = torch.optim.SGD([w, b, unused], **options)
        x = torch.tensor([[1.0, 2.0], [-1.0, 0.5], [0.25, -0.5]])
        for step in range(5):
            optimizer.zero_grad()
            loss = ((x @ w + b - 1) ** 2).mean()
            loss.backward()
            optimizer.step()
            log(f"step {step}", loss.item(), w, b, unused)

    scenario.__doc__ = f"Five steps of SGD: {name}."
    family.add(name, scenario)


for _name, _options in OPTIONS.items():
    add_descent(_name, _options)


@family
def zero_grad(torch, log):
    """zero_grad sets gradients to None, or to zeros if asked to."""
    w = torch.nn.Parameter(torch.tensor([1.0]))
    optimizer = torch.optim.SGD([w], lr=0.5)
    (w * 3).sum().backward()
    log("grad", w.grad)
    optimizer.zero_grad(set_to_none=False)
    log("zeros", w.grad)
    optimizer.step()
    log("unchanged", w)
    optimizer.zero_grad()
    log("none", w.grad)
    optimizer.step()
    log("unchanged", w)


@family
def closure(torch, log):
    """step calls a closure with grad mode on and returns its loss."""
    w = torch.nn.Parameter(torch.tensor([1.0]))
    optimizer = torch.optim.SGD([w], lr=0.25)

    def closure():
        log("mode", torch.is_grad_enabled())
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        log("loss", optimizer.step(closure), w)


@family
def parameter_groups(torch, log):
    """Groups with options of their own, and a learning rate changed between steps."""
    a, b = (torch.nn.Parameter(torch.tensor([value])) for value in (1.0, 2.0))
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.25)
    log("rates", [group["lr"] for group in optimizer.param_groups])
    for _ in range(2):
        optimizer.zero_grad()
        (a * a + b * b).sum().backward()
        optimizer.step()
        log("values", a, b)
        for group in optimizer.param_groups:
            group["lr"] *= 0.5


@family
def the_step_changes_in_place(torch, log):
    """A step changes the same parameter in place and leaves no graph."""
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.9)
    version, data = w._version, w.detach()
    (w * w).sum().backward()
    optimizer.step()
    log("after", w, data, w._version > version, w.grad_fn is None, w.is_leaf)
    log("momentum", optimizer.state[w]["momentum_buffer"])


@family
def errors(torch, log):
    """What SGD refuses."""
    w = torch.nn.Parameter(torch.tensor([1.0]))
    sgd = torch.optim.SGD
    log.raises("negative rate", lambda: sgd([w], lr=-1.0))
    log.raises("negative momentum", lambda: sgd([w], lr=0.1, momentum=-0.5))
    log.raises("negative decay", lambda: sgd([w], lr=0.1, weight_decay=-0.5))
    log.raises("nesterov alone", lambda: sgd([w], lr=0.1, nesterov=True))
    log.raises("no parameters", lambda: sgd([], lr=0.1))
    log.raises("a tensor", lambda: sgd(torch.tensor([1.0]), lr=0.1))
    log.raises("numbers", lambda: sgd([1.0], lr=0.1))
    log.raises("not a leaf", lambda: sgd([w * 2], lr=0.1))
    log.raises("twice", lambda: sgd([{"params": [w]}, {"params": [w]}], lr=0.1))


@family
def printed(torch, log):
    """The printed form of an optimizer begins with its class and the group's number."""
    w = torch.nn.Parameter(torch.tensor([1.0]))
    log("lines", repr(torch.optim.SGD([w], lr=0.5)).splitlines())
