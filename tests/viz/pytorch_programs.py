"""Programs on PyTorch with hooks of every kind, and what tells where these should sit."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from minigrad.viz.graph import IDENTITY
from minigrad.viz.pytorch import walk


def called(function, name):
    function.__name__ = function.__qualname__ = name
    return function


# ------------------------------------------------------------------ hooks, and what they leave


class Hooks:
    """Hooks of all kinds that count their calls, and the nodes on which they should sit."""

    def __init__(self):
        self.calls, self.sites = [], {}

    def hook(self, name, result=lambda *given: None):
        def hook(*given):
            self.calls.append(name)
            return result(*given)

        return called(hook, name)

    def on_output(self, module, name, register=lambda result: None):
        """Register a hook on what a module gives, each time that it is called."""

        def left(module, args, result):
            result = result[0] if isinstance(result, tuple) else result
            if result.requires_grad:
                self.sites.setdefault(name, []).append(result.grad_fn)
                register(result)

        module.register_forward_hook(left)

    def put(self, tensor, before, after, parameter, full, pre, legacy=None):
        """Put seven kinds of hooks on modules and a parameter."""
        halve = self.hook("halve", lambda grad: grad * 0.5)
        node_before = self.hook("node_before", partial(scaled, 2))
        node_after = self.hook("node_after")
        self.on_output(tensor, "halve", lambda result: result.register_hook(halve))
        self.on_output(
            before, "node_before", lambda result: result.grad_fn.register_prehook(node_before)
        )
        self.on_output(after, "node_after", lambda result: result.grad_fn.register_hook(node_after))
        parameter.register_post_accumulate_grad_hook(self.hook("on_grad", enlarged))
        self.parameter = parameter
        full.register_full_backward_hook(
            self.hook("full", lambda module, grad_input, grad_output: scaled(3, grad_input))
        )
        outside = self.sites.setdefault("outside full", [])
        full.register_forward_pre_hook(lambda module, args: outside.append(args[0].grad_fn))
        pre.register_full_backward_pre_hook(self.hook("full_pre"))
        self.on_output(pre, "inside full_pre")
        if legacy is not None:
            legacy.register_backward_hook(self.hook("legacy"))
            self.on_output(legacy, "legacy")

    def at(self, graph, index):
        """Give for each hook the indices of the nodes where it should sit."""
        identities = [node.index for node in graph.nodes if node.name == IDENTITY]
        leads = {at: {e.target for e in graph.edges if e.source == at} for at in identities}
        found = {"on_grad": {index.locate(self.parameter)} - {None}}
        for name, nodes in self.sites.items():
            places = {index.locate(node) for node in nodes} - {None}
            if " " in name:
                places = {at for at in identities if leads[at] & places}
            found[name.split()[-1]] = places
        return found


def scaled(factor, grads):
    return tuple(grad if grad is None else grad * factor for grad in grads)


def enlarged(parameter):
    parameter.grad.mul_(3)


def tables_of(modules, roots):
    """Give what hooks are where: on modules, parameters, and nodes."""
    found = {}
    names = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")
    for module in modules:
        found |= {(module, name): dict(getattr(module, name)) for name in names}
        for parameter in module.parameters(recurse=False):
            for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
                found[id(parameter), name] = dict(getattr(parameter, name) or {})
    for node in walk(roots, 10_000):
        for register in (node.register_prehook, node.register_hook):
            handle = register(lambda *given: None)
            table = dict(handle.hooks_dict_ref())
            del table[handle.id]
            handle.remove()
            found[node, register.__name__] = list(table.items())
    return found


# ------------------------------------------------------------------ programs


class Residual(nn.Sequential):
    """A basic block of a ResNet; what writes in place writes over the output of a norm."""

    def __init__(self, width):
        conv, norm = partial(nn.Conv2d, width, width, 3, padding=1), partial(nn.BatchNorm2d, width)
        super().__init__(conv(), norm(), nn.ReLU(inplace=True), conv(), norm())

    def forward(self, x):
        y = super().forward(x)
        y += x
        return F.relu(y, inplace=True)


def residual():
    ends = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3)]
    return nn.Sequential(nn.Conv2d(3, 2, 3), *(Residual(2) for _ in range(4)), *ends)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return 2 * a * b, a + b

    @staticmethod
    def backward(ctx, g, unused):
        a, b = ctx.saved_tensors
        return 2 * g * b, 2 * g * a


def resnet(hooks):
    net = residual()
    hooks.put(net[1][1], net[2][3], net[3][4], net[-1].weight, net[3], net[4])
    with torch.autograd.graph.saved_tensors_hooks(
        hooks.hook("pack", lambda t: t), hooks.hook("unpack", lambda t: t)
    ):
        loss = F.cross_entropy(net(torch.randn(2, 3, 8, 8)), torch.tensor([0, 2]))
    return [net], loss, lambda: [loss.backward(retain_graph=True), loss.backward(), loss]


def lstm(hooks):
    first, lstm, last = net = nn.ModuleList([nn.Linear(3, 4), nn.LSTM(4, 5, 2), nn.Linear(5, 2)])
    hooks.put(first, lstm, lstm, lstm.weight_hh_l0, last, lstm)
    everywhere = hooks.hook("everywhere")
    handle = nn.modules.module.register_module_full_backward_hook(everywhere)
    try:
        y, _ = lstm(torch.tanh(first(torch.randn(3, 2, 3, requires_grad=True))))
        loss = last(y[-1]).square().sum()  # of a view
    finally:
        handle.remove()
    return [net], loss, lambda: torch.autograd.grad(loss, [first.weight, lstm.weight_ih_l1])


def shared(hooks, use_reentrant):
    """Call a module twice, in a checkpoint too, and use a Function of one's own."""
    inp, twice, out = net = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)])
    hooks.put(inp, twice, twice, twice.weight, twice, twice, legacy=inp)
    h = torch.tanh(twice(torch.tanh(inp(torch.randn(2, 3)))))
    again = torch.utils.checkpoint.checkpoint(
        lambda h: torch.sin(twice(h)), h, use_reentrant=use_reentrant
    )
    loss = out(Doubled.apply(again, h)[0]).square().mean()
    return [net], loss, lambda: [loss.backward(), loss]


PROGRAMS = {
    "resnet": resnet,
    "lstm": lstm,
    "shared, reentrant": partial(shared, use_reentrant=True),
    "shared": partial(shared, use_reentrant=False),
}
