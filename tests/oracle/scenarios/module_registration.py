"""See parameters, buffers and submodules being registered, replaced, deleted and refused."""

from __future__ import annotations

from .tools import Family

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
def hooks_on_each_way_to_register(torch, log):
    """Which ways of registering call which global hook, and with what; None calls it or not."""
    modules = torch.nn.modules.module
    one, two = torch.nn.Parameter(torch.tensor([1.0])), torch.nn.Parameter(torch.tensor([2.0]))
    with (
        modules.register_module_parameter_registration_hook(lambda *a: log("parameter", *a)),
        modules.register_module_buffer_registration_hook(lambda *a: log("buffer", *a)),
        modules.register_module_module_registration_hook(lambda *a: log("module", *a)),
    ):
        net = torch.nn.Module()
        log("setattr")
        net.p = one
        net.p = two
        net.p = None
        net.p = one
        log("register_parameter")
        net.register_parameter("q", one)
        net.register_parameter("q", None)
        log("register_buffer")
        net.register_buffer("b", torch.tensor(1))
        net.b = torch.tensor(2)
        net.b = None
        net.b = torch.tensor(3)
        net.register_buffer("n", None)
        log("Buffer")
        net.c = torch.nn.Buffer(torch.tensor(4.0))
        net.c = torch.nn.Buffer(torch.tensor(5.0), persistent=False)
        log("modules")
        net.m = torch.nn.ReLU()
        net.m = torch.nn.Tanh()
        net.m = None
        net.m = torch.nn.ReLU()
        net.add_module("a", torch.nn.ReLU())
        net.add_module("a", None)
        net.register_module("r", torch.nn.ReLU())
        log("containers")
        body = torch.nn.Sequential(torch.nn.ReLU())
        body.append(torch.nn.Tanh())
        body[0] = torch.nn.Tanh()
        del body[0]
        torch.nn.ModuleList([torch.nn.ReLU()]).extend([torch.nn.Tanh()])
        torch.nn.ModuleDict({"x": torch.nn.ReLU()})["y"] = torch.nn.Tanh()
        log("deleting and plain")
        del net.p, net.b, net.m
        net.plain = 3
    log("tables", tables(net))
    net.p = one


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
def handles_of_registration_hooks(torch, log):
    """Global registration hooks come in order and are removed by their handle."""
    modules = torch.nn.modules.module
    first = modules.register_module_buffer_registration_hook(lambda *a: log("first"))
    second = modules.register_module_buffer_registration_hook(lambda *a: log("second"))
    table = first.hooks_dict_ref()
    log("table", table is second.hooks_dict_ref(), len(table), second.id - first.id)
    log("the module's", table is modules._global_buffer_registration_hooks)
    net = torch.nn.Module()
    net.register_buffer("x", None)
    first.remove()
    net.register_buffer("x", None)
    second.remove()
    log("removed", len(table))
