"""Read how a name is called, in PyTorch and in minigrad, and say where the two ways differ."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

REQUIRED = "required"
_POSITION, _KEYWORD, _BOTH, _MANY, _OPTIONS = "position", "keyword", "both", "*", "**"
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: _POSITION,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: _BOTH,
    inspect.Parameter.KEYWORD_ONLY: _KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: _MANY,
    inspect.Parameter.VAR_KEYWORD: _OPTIONS,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, how it can be given, and the text of its default."""

    name: str
    kind: str
    default: str = REQUIRED


Signature = tuple[Parameter, ...]


def of_python(function: Any) -> list[Signature]:
    """Read the signature of what Python can look into; empty where it cannot.

    Args:
        function: a function, a method or a class.
    """
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    return [
        tuple(
            Parameter(
                parameter.name,
                _KINDS[parameter.kind],
                REQUIRED if parameter.default is parameter.empty else _text(parameter.default),
            )
            for parameter in found.parameters.values()
        )
    ]


def of_builtin(torch: ModuleType, name: str, function: Any, method: bool) -> list[Signature]:
    """Read the signatures of a function of PyTorch that is written in C++.

    The first source that has something to say is taken: what PyTorch itself lists when it is
    called with nonsense (every way to call a function with several), the schema of the operation,
    the first lines of its documentation.

    Args:
        torch: PyTorch.
        name: the function's name, such as "sum".
        function: the function.
        method: whether it is a method of Tensor; the tensor itself is left out then.
    """
    documented = _from_documentation(name, function.__doc__ or "")
    if _by_position_only(torch, function, method):
        return [
            tuple(replace(each, kind=_POSITION) if each.kind == _BOTH else each for each in found)
            for found in documented
        ]
    if any(parameter.name == "layout" for found in documented for parameter in found):
        return documented  # factories: their schemas leave parameters out
    found = _from_complaint(torch, name, function, method)
    found = found or _from_schemas(torch, name, method)
    return found or documented


def of_documentation(name: str, function: Any) -> list[Signature]:
    """Read the signatures at the beginning of a documentation.

    Args:
        name: the function's name.
        function: the function.
    """
    return _from_documentation(name, function.__doc__ or "")


def _by_position_only(torch: ModuleType, function: Callable[..., Any], method: bool) -> bool:
    """Ask a function whether it takes keywords at all."""
    try:
        function(*([torch.ones(2)] if method else []), nonsense=None)
    except Exception as error:
        return "takes no keyword arguments" in str(error) and not method
    return False


class _Nonsense:
    """A thing that no function of PyTorch takes."""


def _from_complaint(
    torch: ModuleType, name: str, function: Callable[..., Any], method: bool
) -> list[Signature]:
    nonsense = [_Nonsense()] * 12
    try:
        function(torch.ones(2), *nonsense) if method else function(*nonsense)
    except Exception as error:  # whatever it is, it is what we came for
        text = str(error)
    else:
        return []
    if "but expected" not in text:
        return []
    listed = re.findall(r"^ \* \((.*)\)$", text, re.MULTILINE)
    listed = listed or re.findall(r"but expected \((.*)\)$", text, re.MULTILINE)
    return [_typed(each) for each in listed]


def _typed(text: str) -> Signature:
    """Read parameters as PyTorch lists them: `Tensor input, *, Number alpha = 1`."""
    parameters = []
    kind = _BOTH
    for part in filter(None, _split(text)):
        if part == "*":
            kind = _KEYWORD
            continue
        declared, _, default = part.partition("=")
        name = declared.split()[-1]
        name = "input" if name == "self" else name
        parameters.append(Parameter(name, kind, _literal(default.strip())))
    return tuple(parameters)


def _from_schemas(torch: ModuleType, name: str, method: bool) -> list[Signature]:
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        arguments = list(schema.arguments)
        types = [str(argument.type) for argument in arguments]
        tensors = bool(types) and types[0] in ("Tensor", "List[Tensor]")
        if not tensors or "str" in types[0] or "Dimname" in str(schema):
            continue  # for scripts, or for named tensors
        out = any(argument.is_out for argument in arguments)
        if out and (method or "Tensor(a!) out)" not in str(schema)):
            continue
        parameters = []
        for argument in arguments[1 if method else 0 :]:
            default = REQUIRED
            if argument.has_default_value():
                default = _text(argument.default_value)
            default = "None" if argument.is_out else default
            own = "input" if argument.name == "self" else argument.name
            kind = _KEYWORD if argument.kwarg_only else _BOTH
            parameters.append(Parameter(own, kind, default))
        found.append(tuple(parameters))
    return found


def _from_documentation(name: str, text: str) -> list[Signature]:
    """Read the lines of a documentation that begin like a call: `sum(input, *, dtype=None)`."""
    found = []
    for line in text.replace("\\*", "*").splitlines():
        match = re.match(rf"\s*(?:\.\. \w+:: )?{re.escape(name)}\((.*?)\)(?: ->.*)?\s*$", line)
        if match is None:
            continue
        parameters, kind = [], _BOTH
        for part in filter(None, _split(match[1])):
            if part in ("*", "/"):
                kind = _KEYWORD if part == "*" else kind
                continue
            declared, _, default = part.partition("=")
            own = declared.split(":")[0].strip()
            many = own.startswith("*")
            own_kind = {0: kind, 1: _MANY, 2: _OPTIONS}[len(own) - len(own.lstrip("*"))]
            optional = "Optional[" in declared
            given = "None" if optional and not default else default.strip()
            if own_kind == _MANY:  # sizes one by one; one sequence, also by its name, is as good
                own_kind = _BOTH
            parameters.append(
                Parameter(own.lstrip("*"), own_kind, REQUIRED if many else _literal(given))
            )
        if all(parameter.name.isidentifier() for parameter in parameters):
            found.append(tuple(parameters))  # else it is an example's output
    return found


def _split(text: str) -> list[str]:
    """Split at the commas that stand in no brackets."""
    return [part.strip() for part in re.split(r",(?![^\[({]*[\])}])", text)]


def _literal(text: str) -> str:
    if not text:
        return REQUIRED
    try:
        return _text(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def _text(value: Any) -> str:
    """Write a default so that equal ones are written alike."""
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = getattr(value, "__name__", None) or repr(value)
        return re.sub(r" at 0x[0-9a-f]+", "", text).replace("minigrad", "torch")
    return f"{value:g}"


def without_first(signature: Signature) -> Signature:
    """Leave out the parameter that a method is called on.

    Args:
        signature: of a function found in a class.
    """
    first = signature[0].kind if signature else ""
    return signature[1:] if first in (_POSITION, _BOTH) else signature


def compare(ours: Signature, theirs: Iterable[Signature]) -> list[str]:
    """List how minigrad's signature differs from the ways in which PyTorch's name can be called.

    Args:
        ours: minigrad's.
        theirs: PyTorch's, one or several.
    """
    ways = list(theirs)
    if not ways:
        return []
    known: dict[str, list[Parameter]] = {}
    for way in ways:
        for parameter in way:
            known.setdefault(parameter.name, []).append(parameter)
    mine = {parameter.name: parameter for parameter in _spread(ours, known)}
    taking_all = any(parameter.kind == _OPTIONS for parameter in ours)
    found = [f"without `{name}`" for name in known if name not in mine and not taking_all]
    for name, parameter in mine.items():
        if name not in known:
            stars = parameter.kind if parameter.kind in (_MANY, _OPTIONS) else ""
            found.append(f"only here `{stars}{name}`")
            continue
        found += _one(parameter, known[name], len(ways))
    return [*found, *_order(ours, ways)]


def _spread(ours: Signature, known: dict[str, list[Parameter]]) -> Signature:
    """Read `*sizes, size=None` as PyTorch's `size`: several by position, or one by keyword."""
    many = [each for each in ours if each.kind == _MANY and each.name not in known]
    named = [
        each
        for each in ours
        if many and each.kind == _KEYWORD and each.default == "None" and each.name in known
        if REQUIRED in {there.default for there in known[each.name]}
    ]
    if not named:
        return ours
    size = Parameter(named[0].name, _BOTH)
    return tuple(size if one is named[0] else one for one in ours if one not in many)


def _one(ours: Parameter, theirs: list[Parameter], ways: int) -> list[str]:
    kinds = {each.kind for each in theirs}
    name, found = ours.name, []
    if ours.kind not in kinds and not (ours.kind == _BOTH and {_POSITION, _KEYWORD} <= kinds):
        there = " or ".join(sorted(kinds))
        found.append(f"`{name}` by {ours.kind}, there by {there}")
    defaults = {each.default for each in theirs}
    sometimes = len(theirs) < ways
    if ours.default in defaults or (sometimes and ours.default == "None"):
        return found
    if ours.kind in (_MANY, _OPTIONS) or kinds & {_MANY, _OPTIONS}:
        return found
    if sometimes and ours.default == REQUIRED:
        return [*found, f"`{name}` required, there optional"]
    there = " or ".join(sorted(defaults))
    return [*found, f"default of `{name}` is {ours.default}, there {there}"]


def _order(ours: Signature, ways: list[Signature]) -> list[str]:
    """Compare the order of those that can be given by position, with the way nearest to ours."""
    mine = [each.name for each in ours if each.kind in (_BOTH, _POSITION)]
    for way in ways:
        there = [each.name for each in way if each.kind in (_BOTH, _POSITION)]
        shared = [name for name in there if name in mine]
        if shared != [name for name in mine if name in there]:
            return [f"order ({', '.join(mine)}), there ({', '.join(there)})"]
    return []
