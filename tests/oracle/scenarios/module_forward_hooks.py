"""See forward pre-hooks and forward hooks on modules: arguments, results, order, options,
removal.
"""

from __future__ import annotations

from .tools import Family, linear

family = Family()


def scale_module(torch):
    """Give a module class with a keyword argument: x times a factor."""

    class Scale(torch.nn.Module):
        def forward(self, x, factor=2.0):
            return x * factor

    return Scale


@family
def what_they_get(torch, log):
    """A pre-hook gets the positional inputs as a tuple, a forward hook these and the output."""
    scale = scale_module(torch)()
    scale.register_forward_pre_hook(log.module_hook("pre"))
    scale.register_forward_hook(log.module_hook("forward"))
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    log("result", scale(x))
    log("keyword", scale(x, factor=3.0))
    log("positional", scale(x, 0.5))


@family
def pre_hook_replaces_inputs(torch, log):
    """A single value returned by a pre-hook is wrapped into a tuple; a tuple is taken as it is."""
    scale = scale_module(torch)()
    x = torch.tensor([1.0, -2.0])
    with scale.register_forward_pre_hook(lambda module, inputs: inputs[0] * 10):
        scale.register_forward_pre_hook(log.module_hook("second sees"))
        log("single", scale(x))
    with scale.register_forward_pre_hook(lambda module, inputs: (inputs[0], -1.0)):
        log("tuple", scale(x))


@family
def pre_hook_with_kwargs(torch, log):
    """With with_kwargs a pre-hook gets and returns both; anything else than a pair is refused."""
    scale = scale_module(torch)()
    x = torch.tensor([1.0, -2.0])

    def triple(module, args, kwargs):
        log("pre", args, kwargs)
        return args, {"factor": kwargs.get("factor", 1.0) * 3}

    with scale.register_forward_pre_hook(triple, with_kwargs=True):
        log("none given", scale(x))
        log("keyword", scale(x, factor=5.0))
    with scale.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True):
        log("keeps", scale(x, factor=5.0))
    with scale.register_forward_pre_hook(lambda m, a, k: {"factor": 2.0}, with_kwargs=True):
        log.raises("not a pair", lambda: scale(x))


@family
def forward_hook_replaces_output(torch, log):
    """A value other than None returned by a forward hook replaces the output for the next hook and
    the caller.
    """
    scale = scale_module(torch)()
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    scale.register_forward_hook(log.module_hook("first", lambda m, i, o: o + 100))
    scale.register_forward_hook(log.module_hook("second"))
    scale.register_forward_hook(log.module_hook("third", lambda m, i, o: {"out": o}))
    log("result", scale(x))


@family
def forward_hook_with_kwargs(torch, log):
    """With with_kwargs a forward hook is called with module, args, kwargs and output."""
    scale = scale_module(torch)()
    x = torch.tensor([1.0, -2.0])
    scale.register_forward_hook(log.module_hook("plain"))
    scale.register_forward_hook(
        log.module_hook("kwargs", lambda m, a, k, o: o * k["factor"]), with_kwargs=True
    )
    log("result", scale(x, factor=4.0))


@family
def prepend_and_global(torch, log):
    """Global hooks come before the module's own; prepend puts a hook in front of its own group."""
    scale = scale_module(torch)()
    modules = torch.nn.modules.module
    scale.register_forward_pre_hook(lambda m, i: log("pre 1"))
    scale.register_forward_pre_hook(lambda m, i: log("pre 2"))
    scale.register_forward_pre_hook(lambda m, i: log("pre in front"), prepend=True)
    scale.register_forward_hook(lambda m, i, o: log("forward 1"))
    scale.register_forward_hook(lambda m, i, o: log("forward 2"))
    scale.register_forward_hook(lambda m, i, o: log("forward in front"), prepend=True)
    with (
        modules.register_module_forward_pre_hook(lambda m, i: log("global pre 1")),
        modules.register_module_forward_pre_hook(lambda m, i: log("global pre 2")),
        modules.register_module_forward_hook(lambda m, i, o: log("global forward 1")),
        modules.register_module_forward_hook(lambda m, i, o: log("global forward 2")),
    ):
        scale(torch.tensor(1.0))
    log("without the global ones")
    scale(torch.tensor(1.0))


@family
def global_hooks_replace(torch, log):
    """Global forward hooks act on every module and may replace inputs and outputs."""
    modules = torch.nn.modules.module
    net = torch.nn.Sequential(torch.nn.ReLU(), scale_module(torch)())
    x = torch.tensor([1.0, -2.0])
    with modules.register_module_forward_pre_hook(log.module_hook("pre", lambda m, i: (i[0] + 1,))):
        log("result", net(x))
    with modules.register_module_forward_hook(log.module_hook("forward", lambda m, i, o: o * 2)):
        log("result", net(x))
    with modules.register_module_forward_hook(log.module_hook("kwargs"), with_kwargs=True):
        log("result", net[1](x, factor=7.0))


@family
def always_call_when_forward_fails(torch, log):
    """always_call hooks run once although forward raised, with output None; the first error is the
    one raised.
    """

    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ValueError("forward gives up")

    fails = Fails()
    x = torch.tensor([1.0])
    fails.register_forward_hook(log.module_hook("plain"))
    fails.register_forward_hook(log.module_hook("always"), always_call=True)
    fails.register_forward_hook(
        log.module_hook("always, kwargs"), always_call=True, with_kwargs=True
    )
    log.raises("calling", lambda: fails(x))

    def bad(module, inputs, output):
        log("bad hook", output)
        raise KeyError("of the hook")

    fails.register_forward_hook(bad, always_call=True)
    log.raises("with a bad hook", lambda: fails(x))


@family
def always_call_when_a_hook_fails(torch, log):
    """always_call hooks run although an earlier hook raised; those that ran already do not run
    again.
    """
    scale = scale_module(torch)()
    x = torch.tensor([1.0])

    def bad(module, inputs, output):
        log("bad hook")
        raise KeyError("of the hook")

    scale.register_forward_hook(log.module_hook("always, before"), always_call=True)
    scale.register_forward_hook(bad)
    scale.register_forward_hook(log.module_hook("plain, after"))
    scale.register_forward_hook(log.module_hook("always, after"), always_call=True)
    log.raises("calling", lambda: scale(x))


@family
def always_call_when_a_pre_hook_fails(torch, log):
    """always_call hooks run although a pre-hook raised."""
    scale = scale_module(torch)()

    def bad(module, inputs):
        raise ValueError("pre-hook gives up")

    scale.register_forward_pre_hook(bad)
    scale.register_forward_hook(log.module_hook("always"), always_call=True)
    log.raises("calling", lambda: scale(torch.tensor([1.0])))


@family
def always_call_globally(torch, log):
    """A global always_call hook runs for every module on the way out of an error,
    innermost first.
    """

    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ValueError("forward gives up")

    net = torch.nn.Sequential(torch.nn.ReLU(), Fails())
    register = torch.nn.modules.module.register_module_forward_hook
    with register(log.module_hook("always"), always_call=True), register(log.module_hook("plain")):
        log.raises("calling", lambda: net(torch.tensor([1.0, -1.0])))
    with register(log.module_hook("always, all is well"), always_call=True):
        log("result", net[0](torch.tensor([1.0, -1.0])))


@family
def removal(torch, log):
    """Removed hooks do not run; a hook may remove itself while it runs."""
    scale = scale_module(torch)()
    x = torch.tensor(1.0)

    def once(module, inputs):
        log("once")
        handle.remove()

    handle = scale.register_forward_pre_hook(once)
    scale.register_forward_pre_hook(lambda m, i: log("stays"))
    after = scale.register_forward_hook(lambda m, i, o: log("after"))
    scale(x)
    after.remove()
    after.remove()
    scale(x)
    log("tables", len(scale._forward_pre_hooks), len(scale._forward_hooks))


@family
def handles_and_tables(torch, log):
    """A handle knows its table and its id; removal takes the id out of the side tables too."""
    scale = scale_module(torch)()
    handle = scale.register_forward_hook(
        lambda m, a, k, o: None, with_kwargs=True, always_call=True
    )
    log("table", handle.hooks_dict_ref() is scale._forward_hooks, handle.id in scale._forward_hooks)
    log("side", len(scale._forward_hooks_with_kwargs), len(scale._forward_hooks_always_called))
    handle.remove()
    log("side", len(scale._forward_hooks_with_kwargs), len(scale._forward_hooks_always_called))
    pre = scale.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True)
    log("pre", len(scale._forward_pre_hooks_with_kwargs))
    pre.remove()
    log("pre", len(scale._forward_pre_hooks_with_kwargs), len(scale._forward_pre_hooks))


@family
def capturing_activations(torch, log):
    """Forward hooks on children of a Sequential, the everyday use: catch what each layer gives."""
    net = torch.nn.Sequential(
        linear(torch, [[0.5, -1.0], [1.5, 0.25]], [0.125, -0.5]),
        torch.nn.Tanh(),
        linear(torch, [[1.0, -2.0]], None),
    )
    for name, child in net.named_children():
        child.register_forward_hook(lambda m, i, o, name=name: log(name, type(m).__name__, o))
    out = net(torch.tensor([[1.0, 2.0], [-0.5, 0.25]]))
    log("out", out)


@family
def module_used_twice(torch, log):
    """A module called twice in one forward runs its hooks twice."""
    layer = linear(torch, [[2.0]], [1.0])
    layer.register_forward_pre_hook(log.module_hook("pre"))
    layer.register_forward_hook(log.module_hook("forward"))
    log("out", layer(layer(torch.tensor([[3.0]]))))


@family
def forward_called_directly(torch, log):
    """Calling module.forward instead of the module runs no hooks."""
    layer = linear(torch, [[2.0]], [1.0])
    layer.register_forward_hook(log.module_hook("forward"))
    log("out", layer.forward(torch.tensor([[3.0]])))
