"""See modules being walked, searched, converted, switched and printed, corner by corner."""

from __future__ import annotations

from .tools import Family, leaf, linear

family = Family()


def shared_net(torch):
    """Make a net in which a module, a parameter and a buffer each stand in several places."""
    net = torch.nn.Module()
    net.a = linear(torch, [[0.5]], [0.25])
    net.b = torch.nn.Sequential(net.a, torch.nn.ReLU(), net.a)
    net.c = None
    net.weight = net.a.weight
    net.same = net.weight
    net.register_parameter("none", None)
    net.register_buffer("x", torch.tensor([1.0]))
    net.b.register_buffer("y", net.x, persistent=False)
    net.register_buffer("nothing", None)
    return net


@family
def modes(torch, log):
    """train and eval reach all children; the mode must be a bool."""
    net = shared_net(torch)
    log("eval", net.eval() is net, [m.training for m in net.modules()])
    net.b.train()
    log("train a part", [m.training for m in net.modules()])
    for value in (1, 0, None, "x", torch.tensor(True)):
        log.raises(type(value).__name__, lambda value=value: net.train(value))
    log("after", [m.training for m in net.modules()])

    class Stays(torch.nn.ReLU):
        def train(self, mode=True):
            log("asked", mode)
            return self

    part = torch.nn.Sequential(Stays(), Stays()).eval()
    log("stays", [m.training for m in part.modules()])


@family
def zeroing(torch, log):
    """zero_grad sets None or fills with zeros, in place, and detaches a gradient with a graph."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    y = (layer(leaf(torch, (3, 2), 1)) ** 2).sum()
    y.backward(create_graph=True)
    grad = layer.weight.grad
    version = grad._version
    log("with a graph", grad)
    layer.zero_grad(set_to_none=False)
    log("zeros", layer.weight.grad is grad, layer.weight.grad, layer.bias.grad)
    log("changes in place", grad._version - version)
    layer(leaf(torch, (3, 2), 1)).sum().backward()
    layer.zero_grad(False)
    log("zeros", layer.weight.grad is grad, layer.weight.grad)
    layer.weight.grad.requires_grad_()
    layer.zero_grad(False)
    log("no grad", layer.weight.grad)
    log("None", layer.zero_grad(), layer.weight.grad, layer.zero_grad(False), layer.weight.grad)
