"""Independent wrong answers and differently written right ones, for the exercises of lesson 13."""

from copy import deepcopy

import minigrad as torch
from minigrad import nn

everywhere = nn.modules.module


def _with(handles, run):
    """Run with hooks, and take them off."""
    try:
        return run()
    finally:
        for handle in handles:
            handle.remove()


def _free(model):
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _layers(gradients):
    sums = {}
    for name, gradient in gradients.items():
        sums.setdefault(name.rpartition(".")[0], []).append(gradient.flatten())
    return [torch.cat(parts).norm().item() for parts in sums.values()]


def _flow(model, loss_fn):
    free = _free(model)
    gradients = torch.autograd.grad(loss_fn(model), list(free.values()))
    return _layers(dict(zip(free, gradients, strict=True)))


def _flow_by_difference(model, loss_fn):
    before = {n: 0 if p.grad is None else p.grad.clone() for n, p in _free(model).items()}
    loss_fn(model).backward()
    return tuple(_layers({n: p.grad - before[n] for n, p in _free(model).items()}))


def _scaled(g, limit):
    return g * (limit / g.norm()) if g.norm() > limit else g


def _clip(change):
    def clip_grads(model, limit):
        def hook(p):
            p.grad = change(p.grad, limit)

        return [p.register_post_accumulate_grad_hook(hook) for p in _free(model).values()]

    return clip_grads


def _clip_on_arrival(hook_for):
    return lambda m, limit: [p.register_hook(hook_for(p, limit)) for p in _free(m).values()]


def _completed(p, limit):
    return lambda g: (
        _scaled(g if p.grad is None else p.grad + g, limit) - (0 if p.grad is None else p.grad)
    )


def _relus(model):
    return {name: m for name, m in model.named_modules() if isinstance(m, nn.ReLU)}


def _dead(model, batches):
    store = {name: [] for name in _relus(model)}
    handles = [
        m.register_forward_hook(lambda m, a, o, n=n: store[n].append(o.detach().clone()))
        for n, m in _relus(model).items()
    ]
    _with(handles, lambda: [model(batch) for batch in batches])
    return {n: (torch.cat(outputs) == 0).all(0).sum().item() for n, outputs in store.items()}


def _dead_at_once(model, batches):
    largest = {}
    with everywhere.register_module_forward_hook(lambda m, a, o: largest.update({m: o.amax(0)})):
        model(torch.cat(batches))
    return {name: (largest[m] == 0).sum() for name, m in _relus(model).items()}


def _nan(args):
    return any(bool(each.isnan().any()) for each in args if isinstance(each, torch.Tensor))


def _first(look, kind="forward_pre"):
    def first_nan(model, data):
        found, names = [], {module: name for name, module in model.named_modules()}
        with getattr(everywhere, f"register_module_{kind}_hook")(look(names, found)):
            model(data)
        return found[0] if found else None

    return first_nan


def _nan_stops(model, data):
    names = {module: name for name, module in model.named_modules()}

    def look(module, args):
        if _nan(args):
            raise KeyError(names[module])

    try:
        with everywhere.register_module_forward_pre_hook(look):
            model(data)
    except KeyError as found:
        return found.args[0]


def _even(correct):
    def even_out(model, data):
        linears = [m for m in model.modules() if isinstance(m, nn.Linear)]
        with torch.no_grad():
            _with([m.register_forward_hook(correct) for m in linears], lambda: model(data))

    return even_out


def _even_by_data(layer, args, output):
    deviation = output.std().item()
    for parameter in layer.parameters():
        parameter.data = parameter.data / deviation
    return output / deviation


def _even_again(layer, args, output):
    deviation = torch.var(output) ** 0.5
    for parameter in layer.parameters():
        parameter.copy_(parameter / deviation)
    return layer.forward(args[0])


def _even_in_advance(model, data):
    def correct(layer, args):
        deviation = layer.forward(args[0]).std()
        for parameter in layer.parameters():
            parameter.mul_(1 / deviation)

    linears = [m for m in model.modules() if isinstance(m, nn.Linear)]
    with torch.no_grad():
        _with([m.register_forward_pre_hook(correct) for m in linears], lambda: model(data))


ANSWERS = {
    "13.1": {
        "wrong": [
            ("before is gone", lambda m, f: m.zero_grad() or _flow_by_difference(m, f)),
            ("asked for a list", lambda m, f: dict(enumerate(_flow(m, f)))),
            ("5 are asked for", lambda m, f: [sum(n * n for n in _flow(m, f)) ** 0.5]),
            ("was frozen isn't", lambda m, f: _flow(m.requires_grad_(), f)),
            ("0 of 5 values fit", lambda m, f: [round(n, 1) for n in _flow(m, f)]),
        ],
        "right": [_flow, _flow_by_difference, lambda m, f: torch.tensor(_flow(m, f))],
    },
    "13.2": {
        "wrong": [
            ("asked for the list", lambda m, limit: (h for h in _clip(_scaled)(m, limit))),
            ("after one pass", _clip(lambda g, limit: g - g.sign() if g.norm() > limit else g)),
            ("is NaN", _clip(lambda g, limit: g * limit / g.norm())),
            ("and their sum isn't", _clip_on_arrival(lambda p, limit: lambda g: _scaled(g, limit))),
            ("6 of 21 values fit", lambda m, limit: _clip(_scaled)(m, 2.0)),
        ],
        "right": [
            _clip(_scaled),
            _clip_on_arrival(_completed),
            _clip(lambda g, limit: g * min(1.0, limit / max(g.norm().item(), 1e-9))),
        ],
    },
    "13.3": {
        "wrong": [
            ("wants numbers", "nothing changes"),
            ("should not be 5 values", (5e-3, 5e-12, 1e-14, 1e-23, 1e-9)),
            ("Four norms are asked for", 1e-9),
            ("0 of 4 values fit", (1e-3, 1e-12, 2e-14, 3e-23)),
            ("except for a factor", (5e-3, 5e-12, 7.14e-15, 7.14e-24)),
        ],
        "right": [
            (5e-3, 5e-12, 5e-3 * 2e-12, 5e-12 * 2e-12),
            [(0.005, 5e-12), (1e-14, 1e-23)],
            "5e-3, 5e-12, 1e-14, 1e-23",
        ],
    },
    "13.4": {
        "wrong": [
            ("asked for a dict", lambda m, b: sum(_dead(m, b).values())),
            ("aren't the names", lambda m, b: {f"relu {n}": d for n, d in _dead(m, b).items()}),
            ("another mode", lambda m, b: _dead(m.eval(), b)),
            ("Only the last batch", lambda m, b: _dead(m, b[-1:])),
            ("missing from the dict", lambda m, b: {n: d for n, d in _dead(m, b).items() if d}),
        ],
        "right": [_dead, _dead_at_once, lambda m, b: _dead(m, [torch.cat(b)])],
    },
    "13.5": {
        "wrong": [
            ("one name", _first(lambda n, f: lambda m, a: f.append(m) if _nan(a) else None)),
            ("It does not fit", lambda m, d: (n := _nan_stops(m, d)) and f"module {n}"),
            ("replaces the arguments", _first(lambda n, f: lambda m, a: _nan(a))),
            ("Return None", lambda m, d: ""),
            ("a with block", lambda m, d: m.register_forward_pre_hook(print) and _nan_stops(m, d)),
        ],
        "right": [
            _nan_stops,
            _first(lambda n, f: lambda m, a: f.append(n[m]) if _nan(a) else None),
            _first(lambda n, f: lambda m, a: next((f.append(n[m]) for t in a if _nan([t])), None)),
        ],
    },
    "13.6": {
        "wrong": [
            ("of this very model", lambda m, data: _even(_even_again)(deepcopy(m), data)),
            ("may a forward hook return", _even(lambda *given: [_even_again(*given)].clear())),
            ("another mode", lambda m, data: _even(_even_again)(m.eval(), data)),
            ("whether the data are", lambda m, data: _even(_even_again)(m, data) or data.zero_()),
            ("Half of", _even(lambda layer, args, out: _even_again(layer, args, 2 * out))),
        ],
        "right": [_even(_even_by_data), _even(_even_again), _even_in_advance],
    },
}
