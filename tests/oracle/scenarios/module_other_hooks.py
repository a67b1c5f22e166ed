"""See the hooks on state dicts and on the registration of parameters, buffers and submodules."""

from __future__ import annotations

import copy

from .tools import Family, linear

family = Family()


@family
def state_dict_hooks(torch, log):
    """A pre-hook gets module, prefix and keep_vars; a post-hook may change the dict."""
    net = torch.nn.Sequential(linear(torch, [[0.5]], [0.25]))

    def after(module, state, prefix, metadata):
        log("post", type(module).__name__, list(state), prefix)
        state[prefix + "note"] = torch.tensor(1.0)

    pre = net[0].register_state_dict_pre_hook(lambda m, prefix, keep: log("pre", prefix, keep))
    post = net[0].register_state_dict_post_hook(after)
    log("keys", list(net.state_dict()))
    pre.remove()
    post.remove()
    log("keys", list(net.state_dict(prefix="net.")))


@family
def load_state_dict_hooks(torch, log):
    """A pre-hook may change what is loaded; a post-hook may edit the lists of incompatible keys."""
    layer = linear(torch, [[0.5]], [0.25])

    def before(module, state, prefix, metadata, strict, missing, unexpected, errors):
        log("pre", type(module).__name__, list(state), prefix, strict, missing, unexpected, errors)
        state["bias"] = torch.tensor([7.0])

    def after(module, incompatible):
        log("post", list(incompatible.missing_keys), list(incompatible.unexpected_keys))
        incompatible.unexpected_keys.clear()

    layer.register_load_state_dict_pre_hook(before)
    handle = layer.register_load_state_dict_post_hook(after)
    given = {"weight": torch.tensor([[3.0]]), "extra": torch.tensor(1.0)}
    log.raises("loaded", lambda: repr(layer.load_state_dict(given)))
    log("values", layer.weight, layer.bias)
    handle.remove()
    log.raises("without the post-hook", lambda: layer.load_state_dict(given))


@family
def registration_hooks(torch, log):
    """Global hooks run upon each registration and may put something else in its place."""
    modules = torch.nn.modules.module

    def parameter(module, name, value):
        log("parameter", type(module).__name__, name, value)
        return torch.nn.Parameter(value * 2)

    with (
        modules.register_module_parameter_registration_hook(parameter),
        modules.register_module_buffer_registration_hook(lambda m, n, b: log("buffer", n, b)),
        modules.register_module_module_registration_hook(lambda m, n, s: log("module", n, s)),
    ):
        net = torch.nn.Module()
        net.weight = torch.nn.Parameter(torch.tensor([1.0]))
        net.register_parameter("other", torch.nn.Parameter(torch.tensor([2.0])))
        net.register_buffer("steps", torch.tensor(0))
        net.add_module("child", torch.nn.ReLU())
        net.attribute = torch.nn.Tanh()
    log("values", dict(net.named_parameters()))


@family
def a_module_with_hooks_is_copied(torch, log):
    """A deep copy of a module has the same hooks and parameters of its own."""
    layer = linear(torch, [[0.5]], [0.25])
    layer.register_forward_hook(lambda m, i, o: o * 10)
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight.mul_(2)
    log("out", layer(torch.tensor([[1.0]])), twin(torch.tensor([[1.0]])), twin.weight)
