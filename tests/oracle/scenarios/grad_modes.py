"""See no_grad, enable_grad and set_grad_enabled as context managers and decorators."""

from __future__ import annotations

from .tools import Family

family = Family()


def modes(torch):
    """Give each way to ask for a mode, by name, as something that makes a decorator."""
    return {
        "no_grad()": torch.no_grad(),
        "no_grad": torch.no_grad,
        "enable_grad()": torch.enable_grad(),
        "enable_grad": torch.enable_grad,
        "inference_mode()": torch.inference_mode(),
        "inference_mode": torch.inference_mode,
        "inference_mode(False)": torch.inference_mode(False),
        "inference_mode(mode=False)": torch.inference_mode(mode=False),
    }


def state(torch):
    """Tell both modes of this thread."""
    return [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]


def attempt(log, label, action):
    """Log what an action gives or how it fails, exceptions such as StopIteration too."""
    try:
        log(label, action())
    except Exception as error:
        log.error(label, error)


@family
def no_grad(torch, log):
    """Under no_grad results do not require grad and no graph is made; new leaves may still require
    grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log("not entered", torch.no_grad().prev)
    with torch.no_grad():
        y = x * 2
        log("inside", torch.is_grad_enabled(), y, x.requires_grad)
        z = torch.tensor([1.0], requires_grad=True)
        log("new leaf", z, torch.nn.Parameter(torch.tensor([1.0])))
    log("outside", torch.is_grad_enabled(), x * 2)


@family
def views_under_no_grad(torch, log):
    """A view taken under no_grad of a tensor that requires grad: what it says of itself."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.no_grad():
        for name, view in (
            ("of a leaf", x[0:1]),
            ("entry", x[0]),
            ("of an inner one", y[0:1]),
            ("detached", x.detach()),
        ):
            log(name, view.requires_grad, view.is_leaf, view.grad_fn is None, repr(view))
        log("copies", x[[0]].requires_grad, x.clone().requires_grad, x.reshape(2, 1).requires_grad)


@family
def nested(torch, log):
    """Modes nest, and are restored after exceptions."""
    with torch.no_grad():
        with torch.enable_grad():
            log("enable in no_grad", torch.is_grad_enabled())
        log("back", torch.is_grad_enabled())
        with torch.set_grad_enabled(True):
            log("set True", torch.is_grad_enabled())
        log("back", torch.is_grad_enabled())
    try:
        with torch.no_grad():
            raise ValueError("planted")
    except ValueError:
        log("after the exception", torch.is_grad_enabled())


@family
def decorators(torch, log):
    """The modes as decorators of functions, with and without brackets."""

    @torch.no_grad()
    def quiet():
        return torch.is_grad_enabled()

    @torch.no_grad
    def bare():
        """Say whether grad mode is on."""
        return torch.is_grad_enabled()

    @torch.enable_grad()
    def loud():
        return torch.is_grad_enabled()

    log("called", quiet(), bare(), loud(), bare.__name__, bare.__doc__)
    with torch.no_grad():
        log("called under no_grad", quiet(), loud())
    log("after", torch.is_grad_enabled())


@family
def set_grad_enabled_as_a_function(torch, log):
    """set_grad_enabled called as a function acts at once."""
    torch.set_grad_enabled(False)
    try:
        log("off", torch.is_grad_enabled())
    finally:
        torch.set_grad_enabled(True)
    log("on", torch.is_grad_enabled())


@family
def generators(torch, log):
    """On a generator the mode holds inside the body only."""

    @torch.no_grad()
    def steps():
        for index in range(2):
            log("inside", index, torch.is_grad_enabled())
            yield index

    for index in steps():
        log("outside", index, torch.is_grad_enabled())


@family
def backward_under_no_grad(torch, log):
    """A backward works under no_grad, over a graph made before."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
    log("x.grad", x.grad)


@family
def manual_step(torch, log):
    """The training step by hand: change parameters in place under no_grad."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
            w.grad.zero_()
        log("w", w, loss)


@family
def data_and_versions(torch, log):
    """The version counts in-place changes, is shared between views and detached tensors, not with
    .data.
    """
    x = torch.tensor([1.0, 2.0])
    v, d = x[0:1], x.detach()
    x.add_(1)
    v.mul_(3)
    log("versions", x._version, v._version, d._version, x)
    x.data.mul_(2)
    log("data", x._version, x)
    x[1] = 9.0
    log("assignment", x._version, x)
