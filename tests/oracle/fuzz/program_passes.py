"""Random statements about gradients: hooks of all kinds, backward passes, derivatives of them."""

from __future__ import annotations

from .program_model import MODES, Draft, Known
from .program_operations import made


def _needing(draft: Draft, *, inner: bool | None = None) -> list[Known]:
    """Give the tensors that need a gradient; mostly of those only that really do."""
    if draft.chance(0.03):
        return draft.tensors()
    found = [x for x in draft.tensors(grad=True) if x.floating]
    if inner is not None:
        found = [x for x in found if x.leaf != inner] or found
    return found or draft.tensors()


def _handle(draft: Draft, x: Known) -> str:
    draft.hooked.append(x.name)
    name = f"h{len(draft.handles) + 1}"
    draft.handles.append(name)
    return name


def _tensor_action(draft: Draft) -> str:
    """Give what a tensor hook does: mostly nothing but to be seen."""
    kind = draft.below(30)
    if kind < 14:
        return ""
    if kind < 21:
        return ", lambda grad: " + draft.one_of(
            "grad * 2", "-grad", "grad + 1", "grad.clone()", "grad * 0", "grad.abs()"
        )
    if kind < 24:
        wrong = (
            "3.0",
            "'no'",
            "grad.double()",
            "grad.sum()",
            "grad.unsqueeze(0)",
            "(grad,)",
            "grad.long()",
        )
        return ", lambda grad: " + draft.one_of(*wrong)
    if kind < 25:
        return ", stop"
    if kind < 27 and draft.handles:
        return f", lambda grad: {draft.one_of(*draft.handles)}.remove()"
    x = draft.choose(_needing(draft))
    if kind < 29:
        late = f"seen('late{draft.below(1000)}')"
        if draft.chance(0.5):
            return f", lambda grad: hook_on({x.name}, {late}) and None"
        what = draft.one_of("register_hook", "register_prehook")
        return f", lambda grad: {x.name}.grad_fn.{what}({late}) and None"
    other = draft.choose(draft.tensors())
    return ", lambda grad: " + draft.one_of(
        f"{x.name}.retain_grad()",
        f"torch.no_grad()(lambda: {other.name}.mul_(2))() is None or None",
        "torch.enable_grad()(lambda: (T(3, 2, grad=True) * 2).sum().backward())()",
        f"setattr({x.name}, 'grad', None)",
    )


def _node_action(draft: Draft, pre: bool) -> str:
    """Give what a hook of a node does."""
    kind = draft.below(20)
    given = "gs" if pre else "gi, go"
    which = "gs" if pre else "gi"
    if kind < 11:
        return ""
    if kind < 15:
        each = draft.one_of("g * 2", "-g", "g + 1")
        return f", lambda {given}: tuple(g if g is None else {each} for g in {which})"
    if kind < 16:
        return f", lambda {given}: tuple(None for g in {which})"
    if kind < 18:
        wrong = (
            "3.0",
            f"{which}[0]",
            f"({which}[0],) * 5",
            f"list({which})",
            f"tuple('no' for g in {which})",
            f"tuple(g if g is None else g.sum() for g in {which})",
            f"tuple(g if g is None else g.double() for g in {which})",
        )
        return f", lambda {given}: " + draft.one_of(*wrong)
    if kind < 19:
        return ", stop"
    if draft.handles:
        return f", lambda {given}: {draft.one_of(*draft.handles)}.remove()"
    return ""


def hook(draft: Draft) -> None:
    """Register a hook, or remove one."""
    kind = draft.below(20)
    if kind < 3 and draft.handles:
        draft.say(f"{draft.one_of(*draft.handles)}.remove()")
        return
    label = f"{len(draft.handles) + 1}"
    if kind < 11:
        x = draft.choose(_needing(draft, inner=draft.chance(0.7)))
        action = _tensor_action(draft)
        handle = _handle(draft, x)
        draft.say(f"{handle} = hook_on({x.name}, seen('{label} on {x.name}'{action}))")
    elif kind < 14:
        leaves = [x for x in draft.tensors(grad=True) if x.leaf]
        x = draft.choose(leaves if leaves and draft.chance(0.95) else draft.tensors())
        action = ""
        if draft.chance(0.4):
            what = draft.one_of(
                "setattr(leaf, 'grad', None)",
                "3.0",
                "leaf",
                "leaf.grad.zero_() is leaf",
                "leaf.grad",
                "leaf.grad.mul_(2) is leaf",
            )
            if "_(" not in what or draft.leaf_hooks != "at nodes":
                draft.leaf_hooks = "in place" if "_(" in what else draft.leaf_hooks
                action = f", lambda leaf: {what}" + (" or None" if "is leaf" in what else "")
        handle = _handle(draft, x)
        draft.say(f"{handle} = hook_after({x.name}, seen_leaf('{label} after {x.name}'{action}))")
    else:
        x = draft.choose(_needing(draft, inner=True))
        place = f"{x.name}.grad_fn"
        if draft.leaf_hooks == "in place":
            pass
        elif draft.chance(0.3):
            draft.leaf_hooks = "at nodes"
            place += ".next_functions[0][0]"
        elif draft.chance(0.1):
            draft.leaf_hooks = "at nodes"
            place = f"{x.name}.view_as({x.name}).grad_fn.next_functions[0][0]"
            keep = f"n{label}"
            draft.say(f"{keep} = {place}")
            place = keep
        pre = draft.chance(0.5)
        what = "register_prehook" if pre else "register_hook"
        action = _node_action(draft, pre)
        handle = _handle(draft, x)
        kind_of = "before" if pre else "at"
        draft.say(f"{handle} = {place}.{what}(seen('{label} {kind_of} {x.name}'{action}))")


# ---------------------------------------------------------------------- passes


def _root(draft: Draft, alone: bool = True) -> tuple[Known, str, str]:
    """Choose what to differentiate: a variable, an expression of it, and its gradient as text."""
    x = draft.choose(_needing(draft, inner=True))
    hooked = [draft.variables[name] for name in draft.hooked if name in draft.variables]
    if hooked and draft.chance(0.5):
        x = draft.choose(hooked)
    kind = draft.below(10)
    if kind < 4 and x.shape:
        return x, f"{x.name}.{draft.one_of('sum()', 'sum()', 'mean()')}", ""
    if kind < 6 and x.floating:
        return x, f"({x.name} * {made(draft, x.shape, x.dtype)}).sum()", ""
    if not x.shape and draft.chance(0.7):
        return x, x.name, ""
    if draft.chance(0.06):
        return x, x.name, ""
    shape = x.shape if not alone or draft.chance(0.97) else (*x.shape, 1)
    dtype = x.dtype if draft.chance(0.95) else draft.one_of("float64", "float32")
    return x, x.name, made(draft, shape, dtype)


def _recording(draft: Draft) -> str:
    """Switch recording on for one statement, mostly, where it is off: a root is computed there."""
    return MODES[1] if not draft.recording and draft.chance(0.8) else ""


def _options(draft: Draft, create: float) -> list[str]:
    options = []
    if draft.chance(0.55):
        options.append("retain_graph=True")
    if draft.chance(create):
        options = ["create_graph=True"]
    return options


def _inputs(draft: Draft, x: Known) -> list[str]:
    """Choose inputs, mostly such as the root depends on."""
    leaves = [name for name in sorted(x.sources) if name in draft.variables]
    inner = [y.name for y in draft.tensors(grad=True) if not y.leaf and y.sources & x.sources]
    pool = leaves * 2 + inner
    if not pool or draft.chance(0.1):
        pool = [y.name for y in _needing(draft)]
    return list(dict.fromkeys(draft.one_of(*pool) for _ in range(1 + draft.below(3))))


def backward(draft: Draft) -> None:
    """Run a backward pass that adds to `.grad`."""
    several = draft.chance(0.15)
    x, root, gradient = _root(draft, not several)
    options = _options(draft, 0.12)
    if draft.chance(0.2):
        options.append(f"inputs=[{', '.join(_inputs(draft, x))}]")
    leaves = [name for name in sorted(x.sources) if name in draft.variables]
    if several:
        _, second, other = _root(draft, False)
        roots, gradients = f"[{root}, {second}]", f"[{gradient or None}, {other or None}]"
        text = f"torch.autograd.backward({', '.join([roots, gradients, *options])})"
    else:
        text = f"{root}.backward({', '.join(([gradient] if gradient else []) + options)})"
    draft.say(f"{_recording(draft)}{text}")
    if leaves and draft.chance(0.4):
        _use_of_grad(draft, draft.variables[draft.one_of(*leaves)])


def _use_of_grad(draft: Draft, x: Known) -> None:
    kind = draft.below(6)
    a = x.name
    if kind < 3:
        known = draft.define(f"{a}.grad", shape=x.shape, dtype=x.dtype, bound=32.0)
        known.grad, known.leaf, known.uncertain = False, True, True
    elif kind == 3:
        draft.say(f"{a}.grad.{draft.one_of('zero_()', 'mul_(2)', 'add_(1)')}")
    else:
        draft.say(f"with torch.no_grad(): {a}.sub_({a}.grad, alpha=0.5)", a)


def grad(draft: Draft) -> None:
    """Ask for gradients, sometimes with a graph for the next derivative."""
    several = draft.chance(0.12)
    x, root, gradient = _root(draft, not several)
    recorded = draft.chance(0.55)
    options = _options(draft, 1.0 if recorded else 0.0)
    if draft.chance(0.5):
        options.append(f"allow_unused={draft.chance(0.9)}")
    if draft.chance(0.15):
        options.append("materialize_grads=True")
    inputs = _inputs(draft, x)
    names = [draft.name() for _ in inputs]
    for name, source in zip(names, inputs, strict=True):
        known = draft.variables[source]
        draft.variables[name] = Known(
            name,
            known.shape,
            known.dtype,
            grad=recorded and draft.recording,
            leaf=not recorded,
            bound=32.0,
            sources=x.sources if recorded else frozenset(),
            given=True,
            uncertain=True,
        )
    outputs = root
    if several:
        _, second, other = _root(draft, False)
        outputs = f"[{root}, {second}]"
        gradient = f"[{gradient or None}, {other or None}]"
    arguments = [outputs, f"[{', '.join(inputs)}]", *([gradient] if gradient else []), *options]
    targets = f"{names[0]}," if len(names) == 1 else ", ".join(names)
    mode = _recording(draft)
    draft.say(f"{mode}{targets} = torch.autograd.grad({', '.join(arguments)})", *names)
