"""Tell whether a learner's answer can take the place of a stub that the lesson has changed."""

from __future__ import annotations

import ast

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HAS_ITS_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def fits(old_stub: str, answer: str, new_stub: str) -> bool:
    """Tell whether an answer to the old stub answers the new one as well.

    It does if the two stubs differ in nothing but what is still to be written (the three dots, and
    comments), and if the answer gives a value to every name that the new stub gives one.

    Args:
        old_stub: The source of the answer cell when the learner got it.
        answer: What the learner made of it.
        new_stub: The source of the answer cell as it is in the lesson now.
    """
    trees = [_parsed(source) for source in (old_stub, answer, new_stub)]
    old, given, new = trees
    if old is None or given is None or new is None:
        return False
    return _names(new) <= _names(given) and _frame(old_stub) == _frame(new_stub)


def is_stub(source: str, stub: str) -> bool:
    """Tell whether a source holds nothing that this stub does not: there is no answer in it.

    Args:
        source: Of an answer cell.
        stub: The source of the cell as the lesson has it.
    """
    parsed = _parsed(source) is not None and _parsed(stub) is not None
    return parsed and _frame(source) == _frame(stub)


def names(source: str) -> set[str]:
    """Give the names that a cell gives a value, outside of functions and classes.

    Args:
        source: Of a code cell; one that does not parse gives none.
    """
    tree = _parsed(source)
    return set() if tree is None else _names(tree)


def _names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _DEFINES):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {each.asname or each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, _HAS_ITS_OWN_NAMES):
            waiting += ast.iter_child_nodes(node)
    return found


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _frame(source: str) -> str:
    """Write down what is not to be filled in: signatures, and lines that are given."""
    return ast.dump(_WithoutBlanks().visit(ast.parse(source)))


class _WithoutBlanks(ast.NodeTransformer):
    """Takes out each statement that has three dots where a value belongs."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Leave the statement out if it is open."""
        return None if _is_open(node.value) else node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        """Leave the statement out if it is open."""
        return None if _is_open(node.value) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign | None:
        """Leave the statement out if it is open."""
        return None if node.value is not None and _is_open(node.value) else node


def _is_open(value: ast.expr) -> bool:
    """Tell whether three dots stand in a value that is given without computing anything."""
    parts = list(ast.walk(value))
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.expr_context)
    dots = any(isinstance(part, ast.Constant) and part.value is ... for part in parts)
    return dots and all(isinstance(part, plain) for part in parts)
