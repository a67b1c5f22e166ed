"""Typical wrong answers and differently written right ones, for the exercises of lesson 13."""

from copy import deepcopy

import minigrad as torch
from minigrad import nn

everywhere = nn.modules.module


# ---------------------------------------------------------------- 13.1


def _flow(collect, finish=lambda squares: [s**0.5 for s in squares.values()], keep=True):
    """Make a recorder: `collect(squares, layer, gradient)` notes one gradient."""

    def gradient_flow(model, loss_fn):
        squares, handles = {}, []
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                layer = name.rpartition(".")[0]
                squares.setdefault(layer, 0.0)

                def hook(gradient, layer=layer):
                    collect(squares, layer, gradient)

                handles.append(parameter.register_hook(hook))
        try:
            loss_fn(model).backward()
        finally:
            if keep:
                for handle in handles:
                    handle.remove()
        return finish(squares)

    return gradient_flow


def _add_square(squares, layer, gradient):
    squares[layer] += (gradient * gradient).sum().item()


def _flow_right(model, loss_fn):
    return _flow(_add_square)(model, loss_fn)


def _flow_by_modules(model, loss_fn):
    layers = [
        [p for p in module.parameters(recurse=False) if p.requires_grad]
        for module in model.modules()
    ]
    layers = [own for own in layers if own]
    seen = {}
    handles = [
        p.register_hook(lambda g, p=p: seen.__setitem__(id(p), g.detach().clone()))
        for own in layers
        for p in own
    ]
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [torch.cat([seen[id(p)].flatten() for p in own]).norm() for own in layers]


def _flow_with_stack(model, loss_fn):
    from contextlib import ExitStack

    sums = {}

    def hook_for(layer):
        def hook(grad):
            sums[layer] += float(grad.pow(2).sum())

        return hook

    with ExitStack() as stack:
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            layer = ".".join(name.split(".")[:-1])
            sums[layer] = sums.get(layer, 0.0)
            stack.enter_context(p.register_hook(hook_for(layer)))
        loss_fn(model).backward()
    return tuple(total**0.5 for total in sums.values())


def _flow_by_difference(model, loss_fn):
    free = {n: p for n, p in model.named_parameters() if p.requires_grad}
    before = {n: None if p.grad is None else p.grad.clone() for n, p in free.items()}
    loss_fn(model).backward()
    layers = {}
    for name, p in free.items():
        now = p.grad if before[name] is None else p.grad - before[name]
        layers.setdefault(name.rpartition(".")[0], []).append(now.flatten())
    return [torch.cat(parts).norm().item() for parts in layers.values()]


def _flow_by_grad(model, loss_fn):
    free = [(n.rpartition(".")[0], p) for n, p in model.named_parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss_fn(model), [p for _, p in free])
    sums = {}
    for (layer, _), gradient in zip(free, gradients, strict=True):
        sums[layer] = sums.get(layer, 0) + gradient.norm() ** 2
    return [total.sqrt().item() for total in sums.values()]


def _flow_post_accumulate_without_old(model, loss_fn):
    found, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            found[name.rpartition(".")[0]] = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            old = 0 if p.grad is None else p.grad.clone()

            layer = found[name.rpartition(".")[0]]

            def note(q, old=old, to=layer):
                to.append((q.grad - old).norm().item())

            handles.append(p.register_post_accumulate_grad_hook(note))
    try:
        loss_fn(model).backward()
    finally:
        [handle.remove() for handle in handles]
    return [sum(n * n for n in norms) ** 0.5 for norms in found.values()]


def _flow_no_finally(model, loss_fn):
    sums, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            layer = name.rpartition(".")[0]
            sums[layer] = 0.0

            def hook(g, layer=layer):
                sums[layer] += (g * g).sum().item()

            handles.append(p.register_hook(hook))
    loss_fn(model).backward()
    for handle in handles:
        handle.remove()
    return [total**0.5 for total in sums.values()]


def _flow_in_order_of_calls(model, loss_fn):
    norms, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            layer = name.rpartition(".")[0]

            def hook(g, layer=layer):
                norms[layer] = norms.get(layer, 0.0) + (g * g).sum().item()

            handles.append(p.register_hook(hook))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [total**0.5 for total in norms.values()]


def _flow_late_binding(model, loss_fn):
    sums, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            layer = name.rpartition(".")[0]
            sums[layer] = 0.0

            def hook(g):
                sums[layer] += (g * g).sum().item()  # noqa: B023

            handles.append(p.register_hook(hook))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [total**0.5 for total in sums.values()]


def _flow_reads_grad(model, loss_fn):
    loss_fn(model).backward()
    layers = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            layers.setdefault(name.rpartition(".")[0], []).append(p.grad.flatten())
    return [torch.cat(parts).norm().item() for parts in layers.values()]


def _flow_empties_grad(model, loss_fn):
    model.zero_grad()
    return _flow_reads_grad(model, loss_fn)


def _flow_empties_grad_and_hooks(model, loss_fn):
    for p in model.parameters():
        p.grad = None
    return _flow_right(model, loss_fn)


def _flow_frozen_too(model, loss_fn):
    handles = [p.register_hook(lambda g: None) for p in model.parameters()]
    loss_fn(model).backward()
    return [handle.id for handle in handles]


def _flow_frozen_zero(model, loss_fn):
    layers = {}
    for name, p in model.named_parameters():
        layers.setdefault(name.rpartition(".")[0], [])
        if p.requires_grad:
            layers[name.rpartition(".")[0]].append(p)
    sums = dict.fromkeys(layers, 0.0)
    handles = []
    for layer, own in layers.items():
        for p in own:

            def hook(g, layer=layer):
                sums[layer] += (g * g).sum().item()

            handles.append(p.register_hook(hook))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [total**0.5 for total in sums.values()]


def _flow_weights_only(model, loss_fn):
    norms, handles = [], []
    for name, p in model.named_parameters():
        if p.requires_grad and name.endswith("weight"):
            handles.append(p.register_hook(lambda g: norms.append(g.norm().item())))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return norms[::-1]


def _flow_linear_only(model, loss_fn):
    linears = [m for m in model.modules() if isinstance(m, nn.Linear)]
    sums, handles = [0.0] * len(linears), []
    kept = []
    for place, m in enumerate(linears):
        free = [p for p in m.parameters() if p.requires_grad]
        if free:
            kept.append(place)
        for p in free:

            def hook(g, place=place):
                sums[place] += (g * g).sum().item()

            handles.append(p.register_hook(hook))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [sums[place] ** 0.5 for place in kept]


def _flow_parameters(model, loss_fn):
    norms, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            norms[name] = 0.0
            handles.append(
                p.register_hook(lambda g, name=name: norms.__setitem__(name, g.norm().item()))
            )
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return list(norms.values())


def _flow_at_outputs(model, loss_fn):
    sizes, handles = [], []
    for m in model.modules():
        if any(p.requires_grad for p in m.parameters(recurse=False)):
            handles.append(
                m.register_full_backward_pre_hook(lambda m, g: sizes.append(g[0].norm().item()))
            )
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return sizes[::-1]


def _flow_no_backward(model, loss_fn):
    norms = []
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: norms.append(g.norm().item()))
    loss_fn(model)
    return norms


def _flow_returns_in_hook(model, loss_fn):
    handles = [
        p.register_hook(lambda g: g.norm().item()) for p in model.parameters() if p.requires_grad
    ]
    loss_fn(model).backward()
    for handle in handles:
        handle.remove()
    return []


_FLOW_KEPT = {}


def _flow_remembers(model, loss_fn):
    handles = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            layer = name.rpartition(".")[0]

            def hook(g, layer=layer):
                _FLOW_KEPT[layer] = _FLOW_KEPT.get(layer, 0.0) + (g * g).sum().item()

            _FLOW_KEPT.setdefault(name.rpartition(".")[0], 0.0)
            handles.append(p.register_hook(hook))
    try:
        loss_fn(model).backward()
    finally:
        for handle in handles:
            handle.remove()
    return [total**0.5 for total in _FLOW_KEPT.values()]


def _flow_grouped(layer_of):
    def gradient_flow(model, loss_fn):
        found, handles = {}, []
        for name, p in model.named_parameters():
            if p.requires_grad:
                parts = found.setdefault(layer_of(name), [])
                handles.append(p.register_hook(lambda g, parts=parts: parts.append(g.flatten())))
        try:
            loss_fn(model).backward()
        finally:
            for handle in handles:
                handle.remove()
        return [torch.cat(parts).norm().item() for parts in found.values()]

    return gradient_flow


def _flow_of(layers):
    """Make a recorder of groups of parameters: `layers(model)` gives them."""

    def gradient_flow(model, loss_fn):
        groups = layers(model)
        flat = [p for group in groups for p in group]
        found = iter(torch.autograd.grad(loss_fn(model), flat))
        return [sum((next(found) ** 2).sum().item() for _ in group) ** 0.5 for group in groups]

    return gradient_flow


def _flow_unfreezes(model, loss_fn):
    for p in model.parameters():
        p.requires_grad_(True)
    return _flow_right(model, loss_fn)


def _flow_with_containers(model, loss_fn):
    free = [p for p in model.parameters() if p.requires_grad]
    squares = {
        p: (g * g).sum().item()
        for p, g in zip(free, torch.autograd.grad(loss_fn(model), free), strict=True)
    }
    layers = [[p for p in m.parameters() if p.requires_grad] for m in model.modules()]
    return [sum(squares[p] for p in own) ** 0.5 for own in layers if own]


def _flow_rounded(model, loss_fn):
    return [round(norm, 1) for norm in _flow_right(model, loss_fn)]


def _own(module):
    return list(module.parameters(recurse=False))


def _all_free(model):
    groups = [_own(module) for module in model.modules()]
    return [group for group in groups if group and all(p.requires_grad for p in group)]


def _of_leaves(model):
    groups = [_own(module) for module in model.modules() if not list(module.children())]
    groups = [[p for p in group if p.requires_grad] for group in groups]
    return [group for group in groups if group]


_flow_all_free, _flow_leaves = _flow_of(_all_free), _flow_of(_of_leaves)


def _flow_of_values(model, loss_fn):
    loss_fn(model).backward()
    groups = [[p for p in _own(module) if p.requires_grad] for module in model.modules()]
    return [sum((p**2).sum().item() for p in group) ** 0.5 for group in groups if group]


def _flow_same_tensor(model, loss_fn):
    before = {name: p.grad for name, p in model.named_parameters()}
    loss_fn(model).backward()
    sums = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            now = p.grad if before[name] is None else p.grad - before[name]
            layer = name.rpartition(".")[0]
            sums[layer] = sums.get(layer, 0) + (now * now).sum().item()
    return [total**0.5 for total in sums.values()]


# ---------------------------------------------------------------- 13.2


def _free(model):
    return [p for p in model.parameters() if p.requires_grad]


def _scaled(g, limit):
    norm = g.norm()
    return g * (limit / norm) if norm > limit else g


def _after(change):
    def clip_grads(model, limit):
        def hook(p):
            p.grad = change(p.grad, limit)

        return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]

    return clip_grads


def _before(change):
    def clip_grads(model, limit):
        return [p.register_hook(lambda g: change(g, limit)) for p in _free(model)]

    return clip_grads


def _clip_in_place(model, limit):
    handles = []
    for parameter in model.parameters():
        if parameter.requires_grad:

            def hook(p):
                with torch.no_grad():
                    p.grad *= min(1.0, limit / (p.grad.norm().item() + 1e-12))

            handles.append(parameter.register_post_accumulate_grad_hook(hook))
    return handles


def _clip_by_library(model, limit):
    def hook(p):
        torch.nn.utils.clip_grad_norm_([p], limit)

    return tuple(p.register_post_accumulate_grad_hook(hook) for p in _free(model))


def _clip_by_arithmetic(model, limit):
    def hook_for(p):
        def hook(g):
            old = torch.zeros_like(g) if p.grad is None else p.grad
            return _scaled(old + g, limit) - old

        return hook

    return [p.register_hook(hook_for(p)) for p in _free(model)]


class _Clipper:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, parameter):
        factor = torch.clamp(self.limit / parameter.grad.norm().clamp(min=1e-20), max=1.0)
        parameter.grad.mul_(factor)


def _clip_by_class(model, limit):
    return [p.register_post_accumulate_grad_hook(_Clipper(limit)) for p in _free(model)]


def _clip_colleague(model, limit):
    for p in model.parameters():

        def hook(gradient):
            gradient.clamp_(-limit, limit)

        p.register_hook(hook)


def _clip_colleague_free(model, limit):
    def hook(gradient):
        gradient.clamp_(-limit, limit)

    return [p.register_hook(hook) for p in _free(model)]


def _clip_no_return(model, limit):
    def hook(g):
        if g.norm() > limit:
            g = g * (limit / g.norm())

    return [p.register_hook(hook) for p in _free(model)]


def _clip_after_no_write(model, limit):
    def hook(p):
        g = p.grad
        if g.norm() > limit:
            g = g * (limit / g.norm())

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def _clip_after_returns(model, limit):
    def hook(p):
        return _scaled(p.grad, limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def _clip_no_handles(model, limit):
    _clip_in_place(model, limit)


def _clip_one_handle(model, limit):
    for p in _free(model):
        handle = p.register_post_accumulate_grad_hook(
            lambda p: p.grad.copy_(_scaled(p.grad, limit)) and None
        )
    return handle


def _quiet(function):
    def hook(p):
        function(p)

    return hook


def _clip_last_handle(model, limit):
    handles = []
    for p in _free(model):
        handles = [
            p.register_post_accumulate_grad_hook(
                _quiet(lambda q: q.grad.copy_(_scaled(q.grad, limit)))
            )
        ]
    return handles


def _clip_frozen(model, limit):
    def hook(p):
        p.grad = _scaled(p.grad, limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in model.parameters()]


def _clip_late(model, limit):
    handles = []
    for p in _free(model):

        def hook(_):
            if p.grad is not None:  # noqa: B023
                p.grad.copy_(_scaled(p.grad, limit))  # noqa: B023

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return handles


def _clip_grad_in_tensor_hook(model, limit):
    def hook_for(p):
        def hook(g):
            if p.grad.norm() > limit:
                return g * (limit / p.grad.norm())

        return hook

    return [p.register_hook(hook_for(p)) for p in _free(model)]


def _clip_old_part(model, limit):
    def hook_for(p):
        def hook(g):
            if p.grad is not None:
                p.grad = _scaled(p.grad, limit)

        return hook

    return [p.register_hook(hook_for(p)) for p in _free(model)]


def _clip_by_module(model, limit):
    def hook(module, grad_input, grad_output):
        for p in module.parameters(recurse=False):
            if p.grad is not None:
                p.grad = _scaled(p.grad, limit)

    return [module.register_full_backward_hook(hook) for module in model.modules()]


def _clip_global(model, limit):
    def hook(p):
        torch.nn.utils.clip_grad_norm_(_free(model), limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def _clip_in_place_on_arrival(model, limit):
    def hook(g):
        norm = g.norm()
        if norm > limit:
            g.mul_(limit / norm)

    return [p.register_hook(hook) for p in _free(model)]


def _clip_rows(g, limit):
    norms = g.norm(dim=-1, keepdim=True)
    return torch.where(norms > limit, g * (limit / norms), g)


def _clip_linear(model, limit):
    def hook(p):
        p.grad = _scaled(p.grad, limit)

    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    return [p.register_post_accumulate_grad_hook(hook) for m in layers for p in m.parameters()]


def _clip_values(model, limit):
    def hook(p):
        p.data = _scaled(p.data, limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def _clip_whole_sum(model, limit):
    def hook_for(p):
        return lambda g: _scaled(g if p.grad is None else g + p.grad, limit)

    return [p.register_hook(hook_for(p)) for p in _free(model)]


def _clip_removes(model, limit):
    handles = _after(_scaled)(model, limit)
    for handle in handles:
        handle.remove()
    return handles


def _clip_own_sum(model, limit):
    def hook_for(p):
        total = torch.zeros_like(p).detach()

        def hook(g):
            new = _scaled(total + g, limit)
            difference = new - total
            total.copy_(new)
            return difference

        return hook

    return [p.register_hook(hook_for(p)) for p in _free(model)]


# ---------------------------------------------------------------- 13.4


def _count(model, batches, awake, join, give, which=(nn.ReLU,), name_of=lambda n, m: n):
    seen, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, which):
            key = name_of(name, module)

            def hook(m, args, output, key=key):
                now = awake(output)
                seen[key] = now if key not in seen else join(seen[key], now)

            handles.append(module.register_forward_hook(hook))
    with torch.no_grad():
        for batch in batches:
            model(batch)
    for handle in handles:
        handle.remove()
    return {name: give(value) for name, value in seen.items()}


def _any(o):
    return (o > 0).any(dim=0)


def _or(a, b):
    return a | b


def _dead(awake=_any, join=_or, give=lambda a: int((~a).sum()), **options):
    return lambda model, batches: _count(model, batches, awake, join, give, **options)


def _dead_by_concatenation(model, batches):
    store = {n: [] for n, m in model.named_modules() if isinstance(m, nn.ReLU)}
    handles = [
        m.register_forward_hook(lambda m, a, o, n=n: store[n].append(o.detach().clone()))
        for n, m in model.named_modules()
        if n in store
    ]
    try:
        for batch in batches:
            model(batch)
    finally:
        for handle in handles:
            handle.remove()
    return {n: (torch.cat(outs) == 0).all(0).sum().item() for n, outs in store.items()}


def _dead_one_batch(model, batches):
    largest = {}
    modules = {m: n for n, m in model.named_modules()}

    def hook(m, args, out):
        if isinstance(m, nn.ReLU):
            largest[modules[m]] = out.abs().amax(0)

    with everywhere.register_module_forward_hook(hook), torch.no_grad():
        model(torch.cat(list(batches)))
    return {n: (each == 0).sum() for n, each in largest.items()}


class _Counter:
    def __init__(self):
        self.ever = None

    def __call__(self, module, args, output):
        now = output.detach().numpy().any(axis=0)
        self.ever = now if self.ever is None else self.ever | now


def _dead_by_class(model, batches):
    counters, handles = {}, []
    for name, module in model.named_modules():
        if type(module) is nn.ReLU:
            counters[name] = _Counter()
            handles.append(module.register_forward_hook(counters[name]))
    for batch in batches:
        model(batch)
    [handle.remove() for handle in handles]
    return {name: int((~counter.ever).sum()) for name, counter in counters.items()}


def _dead_leaves_hooks(model, batches):
    seen = {}
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):

            def hook(m, args, output, name=name):
                now = (output != 0).any(0)
                seen[name] = seen[name] | now if name in seen else now

            module.register_forward_hook(hook)
    for batch in batches:
        model(batch)
    return {name: int((~value).sum()) for name, value in seen.items()}


def _dead_one_name(model, batches):
    seen, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):

            def hook(m, args, output):
                seen[name] = int((~(output != 0).any(0)).sum())  # noqa: B023

            handles.append(module.register_forward_hook(hook))
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    return seen


def _dead_children(model, batches):
    seen, handles = {}, []
    for name, module in model.named_children():
        if isinstance(module, nn.ReLU):

            def hook(m, args, output, name=name):
                now = (output != 0).any(0)
                seen[name] = seen[name] | now if name in seen else now

            handles.append(module.register_forward_hook(hook))
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    return {name: int((~value).sum()) for name, value in seen.items()}


def _dead_at_linear(model, batches):
    return _count(model, batches, _any, _or, lambda a: int((~a).sum()), which=(nn.Linear,))


def _numbered(values):
    return ((str(place), value) for place, value in enumerate(values))


def _dead_total(model, batches):
    return sum(_dead()(model, batches).values())


def _dead_one_place(model, batches):
    awake = torch.zeros(6, dtype=torch.bool)
    handles = []

    def hook(m, args, output):
        awake[:] = awake | (output != 0).any(0)

    for module in model.modules():
        if isinstance(module, nn.ReLU):
            handles.append(module.register_forward_hook(hook))
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    return {"relu": int((~awake).sum())}


def _dead_hook_returns(model, batches):
    found, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):

            def hook(m, args, output, name=name):
                found[name] = (~(output != 0).any(0)).sum().item()
                return found[name]

            handles.append(module.register_forward_hook(hook))
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    return found


def _dead_below_zero(model, batches):
    inputs, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            note = inputs.setdefault(name, [])
            handles.append(module.register_forward_pre_hook(lambda m, a, n=note: n.append(a[0])))
    for batch in batches:
        model(batch)
    for handle in handles:
        handle.remove()
    return {name: (torch.cat(each) < 0).all(0).sum().item() for name, each in inputs.items()}


def _dead_evaluates(model, batches):
    model.eval()
    return _dead()(model, batches)


# ---------------------------------------------------------------- 13.5


def _names(model):
    return {module: name for name, module in model.named_modules()}


def _tensors(args):
    return [each for each in args if isinstance(each, torch.Tensor)]


def _nan(args):
    return any(bool(torch.isnan(each).any()) for each in _tensors(args))


def _first(look_of, give=lambda found: found[0] if found else None, kind="forward_pre"):
    """Make an answer: `look_of(names, found)` makes the hook."""

    def first_nan(model, data):
        found = []
        with getattr(everywhere, f"register_module_{kind}_hook")(look_of(_names(model), found)):
            model(data)
        return give(found)

    return first_nan


def _receive(names, found):
    return lambda m, args: found.append(names[m]) if _nan(args) else None


def _nan_by_own_hooks(model, data):
    found, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, name=name):
            if not found and _nan(args):
                found.append(name)

        handles.append(module.register_forward_pre_hook(look))
    try:
        model(data)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None


class _Found(Exception):
    pass


def _nan_stops(model, data):
    names = _names(model)

    def look(module, args):
        for each in args:
            if hasattr(each, "isnan") and each.isnan().any():
                raise _Found(names[module])

    handle = everywhere.register_module_forward_pre_hook(look)
    try:
        model(data)
    except _Found as found:
        return str(found)
    finally:
        handle.remove()
    return None


def _nan_nonlocal(model, data):
    culprit = None

    def look(module, args):
        nonlocal culprit
        if culprit is None and any((a != a).any() for a in args if torch.is_tensor(a)):
            culprit = module

    with everywhere.register_module_forward_pre_hook(look):
        model(data)
    return next((n for n, m in model.named_modules() if m is culprit), None)


def _nan_no_remove(model, data):
    found, names = [], _names(model)
    everywhere.register_module_forward_pre_hook(
        lambda m, args: found.append(names[m]) if m in names and _nan(args) else None
    )
    model(data)
    return found[0] if found else None


def _nan_no_finally(model, data):
    found = []
    handle = everywhere.register_module_forward_pre_hook(_receive(_names(model), found))
    model(data)
    handle.remove()
    return found[0] if found else None


def _nan_makers(names, found):
    return lambda m, args, out: found.append(names[m]) if _nan([out]) and not _nan(args) else None


def _nan_outputs(names, found):
    return lambda m, args, out: found.append(names[m]) if _nan([out]) else None


def _nan_infinite(names, found):
    def look(m, args):
        if any(not each.isfinite().all() for each in _tensors(args)):
            found.append(names[m])

    return look


def _nan_equal(names, found):
    def look(m, args):
        if any((each == float("nan")).any() for each in _tensors(args)):
            found.append(names[m])

    return look


def _nan_all(names, found):
    def look(m, args):
        if any(each.isnan().all() for each in _tensors(args)):
            found.append(names[m])

    return look


def _nan_of_the_sum(names, found):
    def look(m, args):
        if any(each.sum().isnan() for each in _tensors(args)):
            found.append(names[m])

    return look


def _nan_argument_zero(names, found):
    def look(m, args):
        if isinstance(args[0], torch.Tensor) and args[0].isnan().any():
            found.append(names[m])

    return look


def _nan_stumbles(names, found):
    def look(m, args):
        if any(each.isnan().any() for each in args):
            found.append(names[m])

    return look


def _nan_ambiguous(names, found):
    def look(m, args):
        for each in _tensors(args):
            if each.isnan():
                found.append(names[m])

    return look


def _nan_class(names, found):
    return lambda m, args: found.append(type(m).__name__) if _nan(args) else None


def _nan_module(names, found):
    return lambda m, args: found.append(m) if _nan(args) else None


def _nan_leaves_only(names, found):
    return lambda m, args: found.append(names[m]) if _nan(args) and not list(m.children()) else None


def _nan_in_order(model, data):
    seen = set()
    with everywhere.register_module_forward_pre_hook(
        lambda m, args: seen.add(m) if _nan(args) else None
    ):
        model(data)
    return next((n for n, m in model.named_modules() if m in seen), None)


def _nan_in_a_loop(model, data):
    found, handles = [], []
    for name, module in model.named_modules():

        def look(module, args):
            if _nan(args):
                found.append(name)  # noqa: B023

        handles.append(module.register_forward_pre_hook(look))
    model(data)
    for handle in handles:
        handle.remove()
    return found[0] if found else None


def _nan_empty_name(model, data):
    culprit = ""
    names = _names(model)

    def look(module, args):
        nonlocal culprit
        if not culprit and _nan(args):
            culprit = names[module]

    with everywhere.register_module_forward_pre_hook(look):
        model(data)
    return culprit


def _nan_children(model, data):
    found, handles = [], []
    for name, module in model.named_children():
        handles.append(
            module.register_forward_pre_hook(
                lambda m, args, name=name: found.append(name) if _nan(args) else None
            )
        )
    model(data)
    for handle in handles:
        handle.remove()
    return found[0] if found else None


def _nan_forgot_return(model, data):
    _first(_receive)(model, data)


# ---------------------------------------------------------------- 13.6


def _linears(model):
    return [module for module in model.modules() if isinstance(module, nn.Linear)]


def _even(correct, grad_mode=torch.no_grad, remove=True):
    def even_out(model, data):
        handles = [layer.register_forward_hook(correct) for layer in _linears(model)]
        with grad_mode():
            model(data)
        if remove:
            for handle in handles:
                handle.remove()

    return even_out


def _divide(layer, by):
    layer.weight.div_(by)
    if layer.bias is not None:
        layer.bias.div_(by)


def _even_hook(layer, args, output):
    by = output.std()
    _divide(layer, by)
    return output / by


def _even_by_data(model, data):
    def correct(layer, args, output):
        deviation = output.detach().std().item()
        layer.weight.data /= deviation
        if layer.bias is not None:
            layer.bias.data /= deviation
        return output / deviation

    handles = [layer.register_forward_hook(correct) for layer in _linears(model)]
    model(data)
    for handle in handles:
        handle.remove()
    return model


def _even_runs_again(model, data):
    def correct(layer, args, output):
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(parameter / output.std(unbiased=False))
            return layer.forward(args[0])

    handles = [layer.register_forward_hook(correct) for layer in _linears(model)]
    with torch.no_grad():
        model(data)
    [handle.remove() for handle in handles]


def _even_many_runs(model, data):
    order = []
    handles = [m.register_forward_hook(lambda m, a, o: order.append(m)) for m in _linears(model)]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()
    for layer in order:
        found = []
        with (
            layer.register_forward_hook(lambda m, a, o, found=found: found.append(o)),
            torch.no_grad(),
        ):
            model(data)
        with torch.no_grad():
            _divide(layer, found[0].std())


def _even_on_weights(layer, args, output):
    by = layer.weight.std()
    _divide(layer, by)
    return output / by


def _even_twice(layer, args, output):
    by = output.std()
    _divide(layer, by)
    return layer.forward(*args) / by


def _even_in_advance(model, data):
    def correct(layer, args):
        deviation = nn.functional.linear(args[0], layer.weight, layer.bias).std()
        for parameter in layer.parameters():
            parameter.mul_(1 / deviation)

    handles = [layer.register_forward_pre_hook(correct) for layer in _linears(model)]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()


@torch.no_grad()
def _even_walks(model, data):
    for module in model.children():
        data = module(data)
        if isinstance(module, nn.Linear):
            data = _even_hook(module, (), data)


def _even_measures_once(layer, args, output):
    _divide(layer, output.std())


def _even_weight_only(layer, args, output):
    by = output.std()
    layer.weight.div_(by)
    return output / by


def _even_variance(layer, args, output):
    by = output.var()
    _divide(layer, by)
    return output / by


def _even_times(layer, args, output):
    by = output.std()
    _divide(layer, 1 / by)
    return output * by


def _even_per_unit(layer, args, output):
    by = output.std(0)
    layer.weight.div_(by[:, None])
    if layer.bias is not None:
        layer.bias.div_(by)
    return output / by


def _even_with_bias(layer, args, output):
    by = output.std()
    layer.weight.div_(by)
    layer.bias.div_(by)
    return output / by


def _even_new_parameters(layer, args, output):
    by = output.std()
    layer.weight = nn.Parameter(layer.weight / by)
    if layer.bias is not None:
        layer.bias = nn.Parameter(layer.bias / by)
    return output / by


def _even_plain_tensor(layer, args, output):
    by = output.std()
    layer.weight = layer.weight / by
    return output / by


def _even_norm(layer, args, output):
    by = output.norm()
    _divide(layer, by)
    return output / by


def _even_registration_order(model, data):
    for layer in _linears(model):
        found = []
        with (
            layer.register_forward_hook(lambda m, a, o, found=found: found.append(o)),
            torch.no_grad(),
        ):
            model(data)
            _divide(layer, found[0].std())


def _even_shifts(layer, args, output):
    mean, by = output.mean(), output.std()
    layer.weight.div_(by)
    if layer.bias is not None:
        layer.bias.sub_(mean).div_(by)
        return (output - mean) / by
    return output / by


def _even_on_input(layer, args, output):
    by = args[0].std()
    _divide(layer, by)
    return output / by


def _even_children(model, data):
    layers = [layer for layer in model.children() if isinstance(layer, nn.Linear)]
    handles = [layer.register_forward_hook(_even_hook) for layer in layers]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()


def _even_only_down(layer, args, output):
    by = max(1.0, output.std().item())
    _divide(layer, by)
    return output / by


def _even_hands_on_centered(layer, args, output):
    by = output.std()
    _divide(layer, by)
    return (output - output.mean()) / by


def _even_weight_only_and_anew(layer, args, output):
    layer.weight.div_(output.std())
    return layer.forward(*args)


def _even_by_rows(layer, args, output):
    by = output.std(1).mean()
    _divide(layer, by)
    return output / by


def _even_all_with_weights(model, data):
    layers = [layer for layer in model.modules() if hasattr(layer, "weight")]
    handles = [layer.register_forward_hook(_even_hook) for layer in layers]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()


@torch.no_grad()
def _even_goes_through(model, data):
    for layer in model:
        data = layer(data)
        if isinstance(layer, nn.Linear):
            data = _even_hook(layer, (), data)


def _nothing(model, data):
    with torch.no_grad():
        model(data)


ANSWERS = {
    "13.1": {
        "wrong": [
            ("in the order in which the hooks were called", _flow_in_order_of_calls),
            ("see the value that it has in the end", _flow_late_binding),
            ("Only this pass counts", _flow_reads_grad),
            ("was in .grad before is gone", _flow_empties_grad),
            ("was in .grad before is gone", _flow_empties_grad_and_hooks),
            ("takes no hook", _flow_frozen_too),
            ("A frozen layer has an entry", _flow_frozen_zero),
            ("Only the weights are in it", _flow_weights_only),
            ("Not only Linear", _flow_linear_only),
            ("parameters one by one", _flow_parameters),
            ("arrive at the layers' outputs", _flow_at_outputs),
            ("The list is empty", _flow_no_backward),
            ("only has to note", _flow_returns_in_hook),
            ("still there, and run in each pass", _flow(_add_square, keep=False)),
            ("In a finally it is", _flow_no_finally),
            ("The norm is its root", _flow(_add_square, finish=lambda s: list(s.values()))),
            (
                "Norms do not add up",
                _flow(
                    lambda s, layer, g: s.update({layer: s[layer] + g.norm().item()}),
                    finish=lambda s: list(s.values()),
                ),
            ),
            (
                "the one that came last",
                _flow(
                    lambda s, layer, g: s.update({layer: g.norm().item()}),
                    finish=lambda s: list(s.values()),
                ),
            ),
            (
                "the largest entry",
                _flow(
                    lambda s, layer, g: s.update({layer: max(s[layer], g.abs().max().item())}),
                    finish=lambda s: list(s.values()),
                ),
            ),
            (
                "one number for the whole model",
                _flow(_add_square, finish=lambda s: [sum(s.values()) ** 0.5]),
            ),
            (
                "Where does a backward pass",
                _flow(_add_square, finish=lambda s: [v**0.5 for v in s.values()][::-1]),
            ),
            ("something is kept", _flow_remembers),
            ("sizes of the parameters", _flow_of_values),
            ("the same factor", lambda m, f: [n / 5 for n in _flow_right(m, f)]),
            ("sorted by size", lambda m, f: sorted(_flow_right(m, f))),
            (
                "plus and minus cancel",
                _flow(
                    lambda s, layer, g: s.update({layer: s[layer] + g.sum().item()}),
                    finish=lambda s: [abs(total) for total in s.values()],
                ),
            ),
            (
                "or the largest of them",
                _flow(
                    lambda s, layer, g: s.update({layer: max(s[layer], g.norm().item())}),
                    finish=lambda s: list(s.values()),
                ),
            ),
            ("whose bias is frozen", _flow_all_free),
            ("may have a parameter of its own", _flow_leaves),
            ("keep a clone()", _flow_same_tensor),
            ("That is a dict", lambda m, f: dict(enumerate(_flow_right(m, f)))),
            ("None", lambda model, loss_fn: loss_fn(model).backward()),
            ("a list", lambda model, loss_fn: loss_fn(model).item()),
            ("inside of one container", _flow_grouped(lambda name: name.split(".")[0])),
            ("went to one entry", _flow_grouped(lambda name: name.split(".")[-1])),
            ("not frozen any more", _flow_unfreezes),
            ("rounded", _flow_rounded),
            ("Containers have entries", _flow_with_containers),
        ],
        "right": [
            _flow_right,
            _flow_by_modules,
            _flow_with_stack,
            _flow_by_difference,
            _flow_by_grad,
            _flow_post_accumulate_without_old,
        ],
    },
    "13.2": {
        "wrong": [
            ("takes no hook", _clip_colleague),
            ("still cuts entry by entry", _clip_colleague_free),
            ("does not leave the hook", _clip_no_return),
            ("does not leave the hook", _clip_after_no_write),
            ("returns nothing", _clip_after_returns),
            ("returns None, and a list", _clip_no_handles),
            ("list of handles", _clip_one_handle),
            ("until the handles are removed", _clip_last_handle),
            ("takes no hook", _clip_frozen),
            ("in the end: use what the hook is given", _clip_late),
            ("before the sum is made", _clip_grad_in_tensor_hook),
            ("finds the old .grad", _clip_old_part),
            ("finds the old .grad", _clip_by_module),
            ("goes through it", lambda m, limit: (h for h in _after(_scaled)(m, limit))),
            ("One norm for all parameters", _clip_global),
            ("do not write into it", _clip_in_place_on_arrival),
            ("acts before the addition", _before(_scaled)),
            ("cuts each entry by itself", _after(lambda g, limit: g.clamp(-limit, limit))),
            (
                "Short gradients are made longer",
                _after(lambda g, limit: g * limit / (g.norm() + 1e-9)),
            ),
            ("is NaN", _after(lambda g, limit: g * limit / g.norm())),
            ("direction alone", _after(lambda g, limit: g / (g.norm() + 1e-12))),
            (
                "whatever the limit is",
                _after(lambda g, limit: g / g.norm() if g.norm() > limit else g),
            ),
            (
                "long ones get longer",
                _after(lambda g, limit: g * g.norm() / limit if g.norm() > limit else g),
            ),
            ("the largest entry", _after(lambda g, limit: g * min(1, limit / g.abs().max()))),
            ("an argument", _after(lambda g, limit: _scaled(g, 2.0))),
            (
                "of norm 0, to NaN",
                _after(lambda g, limit: g * limit / g.norm() if g.norm() < limit else g),
            ),
            (
                "the sum of the squares. The norm",
                _after(lambda g, limit: g * limit / (g**2).sum() if (g**2).sum() > limit else g),
            ),
            ("Each row has a norm", _after(_clip_rows)),
            ("list of handles is empty", _clip_linear),
            ("The parameters themselves", _clip_values),
            ("a sum of its own", _clip_own_sum),
            ("the old part counts twice", _clip_whole_sum),
            ("no hook is left on the model", _clip_removes),
            (
                "does not get the limit",
                _after(lambda g, limit: g * limit / (2 * g.norm()) if g.norm() > limit else g),
            ),
            (
                "points elsewhere",
                _after(lambda g, limit: g - g.sign() if g.norm() > limit else g),
            ),
            (
                "set to zero",
                _after(lambda g, limit: torch.zeros_like(g) if g.norm() > limit else g),
            ),
        ],
        "right": [
            _after(_scaled),
            _clip_in_place,
            _clip_by_library,
            _clip_by_arithmetic,
            _clip_by_class,
        ],
    },
    "13.3": {
        "wrong": [
            ("The limit is a ceiling", (1, 1, 1e-14, 1e-14)),
            ("The limit is a ceiling", (1.0, 1.0, 1e-14, 1e-23)),
            ("something got longer", (1, 1e-9, 1e-14, 1e-23)),
            ("something got longer", (1, 5e-12, 1e-14, 5e-12)),
            ("something got longer", (5e-3, 5e-12, 1, 1e-9)),
            ("clipped by itself", (5e-3, 5e-12, 1e-14, 1e-14)),
            ("clipped by itself", (5e-3, 5e-12, 9.998e-15, 5e-20)),
            ("clipped by itself", (5e-3, 5e-12, 7.07e-15, 7.07e-15)),
            ("is not the factor", (5e-3, 5e-12, 5e-17, 5e-26)),
            ("sum of their squares", (7e-3, 7e-12, 1e-14, 1e-23)),
            ("sums of the squares", (2.5e-5, 2.5e-23, 1e-28, 1e-46)),
            ("largest entries", (4e-3, 4e-12, 8e-15, 8e-24)),
            ("Those are entries", (3e-3, 4e-3, 3e-12, 4e-12, 6e-15, 8e-15, 6e-24, 8e-24)),
            ("Those are entries", [(3e-3, 4e-3), (3e-12, 4e-12), (6e-15, 8e-15), (0, 0)]),
            ("in another order", (5e-12, 5e-3, 1e-23, 1e-14)),
            ("in another order", (1e-14, 1e-23, 5e-3, 5e-12)),
            ("in another order", (1e-23, 1e-14, 5e-12, 5e-3)),
            ("in another order", (5e-3, 1e-14, 5e-12, 1e-23)),
            ("each entry was cut", (5e-3, 5e-12, 2**0.5 * 1e-14, 2**0.5 * 1e-14)),
            ("each entry was cut", (5e-3, 5e-12, 1.41e-14, 1.41e-14)),
            ("never below 0", (5e-3, 5e-12, -1e-14, -1e-23)),
            ("a small number", (5e-3, 5e-12, 1e-14, 0)),
            ("a small number", (0.005, 0.0, 0.0, 0.0)),
            ("nothing was clipped", (5e-3, 5e-12, 5e-3, 5e-12)),
            ("one factor for all", (5e-3, 5e-12, 1e-14, 5e-12)),
            ("first layer's norm", (5e-3, 5e-12, 1e-5, 1e-14)),
            ("the proportion of the other two", (5e-3, 5e-12, 1e-12, 1e-21)),
            ("the proportion of the other two", (5e-3, 5e-12, 7.14e-15, 7.14e-24)),
            ("proportion between the layers has changed", (5e-3, 5e-12, 1e-14, 1e-21)),
            ("proportion between the layers has changed", (5e-3, 5e-12, 1e-14, 5e-26)),
            ("is there anything to clip", (1e-3, 1e-12, 1e-14, 1e-23)),
            ("Begin with the norms as they are", (1e-3, 1e-12, 2e-14, 3e-23)),
            ("Those are the factors", (1, 1, 2e-12, 2e-12)),
            ("Four norms are asked for", (5e-3, 5e-12, 1e-14)),
            ("Four norms are asked for", 1e-9),
            ("Four norms are asked for", (5e-3, 1e-14)),
            ("should not be 5 values", (5e-3, 5e-12, 1e-14, 1e-23, 1e-9)),
            ("wants numbers", "nothing changes"),
        ],
        "right": [
            (5e-3, 5e-12, 1e-14, 1e-23),
            [0.005, 5e-12, 10**-14, 10**-23],
            [(0.005, 5e-12), (1e-14, 1e-23)],
            (5e-3, 5e-12, 5e-3 * 2e-12, 5e-12 * 2e-12),
            (0.005, 4.999999980020986e-12, 9.99800082676118e-15, 9.998e-24),
            torch.tensor([5e-3, 5e-12, 1e-14, 1e-23]),
            {"last": 5e-3, "first": 5e-12, "then last": 1e-14, "then first": 1e-23},
            "5e-3, 5e-12, 1e-14, 1e-23",
        ],
    },
    "13.4": {
        "wrong": [
            (
                "once for each batch",
                _dead(awake=lambda o: int((~_any(o)).sum()), join=lambda a, b: a + b, give=int),
            ),
            ("Only the last batch", _dead(join=lambda a, b: b)),
            ("Only the first batch", lambda m, b: _dead()(m, b[:1])),
            ("silent in at least one batch", _dead(join=lambda a, b: a & b)),
            ("mind any and all", _dead(awake=lambda o: (o > 0).all(0))),
            (
                "mind any and all",
                _dead(awake=lambda o: (o > 0).all(0), join=lambda a, b: a & b),
            ),
            (
                "Those are zeros",
                _dead(awake=lambda o: (o == 0).sum().item(), join=lambda a, b: a + b, give=int),
            ),
            ("Only one image", _dead(awake=lambda o: o[0] != 0)),
            ("not the names", lambda m, b: dict(_numbered(_dead()(m, b).values()))),
            ("units that are alive", _dead(give=lambda a: int(a.sum()))),
            ("the share of dead", _dead(give=lambda a: (~a).float().mean().item())),
            ("under one name", _dead_one_name),
            ("a note of its own", _dead(name_of=lambda n, m: type(m).__name__)),
            ("goes all the way down", _dead_children),
            ("has an entry", _dead(which=(nn.ReLU, nn.LeakyReLU))),
            ("is not zero yet", _dead_at_linear),
            ("a dict", _dead_total),
            ("a note of its own", _dead_one_place),
            ("however many images", _dead(awake=lambda o: o.ne(0).any(1))),
            ("let it return None", _dead_hook_returns),
            ("still there", _dead_leaves_hooks),
            ("another mode", _dead_evaluates),
            ("not one number", _dead(give=lambda a: a)),
            ("whose input is exactly 0", _dead_below_zero),
            ("No unit counts as dead", _dead(join=lambda a, b: torch.ones_like(a))),
            ("hardly ever awake", _dead(awake=lambda o: o.mean(0) > 0.01)),
            (
                "made of the counts",
                lambda m, b: {
                    k: v / len(b)
                    for k, v in _dead(
                        awake=lambda o: int((~_any(o)).sum()), join=lambda a, b: a + b, give=int
                    )(m, b).items()
                },
            ),
            (
                "one and the same unit",
                _dead(awake=lambda o: int((~_any(o)).sum()), join=min, give=int),
            ),
            ("missing from the dict", lambda m, b: {k: v for k, v in _dead()(m, b).items() if v}),
        ],
        "right": [
            _dead(),
            _dead_by_concatenation,
            _dead_one_batch,
            _dead_by_class,
            _dead(awake=lambda o: o.sum(0) != 0),
        ],
    },
    "13.5": {
        "wrong": [
            ("who makes the NaN", _first(_nan_makers, kind="forward")),
            ("looks at outputs", _first(_nan_outputs, kind="forward")),
            ("the last one that receives", _first(_receive, lambda f: f[-1] if f else None)),
            ("In time another one", _nan_in_order),
            ("An infinity counts there", _first(_nan_infinite)),
            ("not equal to itself", _first(_nan_equal)),
            ("among good numbers", _first(_nan_all)),
            ("opposite signs", _first(_nan_of_the_sum)),
            (
                "Only the first argument",
                _first(lambda n, f: lambda m, a: f.append(n[m]) if _nan(a[:1]) else None),
            ),
            ("Only the first argument", _first(_nan_argument_zero)),
            (
                "Only the last argument",
                _first(lambda n, f: lambda m, a: f.append(n[m]) if _nan(a[-1:]) else None),
            ),
            ("Only the data", lambda model, data: "" if _nan([data]) else None),
            ("a text that says so", _first(_receive, lambda f: f[0] if f else "None")),
            ("half of a name", _first(_receive, lambda f: f[0].split(".")[-1] if f else None)),
            ("nothing more", _first(_receive, lambda f: f"module {f[0]}" if f else None)),
            ("the second one", _first(_receive, lambda f: f[1] if len(f) > 1 else None)),
            ("no tensor", _first(_nan_stumbles)),
            ("any() makes it one", _first(_nan_ambiguous)),
            ("name of the class", _first(_nan_class)),
            ("That is the module", _first(_nan_module)),
            ("A container receives it", _first(_nan_leaves_only)),
            ("What is to be returned then", _first(_receive, lambda f: f[0])),
            ("all who receive it", _first(_receive, list)),
            ("share its variable", _nan_in_a_loop),
            ("never named", _first(_receive, lambda f: next((n for n in f if n), None))),
            ("None is asked for", _nan_empty_name),
            ("never looked at", _nan_children),
            ("stayed behind", _nan_no_remove),
            ("when the model raises", _nan_no_finally),
            ("nothing returned", _nan_forgot_return),
            (
                "takes the arguments' place",
                _first(lambda n, f: lambda m, a: f.append(n[m]) or n[m] if _nan(a) else None),
            ),
            ("takes the arguments' place", _first(lambda n, f: lambda m, a: _nan(a))),
            ("go through them", _first(lambda n, f: lambda m, a: f.append(torch.isnan(a).any()))),
        ],
        "right": [_first(_receive), _nan_by_own_hooks, _nan_stops, _nan_nonlocal],
    },
    "13.6": {
        "wrong": [
            ("before the correction", _even(_even_measures_once)),
            ("The bias was left", _even(_even_weight_only)),
            ("by the variance", _even(_even_variance)),
            ("what was large gets larger", _even(_even_times)),
            ("a number of its own", _even(_even_per_unit)),
            ("has no bias", _even(_even_with_bias)),
            ("new parameters", _even(_even_new_parameters)),
            ("do not take a parameter's place", _even(_even_plain_tensor)),
            ("by the norm", _even(_even_norm)),
            ("runs them in another order", _even_registration_order),
            ("more than one factor", _even(_even_shifts)),
            ("comes into the layer", _even(_even_on_input)),
            ("Nothing has changed", _nothing),
            ("were left out", _even_children),
            ("were left as they are", _even(_even_only_down)),
            ("under torch.no_grad()", _even(_even_hook, grad_mode=torch.enable_grad)),
            ("still there", _even(_even_hook, remove=False)),
            ("ran several times", _even_many_runs),
            ("deviation of the weights", _even(_even_on_weights)),
            ("one after it is not", _even(_even_twice)),
            ("one after it is not", _even(_even_hands_on_centered)),
            ("Other layers were set right", _even_all_with_weights),
            ("The bias was left", _even(_even_weight_only_and_anew)),
            ("of this very model", lambda model, data: _even_by_data(deepcopy(model), data)),
            ("or of the images", _even(_even_by_rows)),
            ("You call the layers yourself", _even_goes_through),
            ("You call the layers yourself", _even_walks),
        ],
        "right": [_even(_even_hook), _even_by_data, _even_runs_again, _even_in_advance],
    },
}
