"""Draw the graph that a computation left behind, its modules in boxes or folded into one each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any

from minigrad.viz.canvas import DIRECTIONS, Canvas
from minigrad.viz.folding import Fold, find_repeats, fold_graph, parameter_line
from minigrad.viz.graph import Graph, Index, read_graph, too_many
from minigrad.viz.modules import Call, members_of, watch_modules
from minigrad.viz.picture import Picture

OPEN = 40  # so many nodes are drawn before modules are folded without being asked
FEW = 25  # and so few are then aimed at
MOST = 20_000  # so many are read if they may be folded

Found = list[tuple[Call, frozenset[int]]]


def draw(
    output: Any,
    *inputs: Any,
    names: Any = None,
    modules: watch_modules | None = None,
    fold: bool | int | str | Sequence[str] | None = None,
    hooks: bool | Callable[[Any], Iterable[Any]] = True,
    values: bool = True,
    gradients: bool = True,
    highlight: Any = None,
    annotations: Mapping[Any, str] | None = None,
    groups: Mapping[str, Any] | None = None,
    title: str | None = None,
    alt: str | None = None,
    direction: str = "down",
    digits: int = 4,
    max_values: int = 4,
    limit: int = 300,
) -> Picture:
    """Draw the graph that a computation left behind.

    Each operation is a box with PyTorch's name for its node; arrows point the way the gradient
    goes, from the output to the leaves. What stands above a box happens before its rule, what hangs
    below it happens after: a gradient traveling down meets everything in the order drawn.

    Args:
        output: the tensor the graph ends in, or a list or tuple of several. Or a Module: it is
            called with `inputs`, and what comes out is drawn with all its modules.
        *inputs: what to call the module with.
        names: names for tensors: a dict `{"x": x, "s": s}`, a Module (whose
            `named_parameters()` are taken), or a list of both. An inner tensor that is named is
            drawn above its operation. Tensors that are not part of the graph are left out.
        modules: what `watch_modules` saw while the graph was made. Each call of a module becomes a
            box with its dotted name and its class, and parameters get their names.
        fold: which modules to fold into a single box each. `True` or `1`: the model's own
            children, or the models if there are several; `2`: theirs, and so on; a dotted name or a
            list of names: these; `False`: none.
            By default modules are folded if there are more than 40 nodes, and the picture says so.
            What comes four times in a row or more, in a loop for example, is folded too.
        hooks: whether to draw the hooks; or a function that is given a node and lists its hooks as
            objects with `kind`, `name` and `output_nr`.
        values: whether to show tensors' values.
        gradients: whether to show the gradients they hold.
        highlight: a tensor, node or name, or a list of them, to be marked.
        annotations: notes to put under a node: `{tensor, node or name: text}`.
        groups: boxes around parts of the graph: `{label: [nodes, tensors or names]}`; see
            `minigrad.viz.between`.
        title: a line above the picture.
        alt: the alternative text; by default one that describes the graph.
        direction: where gradients flow: `"down"`, `"up"`, `"right"` or `"left"`.
        digits: decimals of numbers.
        max_values: how many entries a tensor may have for them to be shown; else only its shape.
        limit: how many nodes there may be.

    Returns:
        The picture.

    Raises:
        ValueError: if there is no graph, too large a graph, or an unknown direction.
        KeyError: if something named is not part of the graph.
        TypeError: if `inputs` are given for something that is no module.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> y.backward()
        >>> draw(y, names={"x": x, "y": y})
        #  node            sends to  tensor
        0  MulBackward0    1 1       y () = 9.0000
        1  AccumulateGrad            x () = 3.0000, grad 6.0000
        >>> draw(minigrad.nn.ReLU(), x)
        #  node            sends to  tensor
        0  ReluBackward0   1         output () = 3.0000
        1  AccumulateGrad            input () = 3.0000, grad 6.0000
        ReLU: nodes 0
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, not {direction!r}")
    if hasattr(output, "named_modules"):
        output, modules, given = _called(output, inputs)
        names = [names, given]
    elif inputs:
        raise TypeError(
            f"draw() calls a Module with the inputs given, but got a {type(output).__name__} and "
            f"{len(inputs)} inputs. To draw several outputs, give them as a list."
        )
    if modules is not None:
        names = [names, *({name: module} if name else module for name, module in modules.models)]
    outputs = list(output) if isinstance(output, list | tuple) else [output]
    if not outputs:
        raise ValueError(
            "there is no graph to draw: no tensor that requires a gradient was given or came out"
        )
    graph, index = read_graph(
        outputs,
        names=names,
        hooks=hooks,
        values=values,
        gradients=gradients,
        digits=digits,
        max_values=max_values,
        limit=limit if fold is False else max(limit, MOST),
    )
    for thing, note in (annotations or {}).items():
        for at in index.resolve(thing):
            graph.nodes[at].notes.append(str(note))
    for at in _all(index, highlight):
        graph.nodes[at].highlighted = True
    found = add_groups(graph, index, modules, groups)
    if fold is not False:
        graph = _fold(graph, index, found, fold, digits, gradients)
    if len(graph.nodes) > limit:
        raise too_many(limit)
    return Picture([Canvas(graph, direction)], [None], title, alt)


def add_groups(
    graph: Graph, index: Index, modules: watch_modules | None, groups: Mapping[str, Any] | None
) -> Found:
    """Put a box around what each watched module did, and around the groups that were asked for.

    Returns:
        The calls of the modules with their nodes.

    Raises:
        ValueError: if a group is empty.
    """
    found: Found = []
    if modules is not None:
        found = members_of(modules, index.live, [(e.source, e.target) for e in graph.edges])
        for call, members in found:
            graph.groups[_unused(call.label, graph.groups)] = members
    for label, things in (groups or {}).items():
        held = frozenset(_all(index, things))
        if not held:
            raise ValueError(f"the group {label!r} is empty; give it nodes, tensors or names")
        graph.groups[str(label)] = held
    return found


def _called(model: Any, inputs: Sequence[Any]) -> tuple[Any, watch_modules, dict[str, Any]]:
    """Call a module and watch; return its tensors, what was watched, and its inputs by name."""
    with watch_modules(model) as modules:
        result = model(*inputs)
    names = [*signature(model.forward).parameters]
    names += [f"input {at}" for at in range(len(names), len(inputs))]
    given = {
        name: value
        for name, value in zip(names, inputs, strict=False)
        if hasattr(value, "requires_grad")
    }
    return list(_tensors(result)), modules, given


def _tensors(values: Any) -> Iterable[Any]:
    """Yield the tensors in a result that a graph hangs on."""
    if hasattr(values, "requires_grad"):
        if values.requires_grad:
            yield values
    elif isinstance(values, list | tuple | Mapping):
        for value in values.values() if isinstance(values, Mapping) else values:
            yield from _tensors(value)


def _fold(
    graph: Graph,
    index: Index,
    found: Found,
    fold: bool | int | str | Sequence[str] | None,
    digits: int,
    gradients: bool,
) -> Graph:
    """Fold modules, those asked for or as few as are needed, and what comes again and again."""
    total = len(graph.nodes)
    if fold is None and total <= OPEN:
        return graph
    # Where several calls stand side by side it is they who are the parts, else what one called.
    base = 1 if sum(call.depth == 0 for call, _ in found) == 1 else 0
    if fold is None:
        depths = list(range(max((call.depth for call, _ in found), default=0), base - 1, -1))
        choices = [[each for each in found if each[0].depth == depth] for depth in depths]
    elif isinstance(fold, int):
        choices = [[each for each in found if each[0].depth == base + fold - 1]]
    else:
        choices = [_named(found, [fold] if isinstance(fold, str) else fold)]

    def lines(held: frozenset[int]) -> tuple[str, ...]:
        line = parameter_line((index.live[at].variable for at in sorted(held)), digits, gradients)
        return (line,) if line else ()

    folded = graph
    for choice in choices or [[]]:
        folds = _folds(choice, graph, index, digits, gradients)
        folded = fold_graph(graph, folds) if folds else graph
        if fold is None or isinstance(fold, int):
            repeats = find_repeats(folded, lines)
            folded = fold_graph(folded, repeats) if repeats else folded
        if len(folded.nodes) <= FEW:
            break
    if fold is None and folded is not graph:
        folded.folded = f"{total} nodes folded to {len(folded.nodes)}; fold=False shows all"
    return folded


def _folds(chosen: Found, graph: Graph, index: Index, digits: int, gradients: bool) -> list[Fold]:
    """Make one fold of each call, but for those within another."""
    outer = [
        (call, members)
        for call, members in chosen
        if not any(members < other for _, other in chosen)
    ]
    users: dict[int, set[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.target].role == "leaf":
            users.setdefault(edge.target, set()).add(edge.source)
    lone = {leaf for leaf in users if not graph.nodes[leaf].hooks}
    of_module: dict[int, set[int]] = {}
    for call, members in outer:
        of_module.setdefault(id(call.module), set()).update(members)
    folds = []
    for call, members in outer:
        parameters = {id(each): each for each in call.module.parameters()}
        # What all calls of this module share is in none of them, and goes with all of them.
        inside = of_module[id(call.module)]
        hidden = frozenset(
            leaf
            for leaf in lone - members
            if id(index.live[leaf].variable) in parameters and users[leaf] <= inside
        )
        shapes = f"in {', '.join(call.given) or '-'}; out {', '.join(call.gave) or '-'}"
        count = parameter_line(parameters.values(), digits, gradients)
        alike = f"{call.kind} {shapes} {parameter_line(parameters.values(), digits, False)}"
        lines = (shapes, count) if count else (shapes,)
        folds.append(Fold(call.label, members, lines, alike, 1, hidden))
    return folds


def _named(found: Found, names: Sequence[str]) -> Found:
    """Pick the calls of modules with these dotted names, or these labels.

    Raises:
        KeyError: if there is no such module among those watched.
    """
    known = {call.name: None for call, _ in found}
    for name in names:
        if not any(name in (call.name, call.label) for call, _ in found):
            listed = ", ".join(repr(each) for each in known) or "none: give modules="
            raise KeyError(f"{name!r} names no module in this graph; it has: {listed}")
    return [(call, members) for call, members in found if {call.name, call.label} & {*names}]


def _unused(label: str, groups: Mapping[str, Any]) -> str:
    """Return the label, with a number behind it if there is a group of this name already."""
    number, tried = 2, label
    while tried in groups:
        tried, number = f"{label} ({number})", number + 1
    return tried


def _all(index: Index, things: Any) -> list[int]:
    if things is None:
        return []
    several = isinstance(things, list | tuple | set | frozenset)
    return [at for thing in (things if several else [things]) for at in index.resolve(thing)]
