"""Typical wrong answers and differently written right ones, for the exercises of lesson 09."""

from functools import partial

import minigrad as torch


def _watch(module, found, make=lambda y: y, keep=torch.clone):
    def attach(module, args, y):
        y = make(y)
        y.register_hook(lambda gradient: found.append(keep(gradient)))
        return y

    return module.register_forward_hook(attach)


def _watch_the_node(module, found):
    def attach(module, args, y):
        y.grad_fn.register_prehook(lambda gradients: found.append(gradients[0].detach().clone()))

    return module.register_forward_hook(attach)


class _Counter:
    def __init__(self, module, hook):
        self.module, self.hook, self.come = module, hook, 0
        self.parameters = [p for p in module.parameters() if p.requires_grad]
        for p in self.parameters:
            p.register_post_accumulate_grad_hook(self)

    def __call__(self, parameter):
        self.come = (self.come + 1) % len(self.parameters)
        if self.come == 0:
            self.hook(self.module)


def _ready(module, hook, chosen=lambda p: p.requires_grad, done=lambda n: len({*n}) == 1):
    passes = {p: 0 for p in module.parameters() if chosen(p)}

    def look(parameter):
        passes[parameter] += 1
        if done(passes.values()):
            hook(module)

    for p in passes:
        p.register_post_accumulate_grad_hook(look)


ANSWERS = {
    "09.1": {
        "wrong": [
            ("until 2022", (12.0, None, 0)),
            ("neither zero nor False", (120.0, False, 0)),
            ("None in quotes", (120.0, "None", 0)),
            ("the slope of x**3", (60.0, None, 0)),
            ("3 are asked for", (120.0, None)),
        ],
        "right": [[120, None, 0], (torch.tensor(120.0), None, 0), ("120.0", None, "0")],
    },
    "09.2": {
        "wrong": [
            ("share one gate", ("a", "because query, key and value are one tensor")),
            ("look at case 7", "b: a pair is no tensor"),
            ("from top to bottom", ("d", "hooks count only when they are there before forward")),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "because the sum is missing in it")),
        ],
        "right": [
            ("c", "__call__ runs the hooks"),
            ["(C)", "no call, no gate"],
            "c) it was never called",
        ],
    },
    "09.3": {
        "wrong": [
            ("case 9", lambda m, to: m.register_full_backward_pre_hook(lambda _, g: to.extend(g))),
            ("come out differently", partial(_watch, keep=lambda g: g.mul_(0.5))),
            ("the kinds of what was found", partial(_watch, keep=torch.Tensor.tolist)),
            ("It returned a list", lambda *args: [_watch(*args)]),
            ("in-place operation", partial(_watch, make=lambda y: y.detach().requires_grad_())),
        ],
        "right": [_watch, _watch_the_node, partial(_watch, make=lambda y: y * 1)],
    },
    "09.4": {
        "wrong": [
            ("is one missing", ["enter B", "leave B", "enter A", "leave A"]),
            ("does not belong", "enter B, weight B, exit B, enter A, leave A, weight A"),
            ("inside B", "enter B, weight B, enter A, leave A, weight A, leave B"),
            ("forward pass", ["enter A", "enter B", "leave A", "leave B", "weight A", "weight B"]),
            ("a list of names", 6),
        ],
        "right": [
            ["enter B", "weight B", "leave B", "enter A", "leave A", "weight A"],
            "enter B -> weight B -> leave B -> enter A -> leave A -> weight A",
            "Enter B, Weight B, Leave B, Enter A, Leave A, Weight A",
        ],
    },
    "09.5": {
        "wrong": [
            ("in the first pass only", partial(_ready, done=lambda passes: {*passes} == {1})),
            ("takes no hook", partial(_ready, chosen=lambda p: True)),
            ("once for each parameter", partial(_ready, done=any)),
            ("before the backward pass", lambda module, hook: hook(module)),
            ("given the module", lambda module, hook: _Counter(module, lambda m: hook(None))),
        ],
        "right": [
            _Counter,
            _ready,
            partial(_ready, done=lambda passes: min(passes) == max(passes)),
        ],
    },
}
