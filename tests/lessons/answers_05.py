"""Typical wrong answers and differently written right ones, for the exercises of lesson 05."""

from contextlib import suppress
from functools import partial

import minigrad as torch
from minigrad import nn


def _transplant(model, name, donor, batch, keep=torch.clone, give=lambda organ, output: organ):
    """Use one hook for both runs: it takes at its first call, and gives at the second."""
    kept = []

    def hook(module, args, output):
        if kept:
            return give(kept[0], output)
        kept.append(keep(output))

    with dict(model.named_modules())[name].register_forward_hook(hook):
        model(donor)
        return model(batch)


def _floats(value):
    asks = getattr(value, "is_floating_point", None)
    return value.to(torch.float64) if asks is not None and asks() else value


def _to_double(module, args, kwargs, convert=_floats):
    for key in kwargs:
        kwargs[key] = convert(kwargs[key])
    return tuple([convert(value) for value in args]), kwargs


def _activations(model, batch, which=nn.Module.named_modules, keep=torch.clone):
    names, store = {module: name for name, module in which(model)}, {}

    def hook(module, args, output):
        store[names[module]] = keep(output)

    handles = [module.register_forward_hook(hook) for module in names]
    try:
        with torch.no_grad():
            model(batch)
    finally:
        for handle in handles:
            handle.remove()
    return store


def _stop(model, name, batch, kind=StopAsyncIteration, keep=lambda y: y):
    outputs = {}

    def hook(module, args, output):
        outputs[name] = keep(output)
        raise kind

    with suppress(kind), model.get_submodule(name).register_forward_hook(hook):
        model(batch)
    return outputs[name]


def _stop_if_mine(model, name, batch):
    def hook(module, args, output):
        kept.append(output)
        raise mine

    kept, mine = [], Exception("stop")
    try:
        with model.get_submodule(name).register_forward_hook(hook):
            return model(batch)
    except Exception as came:
        if came is not mine:
            raise
        return kept[0]


ANSWERS = {
    "05.1": {
        "wrong": [
            ("leaves out the hooks of model itself", ("a", "because forward runs no hooks")),
            ("Is this a call?", "d: the model is not called, only a part of it"),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "because all of them fire")),
            ("letters a, b, c, d", 3),
        ],
        "right": [
            ("c", "body is never called"),
            ["(C)", "it goes around hooks"],
            "c) forward alone",
        ],
    },
    "05.2": {
        "wrong": [
            (
                "A hook of yours",
                lambda m, *a: m.register_forward_hook(print) and _transplant(m, *a),
            ),
            ("another mode", lambda model, *args: _transplant(model.eval(), *args)),
            ("a tensor: that of the second run", lambda *args: [_transplant(*args)]),
            ("works in place", partial(_transplant, keep=torch.detach)),
            ("entry [0][0]", partial(_transplant, give=lambda organ, output: organ.flip(0))),
        ],
        "right": [
            _transplant,
            partial(_transplant, keep=lambda output: output.detach() + 0),
            lambda model, *args: _transplant(nn.Sequential(model), f"0.{args[0]}", *args[1:]),
        ],
    },
    "05.3": {
        "wrong": [
            ("returns both", lambda module, args, kwargs: tuple(map(_floats, args))),
            ("ambiguous", partial(_to_double, convert=lambda v: v and v * 1)),
            ("'z: float32'", lambda m, a, k: ((*map(_floats, a[:3]), *a[3:]), k)),
            ("a tuple", lambda *args: [*_to_double(*args)]),
            ("called with 3 arguments", lambda module, args: tuple(map(_floats, args))),
        ],
        "right": [
            _to_double,
            lambda m, args, kw: (args and _to_double(m, args, {})[0], _to_double(m, (), kw)[1]),
            lambda m, args, kw: _to_double(m, map(_floats, args), {k: _floats(kw[k]) for k in kw}),
        ],
    },
    "05.4": {
        "wrong": [
            ("in which they were registered", "ABCDE"),
            ("When is net[1] called?", ["C", "E", "D", "B", "A"]),
            ("is one missing", ["C", "D", "B", "A"]),
            ("does not belong", ["C", "D", "B", "F", "A"]),
            ("begins at the root", "A -> E -> B -> D -> C"),
        ],
        "right": [["C", "D", "B", "E", "A"], "C D B E A", "c, d, b, e, a"],
    },
    "05.5": {
        "wrong": [
            ("'0'", lambda *a: {str(i): v for i, v in enumerate(_activations(*a).values())}),
            ("It has to return a dict", lambda *args: list(_activations(*args).values())),
            ("a tensor", partial(_activations, keep=torch.Tensor.tolist)),
            ("memory was still shared", partial(_activations, keep=torch.detach)),
            ("Modules are missing", partial(_activations, which=nn.Module.named_children)),
        ],
        "right": [
            _activations,
            partial(_activations, keep=lambda output: output * 1),
            lambda model, batch: dict(sorted(_activations(model, batch).items())),
        ],
    },
    "05.6": {
        "wrong": [
            ("take it out of what carried it", lambda *args: (_stop(*args),)),
            ("an error like yours", partial(_stop, kind=RuntimeError)),
            ("lost its graph", partial(_stop, keep=torch.detach)),
            ("The head ran", lambda model, *args: _stop(model, "", *args[1:])),
            ("It returned None", lambda model, name, batch: setattr(model, "head", nn.Identity())),
        ],
        "right": [_stop, _stop_if_mine, partial(_stop, kind=type("Done", (Exception,), {}))],
    },
}
