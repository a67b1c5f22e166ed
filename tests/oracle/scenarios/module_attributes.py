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


def names(pairs):
    """Give the names only."""
    return [name for name, _ in pairs]


@family
def names_with_options(torch, log):
    """named_* with prefix, recurse and remove_duplicate; plain iterators give each thing once."""
    net = shared_net(torch)
    for label in ("named_parameters", "named_buffers"):
        for prefix in ("", "p", "p."):
            for recurse in (True, False):
                for remove in (True, False):
                    found = getattr(net, label)(prefix, recurse, remove)
                    log(f"{label} {prefix!r} {recurse} {remove}", names(found))
    for remove in (True, False):
        log("named_modules", names(net.named_modules(prefix="p", remove_duplicate=remove)))
    log("children", names(net.named_children()), names(net.b.named_children()))
    log("counts", len(list(net.parameters())), len(list(net.parameters(recurse=False))))
    log("counts", len(list(net.buffers())), len(list(net.buffers(False))), len(list(net.modules())))
    log("positional", names(net.named_parameters("p", False)), names(net.named_modules(None, "q")))
    memo = {net.a}
    log("memo", names(net.named_modules(memo)), len(memo), names(net.named_modules(memo)))
    log("lazy", type(net.parameters()).__name__, type(net.named_modules()).__name__)
    log("empty", list(torch.nn.ReLU().parameters()), names(torch.nn.ReLU().named_modules()))
    log("None child", list(net._modules), names(net.named_children()))


@family
def members_of_an_own_kind(torch, log):
    """_named_members lists whatever a function finds in each module."""
    net = shared_net(torch)
    found = net._named_members(lambda module: module._modules.items(), prefix="p")
    log("modules", names(found))
    found = net._named_members(lambda m: [("n", 3), ("m", None)], remove_duplicate=False)
    log("numbers", list(found))
    log("one number", list(net._named_members(lambda m: [("n", 3), ("m", 3)], recurse=False)))


@family
def finding_by_name(torch, log):
    """get_submodule, get_parameter and get_buffer, and what they say of each wrong path."""
    net = shared_net(torch)
    net.plain = 3
    for path in (
        "",
        "a",
        "b.0",
        "b.2",
        "b.3",
        "b.x.y",
        "a.weight",
        "plain",
        "c",
        "c.x",
        "b.",
        ".",
        ".b",
    ):
        log.raises(f"module {path!r}", lambda path=path: type(net.get_submodule(path)).__name__)
    for path in (
        "weight",
        "a.bias",
        "b.0.weight",
        "x",
        "none",
        "plain",
        "",
        "a",
        "a.x",
        "c.x",
        "z.x",
    ):
        log.raises(f"parameter {path!r}", lambda path=path: net.get_parameter(path))
    for path in ("x", "b.y", "weight", "nothing", "plain", "", "b", "b.z", "z.z", "a.weight.x"):
        log.raises(f"buffer {path!r}", lambda path=path: net.get_buffer(path))
    log.raises("no string", lambda: net.get_submodule(3))
    log.raises("None", lambda: net.get_submodule(None))


@family
def applying(torch, log):
    """apply goes children first, each child of one parent once, and returns the module."""
    net = shared_net(torch)
    seen = []
    log("itself", net.apply(lambda m: seen.append(type(m).__name__)) is net, seen)

    def fail(module):
        raise KeyError("apply")

    log.raises("an error", lambda: net.apply(fail))
    log.raises("no function", lambda: net.apply(None))


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
def freezing(torch, log):
    """requires_grad_ on all parameters, also of shared ones; integers refuse."""
    net = shared_net(torch)
    log("frozen", net.requires_grad_(False) is net, [p.requires_grad for p in net.parameters()])
    net.a.requires_grad_()
    log("free", [p.requires_grad for p in net.parameters()], net.x.requires_grad)
    net.count = torch.nn.Parameter(torch.tensor([1]), requires_grad=False)
    log.raises("integers", lambda: net.requires_grad_())
    log.raises("integers stay", lambda: net.requires_grad_(False) and None)


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


@family
def printing(torch, log):
    """The printed tree: names, extra_repr in one line or several, None, nested and own ones."""

    class Extra(torch.nn.Module):
        def __init__(self, text, **children):
            super().__init__()
            self.text = text
            for name, child in children.items():
                setattr(self, name, child)

        def extra_repr(self):
            return self.text

    class Renamed(torch.nn.ReLU):
        def _get_name(self):
            return "Other"

    class Own(torch.nn.Module):
        def __repr__(self):
            return "one\ntwo"

    log("nothing", repr(torch.nn.Module()), repr(Extra("")), repr(Extra("one, two")))
    log("lines", repr(Extra("one\ntwo")), repr(Extra("\n")))
    log("child", repr(Extra("", a=Extra("deep"))), repr(Extra("x", a=Extra("deep"))))
    log("lines and child", repr(Extra("one\ntwo", a=Extra("deep\ndeeper", b=Renamed()))))
    log("own", repr(Extra("", a=Own(), b=Renamed())), Renamed()._get_name())
    net = shared_net(torch)
    log("shared", repr(net))
    net.add_module("gone", None)
    log("None", repr(net), str(net) == repr(net), f"{net}" == repr(net))
    log("containers", repr(torch.nn.ModuleList([torch.nn.ReLU()] * 3)), repr(torch.nn.Sequential()))
    log("dict", repr(torch.nn.ModuleDict({"a": torch.nn.ReLU()})), repr(torch.nn.ModuleDict()))


@family
def small_things(torch, log):
    """Equality, hashing, truth, unknown attributes and the class's own defaults."""
    net, other = torch.nn.ReLU(), torch.nn.ReLU()
    log("equal", net == other, hash(net) == hash(net), bool(net), net in {net})
    log("version", torch.nn.Module._version, torch.nn.Module.dump_patches, net.call_super_init)
    log.raises("iterating", lambda: list(torch.nn.Module()))
    log.raises("length", lambda: len(torch.nn.Module()))
    log.raises("unknown", lambda: net.weigth)
    log("default", getattr(net, "weigth", "default"), hasattr(net, "training"))

    class Property(torch.nn.Module):
        @property
        def bad(self):
            return self.missing

        @property
        def good(self):
            return self._value

        @good.setter
        def good(self, value):
            self._value = value

    module, parameter = Property(), torch.nn.Parameter(torch.tensor([1.0]))
    log.raises("a property that fails", lambda: module.bad)
    module.good = 4
    log("a property with a setter", module.good, "good" in module.__dict__)
    log.raises("a parameter as its value", lambda: setattr(module, "good", parameter))
    log("tables", list(module._parameters), list(module.__dict__)[-1])
    log.raises("before init", lambda: Property.__new__(Property).anything)
