"""Tell a rule in whole matrices, or by its name, where a tensor is too large for its entries."""

from __future__ import annotations

from collections.abc import Callable

from minigrad.autograd.node import Node
from minigrad.autograd.saved import forward_name
from minigrad.symbolic.telling.blackboard import Blackboard, Written, applied, product
from minigrad.symbolic.telling.forwards import passes_on
from minigrad.symbolic.telling.local import Value, saved_values
from minigrad.symbolic.telling.places import Places
from minigrad.symbolic.telling.told import Pull


def _turns(node: Node, places: Places) -> bool:
    """Tell whether a node gives the transpose of a matrix."""
    matrix = len(places.shape.get((node, 0), ())) == 2
    return node.name() == "TBackward0" or (matrix and node.name() == "TransposeBackward0")


def called(value: Value, places: Places, board: Blackboard, turned: bool = False) -> Written:
    """Write what a value is called: its name, or the transpose of what it is a view of."""
    node, output_nr = value
    while not places.is_place((node, output_nr)) and passes_on(node):
        turned ^= _turns(node, places)
        source, output_nr = node.next_functions[output_nr if node._multiple else 0]
        if source is None:
            return Written("c", "c")
        node = source
    if not places.is_place((node, output_nr)):
        return call_of((node, output_nr), places, board)
    written = board.name(places.names[node, output_nr])
    return Written(f"{written.text}^T", rf"{written.latex}^{{\top}}") if turned else written


def call_of(value: Value, places: Places, board: Blackboard) -> Written:
    """Write a value as its operation, applied to what that took: `Addmm(b_0, x, w_0^T)`."""
    node = value[0]
    taken = []
    for place, edge in enumerate(node.next_functions):
        source, output_nr = edge
        if source is not None:
            taken.append(called((source, output_nr), places, board))
        else:
            constant = _constant(node, place, places, board)
            taken += [] if constant is None else [constant]
    name = forward_name(node).rpartition("::")[2]
    return applied(
        name,
        Written(", ".join(t.text for t in taken), ", ".join(t.latex for t in taken)),
    )


def _saved_name(node: Node, name: str, places: Places, board: Blackboard) -> Written | None:
    """Write what a node saved under a name."""
    if name not in node._names_of_saved:
        return None
    wanted = node._names_of_saved.index(name)
    for place, value, array in saved_values(node):
        if place == wanted:
            if value is not None:
                return called(value, places, board)
            found = places.constants.name(array)
            return None if found is None else board.name(found)
    return None


_ARGUMENTS = {"AddmmBackward0": ("self", "mat1", "mat2"), "MmBackward0": ("self", "mat2")}


def _constant(node: Node, place: int, places: Places, board: Blackboard) -> Written | None:
    names = _ARGUMENTS.get(node.name(), ("self", "other"))
    return _saved_name(node, names[place], places, board) if place < len(names) else None


def _transposed(written: Written) -> Written:
    if written.text.endswith("^T"):
        return Written(written.text[:-2], written.latex.removesuffix(r"^{\top}"))
    return Written(f"{written.text}^T", rf"{written.latex}^{{\top}}")


Rule = Callable[[Written, Callable[[str], Written | None]], Written | None]


def _times_right(name: str) -> Rule:
    def rule(g: Written, saved: Callable[[str], Written | None]) -> Written | None:
        other = saved(name)
        return other and product([g, _transposed(other)], " @ ")

    return rule


def _times_left(name: str) -> Rule:
    def rule(g: Written, saved: Callable[[str], Written | None]) -> Written | None:
        other = saved(name)
        return other and product([_transposed(other), g], " @ ")

    return rule


def _sum_of_rows(g: Written, saved: Callable[[str], Written | None]) -> Written:
    return Written(f"sum of the rows of {g.text}", rf"\sum_i \left({g.latex}\right)_i")


def _where_positive(g: Written, saved: Callable[[str], Written | None]) -> Written | None:
    result = saved("result")
    return result and Written(
        f"{g.text} where {result.text} > 0, else 0", rf"{g.latex} \odot [{result.latex} > 0]"
    )


def _entrywise(name: str) -> Rule:
    def rule(g: Written, saved: Callable[[str], Written | None]) -> Written | None:
        other = saved(name)
        return other and Written(f"{g.text} * {other.text}", rf"{g.latex} \odot {other.latex}", 1)

    return rule


def _same(g: Written, saved: Callable[[str], Written | None]) -> Written:
    return g


# For nodes, by the number of an input: its gradient in whole matrices.
RULES: dict[tuple[str, int], Rule] = {
    ("AddmmBackward0", 0): _sum_of_rows,
    ("AddmmBackward0", 1): _times_right("mat2"),
    ("AddmmBackward0", 2): _times_left("mat1"),
    ("MmBackward0", 0): _times_right("mat2"),
    ("MmBackward0", 1): _times_left("self"),
    ("BmmBackward0", 0): _times_right("mat2"),
    ("BmmBackward0", 1): _times_left("self"),
    ("MulBackward0", 0): _entrywise("other"),
    ("MulBackward0", 1): _entrywise("self"),
    ("ReluBackward0", 0): _where_positive,
    ("AddBackward0", 0): _same,
    ("AddBackward0", 1): _same,
}


def in_matrices(place: Value, pull: Pull, places: Places, board: Blackboard, loss: str) -> Written:
    """Write what a place contributes to a gradient: in matrices, or as its rules' names."""
    g = board.partial(loss, places.names[place])
    if place == places.root:
        g = Written("1", "1")
    telling = [node for node in pull.nodes if not passes_on(node)]
    if len(telling) == 1:
        (node,) = telling
        turned = sum(_turns(each, places) for each in pull.nodes) % 2 == 1
        input_nr = _input_nr(node, pull)
        rule = RULES.get((node.name(), input_nr))
        # what was broadcast is summed, which a product of matrices does not say
        plain = node._broadcast is None or node.name() == "AddmmBackward0"
        written = rule and plain and rule(g, lambda name: _saved_name(node, name, places, board))
        if written:
            return _turned(written) if turned else written
    names = ", ".join(node.name() for node in telling) or "as it is"
    return applied(names, g) if telling else g


def _input_nr(node: Node, pull: Pull) -> int:
    """Tell by which of its inputs the gradient left a node that others behind it passed on."""
    behind = pull.nodes[pull.nodes.index(node) + 1 :]
    if not behind:
        return pull.left_by
    sources = [source for source, _ in node.next_functions]
    return sources.index(behind[0]) if behind[0] in sources else 0


def _turned(written: Written) -> Written:
    """Write the transpose of a product of two matrices: (A^T G)^T is G^T A."""
    text, latex = written.text.split(" @ "), written.latex.split(r" \cdot ")
    if len(text) != 2 or len(latex) != 2:
        return _transposed(Written(f"({written.text})", f"({written.latex})"))
    parts = [_transposed(Written(t, x)) for t, x in zip(text, latex, strict=True)]
    return product([parts[1], parts[0]], " @ ")
