"""Typical wrong answers and differently written right ones, for the exercises of lesson 08."""

from contextlib import ExitStack
from functools import partial

import minigrad as torch
from minigrad import nn

PRE = nn.modules.module.register_module_full_backward_pre_hook
FULL = nn.modules.module.register_module_full_backward_hook


def _bad(gradients):
    return any(not torch.isfinite(g).all() for g in gradients if g is not None)


def _blame(model, data, start, give=lambda c: (*c, None)[0], bad=_bad, copy=torch.clone):
    """Use a hook on each module instead of a global one."""
    culprits = []
    with ExitStack() as stack:
        for name, module in model.named_modules():

            def look(m, sent, came, name=name):
                if bad(sent) and not bad(came):
                    culprits.append(name)

            stack.enter_context(module.register_full_backward_hook(look))
        model(copy(data.detach()).requires_grad_()).backward(start)
    return give(culprits)


def _blame_by_raising(model, data, cotangent):
    names = {module: name for name, module in model.named_modules()}

    def stop_here(module, grad_input, grad_output):
        if module in names and _bad(grad_input) and not _bad(grad_output):
            raise StopAsyncIteration(names[module])

    try:
        with FULL(stop_here):
            model(data.detach().requires_grad_()).backward(cotangent)
    except StopAsyncIteration as caught:
        return caught.args[0]


def _flow(model, data, cotangent, norm=lambda g: float((g * g).sum()) ** 0.5):
    names = {id(module): name for name, module in model.named_modules()}
    found = {}

    def hook(module, *both):
        pair = [each[0] if each[0] is None else norm(each[0]) for each in both]
        found[names[id(module)]] = pair

    handle = FULL(hook)
    try:
        model(data).backward(cotangent)
    finally:
        handle.remove()
    return found


def _times(kind, factor, change=lambda g, by: g if g is None else by * g):
    def enter(module, grad_output):
        return tuple([change(g, factor) for g in grad_output]) if type(module) is kind else None

    def leave(module, grad_input, grad_output):
        return tuple([change(g, 1 / factor) for g in grad_input]) if type(module) is kind else None

    return [PRE(enter), FULL(leave)]


ANSWERS = {
    "08.1": {
        "wrong": [
            ("for the Tanh and for", "BABEDC"),
            ("whatever was registered first", "ABBECDD"),
            ("after the layer inside", "BBAEDCD"),
            ("at least once", "BABEDD"),
            ("list of names", 7),
        ],
        "right": ["BABEDCD", ["B", "A", "B", "E", "D", "C", "D"], "b, a, b, e, d, c, d"],
    },
    "08.2": {
        "wrong": [
            ("modules of the model", 10),
            ("One too few", "11"),
            ("inside a module", 1),
            ("Too many", 20),
            ("in digits", "twelve"),
        ],
        "right": [12.0, "12", torch.tensor(3 + 3 + 6)],
    },
    "08.3": {
        "wrong": [
            ("as named_modules() gives it", partial(_blame, give=set)),
            ("Return None", partial(_blame, give=lambda culprits: culprits[0])),
            ("One NaN", partial(_blame, bad=lambda gradients: "nan" in str(gradients))),
            ("aren't those from before", lambda *args: FULL(print) and _blame(*args)),
            ("requires_grad of a tensor", lambda m, data, g: _blame(m, data.requires_grad_(), g)),
        ],
        "right": [_blame, _blame_by_raising, partial(_blame, copy=lambda data: data * 1)],
    },
    "08.4": {
        "wrong": [
            ("note the None", lambda *a: {k: v for k, v in _flow(*a).items() if None not in v}),
            ("isn't the norm", partial(_flow, norm=lambda g: g.abs().sum().item())),
            ("6 of 18", partial(_flow, norm=lambda g: 2.5 * g.norm().item())),
            ("a dict from names", lambda *args: [*_flow(*args).values()]),
            ("as they are", lambda m, data, g: _flow(m, data.clone().requires_grad_(), g)),
        ],
        "right": [
            _flow,
            partial(_flow, norm=torch.norm),
            lambda *a: dict([*_flow(*a).items()][::-1]),
        ],
    },
    "08.5": {
        "wrong": [
            ("from the import on", ("a", "because the option switches it off")),
            ("in the other thread", "c) the with block removes it again"),
            ("in the values", ("d", "because it sees both gradients")),
            ("Add your reason", "b"),
            ("letters a, b, c", ("e", "none of these fits the question")),
        ],
        "right": [
            ("b", "its scope is the model"),
            ["(B)", "no other thread"],
            "b) only its modules have hooks",
        ],
    },
    "08.6": {
        "wrong": [
            ("list of handles", lambda *args: _times(*args)[0]),
            ("none of its hooks", lambda kind, factor: []),
            ("handles of all your hooks", lambda *args: _times(*args)[:1]),
            ("Nothing was scaled", lambda kind, factor: [PRE(lambda m, go: None)]),
            ("It met a None", partial(_times, change=lambda g, by: by * g)),
        ],
        "right": [_times, lambda *args: tuple(_times(*args)), lambda *args: _times(*args)[::-1]],
    },
}
