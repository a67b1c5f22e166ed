"""See modules being converted to another dtype, and any function applied to their tensors."""

from __future__ import annotations

from .module_attributes import shared_net
from .tools import Family, leaf, linear

family = Family()


@family
def converting(torch, log):
    """double, float, half, type and to convert floating point values in place; grads go along."""
    net = shared_net(torch)
    net.register_buffer("count", torch.tensor([3]))
    weight, buffer = net.a.weight, net.x
    (net.a(torch.tensor([[2.0]])) ** 2).sum().backward()
    grad = weight.grad
    log("double", net.double() is net, net.a.weight is weight, net.weight is weight, weight)
    log("grad", weight.grad is grad, weight.grad, net.x is buffer, net.x, net.b.y, net.count)
    log("float", net.float() is net, weight, weight.grad)
    log("to", net.to(torch.float64).x, net.to(dtype=torch.float32).x, net.to("cpu").x)
    log("like", net.to(torch.tensor(1.0, dtype=torch.float64)) is net, net.x, net.count)
    log("type", net.type(torch.float32) is net, net.x, net.count)
    log("half", net.half() is net, net.x, weight, net.count)
    net.float()
    log.raises("integers", lambda: net.to(torch.int64))
    log.raises("bool", lambda: net.to(dtype=torch.bool))
    log.raises("nothing", lambda: net.to() is net)
    log.raises("None", lambda: net.to(None) is net)
    log("cpu", net.cpu() is net, net.x)
    log.raises("keywords", lambda: net.to(device="cpu", dtype=torch.float32, non_blocking=True).x)
    log.raises("None", lambda: net.to("cpu", None).x)
    log.raises("None", lambda: net.to(dtype=None, device=None).x)
    log.raises("a tensor", lambda: net.to(tensor=torch.tensor(1.0, dtype=torch.float64)).x)
    log.raises("integers on a device", lambda: net.to("cpu", torch.int64))
    log.raises("a graph is stale", lambda: stale(torch))


def stale(torch):
    """Convert a layer between its forward and its backward."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    y = layer(leaf(torch, (3, 2), 1)).sum()
    layer.double()
    y.backward()
    return layer.weight.grad


@family
def applying_in_place(torch, log):
    """A function that works in place changes the version: a graph made before is stale."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    y = (layer(leaf(torch, (3, 2), 1)) * layer.weight.sum()).sum()
    y.backward(retain_graph=True)
    weight, grad = layer.weight, layer.weight.grad
    layer._apply(lambda tensor: tensor.mul_(2))
    log("changed", weight, weight._version, grad is weight.grad, grad, layer.weight is weight)
    log.raises("stale", lambda: y.backward())


@family
def integers_by_type(torch, log):
    """type(dtype) reaches integers too, and stops at a parameter that requires a gradient."""
    net = shared_net(torch)
    log.raises("type", lambda: net.type(torch.int64))
    log("parameters", dict(net.named_parameters()), dict(net.named_buffers()))
    frozen = shared_net(torch).requires_grad_(False).type(torch.int64)
    log("frozen", dict(frozen.named_parameters()), dict(frozen.named_buffers()))
