"""Typical wrong answers and differently written right ones, for the exercises of lesson 06."""

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


def _clip_list(module, grad_input, grad_output):
    return [None if g is None else g.clamp(-1, 1) for g in grad_input]


def _clip_above(module, grad_input, grad_output):
    return tuple(None if g is None else g.clamp(max=1) for g in grad_input)


def _clip_no_return(module, grad_input, grad_output):
    _ = tuple(None if g is None else g.clamp(-1, 1) for g in grad_input)


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


def _norms_left_behind(model, data, cotangent):
    norms = {}
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            module.register_full_backward_pre_hook(
                lambda m, grad_output, name=name: norms.update({name: grad_output[0].norm()})
            )
    model(data.detach().requires_grad_()).backward(cotangent)
    return norms


def _norms_with_warning(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_hook(
                    lambda m, i, o, name=name: norms.update({name: o[0].norm()})
                )
            )
    model(data).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_pre_hooks(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_pre_hook(
                    lambda m, o, name=name: norms.update({name: o[0].norm()})
                )
            )
    model(data).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_of_all(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        handles.append(
            module.register_full_backward_pre_hook(
                lambda m, o, name=name: norms.update({name: o[0].norm()})
            )
        )
    model(data).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_change_data(model, data, cotangent):
    norms = _norms_right(model, data, cotangent)
    data.requires_grad_()
    return norms


def _norms_of_grad_input(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_hook(
                    lambda m, i, o, name=name: norms.update({name: i[0].norm().item()})
                )
            )
    model(data.detach().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_of_inputs(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_hook(
                    lambda m, i, o, name=name: norms.update({name: i[0].norm()})
                )
            )
    model(data).backward(cotangent)
    for handle in handles:
        handle.remove()
    return norms


def _norms_of_children(model, data, cotangent):
    norms, handles = {}, []
    for name, module in model.named_children():
        if isinstance(module, nn.Linear):
            handles.append(
                module.register_full_backward_pre_hook(
                    lambda m, o, name=name: norms.update({name: o[0].norm()})
                )
            )
    model(data.clone().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
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

    y.grad_fn.register_prehook(lambda gradients: noted.append(gradients[0]))
    gate.grad_fn.register_hook(after_the_gate)
    return y


def _hooked_on_x(module, x, hook):
    y, noted = module(x), []

    def at_input(gradient):
        replaced = hook(module, (gradient,), (noted.pop(),))
        return None if replaced is None else replaced[0]

    x.register_hook(at_input)
    y.register_hook(noted.append)
    return y


def _hooked_drops(module, x, hook):
    gate, noted = x.view_as(x), []
    y = module(gate)
    y.register_hook(noted.append)

    def at_input(gradient):
        hook(module, (gradient,), (noted.pop(),))

    gate.register_hook(at_input)
    return y


def _hooked_tuple(module, x, hook):
    gate, noted = x.view_as(x), []
    y = module(gate)
    y.register_hook(noted.append)
    gate.register_hook(lambda gradient: hook(module, (gradient,), (noted.pop(),)))
    return y


def _hooked_none(module, x, hook):
    gate, noted = x.view_as(x), []
    y = module(gate)
    y.register_hook(noted.append)
    gate.register_hook(lambda gradient: hook(module, (gradient,), (noted.pop(),))[0])
    return y


def _hooked_full(module, x, hook):
    module.register_full_backward_hook(hook)
    return module(x)


def _hooked_not_at_all(module, x, hook):
    return module(x)


def _hooked_no_return(module, x, hook):
    _hooked(module, x, hook)


def _hooked_swapped(module, x, hook):
    gate, noted = x.view_as(x), []
    y = module(gate)
    y.register_hook(noted.append)

    def at_input(gradient):
        replaced = hook(module, (noted.pop(),), (gradient,))
        return None if replaced is None else replaced[0]

    gate.register_hook(at_input)
    return y


ANSWERS = {
    "06.1": {
        "wrong": [
            ("without the hook", (-0.1224, -0.1224, -0.4080, -0.1938, -1.0199)),
            ("pre-hook", (0.06624, 0.06624, 0.2208, 0.10488, 0.552)),
            ("local factor", (1, 1, 1, 1, 1)),
            ("between the gates", (0.3, 0.3, 1.0, None, None)),
            ("between the gates", (0.3, 0.3, 1.0, 0, 0)),
            ("before the gradient reaches", (0.3, 0.3, 1.0, 0.19, 1.0)),
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
            ("as long as grad_input", _clip_no_nones),
            ("wrote into the tensors", _clip_in_place),
            ("wrote into the tensors", _clip_in_place_returned),
            ("has to return a tuple", _clip_list),
            ("has to return a tuple", lambda m, i, o: i[0].clamp(-1, 1)),
            ("two ends", _clip_above),
            ("only if it is returned", _clip_no_return),
            ("third input", _clip_first_only),
            ("nothing flows on", lambda m, i, o: (None, None, None)),
            ("2 positional arguments", lambda m, i: i),
        ],
        "right": [
            lambda m, i, o: tuple(g.clamp(-1, 1) if g is not None else None for g in i),
            _clip_long_way,
            _clip_clones,
        ],
    },
    "06.3": {
        "wrong": [
            ("put in front", ("A", "C", "B", "D")),
            ("forward pass", ("B", "D", "C", "A")),
            ("Two modules", ("A", "B", "C", "D")),
            ("Look again at f0", ["C", "A", "D", "B"]),
            ("other modules", "C, B, D, A"),
            ("missing", ["C", "A"]),
            ("does not belong", ["C", "A", "B", "E"]),
            ("other way round", ["D", "B", "A", "C"]),
            ("put in front", "acbd"),
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
            ("add your reason", "c"),
            ("Say a little more", ("c", "yes")),
            ("where, or when", ("c", "because three times one gives three everywhere")),
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
            ("hooks stayed", _norms_left_behind),
            ("ran with a warning", _norms_with_warning),
            ("ran with a warning", _norms_pre_hooks),
            ("more than the linear layers", _norms_of_all),
            ("caller's tensor", _norms_change_data),
            ("grad_input holds None", _norms_of_inputs),
            ("one level deep", _norms_of_children),
            ("One name for all", _norms_late_name),
            ("norms of grad_input", _norms_of_grad_input),
            ("list of norms", _norms_from_ones),
            ("did not return a dict", _norms_no_return),
            ("No hook noted anything", lambda model, data, cotangent: {}),
            ("3 were given", lambda model: {}),
        ],
        "right": [_norms_right, _norms_view_of_data],
    },
    "06.6": {
        "wrong": [
            ("a gate of its own", _hooked_on_x),
            ("is dropped", _hooked_drops),
            ("take it out of the tuple", _hooked_tuple),
            ("Ask for that case first", _hooked_none),
            ("skip the exercise", _hooked_full),
            ("never called", _hooked_not_at_all),
            ("Nothing came back", _hooked_no_return),
            ("grad_input", _hooked_swapped),
            ("without brackets", 2.0),
        ],
        "right": [_hooked, _hooked_by_nodes],
    },
}
