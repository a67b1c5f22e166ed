"""Say what a known difference is, and show it by running the same lines on both."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One known difference between PyTorch and minigrad, kept by hand.

    Args:
        slug: its short name, used in links.
        title: what it is about, in a few words.
        what: what differs.
        why: the reason.
        code: a few lines that run on both (as `torch`), of which the last is an expression; its
            outcome has to differ, else the entry is out of date.
        names: patterns of the full names that the entry is about, such as `torch.nn.init.*`.
        covers: pairs of patterns, of full names and of differences in how they are called, that
            the generator finds and this entry explains.
        known: where tests keep the same gap: `oracle:` and the name of a scenario.
    """

    slug: str
    title: str
    what: str
    why: str
    code: str
    names: tuple[str, ...] = ()
    covers: tuple[tuple[str, str], ...] = ()
    known: tuple[str, ...] = ()

    def explains(self, full: str, difference: str) -> bool:
        """Tell whether the entry explains a difference in how a name is called.

        Args:
            full: the name, with its room.
            difference: the generator's words for it.
        """
        return any(matches(full, name) and matches(difference, said) for name, said in self.covers)

    def concerns(self, full: str) -> bool:
        """Tell whether the entry is about a name, beside the differences in how it is called.

        Args:
            full: the name, with its room.
        """
        return any(matches(full, name) for name in self.names)


def matches(text: str, pattern: str) -> bool:
    """Compare a text with a pattern in which `*` stands for anything; `|` separates several.

    Args:
        text: what is compared.
        pattern: one or more patterns.
    """
    return any(fnmatchcase(text, each.replace("[", "[[]")) for each in pattern.split("|"))


def outcome(code: str, torch: ModuleType) -> str:
    """Run lines on PyTorch or on minigrad, and give what the last one is, or the error.

    Args:
        code: the lines; `torch` in them is the module given.
        torch: PyTorch or minigrad.
    """
    tree = ast.parse(code)
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        raise ValueError(f"the last line is no expression: {ast.unparse(last)}")
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        # come once a process, when a part of PyTorch is loaded
        warnings.simplefilter("ignore", DeprecationWarning)
        with _every_warning(torch):
            try:
                exec(compile(tree, "<demonstration>", "exec"), names)
                value = eval(compile(ast.Expression(last.value), "<demonstration>", "eval"), names)
                said = value if isinstance(value, str) else repr(value)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
    told = [f"{each.category.__name__}: {each.message}" for each in warned]
    text = "\n".join(filter(None, [printed.getvalue().rstrip(), *told, said]))
    text = re.sub(r"\s*\(Triggered internally at .*?\)$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"0x[0-9a-fA-F]+", "0x...", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


@contextlib.contextmanager
def _every_warning(torch: ModuleType) -> Iterator[None]:
    """Have PyTorch's C++ warn each time, not once a process."""
    if not hasattr(torch, "set_warn_always"):
        yield
        return
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        yield
    finally:
        torch.set_warn_always(before)


@dataclass(frozen=True)
class Shown:
    """A difference with what happened when its lines were run on both."""

    difference: Difference
    there: str
    here: str


def shown(
    differences: Iterable[Difference], torch: ModuleType, minigrad: ModuleType
) -> list[Shown]:
    """Run the lines of every entry on both.

    Args:
        differences: the entries.
        torch: PyTorch.
        minigrad: minigrad.
    """
    return [
        Shown(each, outcome(each.code, torch), outcome(each.code, minigrad)) for each in differences
    ]


def complaints(
    differences: Iterable[Difference], shown: Iterable[Shown], found: Iterable[tuple[str, str]]
) -> list[str]:
    """List what is wrong with the entries: silent differences, and entries out of date.

    Args:
        differences: the entries.
        shown: the same, as they were run.
        found: the differences in how names are called: full names, and the generator's words.
    """
    entries, pairs = list(differences), list(found)
    wrong = [
        f"{full}: {said}; no entry explains it"
        for full, said in pairs
        if not any(each.explains(full, said) for each in entries)
    ]
    for each in entries:
        for name, said in each.covers:
            if not any(matches(full, name) and matches(words, said) for full, words in pairs):
                wrong.append(f"{each.slug}: out of date, nothing found for ({name!r}, {said!r})")
    wrong += [
        f"{each.difference.slug}: out of date, both give {each.here!r}"
        for each in shown
        if each.there == each.here
    ]
    slugs = [each.slug for each in entries]
    wrong += [f"two entries are called {slug}" for slug in {*slugs} if slugs.count(slug) > 1]
    return wrong
