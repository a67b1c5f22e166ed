"""Typical wrong answers and differently written right ones, for the exercises of lesson 08."""

import minigrad as torch
from minigrad import nn

everywhere = nn.modules.module


def bad(tensors):
    return any(t is not None and not t.isfinite().all() for t in tensors)


# ---------------------------------------------------------------- 08.3


def _names(model):
    return {module: name for name, module in model.named_modules()}


def _blame(look_of, model, data, cotangent, register="register_module_full_backward_hook"):
    """Run with a hook that `look_of` makes out of the names and a list for culprits."""
    names, culprits = _names(model), []
    with getattr(everywhere, register)(look_of(names, culprits)):
        model(data.detach().requires_grad_()).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_by_hand(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, grad_input, grad_output):
        came, left = grad_output[0], grad_input[0]
        if torch.isfinite(came).all() and not torch.isfinite(left).all():
            culprits.append(names[module])

    handle = everywhere.register_module_full_backward_hook(look)
    try:
        model(data.clone().requires_grad_()).backward(cotangent)
    finally:
        handle.remove()
    return next(iter(culprits), None)


def _blame_by_own_hooks(model, data, cotangent):
    culprits, handles = [], []
    for name, module in model.named_modules():

        def look(module, grad_input, grad_output, name=name):
            if bad(grad_input) and not bad(grad_output):
                culprits.append(name)

        handles.append(module.register_full_backward_hook(look))
    model(data.detach().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return culprits[0] if culprits else None


def _blame_the_victim(model, data, cotangent):
    def look_of(names, culprits):
        return lambda m, grad_output: culprits.append(names[m]) if bad(grad_output) else None

    register = "register_module_full_backward_pre_hook"
    return _blame(look_of, model, data, cotangent, register)


def _blame_the_last(model, data, cotangent):
    names, culprits = _names(model), [None]

    def look(module, grad_input, grad_output):
        if bad(grad_input) and not bad(grad_output):
            culprits.append(names[module])

    with everywhere.register_module_full_backward_hook(look):
        model(data.detach().requires_grad_()).backward(cotangent)
    return culprits[-1]


def _blame_forward(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, args, output):
        if bad([output]):
            culprits.append(names[module])

    with everywhere.register_module_forward_hook(look):
        model(data).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_nan_only(model, data, cotangent):
    def nan(gradients):
        return any(torch.isnan(g).any() for g in gradients if g is not None)

    def look_of(names, culprits):
        return lambda m, gi, go: culprits.append(names[m]) if nan(gi) and not nan(go) else None

    return _blame(look_of, model, data, cotangent)


def _blame_class(model, data, cotangent):
    def look_of(names, culprits):
        def look(m, grad_input, grad_output):
            if bad(grad_input) and not bad(grad_output):
                culprits.append(type(m).__name__)

        return look

    return _blame(look_of, model, data, cotangent)


def _blame_module(model, data, cotangent):
    def look_of(names, culprits):
        return lambda m, gi, go: culprits.append(m) if bad(gi) and not bad(go) else None

    return _blame(look_of, model, data, cotangent)


def _blame_leaves_hook(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, grad_input, grad_output):
        if bad(grad_input) and not bad(grad_output) and module in names:
            culprits.append(names[module])

    everywhere.register_module_full_backward_hook(look)
    model(data.detach().requires_grad_()).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_changes_data(model, data, cotangent):
    data.requires_grad_()
    return _blame_by_hand(model, data, cotangent)


def _blame_data_as_it_is(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, grad_input, grad_output):
        if bad(grad_input) and not bad(grad_output):
            culprits.append(names[module])

    with everywhere.register_module_full_backward_hook(look):
        model(data).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_index(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, grad_input, grad_output):
        if bad(grad_input) and not bad(grad_output):
            culprits.append(names[module])

    with everywhere.register_module_full_backward_hook(look):
        model(data.detach().requires_grad_()).backward(cotangent)
    return culprits[0]


def _blame_stumbles(model, data, cotangent):
    names, culprits = _names(model), []

    def look(module, grad_input, grad_output):
        if not grad_input[0].isfinite().all() and grad_output[0].isfinite().all():
            culprits.append(names[module])

    with everywhere.register_module_full_backward_hook(look):
        model(data).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_no_return(model, data, cotangent):
    _blame_by_hand(model, data, cotangent)


# ---------------------------------------------------------------- 08.4


def _norm(gradient):
    return None if gradient is None else gradient.norm().item()


def _flow(key=None, norm=_norm, run=lambda model, data: model(data), ends=True, order=1):
    """Make a `gradient_flow`, right or with a mistake in one place."""

    def gradient_flow(model, data, cotangent):
        names, gradients = _names(model), {}

        def hook(module, grad_input, grad_output):
            pair = (norm(grad_input[0]), norm(grad_output[0]))
            gradients[key(module) if key else names[module]] = pair[::order]

        handle = everywhere.register_module_full_backward_hook(hook)
        try:
            run(model, data).backward(cotangent)
        finally:
            if ends:
                handle.remove()
        return gradients

    return gradient_flow


def _old_flow(model, data, cotangent):
    gradients = {}

    def hook(module, grad_input, grad_output):
        kind = type(module).__name__
        gradients[kind] = (grad_input[0].norm().item(), grad_output[0].norm().item())

    everywhere.register_module_full_backward_hook(hook)
    model.forward(data).backward(cotangent)
    return gradients


def _flow_removed_at_the_end(model, data, cotangent):
    names, gradients = _names(model), {}

    def hook(module, grad_input, grad_output):
        gradients[names[module]] = (_norm(grad_input[0]), _norm(grad_output[0]))

    handle = everywhere.register_module_full_backward_hook(hook)
    model(data).backward(cotangent)
    handle.remove()
    return gradients


def _flow_too_late(model, data, cotangent):
    names, gradients = _names(model), {}
    out = model(data)

    def hook(module, grad_input, grad_output):
        gradients[names[module]] = (_norm(grad_input[0]), _norm(grad_output[0]))

    with everywhere.register_module_full_backward_hook(hook):
        out.backward(cotangent)
    return gradients


def _flow_children(model, data, cotangent):
    names = {module: name for name, module in model.named_children()} | {model: ""}
    gradients = {}

    def hook(module, grad_input, grad_output):
        if module in names:
            gradients[names[module]] = (_norm(grad_input[0]), _norm(grad_output[0]))

    with everywhere.register_module_full_backward_hook(hook):
        model(data).backward(cotangent)
    return gradients


def _flow_no_return(model, data, cotangent):
    _flow()(model, data, cotangent)


def _flow_with(model, data, cotangent):
    gradients = {}
    names = {}
    for name, module in model.named_modules():
        names[id(module)] = name

    def hook(module, grad_input, grad_output):
        both = (grad_input[0], grad_output[0])
        norms = [None if g is None else float((g * g).sum()) ** 0.5 for g in both]
        gradients[names[id(module)]] = tuple(norms)

    with everywhere.register_module_full_backward_hook(hook):
        model(data).backward(cotangent)
    return gradients


def _flow_by_own_hooks(model, data, cotangent):
    gradients, handles = {}, []
    for name, module in model.named_modules():

        def hook(module, grad_input, grad_output, name=name):
            gradients[name] = (_norm(grad_input[0]), _norm(grad_output[0]))

        handles.append(module.register_full_backward_hook(hook))
    try:
        model(data).backward(cotangent)
    finally:
        for handle in handles:
            handle.remove()
    return gradients


# ---------------------------------------------------------------- 08.6

PRE = everywhere.register_module_full_backward_pre_hook
FULL = everywhere.register_module_full_backward_hook


def _times(gradients, factor):
    return tuple(None if g is None else g * factor for g in gradients)


def _scale_right(kind, factor):
    def enter(module, grad_output):
        return _times(grad_output, factor) if isinstance(module, kind) else None

    def leave(module, grad_input, grad_output):
        return _times(grad_input, 1 / factor) if isinstance(module, kind) else None

    return [PRE(enter), FULL(leave)]


def _scale_remembering(kind, factor):
    def enter(module, grad_output):
        if not isinstance(module, kind):
            return None
        changed = []
        for gradient in grad_output:
            changed.append(gradient if gradient is None else factor * gradient)
        return tuple(changed)

    def leave(module, grad_input, grad_output):
        if not isinstance(module, kind):
            return grad_input
        return tuple(g if g is None else g / factor for g in grad_input)

    return (FULL(leave), PRE(enter))


def _scale_pre_only(kind, factor):
    return [PRE(lambda m, go: _times(go, factor) if isinstance(m, kind) else None)]


def _scale_full_only(kind, factor):
    return [FULL(lambda m, gi, go: _times(gi, factor) if isinstance(m, kind) else None)]


def _scale_all(kind, factor):
    return [
        PRE(lambda m, go: _times(go, factor)),
        FULL(lambda m, gi, go: _times(gi, 1 / factor)),
    ]


def _scale_no_return(kind, factor):
    def enter(module, grad_output):
        if isinstance(module, kind):
            _times(grad_output, factor)

    def leave(module, grad_input, grad_output):
        if isinstance(module, kind):
            _times(grad_input, 1 / factor)

    return [PRE(enter), FULL(leave)]


def _scale_no_handles(kind, factor):
    _scale_right(kind, factor)


def _scale_one_handle(kind, factor):
    return _scale_right(kind, factor)[0]


def _scale_forgets_none(kind, factor):
    def leave(module, grad_input, grad_output):
        return (grad_input[0] / factor,) if isinstance(module, kind) else None

    return [_scale_right(kind, factor)[0], FULL(leave)]


def _scale_lists(kind, factor):
    def enter(module, grad_output):
        return [g * factor for g in grad_output] if isinstance(module, kind) else None

    def leave(module, grad_input, grad_output):
        if isinstance(module, kind):
            return [None if g is None else g / factor for g in grad_input]

    return [PRE(enter), FULL(leave)]


def _scale_bare(kind, factor):
    def enter(module, grad_output):
        return factor * grad_output[0] if isinstance(module, kind) else None

    return [PRE(enter), FULL(lambda m, gi, go: None)]


def _scale_in_place(kind, factor):
    def enter(module, grad_output):
        if isinstance(module, kind):
            grad_output[0].mul_(factor)

    def leave(module, grad_input, grad_output):
        if isinstance(module, kind) and grad_input[0] is not None:
            grad_input[0].div_(factor)

    return [PRE(enter), FULL(leave)]


def _scale_exact_class(kind, factor):
    return [
        PRE(lambda m, go: _times(go, factor) if type(m) is kind else None),
        FULL(lambda m, gi, go: _times(gi, factor) if type(m) is kind else None),
    ]


ANSWERS = {
    "08.1": {
        "wrong": [
            ("there are two", "BAEDC"),
            ("whatever was registered first", "ABBECDD"),
            ("whatever was registered first", "BABECDD"),
            ("after the layer inside", "BBAEDCD"),
            ("before anything inside", "BABDCED"),
            ("that is when the Tanh is done", "BABEDDC"),
            ("all of it", "EBABDCD"),
            ("there are two", ["A", "B", "C", "D", "E"]),
            ("list of names", 7),
        ],
        "right": ["BABEDCD", ["B", "A", "B", "E", "D", "C", "D"], "b, a, b, e, d, c, d"],
    },
    "08.2": {
        "wrong": [
            ("modules of the model", 10),
            ("One too few", 11),
            ("has no forward", 13),
            ("compute something", 9),
            ("so is the loss", 8),
            ("backward pass", 24),
            ("quotes", "12"),
            ("Too few", 5),
            ("Too many", 20),
        ],
        "right": [12, 12.0, 3 + 3 + 6],
    },
    "08.3": {
        "wrong": [
            ("the victim", _blame_the_victim),
            ("The first one noted counts", _blame_the_last),
            ("A forward hook does not see them", _blame_forward),
            ("An infinity was missed", _blame_nan_only),
            ("name of the class", _blame_class),
            ("That is the module", _blame_module),
            ("A hook stayed behind", _blame_leaves_hook),
            ("caller's tensor", _blame_changes_data),
            ("first layer was not found", _blame_data_as_it_is),
            ("Nobody is guilty", _blame_index),
            ("may be None", _blame_stumbles),
            ("Nothing was returned", _blame_no_return),
            ("length", lambda model, data, cotangent: "length"),
            ("without brackets", "length"),
        ],
        "right": [_blame_by_hand, _blame_by_own_hooks],
    },
    "08.4": {
        "wrong": [
            ("names of classes", _flow(key=lambda module: type(module).__name__)),
            ("stumbled over a None", _flow(norm=lambda g: g.norm().item())),
            ("keep the None", _flow(norm=lambda g: 0 if g is None else g.norm().item())),
            ("model itself is missing", _flow(run=lambda model, data: model.forward(data))),
            ("still there", _flow(ends=False)),
            ("changed places", _flow(order=-1)),
            ("never reached", _flow_removed_at_the_end),
            ("noted nothing", _flow_too_late),
            ("one level", _flow_children),
            ("did not return a dict", _flow_no_return),
            ("names of classes", _old_flow),
            ("noted nothing", lambda model, data, cotangent: {}),
            ("without brackets", {"first": (1.0, 1.0)}),
        ],
        "right": [_flow(), _flow_with, _flow_by_own_hooks],
    },
    "08.5": {
        "wrong": [
            ("from the import on", ("a", "because the option switches it off")),
            ("in the other thread", ("c", "because the with block removes it again")),
            ("in the values", ("d", "because it sees both gradients")),
            ("add your reason", "b"),
            ("Say a little more", ("b", "it works")),
            ("which modules are reached", ("b", "because handles can be removed again")),
            ("letters a, b, c", ("e", "none of these fits the question")),
        ],
        "right": [
            ("b", "because only the modules of the trained model have the hook"),
            ("(B)", "The second thread's model is another one and keeps out of it."),
        ],
    },
    "08.6": {
        "wrong": [
            ("scaled again at each layer", _scale_pre_only),
            ("have had theirs", _scale_full_only),
            ("Ask isinstance", _scale_all),
            ("only if it is returned", _scale_no_return),
            ("list of handles", _scale_no_handles),
            ("list of handles", _scale_one_handle),
            ("stumbled over a None", _scale_forgets_none),
            ("asks for a tuple", _scale_lists),
            ("Return a tuple", _scale_bare),
            ("new tensors", _scale_in_place),
            ("gradient of", _scale_exact_class),
            ("without brackets", 2.0),
        ],
        "right": [_scale_right, _scale_remembering],
    },
}
