"""Make hostile calls: working ones with an argument or two changed for the worse."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from . import signatures
from .bases import ENTRYWISE, calls
from .objects import uses
from .values import VALUES

ROWS = {kind: row.split("|") for kind, row in VALUES.items()}
# Names of arguments that several functions have, and some that none has.
NAMES = "dim keepdim dtype out other p value inplace reduction weight bias stride padding axis"
NAMES += " input requires_grad device layout alpha nothing generator size correction mode eps"

# What an argument that works becomes: of another type, size, sign or memory.
CHANGED = "{}.long()|{}.half()|{}.double()|{}.bool()|{}.byte()|{}.to(torch.complex64)|{}.t()|{}[0]"
CHANGED += "|{}[None]|{}[..., 0]|{}[:0]|{}[..., None]|{}.sum()|-{}|{} / 0|{} * 1|{}.detach()|{}.T"
CHANGED += "|{}.expand(2, *{}.shape)|{}.tolist()|{}.detach().numpy()|{}.flatten()[::2]|({},)|[{}]"


def changed(given: ast.expr, chance: random.Random) -> ast.expr:
    """Make something else of an argument that works."""
    text = f"({ast.unparse(given.value if isinstance(given, ast.Starred) else given)})"
    return ast.parse(chance.choice(CHANGED.split("|")).replace("{}", text), mode="eval").body


def value(chance: random.Random) -> ast.expr:
    """Draw a hostile value."""
    row = ROWS[chance.choice([*ROWS])]
    return ast.parse(chance.choice(row), mode="eval").body


def hostile(text: str, chance: random.Random, of_objects: bool = False) -> str:
    """Change a call for the worse.

    Args:
        text: The call, which works.
        chance: Where the changes come from.
        of_objects: Whether inner calls may be changed, too, such as that of a constructor.
    """
    tree = ast.parse(text, mode="eval").body
    tree = _in_other_form(tree, chance)
    for _ in range(1 + (chance.random() < 0.3)):
        _change(_one_of(tree, chance) if of_objects else tree, chance)
    return ast.unparse(tree)


# What makes values, and stays as it is.
_MAKERS = {*"tgibduzcmo", "grown", "squares", "pairs", "list"}


def _one_of(tree: ast.expr, chance: random.Random) -> ast.expr:
    """Draw one of the calls in an expression."""
    found = [
        each
        for each in ast.walk(tree)
        if isinstance(each, (ast.Call, ast.Subscript))
        and not (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Name)
            and each.func.id in _MAKERS
        )
    ]
    return chance.choice(found or [tree])


def _in_other_form(tree: ast.expr, chance: random.Random) -> ast.expr:
    """Write `torch.sum(x)` as `x.sum()` or, in place, `x.sum_()` now and then."""
    is_function = (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Attribute)
        and isinstance(tree.func.value, ast.Name)
        and tree.func.value.id == "torch"
        and tree.args
    )
    if not is_function or chance.random() < 0.5:
        return tree
    assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute)
    first, name = tree.args.pop(0), tree.func.attr
    if chance.random() < 0.3:
        name += "_"
        first = ast.parse(re.sub(r"^g\(", "t(", ast.unparse(first)), mode="eval").body
    tree.func = ast.Attribute(first, name, ast.Load())
    return tree


def _change(tree: ast.expr, chance: random.Random) -> None:
    if isinstance(tree, ast.BinOp):
        setattr(tree, chance.choice(["left", "right"]), value(chance))
    elif isinstance(tree, ast.Compare):
        tree.comparators = [value(chance)]
    elif isinstance(tree, ast.Subscript):
        tree.slice = value(chance)
    elif isinstance(tree, ast.Call):
        _change_call(tree, chance)


def _change_call(tree: ast.Call, chance: random.Random) -> None:
    places = [*range(len(tree.args)), *tree.keywords]
    kind = chance.random()
    if kind < 0.7 and places:
        place = chance.choice(places)
        given = place.value if isinstance(place, ast.keyword) else tree.args[place]
        new = changed(given, chance) if kind < 0.3 else value(chance)
        if isinstance(place, ast.keyword):
            place.value = new
        else:
            tree.args[place] = new
    elif kind < 0.8:
        tree.args.append(value(chance))
    elif kind < 0.9:
        name = chance.choice(NAMES.split())
        if name not in [each.arg for each in tree.keywords]:
            tree.keywords.append(ast.keyword(name, value(chance)))
    elif kind < 0.95 and tree.args:
        tree.args.pop()
    elif isinstance(tree.func, ast.Attribute) and not (
        isinstance(tree.func.value, (ast.Name, ast.Attribute))
    ):
        tree.func.value = value(chance)


def generate(seed: int, count: int, source: str = "functions") -> Iterator[str]:
    """Give hostile calls.

    Args:
        seed: Which ones.
        count: How many.
        source: What they are made of: working calls of "functions", working uses of "objects", such
            as layers and optimizers, or "signatures" alone.
    """
    chance = random.Random(seed)
    if source == "signatures":
        yield from signatures.generate(seed, count)
        return
    if source == "objects":
        for base in chance.choices(uses(), k=count):
            yield hostile(base, chance, True)
        return
    working = calls()
    short = len(ENTRYWISE.split())  # functions of one tensor: there are many, and alike
    weights = [0.4 if place < short else 1.0 for place in range(len(working))]
    for base in chance.choices(working, weights, k=count):
        yield hostile(base, chance)
