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
def names(torch, log):
    """Names of modules, children, parameters and buffers, shared ones once."""
    net = small_net(torch)
    log("modules", [name for name, _ in net.named_modules()])
    log("with duplicates", [name for name, _ in net.named_modules(remove_duplicate=False)])
    log("children", [name for name, _ in net.named_children()])
    log("parameters", [name for name, _ in net.named_parameters()])
    log("not into children", [name for name, _ in net.named_parameters(recurse=False)])
    log("prefix", [name for name, _ in net.named_parameters(prefix="net")])
    log("buffers", [name for name, _ in net.named_buffers()])
    log("values", dict(net.named_parameters()))
    log("counts", len(list(net.modules())), len(list(net.parameters())), len(list(net.children())))


@family
def state_dict(torch, log):
    """state_dict has parameters and persistent buffers, shared ones under both names, values
    without grad.
    """
    net = small_net(torch)
    state = net.state_dict()
    log("state", type(state).__name__, dict(state))
    log("prefix", list(net.state_dict(prefix="net.")))
    log("shares memory", state["scale"] is net.scale, state["scale"].requires_grad)
    log("keep_vars", net.state_dict(keep_vars=True)["scale"] is net.scale)


@family
def load_state_dict(torch, log):
    """Loading copies values in place and says that all keys matched."""
    net, other = small_net(torch), small_net(torch)
    with torch.no_grad():
        other.first.weight.mul_(10)
        other.steps.add_(4)
    weight = net.first.weight
    result = net.load_state_dict(other.state_dict())
    log("result", repr(result), list(result.missing_keys), list(result.unexpected_keys))
    log("same object", net.first.weight is weight, weight, net.steps)


@family
def load_state_dict_errors(torch, log):
    """Missing, unexpected and misshapen entries, strict and not."""
    net = small_net(torch)
    good = dict(net.state_dict())

    def without(*keys):
        return {key: value for key, value in good.items() if key not in keys}

    one = {"extra": torch.tensor([1.0])}
    log.raises("missing", lambda: net.load_state_dict(without("scale")))
    log.raises("two missing", lambda: net.load_state_dict(without("scale", "body.1.weight")))
    log.raises("unexpected", lambda: net.load_state_dict({**good, **one}))
    log.raises("both", lambda: net.load_state_dict({**without("scale"), **one}))
    log.raises(
        "not strict", lambda: repr(net.load_state_dict({**without("scale"), **one}, strict=False))
    )
    log.raises("shape", lambda: net.load_state_dict({**good, "scale": torch.tensor([1.0, 2.0])}))
    log.raises(
        "shape, not strict",
        lambda: net.load_state_dict({"scale": torch.tensor([1.0, 2.0])}, strict=False),
    )
    log.raises("no dict", lambda: net.load_state_dict([1, 2]))
    layer = torch.nn.Linear(2, 1)
    log.raises(
        "unknown key of a layer",
        lambda: layer.load_state_dict({"weigth": torch.tensor([[1.0, 2.0]])}),
    )


@family
def train_and_eval(torch, log):
    """train and eval set the mode of every module and return the module."""
    net = small_net(torch)
    log("new", net.training, net.body[0].training)
    log("eval", net.eval() is net, net.training, net.body[0].training)
    net.body.train()
    log("part", net.training, net.body[0].training)
    log("train", net.train() is net, net.training)
    log.raises("bad mode", lambda: net.train("yes"))


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
def attribute_rules(torch, log):
    """What may and may not be assigned to a module, and what reading a missing attribute says."""
    net = small_net(torch)

    def assign(name, value):
        setattr(net, name, value)

    log.raises("missing", lambda: net.missing)
    log.raises("a list as parameter", lambda: assign("scale", [1.0]))
    log.raises("a tensor as parameter", lambda: assign("scale", torch.tensor([1.0])))
    log.raises("a number as module", lambda: assign("body", 3))
    log.raises("None as parameter", lambda: assign("scale", None))
    log("scale", net.scale, [name for name, _ in net.named_parameters()])
    del net.scale
    log.raises("deleted", lambda: net.scale)
    net.plain = torch.tensor([1.0])
    log(
        "a plain tensor is no parameter",
        "plain" in dict(net.named_buffers()),
        list(net.state_dict()),
    )


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
def no_forward(torch, log):
    """A module without forward."""

    class Empty(torch.nn.Module):
        pass

    log.raises("calling", lambda: Empty()(torch.tensor([1.0])))


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


@family
def losses_and_activations(torch, log):
    """MSELoss with its reductions and the activations as modules."""
    a = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    b = torch.tensor([0.5, 1.0, 0.25])
    for reduction in ("mean", "sum", "none"):
        log(reduction, torch.nn.MSELoss(reduction=reduction)(a, b))
    log.raises("bad reduction", lambda: torch.nn.MSELoss(reduction="median")(a, b))
    for kind in (torch.nn.ReLU, torch.nn.Tanh, torch.nn.Sigmoid, torch.nn.Identity):
        log(kind.__name__, kind()(a))


@family
def linear_errors(torch, log):
    """A Linear given the wrong number of features."""
    layer = linear(torch, [[0.5, -1.0]], [0.125])
    log.raises("matrix", lambda: layer(torch.tensor([[1.0, 2.0, 3.0]])))
    log.raises("vector", lambda: layer(torch.tensor([1.0, 2.0, 3.0])))
    log.raises("dtype", lambda: layer(torch.tensor([[1.0, 2.0]], dtype=torch.float64)))
