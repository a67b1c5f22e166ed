"""Make mutants of a file: copies with one small change in one function, as a typo would make it."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# What is written instead of an operator. A comparison in an order gets two: one moves its border.
INSTEAD: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
SYMMETRIC = {"min", "max", "minimum", "maximum", "vecdot"}
Place = tuple[tuple[str, int | None], ...]
Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Mutant:
    """A change of one place.

    Attributes:
        file: The file, from the top of the repository.
        function: The function, with the classes around it.
        lines: The first and the last line of what is changed, or of its condition.
        change: What is written there, and what instead.
        number: Which one of those in this function with the same words.
        place: The steps through the syntax tree that lead to what is changed.
        variant: Which one of the changes of that.
    """

    file: str
    function: str
    lines: tuple[int, int]
    change: str
    number: int
    place: Place
    variant: int

    @property
    def key(self) -> str:
        """Name it so that it is found again when lines have moved."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.file} {self.function}: {self.change}{again}"


def never(node: ast.stmt) -> ast.stmt:
    """Take a statement out; that it is still there keeps the function's names as they are."""
    return ast.If(ast.Constant(False), [node], [])


def instead(node: ast.AST) -> Iterator[ast.AST]:
    """Give what could replace a node."""
    match node:
        case ast.Compare(ops=[op]):
            for other in INSTEAD[type(op)]:
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(INSTEAD[type(node.op)][0](), node.values)
        case ast.BinOp() if type(node.op) in INSTEAD:
            yield ast.BinOp(node.left, INSTEAD[type(node.op)][0](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
            if node.value == 1:
                yield ast.Constant(0)
        case ast.AugAssign():
            yield never(node)
            if type(node.op) in INSTEAD:
                yield ast.AugAssign(node.target, INSTEAD[type(node.op)][0](), node.value)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]) | ast.Delete():
            yield never(node)
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield never(node)
        case ast.Return(value=value) if not (value is None or is_constant(value)):
            yield ast.Return(ast.IfExp(ast.Constant(True), ast.Constant(None), value))
        case ast.Lambda(body=body) if not is_constant(body):
            nothing = ast.IfExp(ast.Constant(True), ast.Constant(None), body)
            yield ast.Lambda(node.args, nothing)
        case ast.Call(func=ast.Name(id="tuple" | "list" | "int" | "bool"), args=[_]):
            return  # what it makes is as good as another kind of the same
        case ast.Call(args=[first], keywords=[]) if not isinstance(first, ast.Starred):
            yield first
        case ast.Call(func=ast.Attribute(value=value), args=[], keywords=[]):
            yield value
        case ast.Call(args=[_, _]) if ast.unparse(node.func).split(".")[-1] in SYMMETRIC:
            return
        case ast.Call(args=[first, second, *more]) if ast.dump(first) != ast.dump(second):
            if not any(isinstance(each, ast.Starred) for each in (first, second)):
                yield ast.Call(node.func, [second, first, *more], node.keywords)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            for answer, op in ((False, ast.And), (True, ast.Or)):
                if answer and isinstance(node, ast.While):
                    continue  # it would not end
                fixed = copy.copy(node)
                fixed.test = ast.BoolOp(op(), [ast.Constant(answer), test])
                yield fixed


def is_constant(value: ast.AST) -> bool:
    """Tell whether an expression is written out, as `None` and `False` are."""
    return isinstance(value, ast.Constant)


def told(node: ast.AST, other: ast.AST) -> str:
    """Say a change in one line."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        word = "while" if isinstance(node, ast.While) else "if"
        fixed = other.test.values[0].value  # type: ignore[attr-defined]
        return f"`{word} {ast.unparse(node.test)}` -> `{word} {fixed}`"
    if isinstance(other, ast.If):
        return f"`{ast.unparse(node)}` -> nothing"
    if isinstance(node, ast.Return | ast.Lambda):
        return f"`{ast.unparse(node)}` -> None"
    return f"`{ast.unparse(node)}` -> `{ast.unparse(other)}`"


def is_left_alone(parent: ast.AST, field: str) -> bool:
    """Tell what is left as it is: words, types, and what runs once, when a function is made."""
    if isinstance(parent, ast.JoinedStr | ast.arguments):
        return True
    if isinstance(parent, ast.keyword) and parent.arg == "strict":
        return True
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.operand, ast.Constant):
        return True  # of -1 the sign goes; to `reshape`, -2 would be the same
    if field in ("annotation", "returns", "decorator_list", "type_params"):
        return True
    return isinstance(parent, ast.Raise) or (
        isinstance(parent, ast.Call) and "warn" in ast.unparse(parent.func)
    )


def mutants(file: str, text: str) -> list[Mutant]:
    """List the mutants of all functions in a file, in the order of the lines."""
    found: list[Mutant] = []
    seen: dict[tuple[str, str], int] = {}

    def visit(node: ast.AST, names: tuple[str, ...], place: Place, inside: bool) -> None:
        if isinstance(node, (ast.ClassDef, *Function)):
            names = (*names, getattr(node, "name", "<lambda>"))
            inside = inside or isinstance(node, Function)
        if inside:
            for variant, other in enumerate(instead(node)):
                change, function = told(node, other), ".".join(names)
                number = seen[function, change] = seen.get((function, change), -1) + 1
                end = node.test if isinstance(node, ast.If | ast.While) else node
                lines = node.lineno, end.end_lineno  # type: ignore[attr-defined]
                found.append(Mutant(file, function, lines, change, number, place, variant))
        if isinstance(node, ast.Expr):  # that has been taken out
            place, node = (*place, ("value", None)), node.value
        for field, value in ast.iter_fields(node):
            if inside and is_left_alone(node, field):
                continue
            for number, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    visit(child, names, (*place, (field, number)), inside)

    visit(ast.parse(text), (), (), False)
    return found


def planted(text: str, place: Place, variant: int, filename: str) -> CodeType:
    """Compile a file with a mutant in it."""
    tree: Any = ast.parse(text)
    node = tree
    for field, number in place:
        parent, value = node, getattr(node, field)
        node = value if number is None else value[number]
    other = ast.copy_location(list(instead(node))[variant], node)
    if number is None:
        setattr(parent, field, other)
    else:
        getattr(parent, field)[number] = other
    with warnings.catch_warnings(action="ignore"):  # of what makes no sense
        return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)
