"""Reading a graph: nodes, edges, names, tensors and hooks as plain data, and clear errors."""

import functools
from types import SimpleNamespace

import pytest

from minigrad.autograd.recording import HOOKS
from minigrad.viz.graph import Hook, card_of, in_order, read_graph
from minigrad.viz.pytorch import walk

from .graphs import FakeTensor, hooks_of, leaf, operation, output_of

read = functools.partial(read_graph, hooks=hooks_of)


def chain():
    """(w * x) ** 2, by hand: the square over the product over two leaves."""
    w, x = leaf(0.4, grad=-0.1938), leaf(0.19)
    product = operation("MulBackward0", w, x)
    square = operation("PowBackward0", product)
    return w, x, product, square


def test_a_node_comes_before_all_it_sends_gradients_to():
    x = leaf()
    h = operation("MulBackward0", x, x)
    z = operation("AddBackward0", operation("MulBackward0", h), operation("ExpBackward0", h))
    order = walk([z], 100)
    place = {id(node): at for at, node in enumerate(order)}
    assert len(order) == 5
    for node in order:
        assert all(place[id(node)] < place[id(target)] for target, _ in node.next_functions)


def test_an_input_without_gradient_is_counted_and_the_same_node_twice_has_two_edges():
    x = leaf()
    graph, _ = read([output_of(operation("SubBackward0", x, (None, 0), x))])
    assert len(graph.nodes) == 2
    assert [edge.input_nr for edge in graph.edges] == [0, 2]
    assert graph.input_counts[0] == 3


def test_names_lead_to_nodes_and_what_is_not_in_the_graph_is_said():
    w, x, product, square = chain()
    module = SimpleNamespace(named_parameters=lambda prefix="": [(f"{prefix}f.weight", w.variable)])
    names = [module, {"x": x.variable, "s": output_of(product, 0.076), "gone": FakeTensor()}]
    graph, index = read([output_of(square)], names=names)
    cards = {card.name for node in graph.nodes for card in node.cards}
    assert cards == {"output", "f.weight", "x", "s"}
    assert [index.resolve(name) for name in ("s", "f.weight", "x")] == [1, 2, 3]
    for unknown, told in (
        ("v", "names nothing in this graph; it has: f.weight, x, s"),
        (operation("SinBackward0"), "not part of this graph"),
        ("gone", "names nothing"),
    ):
        with pytest.raises(KeyError, match=told):
            index.resolve(unknown)
    with pytest.raises(TypeError, match="names must be a dict"):
        read([output_of(square)], names="x")


def test_values_gradients_and_shapes_on_cards():
    assert card_of(leaf([0.4], (1,), [-1.0]).variable, "w", True, True, 4).grad == "-1.0000"
    big = leaf([[0.0] * 3] * 2, (2, 3), [[1.0] * 3] * 2).variable
    card = card_of(big, "w", True, True, 4)
    assert (card.shape, card.value, card.grad) == ("(2, 3)", None, "(2, 3)")
    bare = card_of(leaf().variable, "w", False, False, 4)
    assert (bare.value, bare.grad) == (None, None)
    assert card_of(leaf().variable, "w", True, True, 4).grad == "None"
    kept = FakeTensor(grad=FakeTensor(2.0), grad_fn=operation("A"), retains_grad=True)
    assert card_of(kept, "s", True, True, 4).grad == "2.0000"


def test_hooks_are_put_in_the_order_in_which_they_run():
    given = [
        SimpleNamespace(kind=kind, name=f"{kind} {at}", output_nr=0)
        for at in range(2)
        for kind in reversed(HOOKS)
    ]
    found = in_order(given)
    assert [hook.kind for hook in found] == [kind for kind in HOOKS for _ in range(2)]
    assert [hook.name[-1] for hook in found] == ["0", "1"] * len(HOOKS)


def test_hooks_are_read_unless_they_are_not_wanted():
    _, _, product, square = chain()
    product.hooks = [SimpleNamespace(kind="node hook", name="watch", output_nr=None)]
    for wanted, found in (({}, [Hook("node hook", "watch")]), ({"hooks": False}, [])):
        graph, _ = read([output_of(square)], **wanted)
        assert [node.hooks for node in graph.nodes] == [[], found, [], []]


def test_no_graph_and_too_large_a_graph_are_clear_errors():
    with pytest.raises(ValueError, match=r"no graph to draw.*requires_grad=True"):
        read([FakeTensor(requires_grad=False)])
    node = leaf()
    for _ in range(50):
        node = operation("AddBackward0", node)
    with pytest.raises(ValueError, match=r"more than 20 nodes.*limit="):
        read([output_of(node)], limit=20)


def test_a_deep_graph_is_read_without_recursion():
    node = leaf()
    for _ in range(20_000):
        node = operation("AddBackward0", node)
    assert len(walk([node], 30_000)) == 20_001
