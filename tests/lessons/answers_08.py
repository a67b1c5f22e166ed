"""Typical wrong answers and differently written right ones, for the exercises of lesson 08."""

from contextlib import ExitStack

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
        model(data.detach().clone().requires_grad_()).backward(cotangent)
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


def _blame_where(guilty, give=lambda culprits: culprits[0] if culprits else None, ones=False):
    """Make an answer that looks for the guilty in a way of its own."""

    def blame(model, data, cotangent):
        names, culprits = _names(model), []

        def look(module, grad_input, grad_output):
            if guilty(module, grad_input, grad_output):
                culprits.append(names[module])

        with everywhere.register_module_full_backward_hook(look):
            output = model(data.detach().requires_grad_())
            output.backward(torch.ones_like(output) if ones else cotangent)
        return give(culprits)

    return blame


def _guilty(module, grad_input, grad_output):
    return bad(grad_input) and not bad(grad_output)


def _all_bad(tensors):
    return any(t is not None and not t.isfinite().any() for t in tensors)


def _blame_in_order(model, data, cotangent):
    guilty = _blame_where(_guilty, give=list)(model, data, cotangent)
    return next((name for name, _ in model.named_modules() if name in guilty), None)


def _blame_children(model, data, cotangent):
    culprits = []
    with ExitStack() as stack:
        for name, module in model.named_children():
            handle = module.register_full_backward_hook(
                lambda m, gi, go, name=name: culprits.append(name) if _guilty(m, gi, go) else None
            )
            stack.enter_context(handle)
        model(data.detach().requires_grad_()).backward(cotangent)
    return culprits[0] if culprits else None


def _blame_in_a_loop(model, data, cotangent):
    culprits, handles = [], []
    for name, module in model.named_modules():
        handles.append(
            module.register_full_backward_hook(
                lambda m, gi, go: culprits.append(name) if _guilty(m, gi, go) else None  # noqa: B023
            )
        )
    model(data.detach().requires_grad_()).backward(cotangent)
    for handle in handles:
        handle.remove()
    return culprits[0] if culprits else None


def _blame_clears_the_table(model, data, cotangent):
    found = _blame_leaves_hook(model, data, cotangent)
    everywhere._global_backward_hooks.clear()
    return found


def _blame_on_a_clone(model, data, cotangent):
    return _blame_data_as_it_is(model, data.clone().requires_grad_(), cotangent)


CULPRITS = []


def _blame_remembers(model, data, cotangent):
    found = _blame_by_hand(model, data, cotangent)
    if found is not None:
        CULPRITS.append(found)
    return CULPRITS[0] if CULPRITS else None


class _Caught(Exception):
    pass


def _blame_by_raising(model, data, cotangent):
    names = _names(model)

    def stop_here(module, grad_input, grad_output):
        if module in names and _guilty(module, grad_input, grad_output):
            raise _Caught(names[module])

    try:
        with everywhere.register_module_full_backward_hook(stop_here):
            model(data.detach().requires_grad_()).backward(cotangent)
    except _Caught as caught:
        return caught.args[0]
    return None


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


def _flow_clears_the_table(model, data, cotangent):
    found = _flow(ends=False)(model, data, cotangent)
    everywhere._global_backward_hooks.clear()
    return found


def _flow_without_none(model, data, cotangent):
    found = _flow()(model, data, cotangent)
    return {name: pair for name, pair in found.items() if None not in pair}


def _flow_of_layers(model, data, cotangent):
    layers = {name for name, module in model.named_modules() if not list(module.children())}
    found = _flow()(model, data, cotangent)
    return {name: pair for name, pair in found.items() if name in layers}


def _flow_prefilled(model, data, cotangent):
    found = {name: (None, None) for name, _ in model.named_modules()}
    return found | _flow()(model, data, cotangent)


def _flow_on_a_copy(model, data, cotangent):
    return _flow()(model, data.detach().requires_grad_(), cotangent)


FOUND = {}


def _flow_remembers(model, data, cotangent):
    FOUND.update(_flow()(model, data, cotangent))
    return FOUND


def _flow_setdefault(model, data, cotangent):
    names, found = _names(model), {}

    def hook(m, gi, go):
        return found.setdefault(names[m], (_norm(gi[0]), _norm(go[0])))

    with everywhere.register_module_full_backward_hook(hook):
        model(data).backward(cotangent)
    return found


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


def _empties(answer):
    """Make an answer that clears the tables of the modules when it is done."""

    def emptying(model, data, cotangent):
        found = answer(model, data, cotangent)
        for module in model.modules():
            module._backward_hooks.clear()
        return found

    return emptying


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


def _scale_with_block(kind, factor):
    first, second = _scale_right(kind, factor)
    with first, second:
        return [first, second]


def _scale_what_is_there(kind, factor):
    def leave(module, grad_input, grad_output):
        if isinstance(module, kind):
            for parameter in module.parameters():
                if parameter.grad is not None:
                    parameter.grad = parameter.grad * factor

    return [FULL(leave)]


def _scale_first_input(kind, factor):
    def leave(module, grad_input, grad_output):
        if isinstance(module, kind) and grad_input[0] is not None:
            return (grad_input[0] / factor,)

    return [_scale_right(kind, factor)[0], FULL(leave)]


def _scale_exchanged(kind, factor):
    return _scale_right(kind, 1 / factor)


def _scale_asks_once(kind, factor):
    return [
        PRE(lambda m, go: _times(go, factor) if isinstance(m, kind) else None),
        FULL(lambda m, gi, go: _times(gi, 1 / factor)),
    ]


def _scale_output(kind, factor):
    return [
        everywhere.register_module_forward_hook(
            lambda m, args, y: y * factor if isinstance(m, kind) else None
        )
    ]


def _scale_at_gates(kind, factor):
    def gate(value, by):
        if not value.requires_grad:
            return value
        value = value.view_as(value)
        value.register_hook(lambda gradient: gradient * by)
        return value

    def enter(module, args):
        if isinstance(module, kind):
            return tuple(gate(value, 1 / factor) for value in args)

    return [
        everywhere.register_module_forward_pre_hook(enter),
        everywhere.register_module_forward_hook(
            lambda m, args, y: gate(y, factor) if isinstance(m, kind) else None
        ),
    ]


def _scale_on_parameters(kind, factor):
    done = set()

    def enter(module, args):
        if isinstance(module, kind) and module not in done:
            done.add(module)
            for parameter in module.parameters():
                parameter.register_hook(lambda gradient: gradient * factor)

    return [everywhere.register_module_forward_pre_hook(enter)]


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
            ("called by every module", "BAEDC"),
            ("to the Sequential's", "BABEDC"),
            ("whatever was registered first", "ABBECDD"),
            ("whatever was registered first", "BABECDD"),
            ("after the layer inside", "BBAEDCD"),
            ("before anything inside", "BABDCED"),
            ("that is when the Tanh is done", "BABEDDC"),
            ("all of it", "EBABDCD"),
            ("called by every module", ["A", "B", "C", "D", "E"]),
            ("runs the backward pass as well", "BAB"),
            ("meant for every module", "AEC"),
            ("belong to one module each", "BABEDCDC"),
            ("sum() and backward() are none", "BABBEDCD"),
            ("at least once", "BABEDD"),
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
            ("in digits", "twelve"),
            ("inside of a module", 2),
            ("Too few", 5),
            ("Too many", 20),
        ],
        "right": [12, 12.0, "12", torch.tensor(3 + 3 + 6)],
    },
    "08.3": {
        "wrong": [
            ("the victim", _blame_the_victim),
            ("The first one noted counts", _blame_the_last),
            ("A forward hook sees nothing bad", _blame_forward),
            ("An infinity was missed", _blame_nan_only),
            ("name of the class", _blame_class),
            ("That is the module", _blame_module),
            ("A hook stayed behind", _blame_leaves_hook),
            ("caller's tensor", _blame_changes_data),
            ("first layer was not found", _blame_data_as_it_is),
            ("Nobody is guilty", _blame_index),
            ("may be None", _blame_stumbles),
            ("Is something returned", _blame_no_return),
            ("the same culprit", lambda model, data, cotangent: "length"),
            ("came bad already", _blame_where(lambda m, gi, go: bad(gi))),
            ("A culprit does the reverse", _blame_where(lambda m, gi, go: _guilty(m, go, gi))),
            ("mind any() and all()", _blame_where(lambda m, gi, go: _all_bad(gi) and not bad(go))),
            (
                "code of their own",
                _blame_where(lambda m, gi, go: not list(m.children()) and _guilty(m, gi, go)),
            ),
            ("start from the cotangent", _blame_where(_guilty, ones=True)),
            ("One name is asked for", _blame_where(_guilty, give=lambda found: found or None)),
            ("counts as false", _blame_where(_guilty, give=lambda f: (f and f[0]) or None)),
            (
                "has the name ''",
                _blame_where(_guilty, give=lambda f: (f[0] or "(model)") if f else None),
            ),
            ("healthy model", _blame_where(_guilty, give=lambda f: f[0] if f else "")),
            ("speaks later", _blame_in_order),
            ("deeper inside", _blame_children),
            ("in a loop", _blame_in_a_loop),
            ("somebody else had registered", _blame_clears_the_table),
            ("somebody else's is gone", _empties(_blame_by_hand)),
            ("arrived in data.grad", _blame_on_a_clone),
            ("from an earlier call", _blame_remembers),
            ("without brackets", "length"),
        ],
        "right": [_blame_by_hand, _blame_by_own_hooks, _blame_by_raising],
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
            ("Return what the hook has noted", _flow_no_return),
            ("stumbled over a None", _old_flow),
            ("somebody else had registered", _flow_clears_the_table),
            ("somebody else's is gone", _empties(_flow())),
            ("note the None", _flow_without_none),
            ("Containers are missing", _flow_of_layers),
            ("never called", _flow_prefilled),
            ("Take the data as they are", _flow_on_a_copy),
            ("an earlier call", _flow_remembers),
            ("return None", _flow_setdefault),
            ("largest entry", _flow(norm=lambda g: None if g is None else g.abs().max().item())),
            ("rounded", _flow(norm=lambda g: None if g is None else round(g.norm().item(), 2))),
            ("no pair", lambda *given: {name: 1.0 for name in _flow()(*given)}),
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
            ("Add your reason", "b"),
            ("letters a, b, c", ("e", "none of these fits the question")),
        ],
        "right": [
            ("b", "because only the modules of the trained model have the hook"),
            ("(B)", "The second thread's model is another one and keeps out of it."),
            ("b", "a, c and d watch every module anywhere, also a stranger's model"),
            ["b", "because its scope is the model and not the process"],
        ],
    },
    "08.6": {
        "wrong": [
            ("scaled again at each layer", _scale_pre_only),
            ("have had theirs", _scale_full_only),
            ("Ask isinstance", _scale_all),
            ("return what it computes", _scale_no_return),
            ("list of handles", _scale_no_handles),
            ("list of handles", _scale_one_handle),
            ("If you registered them", lambda kind, factor: []),
            ("stumbled over a None", _scale_forgets_none),
            ("asks for a tuple", _scale_lists),
            ("Return a tuple", _scale_bare),
            ("new tensors", _scale_in_place),
            ("multiply at both gates", _scale_exact_class),
            ("comes before the function's", _scale_with_block),
            ("what is in .grad", _scale_what_is_there),
            ("may have two inputs", _scale_first_input),
            ("places are exchanged", _scale_exchanged),
            ("Where gradients leave", _scale_asks_once),
            ("The values themselves", _scale_output),
            ("still scaled", _scale_on_parameters),
            ("handles of all your hooks", lambda *given: _scale_right(*given)[:1]),
            ("works for Linear only", lambda kind, factor: _scale_right(nn.Linear, factor)),
            ("factor is not used", lambda kind, factor: _scale_right(kind, 0.5)),
            ("without brackets", 2.0),
        ],
        "right": [_scale_right, _scale_remembering, _scale_at_gates],
    },
}
