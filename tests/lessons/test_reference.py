"""The reference tells the truth about both libraries, and would notice if it did not."""

import ast
import contextlib
import doctest
import inspect
import io
import re
import runpy
import warnings
from fnmatch import fnmatch
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any

import pytest

from _tools import own_model, places, reference
from _tools.reference import differences

FOLDER = places.LESSONS / "reference"
PAGES = sorted(FOLDER.glob("*.md"))
DIFFERENCES = (FOLDER / "differences.md").read_text(encoding="utf-8")
ENTRIES = {part.partition("\n")[0]: part for part in DIFFERENCES.split("\n## ")[1:]}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
needs_torch = pytest.mark.skipif(
    not own_model.is_here(), reason=f"PyTorch {own_model.VERSION} is not installed"
)


# ------------------------------------------------------------------ where minigrad differs


def outcomes(examples: list[doctest.Example], library: str) -> list[str]:
    """Run lines on a library, and give what an interpreter would show for each."""
    torch = import_module(library)
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    shown = []
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(example.source, "<page>", "single"), space)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        shown.append(printed.getvalue())
    return shown


@pytest.mark.parametrize("library", ["minigrad", pytest.param("torch", marks=needs_torch)])
@pytest.mark.parametrize("slug", ENTRIES)
def test_an_example_gives_what_the_page_shows(slug: str, library: str) -> None:
    """On minigrad every line; on PyTorch the last, which differs from minigrad's."""
    lines, there = re.findall(r"```(?:pycon|text)\n(.*?)```", ENTRIES[slug], re.S)
    examples = doctest.DocTestParser().get_examples(lines)
    here = [example.exc_msg or example.want for example in examples]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes(examples, library)
    same = doctest.OutputChecker().check_output
    assert not same(there, here[-1], doctest.NORMALIZE_WHITESPACE)
    for want, got in (
        zip(here, found, strict=True) if library == "minigrad" else [(there, found[-1])]
    ):
        assert same(want, got, FLAGS), f"the page shows\n{want}\nand {library} gives\n{got}"


def test_what_the_oracle_knows_to_differ_is_told() -> None:
    """Scenarios that are expected to fail have an entry; entries name no gap that is closed."""
    gaps = runpy.run_path(str(places.ROOT / "tests" / "oracle" / "not_yet.py"))["NOT_YET"]
    told = re.findall(r"<!-- the oracle knows: (\S+) -->", DIFFERENCES)
    assert [gap for gap in gaps if not any(fnmatch(gap, each) for each in told)] == []
    assert [each for each in told if not any(fnmatch(gap, each) for gap in gaps)] == []


# Refused by PyTorch too, if in other words, or asked of SymPy alone.
PYTORCHS = (
    "explain() can't write the formula",  # of a node of PyTorch's
    '"abs_cpu" not implemented',
    "not implemented for",
    "is missing the required",
    "You must implement",
    "inhomogeneous total",
    "setup_context is not implemented",
    "To use autograd.Function with vmap",
    "torch.autograd.functional.jacobian: `create_graph=True`",
    "Computing Jacobian using forward-AD",
    "has no backward rule",
    "You are trying to functorch transform",
    "is only supported for mode='sum'",
    "Unrecognised padding mode",
    "does not implement mode",
    "Enumeration over cartesian product is not implemented",
    "No KL(p || q) is implemented",
    "Inhomogeneous total count not supported",
    "It is not possible to assign to the matrix exponential",
    "is not supported for",
    "Input Error: Only 3D, 4D and 5D",
    "D input, but ",
    "the derivative for '",
    "Subclasses of Dataset should implement",
    "overrides __getitem__ but not __getitems__",
    "cannot be pickled",
    "complex types have no order",
    "products of booleans",
    "' pads 1 to 3 dimensions",
    "defines no initialize_parameters",
    "there is no formula for this",
)


def refusals() -> list[list[str]]:
    """List the fixed parts of every text with which minigrad says: not here."""
    found = []
    for path in sorted((places.ROOT / "minigrad").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            if getattr(node.exc.func, "id", "") == "NotImplementedError" and node.exc.args:
                said = [n.value for n in ast.walk(node.exc.args[0]) if isinstance(n, ast.Constant)]
                found.append([part for part in said if isinstance(part, str)])
    return found


def test_every_refusal_is_told() -> None:
    """What raises NotImplementedError in words of its own is shown among the differences."""
    words = " ".join(DIFFERENCES.split())
    texts = refusals()
    assert len(texts) > 8
    silent = [
        parts
        for parts in texts
        if not any(known in "".join(parts) for known in PYTORCHS)
        and " ".join(max(parts, key=len).split())[:40].strip() not in words
    ]
    assert silent == [], "add an entry to lessons/reference/differences.md"


def test_links_between_the_pages_lead_somewhere() -> None:
    """To pages, and to entries."""
    for page in PAGES:
        links = re.findall(r"\]\((\w+\.md)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8"))
        assert links
        for target, slug in links:
            assert (FOLDER / target).exists()
            assert target != "differences.md" or not slug or slug in ENTRIES


# ------------------------------------------------------------------ names and signatures


@needs_torch
@pytest.mark.live
def test_the_lists_of_names_are_what_comparing_both_gives() -> None:
    """No missing name and no difference in a signature is silent."""
    assert reference.main(check=True) == 0, "run python3 lessons/_tools reference"


@pytest.mark.parametrize("name", reference.MODULES)
def test_every_listed_name_is_there(name: str) -> None:
    """A name in `__all__` that a module has not would be left out of the lists."""
    place = reference.found(name, "minigrad")
    assert [each for each in getattr(place, "__all__", ()) if not hasattr(place, each)] == []


THERE = inspect.signature(lambda input, dim=None, keepdim=False: 0)


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (lambda input, dim=None, keepdim=False: 0, []),
        (lambda input, dim=None: 0, ["without `keepdim`"]),
        (lambda input, axis=None, keepdim=False: 0, ["without `dim`", "only here `axis`"]),
        (lambda input, dim=0, keepdim=False: 0, ["default of `dim` is 0, there None"]),
        (lambda input, keepdim=False, dim=None: 0, ["by position (input, keepdim, dim), there"]),
        (lambda input, dim=None, *, keepdim=False: 0, ["by position (input, dim), there"]),
    ],
)
def test_a_planted_difference_in_a_signature_is_found(planted: Any, said: list[str]) -> None:
    """Names, order, defaults: each is compared."""
    found = list(differences(inspect.signature(planted), [THERE]))
    assert len(found) == len(said)
    assert all(each.startswith(start) for each, start in zip(found, said, strict=True))


def test_several_ways_and_sizes_one_by_one_are_read_rightly() -> None:
    """A parameter that some ways have may be None; `*size, size=None` is PyTorch's size."""
    number = Parameter("number", Parameter.KEYWORD_ONLY)
    several = [Signature([]), Signature([number])]
    assert list(differences(inspect.signature(lambda *, number=None: 0), several)) == []
    size = [Signature([Parameter("size", Parameter.POSITIONAL_OR_KEYWORD)])]
    assert list(differences(inspect.signature(lambda *sizes, size=None: 0), size)) == []
    assert list(differences(inspect.signature(lambda *sizes: 0), size)) == ["without `size`"]


@needs_torch
def test_signatures_of_builtins_are_read_from_pytorch() -> None:
    """Stubs and schemas are used, and say what PyTorch documents."""
    torch = import_module("torch")

    def names(owner: Any, name: str) -> list[list[str]]:
        return [list(way.parameters) for way in reference.signatures(owner, name)]

    assert ["input", "dim", "keepdim", "dtype", "out"] in names(torch, "sum")
    assert names(torch.Tensor, "mul")[0][0] == "other"
    assert ["A"] in names(torch.linalg, "det")
    assert names(torch.nn.functional, "gelu")[0] == ["input", "approximate"]
