"""Random statements that change something: in-place writes, flags, grad modes, variables."""

from __future__ import annotations

from .program_model import MODES, Draft, Known, broadcast
from .program_operations import made
from .program_views import index_text, view_text


def _written(draft: Draft) -> tuple[Known, str]:
    """Choose a tensor to write to, and a grad mode that mostly allows it."""
    candidates = [
        x
        for x in draft.tensors()
        if not x.given
        and not (x.repeated and not draft.chance(0.05))
        and not (x.leaf and x.grad and draft.recording and not draft.chance(0.12))
    ]
    if candidates and not draft.chance(0.15):
        views = [x for x in candidates if x.view]
        x = draft.choose(views if views and draft.chance(0.4) else candidates)
        mode = MODES[0] if draft.chance(0.08) else ""
    else:
        x, mode = draft.choose([x for x in draft.tensors() if not x.given]), MODES[0]
    return x, mode


def _source(draft: Draft, x: Known) -> Known | None:
    """Choose a tensor that can be combined with another one in place."""
    # where the source overlaps what is written, but has gaps, PyTorch does not notice
    others = [
        y
        for y in draft.tensors(bound=64)
        if broadcast(x.shape, y.shape) == x.shape
        and (x.floating or not y.floating)
        and (y.memory != x.memory or x.size == y.size == x.whole)
        and (x.dtype != "bool" or y.dtype == "bool")
    ]
    if draft.chance(0.03):
        others = draft.tensors()
        others = [y for y in others if y.memory != x.memory and x.floating and not y.view]
    return draft.choose(others) if others else None


def _changed(draft: Draft, x: Known, mode: str, by: Known | None, text: str, bound: float) -> None:
    """Say it, and note what the tensor is now."""
    if by is not None and by.grad and draft.records(mode) and x.floating:
        x.grad, x.leaf, x.written = True, False, True
        x.sources |= by.sources
    x.bound, x.positive = max(bound, x.bound), False
    looks = [x.name] if draft.chance(0.5) else []
    draft.say(f"{mode}{text}", *looks)


def write(draft: Draft) -> None:
    """Change a tensor in place."""
    x, mode = _written(draft)
    kind = draft.below(20)
    y = _source(draft, x)
    if kind < 6 and y is not None:
        name = draft.one_of("add_", "sub_", "mul_", "copy_", "+=", "-=", "*=")
        bound = x.bound + y.bound
        if name in ("mul_", "*=") and (not y.bound * x.bound < 300 or x.dtype == "bool"):
            name = "copy_"
        if "mul" in name or "*" in name:
            bound = x.bound * y.bound
        alpha = ", alpha=2" if name in ("add_", "sub_") and draft.chance(0.2) else ""
        if "=" in name and not mode:
            text = f"{x.name} {name} {y.name}"
        else:
            name = {"+=": "add_", "-=": "sub_", "*=": "mul_"}.get(name, name)
            text = f"{x.name}.{name}({y.name}{alpha})"
        _changed(draft, x, mode, y, text, 3 * bound)
    elif kind < 10:
        name = draft.one_of(
            "add_(1)",
            "mul_(2)",
            "mul_(0.5)",
            "sub_(0.5)",
            "div_(2)",
            "neg_()",
            "pow_(2)",
            "clamp_(-1, 1)",
            "abs_()",
        )
        if not x.floating and "0.5" in name:
            name = "mul_(2)"
        bound = x.bound**2 if name.startswith("pow") and x.bound < 16 else 2 * x.bound + 1
        if name.startswith("pow") and x.bound >= 16:
            name = "neg_()"
        _changed(draft, x, mode, None, f"{x.name}.{name}", bound)
    elif kind < 12:
        name = draft.one_of("tanh_", "sigmoid_", "sin_", "cos_", "relu_", "exp_")
        if name == "exp_" and x.bound > 4:
            name = "tanh_"
        _changed(draft, x, mode, None, f"{x.name}.{name}()", 60 if name == "exp_" else x.bound)
    elif kind < 14:
        scalars = [y for y in draft.tensors(floating=True) if not y.shape and x.floating]
        value = draft.choose(scalars).name if scalars and draft.chance(0.3) else "1.5"
        by = draft.variables.get(value)
        name = draft.one_of("zero_()", f"fill_({value})", f"masked_fill_({x.name} > 0, {value})")
        _changed(draft, x, mode, by, f"{x.name}.{name}", max(x.bound, 4))
    else:
        _assignment(draft, x, mode)


def _assignment(draft: Draft, x: Known, mode: str) -> None:
    key, left = index_text(draft, x.shape)
    if draft.chance(0.12) and x.shape and x.shape[0]:
        key, left = f"[{draft.below(x.shape[0])}]", (1, *x.shape[1:])
    if draft.chance(0.08):
        key, left = f"{x.name} > 0", ()
    part = Known("", left, x.dtype, bound=x.bound, memory=x.memory)
    y = _source(draft, part)
    value = (
        y.name
        if y is not None and draft.chance(0.7) and "7" not in key
        else draft.one_of("0", "2", "0.5")
    )
    by = y if y is not None and value == y.name else None
    if draft.chance(0.2) and value != "0":
        text = f"{x.name}[{key}] {draft.one_of('+=', '*=')} {value}"
    else:
        text = f"{x.name}[{key}] = {value}"
    _changed(draft, x, mode, by, text, max(x.bound, 2) * (by.bound if by else 2))


def write_through_a_view(draft: Draft) -> None:
    """Change a view that has no name."""
    x, mode = _written(draft)
    text, shape, repeated = view_text(draft, x)
    if repeated:
        return write(draft)
    y = _source(draft, Known("", shape, x.dtype, memory=x.memory))
    if y is not None and draft.chance(0.7) and y.bound * x.bound < 300:
        name = draft.one_of("add_", "copy_", "mul_" if x.dtype != "bool" else "copy_")
        return _changed(draft, x, mode, y, f"{text}.{name}({y.name})", x.bound * y.bound + 2)
    name = draft.one_of("zero_()", "mul_(2)", "tanh_()", "fill_(1)")
    return _changed(draft, x, mode, None, f"{text}.{name}", 2 * x.bound)


def flag(draft: Draft) -> None:
    """Change what a tensor needs: detach it, let it require or retain a gradient."""
    kinds = draft.tensors(floating=None if draft.chance(0.1) else True) or draft.tensors()
    x = draft.choose([x for x in kinds if not x.given] or draft.tensors())
    kind = draft.below(12)
    a = x.name
    if kind < 4:
        inner = [x for x in draft.tensors(grad=True) if not x.leaf]
        if inner and draft.chance(0.95):
            a = draft.choose(inner).name
        draft.say(f"{a}.retain_grad()", *([a] if draft.chance(0.3) else []))
    elif kind < 7:
        leaves = [x for x in draft.tensors(floating=True) if x.leaf and not x.given]
        x = draft.choose(leaves) if leaves and draft.chance(0.9) else x
        wanted = draft.chance(0.75)
        draft.say(f"{x.name}.requires_grad_({'' if wanted else 'False'})", x.name)
        if x.leaf and x.floating:
            x.grad = wanted
            x.sources = frozenset([x.name]) if wanted else frozenset()
    elif kind < 8:
        if x.written:
            return look(draft)
        draft.say(f"{a}.detach_()", a)
        x.written = True
        if not x.view:
            x.grad, x.leaf = False, True
    elif kind < 10:
        draft.say(f"{a}.grad = None")
    elif kind < 11:
        shape = x.shape if draft.chance(0.9) else (2, 2)
        dtype = x.dtype if draft.chance(0.95) else "float64"
        draft.say(f"{a}.grad = {made(draft, shape, dtype)}")
    elif not x.view:
        draft.say(f"{a}.data = {made(draft, x.shape, x.dtype)}", a)


def mode(draft: Draft) -> None:
    """Switch recording off or on for all statements that follow."""
    draft.recording = not draft.recording if draft.chance(0.9) else draft.recording
    draft.say(f"torch.set_grad_enabled({draft.recording})")


def look(draft: Draft) -> None:
    """Look at a tensor, which gives a view of changed memory its new place in the graph."""
    x = draft.choose(draft.tensors())
    draft.say("pass", x.name)


def forget(draft: Draft) -> None:
    """Delete a variable."""
    x = draft.choose(draft.tensors())
    if len(draft.variables) < 4:
        return look(draft)
    draft.say(f"del {x.name}")
    del draft.variables[x.name]
    return None
