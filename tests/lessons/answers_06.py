"""Typical wrong answers and differently written right ones, for the exercises of lesson 06."""

import warnings
from functools import partial

import numpy as np

import minigrad as torch
from minigrad import nn


def _stub_clip(module, grad_input, grad_output):
    for gradient in grad_input:
        gradient.clamp_(-1, 1)
    return grad_input[0]


def _clip_no_nones(module, grad_input, grad_output):
    return tuple(g.clamp(-1, 1) for g in grad_input if g is not None)


def _clip_forgets_none(module, grad_input, grad_output):
    return tuple(g.clamp(-1, 1) for g in grad_input)


def _clip_in_place(module, grad_input, grad_output):
    for g in grad_input:
        if g is not None:
            g.clamp_(-1, 1)


def _clip_in_place_returned(module, grad_input, grad_output):
    for g in grad_input:
        if g is not None:
            g.clamp_(-1, 1)
    return grad_input


def _clip_with(change, kind=tuple):
    def clip(module, grad_input, grad_output):
        return kind(None if g is None else change(g) for g in grad_input)

    return clip


def _one(g):
    return g.clamp(-1, 1)


def _clip_no_return(module, grad_input, grad_output):
    for g in grad_input:
        if g is not None:
            g.clamp(-1, 1)
    return grad_input


def _clip_keeps(kept):
    def clip(module, grad_input, grad_output):
        kept.extend(None if g is None else _one(g) for g in grad_input)
        return tuple(kept)

    return clip


def _clip_if_large(module, grad_input, grad_output):
    if any(g is not None and (g.abs() > 1).any() for g in grad_input):
        return _clip_with(_one)(module, grad_input, grad_output)


class _Clip:
    """A hook with its range inside."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, module, grad_input, grad_output):
        return tuple(g if g is None else g.clip(-self.limit, self.limit) for g in grad_input)


def _clip_first_only(module, grad_input, grad_output):
    return (grad_input[0].clamp(-1, 1), *grad_input[1:])


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


def _as_it_is(data):
    return data


def _norms_silent(model, data, cotangent):
    warnings.simplefilter("ignore")
    return _norms_with(copy=_as_it_is)(model, data, cotangent)


def _norms_eval(model, data, cotangent):
    return _norms_right(model.eval(), data, cotangent)


def _norms_registered_late(model, data, cotangent):
    norms = {}
    output = model(data.detach().requires_grad_())
    for name, module in model.named_modules():
        module.register_full_backward_hook(lambda m, i, o, name=name: norms.update({name: o}))
    output.backward(cotangent)
    return norms


def _norms_by_module(model, data, cotangent):
    norms = _norms_right(model, data, cotangent)
    return {model.get_submodule(name): norm for name, norm in norms.items()}


def _norms_numbered(model, data, cotangent):
    return dict(enumerate(_norms_right(model, data, cotangent).values()))


def _norms_renamed(model, data, cotangent):
    norms = _norms_right(model, data, cotangent)
    return {f"layer {name}": norm for name, norm in norms.items()}


def _norms_returning(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):

            def hook(module, grad_input, grad_output, name=name):
                return norms.setdefault(name, grad_output[0].norm().item())

            handles.append(module.register_full_backward_hook(hook))
    model(data.clone().requires_grad_()).backward(cotangent)
    return norms


def _norms_of_weights(model, data, cotangent):
    model.zero_grad()
    model(data).backward(cotangent)
    layers = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.Linear)]
    return {name: m.weight.grad.norm().item() for name, m in layers}


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


def _norms_late_name(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_pre_hook(
                    lambda m, o: norms.update({name: o[0].norm()})  # noqa: B023
                )
            )
    model(data.clone().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_from_ones(model, data, cotangent):
    return _norms_right(model, data, torch.ones_like(cotangent))


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


def _hooked_in_place(gradient, replaced):
    if replaced is not None:
        gradient.copy_(replaced[0])


def _times(gradient, replaced):
    return None if replaced is None else gradient * replaced[0]


def _plus(gradient, replaced):
    return None if replaced is None else gradient + replaced[0]


def _hooked_at_the_output(module, x, hook):
    entry = x.view_as(x)
    y = module(entry)
    leaving = y.view_as(y)

    def at_output(gradient):
        (inner,) = torch.autograd.grad(y, entry, gradient, retain_graph=True)
        replaced = hook(module, (inner,), (gradient,))
        return None if replaced is None else replaced[0]

    leaving.register_hook(at_output)
    return leaving


def _hooked_at_both(module, x, hook):
    entry = x.view_as(x)
    y = module(entry)
    y.register_hook(lambda gradient: hook(module, (None,), (gradient,)))
    entry.register_hook(lambda gradient: hook(module, (gradient,), (None,)))
    return y


def _hooked_once(module, x, hook):
    gate, noted = x.view_as(x), []
    y = module(gate)

    def at_input(gradient):
        handle.remove()
        replaced = hook(module, (gradient,), (noted.pop(),))
        return None if replaced is None else replaced[0]

    handle = gate.register_hook(at_input)
    y.register_hook(noted.append)
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


def _hooked_full(module, x, hook):
    module.register_full_backward_hook(hook)
    return module(x)


def _hooked_not_at_all(module, x, hook):
    return module(x)


def _hooked_no_return(module, x, hook):
    _hooked(module, x, hook)


ANSWERS = {
    "06.1": {
        "wrong": [
            ("without the hook", (-0.1224, -0.1224, -0.4080, -0.1938, -1.0199)),
            ("pre-hook", (0.06624, 0.06624, 0.2208, 0.10488, 0.552)),
            ("local factor", (1, 1, 1, 1, 1)),
            ("local factor", (1, 1, 1, -0.1938, -1.0199)),
            ("between the gates", (0.3, 0.3, 1.0, None, None)),
            ("between the gates", (0.3, 0.3, 1.0, 0, 0)),
            ("before the gradient reaches", (0.3, 0.3, 1.0, 0.19, 1.0)),
            ("their signs do not", (0.3, 0.3, 1.0, 0.1938, 1.0199)),
            ("changed places", (0.3, 1.0, 0.3, -0.1938, -1.0199)),
            ("not its value", (0.3, 0.3, 0.1, -0.1938, -1.0199)),
            ("w_1 multiplies x_1", (0.3, 0.3, 1.0, -0.306, -1.0199)),
            ("was added", (0.1776, 0.1776, 0.592, -0.1938, -1.0199)),
            ("that factor is past", (0.12, 0.12, 0.4, -0.1938, -1.0199)),
            ("x_1 is not x", (1, 0.3, 1, -0.1938, -1.0199)),
            ("x stands last", (0.3, 1.0, -0.1938, -1.0199, 0.3)),
            ("sign", (-0.3, -0.3, -1.0, 0.1938, 1.0199)),
            ("5 are asked for", (0.3, 0.3, 1.0)),
            ("entry [3]", (0.3, 0.3, 1.0, -0.3876, -1.0199)),
            ("entry [0]", (0.09, 0.3, 1.0, -0.1938, -1.0199)),
        ],
        "right": [
            (0.3, 0.3, 1.0, -0.1938, -1.0199),
            [0.3, 0.3, 1, -0.19378, -1.01990],
            np.array([0.3, 0.3, 1.0, -0.19378, -1.0199]),
        ],
    },
    "06.2": {
        "wrong": [
            ("stumbled over a None", _stub_clip),
            ("stumbled over a None", _clip_forgets_none),
            ("grad_input has 3", _clip_no_nones),
            ("returned one entry", lambda m, i, o: (_one(i[0]),)),
            ("entries of an earlier call", _clip_keeps([])),
            ("a tuple within a tuple", lambda m, i, o: (_clip_with(_one)(m, i, o),)),
            ("entries of grad_output", lambda m, i, o: _clip_with(_one)(m, o, i)),
            ("Each has to be a tensor", _clip_with(lambda g: g.numpy().clip(-1, 1))),
            ("are two questions", lambda m, i, o: tuple(_one(g) if g else None for g in i)),
            ("wrote into the tensors", _clip_in_place),
            ("wrote into the tensors", _clip_in_place_returned),
            ("has to return a tuple", _clip_with(_one, kind=list)),
            ("has to return a tuple", lambda m, i, o: i[-1].clamp(-1, 1)),
            ("two ends", _clip_with(lambda g: g.clamp(max=1))),
            ("two ends", _clip_with(lambda g: g.clamp(min=-1))),
            ("begins further down", _clip_with(lambda g: g.clamp(0, 1))),
            ("as a whole shorter", _clip_with(lambda g: g / max(1.0, g.norm().item()))),
            ("brings it to the limit", _clip_with(lambda g: torch.where(g.abs() > 1, 0.0, g))),
            ("leaves the signs alone", _clip_with(torch.sign)),
            ("what you return", _clip_no_return),
            ("opposite order", lambda m, i, o: _clip_with(_one)(m, i, o)[::-1]),
            ("and others are not", lambda m, i, o: (*_clip_with(_one)(m, i[:1], o), *i[1:])),
            ("nothing flows on", lambda m, i, o: (None,) * len(i)),
            ("called with 3 arguments", lambda m, i: i),
        ],
        "right": [
            lambda m, i, o: tuple(g.clamp(-1, 1) if g is not None else None for g in i),
            _clip_long_way,
            _clip_clones,
            _clip_if_large,
            _Clip(1),
        ],
    },
    "06.3": {
        "wrong": [
            ("put in front of those", ("A", "C", "B", "D")),
            ("forward pass", ("B", "D", "C", "A")),
            ("Two modules", ("A", "B", "C", "D")),
            ("Look again at f0", ["C", "A", "D", "B"]),
            ("other modules", "C, B, D, A"),
            ("hooks of one module run before", "CBAD"),
            ("last in, first out", "DCBA"),
            ("never behind them", "ABDC"),
            ("each calls all of its hooks", ["C", "A"]),
            ("one such pass", "CABDCABD"),
            ("does not belong", ["C", "A", "B", "E"]),
            ("forward pass", ["B", "D", "A", "C"]),
            ("put in front of those", "acbd"),
        ],
        "right": [
            ["C", "A", "B", "D"],
            ("c", "a", "b", "d"),
            "C -> A -> B -> D",
            "C A B D",
            "CABD",
        ],
    },
    "06.4": {
        "wrong": [
            ("leaves f1", ("a", "because grad_input is what flows on to everything")),
            ("used already", ("b", "because grad_output comes before grad_input")),
            ("leaves f1.f", ("d", "because f1.f holds the parameters")),
            ("Add your reason", "c"),
            ("letters a, b, c", ("e", "none of these will do it at all")),
        ],
        "right": [
            ("c", "because the pre-hook acts before f1's own backward runs"),
            ("C", "All five gradients lie behind the upper gate."),
            ("c", "It changes grad_output as it enters the module."),
            ("c", "because the other hooks come too late for f1's parameters"),
        ],
    },
    "06.5": {
        "wrong": [
            ("A hook of yours stayed", _norms_with(keeps=1)),
            ("ran with a warning", _norms_with(copy=_as_it_is)),
            ("which warnings are shown", _norms_silent),
            ("more than the linear layers", _norms_with(kinds=nn.Module)),
            ("caller's tensor", _norms_change_data),
            ("caller's tensor", _norms_with(copy=torch.Tensor.requires_grad_)),
            ("grad_input holds None", _norms_with(lambda i, o: i[0].norm(), copy=_as_it_is)),
            ("one level deep", _norms_with(where=nn.Module.named_children)),
            ("One name for all", _norms_late_name),
            ("norms of grad_input", _norms_with(lambda i, o: i[0].norm().item())),
            ("Those are squares", _norms_with(lambda i, o: (o[0] ** 2).sum(), keeps=1)),
            ("sums of sizes", _norms_with(lambda i, o: o[0].abs().sum())),
            ("first row", _norms_with(lambda i, o: o[0][0].norm())),
            ("begin with cotangent", _norms_from_ones),
            ("weights' gradients", _norms_of_weights),
            ("an nn.Linear itself", _norms_with(runs=lambda model, data: model.forward(data))),
            ("another mode", _norms_eval),
            ("No hook noted anything", _norms_registered_late),
            ("A key of its dict is a Linear", _norms_by_module),
            ("A key of its dict is the number", _norms_numbered),
            ("other names", _norms_renamed),
            ("holds a tuple", _norms_with(lambda i, o: (i[0].norm(), o[0].norm()))),
            ("taken for a new grad_input", _norms_returning),
            ("It returned None", _norms_no_return),
            ("No hook noted anything", lambda model, data, cotangent: {}),
            ("called with 3 arguments", lambda model: {}),
        ],
        "right": [_norms_right, _norms_view_of_data, _norms_with(), _norms_removed_early],
    },
    "06.6": {
        "wrong": [
            ("a gate of its own", _hooked_with(gate=lambda x: x)),
            ("is cut", _hooked_with(gate=lambda x: x.detach().requires_grad_())),
            ("is dropped", _hooked_with(answer=lambda gradient, replaced: None)),
            ("was multiplied", _hooked_with(answer=_times)),
            ("was added", _hooked_with(answer=_plus)),
            ("wrote into the gradient", _hooked_with(answer=_hooked_in_place)),
            ("take it out of the tuple", _hooked_with(answer=lambda gradient, new: new)),
            ("Ask for that case first", _hooked_with(answer=lambda gradient, new: new[0])),
            ("changed places", _hooked_with(arguments=lambda g, noted: ((noted[-1],), (g,)))),
            ("for grad_input: a tuple", _hooked_with(arguments=lambda g, noted: (g, noted[-1]))),
            ("for grad_input: a tuple", _hooked_at_both),
            (
                "grad_output of the first",
                _hooked_with(arguments=lambda g, noted: ((g,), (noted[0],))),
            ),
            ("the sum over both", _hooked_sum),
            ("called again", _hooked_once),
            ("felt the change", _hooked_at_the_output),
            ("nothing had been noted", _hooked_with(leave=lambda y: y.view_as(y))),
            ("It called register_full", _hooked_full),
            ("It called register_full", _hooked_by_getattr),
            ("never called", _hooked_not_at_all),
            ("hooked returned None", _hooked_no_return),
            ("without brackets", 2.0),
        ],
        "right": [_hooked, _hooked_by_nodes, _hooked_with(), _hooked_by_two_gates],
    },
}
