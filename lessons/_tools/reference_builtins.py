"""Read how functions of PyTorch that are written in C++ are called, from all that tells of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from _tools.reference_signatures import (
    BOTH,
    KEYWORD,
    MANY,
    OPTIONS,
    POSITION,
    REQUIRED,
    Parameter,
    Signature,
    text_of,
)


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
            tuple(replace(each, kind=POSITION) if each.kind == BOTH else each for each in found)
            for found in documented
        ]
    if any(parameter.name == "layout" for found in documented for parameter in found):
        # factories: their schemas leave parameters out, and so does the documentation
        listed = _from_complaint(torch, function, method)
        listed = listed or _from_schemas(torch, name, method)
        if any(parameter.name == "pin_memory" for found in listed for parameter in found):
            pinned = Parameter("pin_memory", KEYWORD, "False")
            documented = [_with(found, pinned) for found in documented]
        return documented
    found = _from_complaint(torch, function, method)
    if found:
        return found
    operation = getattr(function, "__name__", name)  # such as linalg_det for det
    found = _from_schemas(torch, operation, method)
    if not _takes_out(torch, function):  # operations have it, and not every function hands it on
        found = [tuple(each for each in way if each.name != "out") for way in found]
    return found or documented


def _with(signature: Signature, parameter: Parameter) -> Signature:
    known = any(each.name == parameter.name for each in signature)
    return signature if known else (*signature, parameter)


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


def _takes_out(torch: ModuleType, function: Callable[..., Any]) -> bool:
    """Call a function in a few ways, to see whether it knows the argument `out`."""
    one = torch.ones(1)
    several = [one, one]
    for given in (
        *([one], several, [one, 1], [one] * 3, [one, 1, one], [one, 1, one, one], [one, 1, 1]),
        *([several], [several, 0], [one, 1, one, one, "sum"], [one, one, 0]),
        [one, 1, 0, 1],
    ):
        try:
            function(*given, out=torch.ones(1))
        except TypeError as error:  # all that its parser of calls complains about
            if "argument 'out'" in str(error) and "unexpected" not in str(error):
                return True
        except Exception:  # it knew what it was given
            return True
        else:
            return True
    return False


class _Nonsense:
    """A thing that no function of PyTorch takes."""


def _from_complaint(
    torch: ModuleType, function: Callable[..., Any], method: bool
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
    kind = BOTH
    for part in filter(None, _split(text)):
        if part == "*":
            kind = KEYWORD
            continue
        declared, _, default = part.partition("=")
        name = declared.split()[-1]
        name = "input" if name == "self" else name
        parameters.append(Parameter(name, kind, _literal(default.strip())))
    return tuple(parameters)


def _from_schemas(torch: ModuleType, operation: str, method: bool) -> list[Signature]:
    found: list[Signature] = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operation}"):
        arguments = list(schema.arguments)
        types = [str(argument.type) for argument in arguments]
        tensors = bool(types) and types[0] in ("Tensor", "List[Tensor]")
        if not tensors or "str" in types[0] or "Dimname" in str(schema):
            continue  # for scripts, or for named tensors
        outs = [argument for argument in arguments if argument.is_out]
        if outs and (method or (len(outs) == 1 and "Tensor(a!) out)" not in str(schema))):
            continue
        arguments = [each for each in arguments if each not in outs[1:]]
        parameters = []
        for argument in arguments[1 if method else 0 :]:
            default = REQUIRED
            if argument.has_default_value():
                default = text_of(argument.default_value)
            if argument.name == "reduction" and default == "1":
                default = "0"  # the schema says 1, but the parser of calls cannot read it
            default = "None" if argument.is_out else default
            own = "input" if argument.name == "self" else argument.name
            own = "out" if argument.is_out else own  # several are given in one tuple
            kind = KEYWORD if argument.kwarg_only else BOTH
            parameters.append(Parameter(own, kind, default))
        found.append(tuple(parameters))
    return found


def _from_documentation(name: str, text: str) -> list[Signature]:
    """Read the lines of a documentation that begin like a call: `sum(input, *, dtype=None)`."""
    found = []
    for line in text.replace("\\*", "*").splitlines():
        match = re.match(
            rf"\s*(?:\.\. \w+:: )?(?:linalg\.|special\.)?{re.escape(name)}\((.*?)\)(?: ->.*)?\s*$",
            line,
        )
        if match is None:
            continue
        parameters, kind = [], BOTH
        for part in filter(None, _split(match[1])):
            if part in ("*", "/"):
                kind = KEYWORD if part == "*" else kind
                continue
            declared, _, default = part.partition("=")
            own = declared.split(":")[0].strip()
            many = own.startswith("*")
            own_kind = {0: kind, 1: MANY, 2: OPTIONS}[len(own) - len(own.lstrip("*"))]
            optional = "Optional[" in declared
            given = "None" if optional and not default else default.strip()
            if own_kind == MANY:  # sizes one by one; one sequence, also by its name, is as good
                own_kind = BOTH
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
        return text_of(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text
