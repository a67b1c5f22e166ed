"""List what minigrad lacks of PyTorch's names, and which signatures differ, by comparing both."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any

from _tools import own_model, pictures, places

PAGE = places.LESSONS / "reference" / "pytorch.md"
MODULES = """
    torch torch.random torch.serialization torch.Tensor torch.autograd torch.autograd.graph
    torch.autograd.function torch.autograd.functional torch.autograd.grad_mode
    torch.autograd.anomaly_mode torch.autograd.gradcheck torch.func torch.nn torch.nn.functional
    torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.parameter torch.nn.modules.module
    torch.optim torch.optim.optimizer torch.optim.lr_scheduler torch.linalg torch.special
    torch.utils.hooks torch.utils.checkpoint torch.utils.data
""".split()  # noqa: SIM905 - one name after the other reads better
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
ANYTHING = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}


def found(name: str, library: str) -> Any:
    """Find a module, or the class Tensor, by PyTorch's name for it."""
    owner, tensor, _ = name.partition(".Tensor")
    module = import_module(owner.replace("torch", library, 1))
    return module.Tensor if tensor else module


def public(place: Any) -> set[str]:
    """List the names that a module offers, or those that a class defines itself."""
    if isinstance(place, type):
        own = dir(place) if place.__name__ == "Tensor" else vars(place)
        return {name for name in own if not name.startswith("_")}
    listed = getattr(place, "__all__", None)
    if listed is not None and place.__name__ != "torch":
        return {name for name in listed if not name.startswith("_")}
    home = place.__name__.partition(".")[0] if "." not in place.__name__ else place.__name__
    return {
        name
        for name in (*dir(place), *(listed or ()))
        if not name.startswith("_") and not isinstance(value := getattr(place, name), ModuleType)
        if f"{_home(value)}.".startswith(f"{home}.") or name in (listed or ())
    }


def _home(value: Any) -> str:
    return getattr(value, "__module__", None) or type(value).__module__


# ------------------------------------------------------------------ signatures


@cache
def stubs(file: str) -> dict[str, list[Signature]]:
    """Read the signatures of functions in C++, as PyTorch tells them to editors.

    Args:
        file: a stub, from the package on.

    Returns:
        The signatures by the name of a function, or of a method of Tensor.
    """
    torch = import_module("torch")
    tree = ast.parse((Path(torch.__file__).parent / file).read_text(encoding="utf-8"))
    known: dict[str, list[Signature]] = defaultdict(list)
    body = tree.body
    if file == "_C/__init__.pyi":
        classes = (each for each in tree.body if isinstance(each, ast.ClassDef))
        body = next(each.body for each in classes if each.name == "TensorBase")
    for node in (each for each in body if isinstance(each, ast.FunctionDef)):
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        code = f"lambda {ast.unparse(node.args)}: 0"
        names = {each.id for each in ast.walk(node.args) if isinstance(each, ast.Name)}
        space = dict.fromkeys(names) | vars(torch) | {"torch": torch}
        known[node.name].append(inspect.signature(eval(code, space)))
    return known


def of_schemas(operation: str) -> list[Signature]:
    """Read the signatures of an operation, such as linalg_det, that stands in no stub."""
    ways = []
    for schema in import_module("torch")._C._jit_get_schemas_for_operator(f"aten::{operation}"):
        parameters = {}
        for each in schema.arguments:
            name = "out" if each.is_out else {"self": "input"}.get(each.name, each.name)
            default = each.default_value if each.has_default_value() else Parameter.empty
            kind = Parameter.KEYWORD_ONLY if each.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
            parameters[name] = Parameter(name, kind, default=None if each.is_out else default)
        ways.append(Signature(list(parameters.values())))
    return ways


def signatures(owner: Any, name: str) -> list[Signature]:
    """Give the ways to call a name, without the object that a method is called on."""
    value = getattr(owner, name)
    bound = not isinstance(owner, type)
    bound |= isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod)
    try:
        ways = [inspect.signature(value)]
    except (TypeError, ValueError):
        called = getattr(value, "__name__", name)
        if isinstance(owner, type):
            ways = stubs("_C/__init__.pyi")[name] if owner.__name__ == "Tensor" else []
        elif owner.__name__ == "torch.nn.functional":
            ways = of_schemas(called)
        else:
            ways = stubs("_C/_VariableFunctions.pyi")[called] or of_schemas(called)
        if bound:  # "self" stands in signatures that PyTorch warns of
            ways = [way for way in ways if "self" not in way.parameters]
    if not bound:
        ways = [way.replace(parameters=list(way.parameters.values())[1:]) for way in ways]
    # what hands on whatever it is given says nothing
    return [way for way in ways if {each.kind for each in way.parameters.values()} != ANYTHING]


def differences(ours: Signature, ways: Sequence[Signature]) -> Iterator[str]:
    """Say what PyTorch's calls name that ours do not, and the other way round.

    Args:
        ours: minigrad's.
        ways: PyTorch's, one or several.
    """
    known: dict[str, list[Parameter]] = defaultdict(list)
    for way in ways:
        for name, parameter in way.parameters.items():
            known[name].append(parameter)
    mine = {name: each for name, each in ours.parameters.items() if each.kind in NAMED}
    kinds = {each.kind for each in ours.parameters.values()}
    spread = Parameter.VAR_POSITIONAL in kinds  # `*size, size=None`: one by one, or all at once
    for name, theirs in known.items():
        missing = name not in ours.parameters and any(each.kind in NAMED for each in theirs)
        if missing and Parameter.VAR_KEYWORD not in kinds:
            yield f"without `{name}`"
    for name, parameter in mine.items():
        if name not in known:
            yield f"only here `{name}`"
            continue
        defaults = {text(each.default) for each in known[name]}
        own, several = text(parameter.default), len(known[name]) < len(ways) or spread
        if own not in defaults and not (several and own == "None"):
            yield f"default of `{name}` is {own}, there {' or '.join(sorted(defaults))}"
    for way in () if spread else ways:
        there = [name for name, each in way.parameters.items() if each.kind in POSITIONAL]
        here = [name for name, each in ours.parameters.items() if each.kind in POSITIONAL]
        if (shared := [n for n in there if n in mine]) != [n for n in here if n in shared]:
            yield f"by position ({', '.join(here)}), there ({', '.join(there)})"
            return


def text(default: Any) -> str:
    """Write a default so that equal ones are written alike."""
    if default is Parameter.empty:
        return "required"
    if isinstance(default, list) and len(set(default)) < 2:  # one for all dimensions
        default = default[0] if default else None
    if isinstance(default, int | float) and not isinstance(default, bool):
        return f"{default:g}"
    written = getattr(default, "__name__", None) or repr(default)
    written = re.sub(r"<[\w.]+\.(\w+) object at 0x[0-9a-f]+>", r"<\1>", written)
    return written.replace("minigrad", "torch")


# ------------------------------------------------------------------ the lists


def lists() -> str:
    """Write the lists: names that only PyTorch has, names that only minigrad has, differences."""
    places = {name: (found(name, "torch"), found(name, "minigrad")) for name in MODULES}
    seen = {value for value, _ in places.values()}
    for name, (theirs, ours) in list(places.items()):  # and the classes that both have
        for each in sorted(public(theirs)):
            value, mine = getattr(theirs, each), getattr(ours, each, None)
            if type(value).__name__ == "tensortype" or value in seen:
                continue
            if isinstance(value, type) and isinstance(mine, type):
                seen.add(value)
                places[f"{name}.{each}"] = value, mine
    missing, only_here = [], []
    differ: dict[str, list[str]] = defaultdict(list)
    for name, (theirs, ours) in places.items():
        there, here = public(theirs), public(ours)
        missing += folded(name, {each for each in there if not hasattr(ours, each)})
        only_here += [f"`{name}.{each}`" for each in sorted(here) if not hasattr(theirs, each)]
        for each in sorted(each for each in there | here if hasattr(theirs, each)):
            own = signatures(ours, each) if callable(getattr(ours, each, None)) else []
            ways = signatures(theirs, each) if callable(getattr(theirs, each)) else []
            for difference in differences(own[0], ways) if own and ways else ():
                differ[difference].append(f"`{name}.{each}`")
    rows = [f"| {what} | {', '.join(names)} |" for what, names in sorted(differ.items())]
    return "\n".join(
        [
            *("", "## Names of PyTorch that are not here", "", *missing),
            *("## Names that are only here", "", *wrapped(only_here), ""),
            "## Signatures that differ",
            *("", "| here | names |", "|---|---|", *rows, "", ""),
        ]
    )


def folded(name: str, names: Iterable[str]) -> list[str]:
    """Write names after the name of their module or class, folded away."""
    listed = wrapped(f"`{each}`" for each in sorted(names))
    summary = f"<details><summary>{name} ({len(set(names))})</summary>"
    return [summary, "", *listed, "", "</details>", ""] if listed else []


def wrapped(names: Iterable[str]) -> list[str]:
    """Write names one after the other, in lines that fit."""
    return textwrap.wrap(", ".join(names), 118, break_on_hyphens=False)


def main(check: bool = False) -> int:
    """Write the lists into the page, or compare them with what is there; it takes PyTorch.

    Args:
        check: write nothing.

    Returns:
        An exit code: 1 where the lists are not what comparing both gives.
    """
    if not own_model.is_here():
        print(f"the lists come from PyTorch {own_model.VERSION}, which isn't installed")
        return 1
    with warnings.catch_warnings(action="ignore"):  # old names warn when they are looked at
        return pictures.put(PAGE, lists(), check)
