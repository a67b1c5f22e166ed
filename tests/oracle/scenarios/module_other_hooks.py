"""See the hooks on state dicts and on the registration of parameters, buffers and submodules."""

from __future__ import annotations

from .tools import Family

family = Family()


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
