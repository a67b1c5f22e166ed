"""Typical wrong answers and differently written right ones, for the exercises of lesson 07."""

from functools import partial

import minigrad as torch


def _collect(layer, found, kind="register_full_backward_hook", pick=lambda i, o: i[0]):
    def hook(module, grad_input, grad_output):
        found.append(pick(grad_input, grad_output).clone())

    return getattr(layer, kind)(hook)


def _collect_on_a_view(layer, found):
    def attach(module, args):
        inner = args[0].view_as(args[0])
        inner.register_hook(lambda gradient: found.append(gradient))
        return (inner,)

    return layer.register_forward_pre_hook(attach)


def _last(out, keep=lambda sent, arrived: sent, retain_graph=False):
    kept = None

    def hook(sent, arrived):
        nonlocal kept
        kept = keep(sent, arrived)

    handle = out.grad_fn.register_hook(hook)
    torch.autograd.backward(out, retain_graph=retain_graph)
    handle.remove()
    return kept


def _damp(module, factor, scale=lambda factor, g: factor * g):
    def hook(module, grad_output):
        return tuple(g if g is None else scale(factor, g) for g in grad_output)

    return module.register_full_backward_pre_hook(hook)


def _damp_results(module, factor):
    """Scale what arrives at each result, by hooks on tensors of their own."""

    def gate(y):
        y = y.view_as(y)
        y.register_hook(lambda gradient: gradient * factor)
        return y

    def after(module, args, y):
        return tuple(map(gate, y)) if isinstance(y, tuple) else gate(y)

    return module.register_forward_hook(after)


ANSWERS = {
    "07.1": {
        "wrong": [
            ("10 are asked for", (2, 2, 2, 1, 1)),
            ("which of the three entries", ((2, 2, 2, 1, 1), (2, 2, 2, 1, 1))),
            ("layer's own parameters", ((2, 2, 2, 2, 1), (1, 1, 1, 1, 2))),
            ("left the model's input", [[1, 1, 1, 1, 1], [1, 1, 1, 1, 2]]),
            ("divided by the old one", ((0.5, 0.5, 0.5, 1, 1), (1, 1, 1, 1, 0.5))),
        ],
        "right": [
            ((2, 2, 2, 1, 1), (1, 1, 1, 1, 2)),
            [torch.tensor([2.0, 2, 2, 1, 1]), torch.tensor([1.0, 1, 1, 1, 2])],
            ([2.0, 2.0, 2.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 2.0]),
        ],
    },
    "07.2": {
        "wrong": [
            (
                "has no entry",
                partial(_collect, kind="register_backward_hook", pick=lambda i, o: i[2]),
            ),
            ("what was found", partial(_collect, pick=lambda i, o: i[0].norm())),
            ("return the handle", lambda layer, found: print(_collect(layer, found))),
            ("in a third pass", lambda *args: _collect(*args) and _collect(torch.nn.Tanh(), [])),
            ("without brackets", 3),
        ],
        "right": [
            _collect,
            _collect_on_a_view,
            lambda layer, into: layer.register_full_backward_hook(lambda m, i, o: into.extend(i)),
        ],
    },
    "07.3": {
        "wrong": [
            ("opposite order", partial(_last, keep=lambda sent, arrived: sent[::-1])),
            ("3 values", partial(_last, keep=lambda sent, arrived: (*sent, ()))),
            ("what came is None", lambda out: print(_last(out))),
            ("from one plain pass", lambda out: (_last(out, retain_graph=True), _last(out))[1]),
            ("no attribute 'register_hook'", lambda out: _last(out.detach())),
        ],
        "right": [_last, partial(_last, retain_graph=True), lambda out: list(_last(out))],
    },
    "07.4": {
        "wrong": [
            ("into a second one", ("a", "because its incoming gradient leaves the module")),
            ("from the output to the input", ("c", "it comes first in the forward pass")),
            ("It can", "d: a hook on a node only sees what leaves it"),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "because the sum arrives there")),
        ],
        "right": [
            ("b", "the sum over all uses arrives"),
            ["(B)", "all uses are in it"],
            "b) x has other uses",
        ],
    },
    "07.5": {
        "wrong": [
            ("with a Linear", partial(_damp, scale=lambda factor, g: factor**2 * g)),
            ("with a Linear", partial(_damp, scale=lambda factor, g: g.clamp(-factor, factor))),
            ("with two results", lambda module, factor: _damp(module, abs(factor))),
            ("It called register", lambda m, f: m.register_backward_hook(lambda *_: None)),
            ("return the handle", lambda module, factor: print(_damp(module, factor))),
        ],
        "right": [
            _damp,
            _damp_results,
            lambda m, f: m.register_full_backward_pre_hook(
                lambda m, grads: tuple(None if g is None else g * f for g in grads)
            ),
        ],
    },
}
