"""Tell whether a learner's answer can take the place of a stub that the lesson has changed."""

from __future__ import annotations

import ast

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HAS_ITS_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def fits(answer: str, stub: str) -> bool:
    """Tell whether an answer answers a stub: it has its names, its signatures and its given lines.

    Args:
        answer: What the learner made of an older stub.
        stub: The source of the answer cell as it is in the lesson now.
    """
    lines = (line.partition("#")[0].strip() for line in stub.splitlines())
    given = [line for line in lines if line and "..." not in line]
    return bool(names(answer)) and names(stub) <= names(answer) and all(map(answer.count, given))


def names(source: str) -> set[str]:
    """Give the names that a cell gives a value, outside of functions and classes.

    Args:
        source: Of a code cell; one that does not parse gives none.
    """
    try:
        waiting: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
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
