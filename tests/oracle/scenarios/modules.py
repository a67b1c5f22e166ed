"""See modules themselves: names, parameters, state dicts, modes, attribute errors."""

from __future__ import annotations

from .tools import Family, linear

family = Family()


def small_net(torch):
    """Make a named net with a nested Sequential, a shared layer and a buffer."""

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = linear(torch, [[0.5, -1.0], [1.5, 0.25]], [0.125, -0.5])
            self.body = torch.nn.Sequential(torch.nn.Tanh(), linear(torch, [[1.0, -2.0]], None))
            self.again = self.first
            self.scale = torch.nn.Parameter(torch.tensor([2.0]))
            self.register_buffer("steps", torch.tensor(3))
            self.register_buffer("scratch", torch.tensor([1.0]), persistent=False)
            self.register_buffer("nothing", None)
            self.register_parameter("unset", None)

        def forward(self, x):
            return self.body(self.first(x)) * self.scale

    return Small()


@family
def zero_grad_and_requires_grad(torch, log):
    """zero_grad sets gradients to None (or zeros); requires_grad_ freezes."""
    layer = linear(torch, [[0.5, -1.0]], [0.125])
    layer(torch.tensor([[1.0, 2.0]])).sum().backward()
    log("grads", layer.weight.grad, layer.bias.grad)
    layer.zero_grad(set_to_none=False)
    log("zeros", layer.weight.grad, layer.bias.grad)
    layer.zero_grad()
    log("none", layer.weight.grad, layer.bias.grad)
    log("frozen", layer.requires_grad_(False) is layer, layer.weight.requires_grad)
    log("out", layer(torch.tensor([[1.0, 2.0]])))


@family
def before_init(torch, log):
    """Forgetting super().__init__()."""

    class Forgets(torch.nn.Module):
        def __init__(self):
            self.layer = torch.nn.ReLU()

    class ForgetsParameter(torch.nn.Module):
        def __init__(self):
            self.weight = torch.nn.Parameter(torch.tensor([1.0]))

    log.raises("module", lambda: Forgets())
    log.raises("parameter", lambda: ForgetsParameter())


@family
def registering(torch, log):
    """register_parameter, register_buffer and add_module, and what they refuse."""
    net = torch.nn.Module()
    net.add_module("child", torch.nn.ReLU())
    net.register_module("other", torch.nn.Tanh())
    net.register_parameter("p", torch.nn.Parameter(torch.tensor([1.0])))
    net.register_buffer("b", torch.tensor([2.0]))
    log("names", [n for n, _ in net.named_modules()], list(net.state_dict()))
    log.raises("twice", lambda: net.register_parameter("p", None) or net.register_buffer("p", None))
    log.raises("module of that name", lambda: net.add_module("p", torch.nn.ReLU()))
    log.raises("dot", lambda: net.add_module("a.b", torch.nn.ReLU()))
    log.raises("empty", lambda: net.register_buffer("", torch.tensor(1.0)))
    log.raises("not a parameter", lambda: net.register_parameter("q", torch.tensor([1.0])))
    log.raises("not a module", lambda: net.add_module("q", 3))
    log.raises("not a buffer", lambda: net.register_buffer("q", 3))


@family
def apply_and_containers(torch, log):
    """apply visits children first; Sequential can be indexed, sliced, iterated and appended to."""
    net = small_net(torch)
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    log("apply", seen)
    body = net.body
    log("body", len(body), type(body[0]).__name__, type(body[-1]).__name__, len(body[0:1]))
    body.append(torch.nn.ReLU())
    log("appended", [type(module).__name__ for module in body])
    log("get", type(net.get_submodule("body.1")).__name__, net.get_parameter("first.bias"))
    log.raises("no such submodule", lambda: net.get_submodule("body.x"))
