"""Random statements that make views: parts, other shapes, other orders, repeats."""

from __future__ import annotations

from .program_model import Draft, Known, Shape
from .program_operations import reduction


def _slice(draft: Draft, size: int) -> tuple[str, int | None]:
    """Give a slice or an index of a dimension as text, and the size that is left, None for none."""
    kind = draft.below(6)
    if kind == 0 or not size:
        return ":", size
    if kind < 3:
        index = draft.below(size) - size * draft.below(2)
        return str(index), None
    texts = ["1:", ":1", ":-1", "::2", "0:2", "1:2"]
    text = texts[draft.below(len(texts))]
    part = slice(*(int(t) if t else None for t in text.split(":")))
    return text, len(range(size)[part])


def index_text(draft: Draft, shape: Shape) -> tuple[str, Shape]:
    """Give a key that makes a view, as text, and the shape of what it selects."""
    if not shape or draft.chance(0.08):
        return "...", shape
    depth = 1 + draft.below(len(shape))
    texts, left = [], []
    for size in shape[:depth]:
        text, remaining = _slice(draft, size)
        texts.append(text)
        if remaining is not None:
            left.append(remaining)
    if draft.chance(0.08):
        place = draft.below(2)
        texts.insert(0 if place else len(texts), "None")
        left.insert(0 if place else len(left), 1)
    if draft.chance(0.02):
        texts[0] = "7"
    return ", ".join(texts), (*left, *shape[depth:])


def _factors(draft: Draft, size: int) -> Shape:
    if draft.chance(0.3):
        return (size,)
    pairs = [(n, size // n) for n in range(1, size + 1) if size % n == 0] or [(0, 2)]
    return pairs[draft.below(len(pairs))]


def view_text(draft: Draft, x: Known) -> tuple[str, Shape, bool]:
    """Give an expression that makes a view of a tensor, its shape, and whether entries repeat."""
    a, shape, ndim = x.name, x.shape, len(x.shape)
    kind = draft.below(14)
    if kind < 4 or (x.uncertain and kind in (4, 5, 11, 12)):
        key, left = index_text(draft, shape)
        return f"{a}[{key}]", left, False
    if kind < 6:
        new = _factors(draft, x.size)
        text = ", ".join(map(str, new))
        if draft.chance(0.2):
            text = "-1"
            new = (x.size,)
        return f"{a}.{draft.one_of('view', 'reshape')}({text})", new, False
    if kind < 8 and ndim >= 2:
        if ndim == 2:
            which = draft.one_of("t()", "T", "transpose(0, 1)", "permute(1, 0)", "transpose(-1, 0)")
            return f"{a}.{which}", shape[::-1], False
        if draft.chance(0.5):
            return f"{a}.transpose(0, -1)", (shape[-1], *shape[1:-1], shape[0]), False
        return f"{a}.permute(1, 2, 0)", (shape[1], shape[2], shape[0]), False
    if kind == 8:
        if draft.chance(0.5):
            return f"{a}.squeeze()", tuple(s for s in shape if s != 1), False
        dim = draft.below(ndim) if ndim else 0
        left = shape[:dim] + shape[dim + 1 :] if shape[dim : dim + 1] == (1,) else shape
        return f"{a}.squeeze({dim})", left, False
    if kind == 9:
        dim = draft.below(ndim + 1)
        return f"{a}.unsqueeze({dim})", (*shape[:dim], 1, *shape[dim:]), False
    if kind == 10:
        new = tuple(3 if s == 1 else s for s in shape)
        new = (2, *new) if draft.chance(0.5) or new == shape else new
        return f"{a}.expand({', '.join(map(str, new))})", new, True
    if kind == 11:
        return f"{a}.flatten()", (x.size,), False
    if kind == 12 and ndim:
        return f"{a}.view_as({a})", shape, False
    if ndim:
        dim = draft.below(ndim)
        if shape[dim]:
            which = draft.below(3)
            left = shape[:dim] + shape[dim + 1 :]
            at = draft.below(shape[dim])
            if which == 0:
                return f"{a}.unbind({dim})[{at}]", left, False
            sized = (*shape[:dim], 1, *shape[dim + 1 :])
            if which == 1:
                return f"{a}.split(1, {dim})[{at}]", sized, False
            size = -(-shape[dim] // 2)
            return f"{a}.chunk(2, {dim})[0]", (*shape[:dim], size, *shape[dim + 1 :]), False
    return f"{a}[...]", shape, False


def view(draft: Draft) -> Known:
    """Make a view of a tensor, or a view of a view."""
    x = draft.choose(draft.tensors())
    text, shape, repeated = view_text(draft, x)
    if repeated and draft.chance(0.5):
        text, shape, repeated = view_text(draft, x)
    return draft.define(
        text,
        x,
        shape=shape,
        dtype=x.dtype,
        bound=x.bound,
        view=True,
        positive=x.positive,
        repeated=repeated or x.repeated,
    )


def several_views(draft: Draft) -> None:
    """Take a tensor apart and keep the parts."""
    candidates = [x for x in draft.tensors(at_least=1) if x.shape[0] in (2, 3)]
    if not candidates:
        return reduction(draft)
    x = draft.choose(candidates)
    count = x.shape[0]
    how = draft.one_of("unbind(0)", "split(1)", f"chunk({count})", f"split([1, {count - 1}])")
    parts = count if "[" not in how else 2
    names = [draft.name() for _ in range(parts)]
    for position, name in enumerate(names):
        shape = x.shape[1:] if "unbind" in how else (1, *x.shape[1:])
        if "[" in how and position:
            shape = (count - 1, *x.shape[1:])
        draft.variables[name] = Known(
            name,
            shape,
            x.dtype,
            grad=x.grad,
            view=True,
            bound=x.bound,
            positive=x.positive,
            sources=x.sources,
            given=x.given,
            memory=x.memory,
            whole=x.whole,
            ordered=False,
            uncertain=x.uncertain,
        )
    draft.say(
        f"{draft.mode()}{', '.join(names)} = {x.name}.{how}", *(names if draft.chance(0.6) else ())
    )
    return None
