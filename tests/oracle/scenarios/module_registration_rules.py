"""See which names and values a module refuses to register, and when it is too early to."""

from __future__ import annotations

from functools import partial

from .module_registration import own_class, setter, tables
from .tools import Family, linear

family = Family()


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
def names_that_a_model_may_like(torch, log):
    """Layers under private names of all sorts are found again: no method of Module hides them."""
    names = (
        "_forget",
        "_input",
        "_gate",
        "_cell",
        "_check",
        "_check_name",
        "_load",
        "_load_tensor",
        "_saved",
        "_saved_tensors",
        "_get_member",
        "_register_backward_hook",
        "_forward_unimplemented",
        "_ask",
        "_enter",
        "_hooks",
        "_children",
        "_direction",
    )
    net = torch.nn.Module()
    for name in names:
        setattr(net, name, linear(torch, [[0.5]], None))
    log("found", [type(getattr(net, name)).__name__ for name in names])
    net.state_dict()
    net.x = torch.nn.Parameter(torch.tensor([1.0]))
    log(
        "loaded", repr(net.load_state_dict(net.state_dict())), type(net.get_parameter("x")).__name__
    )
    for name in names:
        delattr(net, name)
        setattr(net, name, torch.nn.Parameter(torch.tensor([1.0])))
    log("parameters", [name for name, _ in net.named_parameters()])


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


@family
def init_called_again(torch, log):
    """A second call of Module.__init__ starts the tables anew, plain attributes stay."""
    net = linear(torch, [[0.5]], [0.25])
    net.register_forward_hook(print)
    net.note = 3
    net.eval()
    torch.nn.Module.__init__(net)
    log("tables", tables(net), len(net._forward_hooks), net.training)


@family
def own_attribute_methods(torch, log):
    """A subclass may have __getattr__ and __setattr__ of its own and hand on to Module's."""

    class Own(torch.nn.Module):
        def __getattr__(self, name):
            log("asked for", name)
            try:
                return super().__getattr__(name)
            except AttributeError:
                return f"made up {name}"

        def __setattr__(self, name, value):
            log("set", name)
            super().__setattr__(name, value)

        def __delattr__(self, name):
            log("deleted", name)
            super().__delattr__(name)

    net = Own()
    net.layer = torch.nn.ReLU()
    log.raises("hidden", lambda: net.register_parameter("p", None))
    log("read", type(net.layer).__name__, net.unknown, net.training)
    del net.layer
    log("tables", tables(net))
    log.raises("parameter", lambda: setattr(net, "w", torch.nn.Parameter(torch.tensor([1.0]))))
    log.raises("printed", lambda: repr(net))
