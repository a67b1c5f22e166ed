"""Random statements of the many operations that templates list: results, views, writes, `out=`."""

from __future__ import annotations

import re
import warnings
from typing import Any

import minigrad

from ..log import Log
from . import program_templates as templates
from .program_effects import _changed, _written
from .program_filling import Filling
from .program_model import Draft, Known
from .programs import namespace

_DTYPES = ("bool", "int64", "float32", "float64")
_NEEDS_ORDER = re.compile(r"view|reshape|ravel|flatten|contiguous|as_strided")
_REPEATS = re.compile(r"expand|broadcast|unfold|as_strided")
_TIES = re.compile(r"median|mode|kthvalue|topk|sort|arg|quantile")
_LIMITS = {"tame": 1e9, "same": 1e4, "sums": 1e3, "grows": 4.0}
_TABLES = {
    "entrywise": (templates.read(templates.ENTRYWISE), 5),
    "pairs": (templates.read(templates.PAIRS), 6),
    "reductions": (templates.read(templates.REDUCTIONS), 5),
    "places": (templates.read(templates.PLACES), 6),
    "matrices": (templates.read(templates.MATRICES), 3),
    "layers": (templates.read(templates.LAYERS), 3),
}
_VIEWS = templates.read(templates.VIEWS)
_WRITES = templates.read(templates.WRITES)
_OUTS = templates.read(templates.OUTS)


def tried(draft: Draft, expression: str, aim: str | None = None) -> tuple[Any, dict[str, Any]]:
    """Compute a statement on stand-ins of the same shapes: its value, or None after an error.

    So what a program looks like depends on the shapes that minigrad gives; what is compared does
    not.
    """
    names = namespace(minigrad, Log(minigrad))
    for name, known in draft.variables.items():
        dtype = getattr(minigrad, known.dtype)
        names[name] = minigrad.full(known.shape, 0.75).to(dtype)
    try:
        with warnings.catch_warnings(), minigrad.no_grad():
            warnings.simplefilter("ignore")
            if aim is None:
                return eval(expression, names), names
            exec(expression, names)
            return names.get(aim), names
    except Exception:
        return None, names


def _larger(known: Known, size: str) -> float:
    count = max(known.size, 1)
    return {
        "tame": 4.0,
        "same": 2 * known.bound + 3,
        "sums": known.bound * count + 1,
        "grows": 60.0,
    }[size]


def _drawn(
    draft: Draft, table: list[tuple[str, str]], x: Known, view: bool = False
) -> tuple[str, str, Filling, Any] | None:
    """Choose and fill a template that mostly works: its text, size, filling and value."""
    for _ in range(12):
        size, template = table[draft.below(len(table))]
        needs_order = view and _NEEDS_ORDER.search(template)
        if x.bound > _LIMITS[size] or (needs_order and x.uncertain):
            continue
        if "as_strided" in template and not x.ordered:
            continue
        if _TIES.search(template) and (x.repeated or x.uncertain):
            continue
        filling = Filling(draft, x)
        text = template.format_map(filling)
        if view and needs_order and any(y.uncertain for y in filling.sources):
            continue
        value, _ = tried(draft, text)
        if value is not None or draft.chance(0.02):
            return text, size, filling, value
    return None


def _define(draft: Draft, text: str, size: str, filling: Filling, value: Any) -> None:
    """Add a statement that gives one tensor or several."""
    x = filling.first
    loose = any(not y.ordered or y.uncertain for y in filling.sources)
    several = isinstance(value, (tuple, list))
    parts = list(value) if several else [value]
    if not all(part is None or isinstance(part, minigrad.Tensor) for part in parts) or not parts:
        return
    mode = draft.mode()
    # matrices may come out column by column
    unordered = bool(re.search(r"mT|linalg|inverse|einsum|\.t\(|\[\.\.\., ", text))
    names = [draft.name() for _ in parts]
    sources: frozenset[str] = frozenset().union(*(y.sources for y in filling.sources))
    for name, part in zip(names, parts, strict=True):
        dtype = x.dtype if part is None else str(part.dtype).partition(".")[2]
        shape = x.shape if part is None else tuple(part.shape)
        view = part is not None and (part._is_view() or f" is {x.name}" in text)
        known = Known(name, shape, dtype if dtype in _DTYPES else "float64")
        known.bound, known.view = _larger(x, size), view
        needed = any(y.grad for y in filling.sources) or "grad=True" in text
        known.grad = known.floating and needed and (view or draft.records(mode))
        known.leaf, known.sources = not known.grad, sources
        known.uncertain = loose or unordered
        known.memory, known.whole, known.ordered = name, known.size, not known.uncertain
        if view or value is None:
            known.view = known.view or len(parts) > 1
            known.memory, known.whole, known.given = x.memory, x.whole, x.given
            known.uncertain = any(y.uncertain for y in filling.sources)
            known.ordered = False
            known.repeated = x.repeated or bool(_REPEATS.search(text))
        if "positive" in text or "type" in text or "float()" in text or "to(" in text:
            known.memory, known.whole, known.given = x.memory, x.whole, x.given
        draft.variables[name] = known
    seen = names if draft.chance(0.7) else []
    target = f"{', '.join(names)}{',' if several and len(names) == 1 else ''}"
    draft.say(f"{mode}{target} = {text}", *seen)


def compute(draft: Draft) -> None:
    """Give new tensors by an operation of the tables."""
    weights = [weight for _, weight in _TABLES.values()]
    table = draft.rng.choices([table for table, _ in _TABLES.values()], weights)[0]
    floating = None if draft.chance(0.15) else True
    x = draft.choose(draft.tensors(floating=floating) or draft.tensors())
    drawn = _drawn(draft, table, x)
    if drawn is not None:
        _define(draft, *drawn)


def later_view(draft: Draft) -> None:
    """Give a view, or several, by an operation of the tables."""
    drawn = _drawn(draft, _VIEWS, draft.choose(draft.tensors()), view=True)
    if drawn is not None:
        _define(draft, *drawn)


def _write_text(draft: Draft, x: Known, **given: str) -> tuple[str, str, Filling, Any] | None:
    for _ in range(12):
        size, template = _WRITES[draft.below(len(_WRITES))]
        if x.bound > _LIMITS[size]:
            continue
        filling = Filling(draft, x, **given)
        text = template.format_map(filling)
        shared = [y for y in filling.sources[1:] if y.memory == x.memory]
        if shared and any(y is not x for y in shared):
            continue
        if not x.floating and any(y.floating for y in filling.sources):
            continue
        probe, names = tried(draft, text, x.name)
        if probe is not None or draft.chance(0.02):
            return text, size, filling, names.get(x.name)
    return None


def later_write(draft: Draft) -> None:
    """Change a tensor in place by an operation of the tables."""
    x, mode = _written(draft)
    drawn = None if x.repeated else _write_text(draft, x)
    if drawn is None:
        return
    text, size, filling, value = drawn
    bound = _larger(x, size)
    needing = [y for y in filling.sources[1:] if y.grad]
    _changed(draft, x, mode, needing[0] if needing else None, text, bound)
    if "grad=True" in text and x.floating and draft.records(mode):
        x.grad, x.leaf, x.written = True, False, True
    if value is not None and tuple(value.shape) != x.shape:
        x.shape, x.ordered = tuple(value.shape), False
    if re.search(r"swap|transpose_|\.t_", text):
        x.ordered = False


def later_write_through_a_view(draft: Draft) -> None:
    """Change a view of the tables that has no name."""
    x, mode = _written(draft)
    drawn = _drawn(draft, _VIEWS, x, view=True)
    if drawn is None or not isinstance(drawn[3], minigrad.Tensor) or not drawn[3]._is_view():
        return
    text, _, _, value = drawn
    if _REPEATS.search(text) or "broadcast" in text:
        return
    name = draft.one_of(
        "zero_()", "mul_(2)", "tanh_()", "fill_(1)", "floor_()", "atan_()", "cumsum_(0)", "sqrt_()",
        "abs_()", "clamp_(-1, 1)", "sinh_()", "add_(T({}, {}))", "mul_(T({}, {}))",
        "copy_(T({}, {}))",
    )  # fmt: skip
    if name in ("sqrt_()", "sinh_()") and not x.bound < 4:
        name = "abs_()"
    sizes = ", ".join(map(str, value.shape))
    name = name.format(
        draft.below(1000), f"{sizes}, grad={x.floating and draft.chance(0.4)}".lstrip(", ")
    )
    name = name.replace("=True", "=True").replace("(, ", "(")
    _changed(draft, x, mode, None, f"{text}.{name}", 60 if "sinh" in name else 2 * x.bound + 2)
    if "grad=True" in name and x.floating and draft.records(mode):
        x.grad, x.leaf, x.written = True, False, True


def out(draft: Draft) -> None:
    """Write a result into a tensor that is there."""
    x = draft.choose(draft.tensors(floating=None if draft.chance(0.1) else True) or draft.tensors())
    for _ in range(8):
        _, template = _OUTS[draft.below(len(_OUTS))]
        filling = Filling(draft, x)
        text = template.format_map(filling)
        place = draft.variables[filling["o"]]
        _, names = tried(draft, text, place.name)
        value = names[place.name]
        probe = tried(draft, re.sub(r", out=\w+", "", text))[0]
        if any(y.grad for y in filling.sources) or place.grad:
            text = f"with torch.no_grad(): {text}" if draft.chance(0.9) else text
        fits = tuple(value.shape) == place.shape
        alike = probe is not None and str(probe.dtype).endswith(place.dtype)
        shared = [y for y in draft.variables.values() if y.memory == place.memory]
        if not alike or (not fits and (len(shared) > 1 or draft.chance(0.8))):
            continue
        if any(y.memory == place.memory for y in filling.sources):
            continue
        draft.say(text, place.name)
        place.shape, place.bound = tuple(value.shape), 60.0
        return
