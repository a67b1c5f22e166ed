"""Wrong answers that are no row of a table, and right ones, for the exercises of lesson 06."""

from functools import partial

import numpy as np

import minigrad as torch
from minigrad import nn


def _clip_in_place(module, grad_input, grad_output):
    for g in grad_input:
        if g is not None:
            g.clamp_(-1, 1)


def _clip_with(change, kind=tuple):
    def clip(module, grad_input, grad_output):
        return kind(None if g is None else change(g) for g in grad_input)

    return clip


def _one(g):
    return g.clamp(-1, 1)


def _clip_if_large(module, grad_input, grad_output):
    if any(g is not None and (g.abs() > 1).any() for g in grad_input):
        return _clip_with(_one)(module, grad_input, grad_output)


def _clip_long_way(module, grad_input, grad_output):
    clipped = []
    for g in grad_input:
        if g is None:
            clipped.append(None)
        else:
            clipped.append(torch.where(g > 1, torch.ones_like(g), g).clamp(min=-1))
    return tuple(clipped)


def _clip_clones(module, grad_input, grad_output):
    return tuple(g if g is None else g.clone().clamp_(-1, 1) for g in grad_input)


def _norms_right(model, data, cotangent):
    norms = {}

    def remember(name):
        def hook(module, grad_output):
            norms[name] = grad_output[0].norm()

        return hook

    linear = [(name, m) for name, m in model.named_modules() if isinstance(m, nn.Linear)]
    handles = [m.register_full_backward_pre_hook(remember(name)) for name, m in linear]
    model(data.detach().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_view_of_data(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):

            def hook(module, grad_input, grad_output, name=name):
                norms[name] = float((grad_output[0] ** 2).sum()) ** 0.5

            handles.append(module.register_full_backward_hook(hook))
    model(data.clone().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_with(
    measure=lambda i, o: o[0].norm().item(),
    where=nn.Module.named_modules,
    copy=lambda data: data.clone().detach().requires_grad_(),
    keeps=0,
    kinds=nn.Linear,
    runs=nn.Module.__call__,
):
    def layer_norms(model, data, cotangent):
        norms, handles = {}, []
        for name, module in where(model):
            if isinstance(module, kinds):

                def hook(module, grad_input, grad_output, name=name):
                    norms[name] = measure(grad_input, grad_output)

                handles.append(module.register_full_backward_hook(hook))
        runs(model, copy(data)).backward(cotangent)
        for handle in handles[keeps:]:
            handle.remove()
        return norms

    return layer_norms


def _norms_eval(model, data, cotangent):
    return _norms_right(model.eval(), data, cotangent)


def _norms_by_module(model, data, cotangent):
    norms = _norms_right(model, data, cotangent)
    return {model.get_submodule(name): norm for name, norm in norms.items()}


def _norms_removed_early(model, data, cotangent):
    names = {m: n for n, m in model.named_modules() if isinstance(m, nn.Linear)}
    norms = {}

    def hook(module, grad_input, grad_output):
        norms[names[module]] = grad_output[0].norm()

    handles = [module.register_full_backward_hook(hook) for module in names]
    output = model(data.detach().requires_grad_())
    for handle in handles:
        handle.remove()
    output.backward(cotangent)
    return norms


def _norms_change_data(model, data, cotangent):
    norms = _norms_right(model, data, cotangent)
    data.requires_grad_()
    return norms


def _norms_no_return(model, data, cotangent):
    _norms_right(model, data, cotangent)


def _hooked(module, x, hook):
    gate, noted = x.view_as(x), {}
    y = module(gate)

    def at_output(gradient):
        noted["out"] = gradient

    def at_input(gradient):
        replaced = hook(module, (gradient,), (noted["out"],))
        if replaced is not None:
            return replaced[0]
        return gradient

    y.register_hook(at_output)
    gate.register_hook(at_input)
    return y


def _hooked_by_nodes(module, x, hook):
    gate, noted = x * 1, []
    y = module(gate)

    def after_the_gate(grad_inputs, grad_outputs):
        replaced = hook(module, (grad_inputs[0],), (noted[0],))
        return None if replaced is None else (replaced[0], *grad_inputs[1:])

    y.grad_fn.register_prehook(lambda gradients: noted.insert(0, gradients[0]))
    gate.grad_fn.register_hook(after_the_gate)
    return y


def _hooked_with(
    gate=lambda x: x.view_as(x),
    answer=lambda gradient, replaced: None if replaced is None else replaced[0],
    arguments=lambda gradient, noted: ((gradient,), (noted[-1],)),
    leave=lambda y: y,
):
    def hooked(module, x, hook):
        entry, noted = gate(x), []
        y = module(entry)
        exit_gate = leave(y)

        def at_input(gradient):
            return answer(gradient, hook(module, *arguments(gradient, noted)))

        entry.register_hook(at_input)
        exit_gate.register_hook(noted.append)
        return y

    return hooked


def _hooked_at_both(module, x, hook):
    entry = x.view_as(x)
    y = module(entry)
    y.register_hook(lambda gradient: hook(module, (None,), (gradient,)))
    entry.register_hook(lambda gradient: hook(module, (gradient,), (None,)))
    return y


def _hooked_sum(module, x, hook):
    gate = x.view_as(x)
    y = module(gate)
    y.retain_grad()

    def at_input(gradient):
        replaced = hook(module, (gradient,), (y.grad.clone(),))
        return None if replaced is None else replaced[0]

    gate.register_hook(at_input)
    return y


def _hooked_by_getattr(module, x, hook):
    with getattr(module, "register_full_" + "backward_hook")(hook):
        return module(x)


def _hooked_by_two_gates(module, x, hook):
    def gate(tensor, at_gate):
        tensor = tensor + 0
        tensor.register_hook(at_gate)
        return tensor

    noted = [None]

    def at_input(gradient):
        replaced = hook(module, (gradient,), (noted[0],))
        return gradient if replaced is None else replaced[0]

    return gate(module(gate(x, at_input)), partial(noted.__setitem__, 0))


def _hooked_no_return(module, x, hook):
    _hooked(module, x, hook)


ANSWERS = {
    "06.1": {
        "wrong": [
            ("sign", (-1, -72, -11, -22, -1)),
            ("5 are asked for", (1, 72, 11)),
            ("entry [1]", (1, 71, 11, 22, 1)),
            ("at each use of f", [9, 72, 11, 22, 1]),
            ("wrong order", (1, 11, 72, 22, 1)),
        ],
        "right": [
            (1, 72, 11, 22, 1),
            [1.0, 72.0, 11.0, 22.0, 1.0],
            np.array([1, 72, 11, 22, 1]),
        ],
    },
    "06.2": {
        "wrong": [
            ("has to look like the old one", lambda m, i, o: (_one(i[0]),)),
            ("has to return a tuple", lambda m, i, o: i[-1].clamp(-1, 1)),
            ("wrote into the tensors", _clip_in_place),
            ("Each has to be a tensor", _clip_with(lambda g: g.numpy().clip(-1, 1))),
            ("called with 3 arguments", lambda m, i: i),
        ],
        "right": [_clip_long_way, _clip_clones, _clip_if_large],
    },
    "06.3": {
        "wrong": [
            ("does not belong", ["C", "A", "B", "E"]),
            ("forward pass", "B -> D -> A -> C"),
            ("all hooks of one module", "C, B, D, A"),
            ("calls all of its hooks", ["C", "A"]),
            ("list of names", 3),
        ],
        "right": [["C", "A", "B", "D"], "C -> A -> B -> D", "cabd"],
    },
    "06.4": {
        "wrong": [
            ("leaves f", ("a", "because grad_input is what flows on to everything")),
            ("used grad_output already", "b: grad_output comes before grad_input"),
            ("enters the Residual", ["d", "because the Residual holds all parameters"]),
            ("Add your reason", "c"),
            ("letters a, b, c", ("e", "none of these will do it at all")),
        ],
        "right": [
            ("c", "because the pre-hook acts before f's own backward runs"),
            ("C", "All of it is below f's upper gate."),
            "c) because the other hooks come too late for f's parameters",
        ],
    },
    "06.5": {
        "wrong": [
            ("another mode", _norms_eval),
            ("holds a tuple", _norms_with(lambda i, o: (i[0].norm(), o[0].norm()))),
            ("with names in it", _norms_by_module),
            ("caller's tensor", _norms_change_data),
            ("It returned None", _norms_no_return),
        ],
        "right": [_norms_right, _norms_view_of_data, _norms_removed_early],
    },
    "06.6": {
        "wrong": [
            ("for grad_input: a tuple", _hooked_at_both),
            ("the sum over both", _hooked_sum),
            ("nothing had been noted", _hooked_with(leave=lambda y: y.view_as(y))),
            ("It called register_full", _hooked_by_getattr),
            ("hooked returned None", _hooked_no_return),
        ],
        "right": [_hooked, _hooked_by_nodes, _hooked_by_two_gates],
    },
}
