"""What a module registers: replacements, names, values, and what is refused."""

from __future__ import annotations

from functools import partial

from .tools import Family, linear

family = Family()


def tables(module):
    """Give the names in the three tables, the not persistent ones and the plain attributes."""
    private = sorted(name for name in module.__dict__ if not name.startswith("_"))
    return [
        list(module._parameters),
        list(module._buffers),
        list(module._modules),
        sorted(module._non_persistent_buffers_set),
        private,
    ]


def setter(module):
    """Make a function that assigns an attribute."""
    return lambda name, value: setattr(module, name, value)


def own_class(torch):
    """Make a subclass of Module whose path does not depend on where this file lies."""

    class Own(torch.nn.Module):
        __module__ = "lesson"
        __qualname__ = "Outer.Own"

    return Own


@family
def replacements(torch, log):
    """A value that a hook returns is registered instead; the next hook is given it."""
    modules = torch.nn.modules.module
    parameter = torch.nn.Parameter(torch.tensor([7.0]))
    with (
        modules.register_module_parameter_registration_hook(lambda m, n, p: parameter),
        modules.register_module_parameter_registration_hook(lambda *a: log("second", *a)),
        modules.register_module_buffer_registration_hook(lambda m, n, b: torch.tensor([8.0])),
        modules.register_module_module_registration_hook(lambda m, n, s: torch.nn.Tanh()),
    ):
        net = torch.nn.Module()
        net.p = torch.nn.Parameter(torch.tensor([1.0]))
        net.register_parameter("q", torch.nn.Parameter(torch.tensor([1.0])))
        net.register_parameter("none", None)
        net.register_buffer("b", torch.tensor(1), persistent=False)
        net.b = torch.tensor(3)
        net.register_buffer("n", None)
        net.m = torch.nn.ReLU()
        net.add_module("a", torch.nn.ReLU())
        net.add_module("gone", None)
        net.m = None
    log("tables", tables(net))
    log("parameters", net.p is parameter, net.q is parameter, net.none)
    log("buffers", net.b, net.n)
    log("modules", net.m, net.a, net.gone)


@family
def wrong_replacements(torch, log):
    """What hooks return is taken as it is or refused; an error of a hook stops the registering."""
    modules = torch.nn.modules.module

    def attempt(label, register, result, action):
        net = torch.nn.Module()
        with register(lambda *_: result):
            log.raises(label, lambda: action(net))
        log(f"{label}: tables", tables(net), getattr(net, "x", "none"))

    of_parameter = modules.register_module_parameter_registration_hook
    of_buffer = modules.register_module_buffer_registration_hook
    of_module = modules.register_module_module_registration_hook
    value = torch.nn.Parameter(torch.tensor([1.0]))
    number = torch.tensor(1)
    for result in (3, False, torch.tensor([2.0]), torch.nn.ReLU(), (1, 2)):
        name = type(result).__name__
        attempt(f"{name} as parameter", of_parameter, result, lambda n: setter(n)("x", value))
        attempt(
            f"{name} as parameter", of_parameter, result, lambda n: n.register_parameter("x", value)
        )
        attempt(f"{name} as buffer", of_buffer, result, lambda n: n.register_buffer("x", number))
        attempt(f"{name} as module", of_module, result, lambda n: setter(n)("x", torch.nn.Tanh()))
        attempt(
            f"{name} as module", of_module, result, lambda n: n.add_module("x", torch.nn.Tanh())
        )

    def fail(*_):
        raise ValueError("hook")

    net = torch.nn.Module()
    with of_parameter(fail), of_buffer(fail), of_module(fail):
        log.raises("parameter", lambda: setter(net)("x", torch.nn.Parameter(torch.tensor([1.0]))))
        log.raises("buffer", lambda: net.register_buffer("y", torch.tensor(1), persistent=False))
        log.raises("module", lambda: setter(net)("z", torch.nn.ReLU()))
        log.raises("wrong name first", lambda: net.register_buffer("a.b", torch.tensor(1)))
    log("tables", tables(net))


@family
def bad_names(torch, log):
    """Names that are no strings, are empty, contain a dot or are taken."""
    net = torch.nn.Module()
    net.taken = 3
    value, layer = torch.nn.Parameter(torch.tensor([1.0])), torch.nn.ReLU()
    net.p, net.m = value, layer
    net.register_buffer("b", torch.tensor(1))
    for name in (3, None, b"x", "", "a.b", ".", "taken", "forward", "training", "p", "m", "b"):
        label = repr(name)
        log.raises(f"parameter {label}", lambda name=name: net.register_parameter(name, value))
        log.raises(f"buffer {label}", lambda name=name: net.register_buffer(name, None))
        log.raises(f"module {label}", lambda name=name: net.add_module(name, layer))
        log.raises(f"again {label}", lambda name=name: net.register_module(name, None))
    log("tables", tables(net))
    log.raises("assigned with a dot", lambda: setter(net)("a.b", value))
    log.raises("assigned empty", lambda: setter(net)("", value))
    log.raises("module with a dot", lambda: setter(net)("a.b", layer))
    log("tables", tables(net))


@family
def bad_values(torch, log):
    """Values that may not be registered, or assigned where something is registered."""
    net = torch.nn.Module()
    p = torch.nn.Parameter(torch.tensor([1.0]))

    Own = own_class(torch)

    for value in (3, "text", [1], torch.tensor([1.0]), p * 2, Own, torch.ones(1).double()):
        label = type(value).__name__
        log.raises(f"parameter {label}", lambda v=value: net.register_parameter("x", v))
        if not isinstance(value, torch.Tensor):
            log.raises(f"buffer {label}", lambda v=value: net.register_buffer("x", v))
        log.raises(f"module {label}", lambda v=value: net.add_module("x", v))
    log.raises("buffer positional", lambda: net.register_buffer("b", p, False))
    net.p, net.m = p, torch.nn.ReLU()
    assign = setter(net)
    for name in ("p", "b", "m"):
        for value in (3, [1], torch.tensor([1.0, 2.0])):
            label = f"{type(value).__name__} to {name}"
            log.raises(label, lambda n=name, v=value: assign(n, v))
        log(f"{name} is", getattr(net, name))
    log("tables", tables(net))
    log.raises("a result as attribute", lambda: assign("y", p * 2))
    log.raises("a result to a parameter", lambda: assign("p", p * 2))


@family
def one_kind_replaces_another(torch, log):
    """What happens to a name that stands in one table if it is assigned for another."""

    Own = own_class(torch)

    def values():
        return {
            "parameter": torch.nn.Parameter(torch.tensor([1.0])),
            "module": Own(),
            "buffer": torch.nn.Buffer(torch.tensor([2.0]), persistent=False),
            "tensor": torch.tensor([3.0]),
            "number": 4,
            "None": None,
        }

    for first, before in values().items():
        for second, after in values().items():
            net = torch.nn.Module()
            net.x = before
            log.raises(f"{first} then {second}", partial(setter(net), "x", after))
            log("tables", tables(net), net.x is after)
            log.raises("and register_buffer", partial(net.register_buffer, "x", None))
            log.raises("and register_parameter", partial(net.register_parameter, "x", None))
            log.raises("and add_module", partial(net.add_module, "x", None))
            log("tables", tables(net))


@family
def before_init(torch, log):
    """Before super().__init__() nothing can be registered, plain attributes can be set."""

    class Early(torch.nn.Module):
        def __init__(self, action):
            self.plain = 1
            action(self)
            super().__init__()

    p, layer = torch.nn.Parameter(torch.tensor([1.0])), torch.nn.ReLU()
    for label, action in (
        ("parameter", lambda m: setter(m)("x", p)),
        ("module", lambda m: setter(m)("x", layer)),
        ("buffer", lambda m: setter(m)("x", torch.nn.Buffer(torch.tensor(1)))),
        ("tensor", lambda m: setter(m)("x", torch.tensor(1))),
        ("register_parameter", lambda m: m.register_parameter("x", p)),
        ("register_buffer", lambda m: m.register_buffer("x", torch.tensor(1))),
        ("add_module", lambda m: m.add_module("x", layer)),
        ("reading", lambda m: m.missing),
        ("deleting", lambda m: delattr(m, "missing")),
        ("deleting plain", lambda m: delattr(m, "plain")),
        ("calling", lambda m: m(1)),
        ("parameters", lambda m: list(m.parameters())),
        ("state_dict", lambda m: m.state_dict()),
        ("printing", lambda m: repr(m)),
        ("train", lambda m: m.train()),
        ("hook", lambda m: m.register_forward_hook(print)),
        ("listing", lambda m: dir(m)),
    ):
        log.raises(label, lambda action=action: sorted(tables(Early(action))[4]))


@family
def deleting(torch, log):
    """del forgets a parameter, buffer, submodule or attribute; twice is an AttributeError."""
    net = torch.nn.Module()
    net.p, net.m, net.plain = torch.nn.Parameter(torch.tensor([1.0])), torch.nn.ReLU(), 3
    net.register_buffer("b", torch.tensor(1), persistent=False)
    for name in ("p", "m", "plain", "b"):
        delattr(net, name)
        log(name, tables(net))
        log.raises("read", lambda name=name: getattr(net, name))
        log.raises("again", lambda name=name: delattr(net, name))
    log.raises("forward", lambda: delattr(net, "forward"))


@family
def arguments_of_init(torch, log):
    """Module takes no arguments; a class may ask for its base classes' __init__ to be called."""

    class Other:
        def __init__(self, *args, **kwargs):
            log("other", args, kwargs)

    class Both(torch.nn.Module, Other):
        pass

    class Calls(torch.nn.Module, Other):
        call_super_init = True

    log.raises("one", lambda: torch.nn.Module(1))
    log.raises("two", lambda: torch.nn.Module(1, 2))
    log.raises("keyword", lambda: torch.nn.Module(a=1, b=2))
    log.raises("one and keyword", lambda: torch.nn.Module(1, a=1))
    log.raises("of a subclass", lambda: torch.nn.ReLU(1, 2, 3) and None)
    log("both", Both())
    log.raises("both with arguments", lambda: Both(1))
    log("calls", Calls(1, a=2))


@family
def what_dir_lists(torch, log):
    """dir lists parameters, buffers and submodules, but no numbers."""
    net = torch.nn.Sequential(linear(torch, [[0.5]], None), torch.nn.ReLU())
    net.p = torch.nn.Parameter(torch.tensor([1.0]))
    net.register_buffer("b", None)
    net.plain = 3
    names = dir(net)
    log("listed", [name in names for name in ("p", "b", "plain", "0", "1", "forward", "training")])
    log("sorted", names == sorted(names), sorted(set(names) - set(dir(torch.nn.Sequential()))))


@family
def attributes_of_the_class(torch, log):
    """A name that the class has cannot be a parameter; a module may take it and is not seen."""

    class Own(torch.nn.Module):
        scale = 3
        layer = None

        def helper(self):
            return "the method"

        @property
        def view(self):
            return "the property"

    net, p = Own(), torch.nn.Parameter(torch.tensor([1.0]))
    for name in ("scale", "layer", "helper", "view", "train", "T"):
        log.raises(f"parameter {name}", lambda name=name: setattr(net, name, p))
        log.raises(f"Buffer {name}", lambda n=name: setattr(net, n, torch.nn.Buffer(p.data)))
        log.raises(f"module {name}", lambda name=name: setattr(net, name, own_class(torch)()))
        log.raises(f"added {name}", lambda name=name: net.add_module(name, torch.nn.ReLU()))
        log.raises(f"number {name}", lambda name=name: setattr(net, name, 4))
    log("tables", tables(net))
    log("read", net.scale, net.layer, net.view)
