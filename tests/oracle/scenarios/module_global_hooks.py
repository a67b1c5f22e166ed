"""See the global backward hooks: on every module, before the module's own, and how kinds exclude
each other.
"""

from __future__ import annotations

from .module_full_hooks import leaves, module_of, net_of_the_worked_example, run_worked_example
from .tools import Family, linear

family = Family()


@family
def full_hooks_on_the_worked_example(torch, log):
    """A global full hook and a global pre-hook see every module of the worked example."""
    modules = torch.nn.modules.module
    net = net_of_the_worked_example(torch)
    with (
        modules.register_module_full_backward_pre_hook(log.module_hook("pre")),
        modules.register_module_full_backward_hook(log.module_hook("hook")),
    ):
        run_worked_example(torch, log, net)
    log("removed")
    run_worked_example(torch, log, net)


@family
def scaling_per_layer(torch, log):
    """The seed's example: scale gradients by the kind of layer, entries that are None
    left alone.
    """
    net = torch.nn.Sequential(
        linear(torch, [[0.5, -1.0], [1.5, 0.25]], [0.125, -0.5]),
        torch.nn.ReLU(),
        linear(torch, [[1.0, -2.0]], [0.5]),
    )

    def scale(module, grad_input, grad_output):
        factor = 0.5 if isinstance(module, torch.nn.Linear) else 1.0
        log("scaling", type(module).__name__, grad_input)
        return tuple(None if g is None else g * factor for g in grad_input)

    with torch.nn.modules.module.register_module_full_backward_hook(scale):
        x = torch.tensor([[1.0, 2.0], [-0.5, 0.25]], requires_grad=True)
        net(x).sum().backward()
        log("x.grad", x.grad)
        net(x.detach()).sum().backward()
    for name, parameter in net.named_parameters():
        log(name, parameter.grad)


@family
def no_legacy_after_full(torch, log):
    """Once there was a global full hook no global legacy hook is taken, not even after
    its removal.
    """
    modules = torch.nn.modules.module
    hook = log.module_hook("never")
    with modules.register_module_full_backward_hook(hook):
        log.raises("legacy after full", lambda: modules.register_module_backward_hook(hook))
    log.raises("removed", lambda: modules.register_module_backward_hook(hook))


@family
def global_full_and_local_legacy(torch, log):
    """A global full hook meets a module with a legacy hook of its own."""
    modules = torch.nn.modules.module
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x * 3)
    module.register_backward_hook(log.module_hook("local legacy"))
    with modules.register_module_full_backward_hook(log.module_hook("global full")):
        log.raises("call", lambda: module(a).sum().backward())


@family
def replaced_by_a_global_pre_hook(torch, log):
    """The seed's example of scaling in a global pre-hook: every module scales again on
    the way up.
    """
    net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sequential(torch.nn.ReLU()))
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    pre = torch.nn.modules.module.register_module_full_backward_pre_hook
    with pre(log.module_hook("scaled", lambda m, go: tuple(g * 0.5 for g in go))):
        net(x).backward(torch.tensor([16.0, 32.0, -64.0]))
    log("x.grad", x.grad)


@family
def finding_nan_early(torch, log):
    """The seed's example of a global pre-hook that looks for gradients that are not finite."""
    net = torch.nn.Sequential(
        module_of(torch, lambda x: x * 2), module_of(torch, lambda x: x.log())
    )
    x = torch.tensor([0.0, 1.0], requires_grad=True)

    def look(module, grad_output):
        for index, grad in enumerate(grad_output):
            if grad is not None and (
                torch.isnan(grad).any().item() or torch.isinf(grad).any().item()
            ):
                log("not finite", index, grad)

    with torch.nn.modules.module.register_module_full_backward_pre_hook(look):
        net(x).sum().backward()
    log("x.grad", x.grad)
