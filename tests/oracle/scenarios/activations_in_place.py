"""Activations that overwrite their input: what they record, save and refuse."""

from __future__ import annotations

from .tools import Family, graph, leaf, numbers

family = Family()

WEIGHTS = [0.5, 2.0, -1.0]


def activations(torch):
    """Name the activations, in place and not, each as a function of a tensor."""
    functional = torch.nn.functional
    return {
        "relu": lambda x: functional.relu(x, inplace=True),
        "leaky_relu": lambda x: functional.leaky_relu(x, 0.25, inplace=True),
        "leaky_relu, new": lambda x: functional.leaky_relu(x, 0.25),
        "elu": lambda x: functional.elu(x, 1.5, inplace=True),
        "elu, new": lambda x: functional.elu(x, 1.5),
        "silu": lambda x: functional.silu(x, inplace=True),
    }


@family
def gradients_and_nodes(torch, log):
    """The overwritten tensor is the result of one node, which saves what its rule needs."""
    for name, activation in activations(torch).items():
        for dtype in (torch.float32, torch.float64):
            x = torch.tensor([-2.0, 0.0, 2.0], dtype=dtype, requires_grad=True)
            y = activation(x.clone())
            log(name, y, graph(y), hasattr(y.grad_fn, "_saved_self"))
            weights = torch.tensor(WEIGHTS, dtype=dtype)
            (first,) = torch.autograd.grad((y * weights).sum(), x, create_graph=True)
            log("first", first.detach())
            if name != "relu":  # at the kink there is no second derivative
                (second,) = torch.autograd.grad((first * weights).sum(), x)
                log("second", second[0], second[2])


@family
def parts_and_leaves(torch, log):
    """A part of a tensor may be overwritten, a leaf not; constants change silently."""
    for name, activation in activations(torch).items():
        x = leaf(torch, (3,), 2)
        whole = x.clone()
        part = whole[:2]
        result = activation(part)
        log(name, graph(whole), graph(part), result is part)
        (whole * torch.tensor(WEIGHTS)).sum().backward()
        log("gradient", x.grad)
        log.raises("leaf", lambda act=activation, x=x: act(x))
        constant = torch.tensor([1.0, -2.0])
        log("constant", activation(constant), constant, constant._version)
        with torch.no_grad():
            log("no_grad", activation(x), x._version)


@family
def changed_before_and_after(torch, log):
    """Who saved the input notices, and so does the activation if its result is changed."""
    for name, activation in activations(torch).items():
        x = leaf(torch, (3,), 3)
        y = x.clone()
        squares = y * y
        activation(y)
        if name.endswith("new"):
            squares.sum().backward()
            log(name, x.grad)
        else:
            log.raises(name, squares.sum().backward)
        y = x.clone()
        activation(y)
        y.mul_(2)
        log.raises("after", y.sum().backward)


@family
def hooks_before_and_after(torch, log):
    """A hook from before sees the gradient of the input, one from after that of the result."""
    for name, activation in activations(torch).items():
        x = leaf(torch, (3,), 4)
        y = x.clone()
        y.register_hook(log.hook(f"{name}, before"))
        y = activation(y)
        y.register_hook(log.hook("after"))
        y.backward(torch.tensor(WEIGHTS))
        log("gradient", x.grad)


@family
def negative_slopes(torch, log):
    """With a negative slope the result does not tell the sign of the input: backward refuses."""
    functional = torch.nn.functional
    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    for name, activation in {
        "leaky_relu": lambda: functional.leaky_relu(x.clone(), -2.0, inplace=True),
        "leaky_relu_": lambda: functional.leaky_relu_(x.clone(), -2.0),
        "leaky_relu, new": lambda: functional.leaky_relu(x.clone(), -2.0),
        "no slope": lambda: functional.leaky_relu_(x.clone(), 0.0),
        "default": lambda: functional.leaky_relu_(x.clone()),
        "elu": lambda: functional.elu(x.clone(), -2.0, inplace=True),
        "elu_": lambda: functional.elu_(x.clone(), -2.0),
        "elu, new": lambda: functional.elu(x.clone(), -2.0),
        "elu, default": lambda: functional.elu_(x.clone()),
        "relu_": lambda: functional.relu_(x.clone()),
    }.items():
        y = activation()
        log(name, y)
        log.raises("backward", lambda y=y: y.backward(torch.tensor([1.0, 3.0])))
        log("gradient", x.grad)
        x.grad = None


@family
def in_a_network(torch, log):
    """Layers with inplace=True train like others; a full backward hook refuses them."""
    nn = torch.nn
    for last in (nn.LeakyReLU(0.25, inplace=True), nn.ELU(2.0, inplace=True), nn.SiLU(True)):
        first = nn.Linear(2, 2)
        with torch.no_grad():
            first.weight.copy_(torch.tensor(numbers((2, 2), 5)))
            first.bias.zero_()
        network = nn.Sequential(first, last)
        x = leaf(torch, (3, 2), 6)
        network(x).sum().backward()
        log(type(last).__name__, x.grad, first.weight.grad, first.bias.grad)
        last.register_full_backward_hook(log.module_hook("hook"))
        log.raises("hooked", lambda network=network, x=x: network(x))


@family
def integers(torch, log):
    """Activations that have no meaning for integers say so."""
    functional = torch.nn.functional
    for dtype in (torch.int64, torch.int32, torch.bool):
        for name in ("leaky_relu", "elu", "silu", "softplus"):
            ones = torch.ones(2, dtype=dtype)
            log.raises(name, lambda name=name, x=ones: getattr(functional, name)(x))
