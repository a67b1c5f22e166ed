"""Folding: modules and loops become single boxes, with what is seen from outside kept."""

import base64
import random
import re
import xml.etree.ElementTree as ElementTree

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F
from minigrad.viz import draw, watch_modules
from minigrad.viz.folds import Fold, fold_graph
from minigrad.viz.graph import Edge, Graph, Node

from .graphs import random_graph


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x))).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def lenet():
    torch.manual_seed(0)
    model = LeNet()
    with watch_modules(model) as modules:
        out = model(torch.randn(2, 1, 28, 28))
    loss = F.cross_entropy(out, torch.tensor([1, 2]))
    loss.backward()
    return loss, modules


def folded(picture):
    return {node.name: node for node in picture.graphs[0].nodes if node.role == "fold"}


def test_lenet_folded_into_its_children():
    loss, modules = lenet()
    picture = draw(loss, modules=modules, fold=True)
    boxes = folded(picture)
    assert list(boxes) == [
        "fc3: Linear",
        "fc2: Linear",
        "fc1: Linear",
        "pool (2): MaxPool2d",
        "conv2: Conv2d",
        "pool (1): MaxPool2d",
        "conv1: Conv2d",
    ]
    conv = modules.models[0][1].conv1
    norm = sum((each.grad * each.grad).sum().item() for each in conv.parameters()) ** 0.5
    assert boxes["conv1: Conv2d"].lines == [
        "in (2, 1, 28, 28); out (2, 6, 24, 24)",
        f"156 parameters, gradient norm {norm:.4f}",
    ]
    assert boxes["conv1: Conv2d"].holds == 3
    assert boxes["pool (1): MaxPool2d"].lines == ["in (2, 6, 24, 24); out (2, 6, 12, 12)"]
    graph = picture.graphs[0]
    assert list(graph.groups) == ["LeNet"]
    assert len(graph.nodes) == 14
    assert len(graph.edges) == 13  # one way from the loss to the first layer
    assert "[conv1: Conv2d]" in picture.table
    assert "conv1: Conv2d" in picture.alt
    assert "156 parameters" in picture.alt
    assert graph.folded == ""  # it was asked for


def test_a_small_graph_is_not_folded_unless_asked():
    loss, modules = lenet()
    assert folded(draw(loss, modules=modules)) == {}
    assert len(draw(loss, modules=modules).graphs[0].nodes) == 27
    assert list(folded(draw(loss, modules=modules, fold=0))) == ["LeNet"]


def encoder(layers):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, layers) if layers > 1 else layer
    x = torch.randn(2, 5, 8, requires_grad=True)
    with watch_modules(model) as modules:
        out = model(x)
    return out.sum(), modules, x


def test_a_transformer_layer_is_folded_by_itself_and_says_so():
    loss, modules, x = encoder(1)
    picture = draw(loss, modules=modules, names={"x": x})
    assert list(folded(picture)) == [
        "norm2: LayerNorm",
        "linear2: Linear",
        "linear1: Linear",
        "norm1: LayerNorm",
        "self_attn: MultiheadAttention",
    ]
    note = re.fullmatch(r"(\d+) nodes folded to 10; fold=False shows all", picture.graphs[0].folded)
    whole = draw(loss, modules=modules, names={"x": x}, fold=False)
    assert len(whole.graphs[0].nodes) == int(note[1])
    for text in (picture.table, picture.alt, picture.svg):
        assert note[0] in text
    assert folded(whole) == {}
    assert whole.graphs[0].folded == ""
    # x reaches the attention as query, key and value: outside that is one gradient.
    graph = picture.graphs[0]
    at = next(node.index for node in graph.nodes if node.name.startswith("self_attn"))
    assert sum(edge.source == at for edge in graph.edges) == 1


def test_a_loop_of_one_module_and_its_shared_parameters():
    cell = nn.RNNCell(2, 3)
    state = torch.zeros(1, 3, requires_grad=True)
    with watch_modules({"cell": cell}) as modules:
        for _ in range(6):
            state = cell(torch.ones(1, 2), state)
    each = draw(state, modules=modules, fold=True)
    assert [box.lines[1] for box in folded(each).values()] == ["21 parameters, no gradient yet"] * 6
    assert len(each.graphs[0].nodes) == 7  # the parameters went with their users
    handle = cell.weight_hh.register_post_accumulate_grad_hook(lambda leaf: None)
    shown = draw(state, modules=modules, fold=True)
    assert "cell.weight_hh" in shown.table  # a hook on a leaf is not hidden
    handle.remove()


def test_what_cannot_be_one_box_is_refused():
    graph = Graph([Node(at, "Op") for at in range(3)], [Edge(0, 1, 0, 0), Edge(1, 2, 0, 0)], [0])
    graph.input_counts = [1, 1, 0]
    with pytest.raises(ValueError, match="cycle"):
        fold_graph(graph, [Fold("ends", frozenset({0, 2}))])


def test_hooks_inside_a_folded_box_are_listed_and_leave_with_their_handle():
    def inside(gradient):
        return None

    def outward(gradient):
        return None

    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    handles = [model[0].bias.register_hook(inside)]
    with watch_modules(model) as modules:
        y = model(torch.ones(1, 2))
    handles.append(y.register_hook(outward))

    def listed():
        nodes = draw(y.sum(), modules=modules, fold=0).graphs[0].nodes
        return [(hook.kind, hook.name) for node in nodes for hook in node.hooks]

    assert listed() == [
        ("tensor pre-hook", "outward"),
        ("tensor pre-hook inside", "inside"),
    ]
    assert "tensor hook inside" in draw(y, modules=modules, fold=0).svg
    for handle in handles:
        handle.remove()
    assert listed() == []


def test_notes_and_named_outputs_survive():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    with watch_modules(model) as modules:
        hidden = model[0](torch.ones(1, 2))
        y = model[1](hidden)
    names = {"h": hidden, "y": y}
    picture = draw(y, modules=modules, fold=True, annotations={"h": "look"}, names=names)
    first, second = (folded(picture)[label] for label in ("0: Linear", "1: Linear"))
    assert first.notes == ["look"]
    assert [[card.name for card in node.cards] for node in (first, second)] == [["h"], ["y"]]


def test_a_folded_picture_is_whole_and_the_same_each_time():
    loss, modules = lenet()
    picture = draw(loss, modules=modules, fold=True)
    assert draw(loss, modules=modules, fold=True).svg == picture.svg
    root = ElementTree.fromstring(picture.svg)
    assert root.get("aria-label") == picture.alt
    data = re.search(r"base64,([^\"]+)", picture.html())[1]
    shown = ElementTree.fromstring(base64.b64decode(data))
    assert shown.get("aria-label") == picture.alt


def test_what_is_written_on_folded_boxes_fits():
    loss, modules, _ = encoder(5)
    for fold in (None, 1, 2):
        canvas = draw(loss, modules=modules, fold=fold)._canvases[0]
        for part in (part for stack in canvas.stacks for part in stack):
            assert all(sum(run.width for run in line) <= part.width for line in part.lines)
            assert len(part.lines) * 15 <= part.height


def test_too_many_nodes_even_when_folded():
    x = torch.tensor(1.0, requires_grad=True)
    chance = random.Random(1)
    for _ in range(40):
        x = getattr(x, chance.choice(["sin", "cos", "exp", "tanh", "sqrt"]))()
    with pytest.raises(ValueError, match="more than 10 nodes"):
        draw(x, limit=10)


# ------------------------------------------------------------------ on graphs without meaning


def plain(seed):
    count, edges = random_graph(seed)
    nodes = [Node(at, f"Op{at}") for at in range(count)]
    return Graph(
        nodes, [Edge(a, b, at, 0) for at, (a, b) in enumerate(edges)], [0], {}, [99] * count
    )


@pytest.mark.parametrize("seed", range(40))
def test_folding_any_stretches_gives_a_graph_in_order_with_all_ways_kept(seed):
    graph = plain(seed)
    count, chance = len(graph.nodes), random.Random(seed)
    cuts = sorted(chance.sample(range(count + 1), 4))
    folds = [
        Fold("a", frozenset(range(cuts[0], cuts[1]))),
        Fold("b", frozenset(range(cuts[2], cuts[3]))),
    ]
    small = fold_graph(graph, folds)
    assert len(small.nodes) == count - (cuts[1] - cuts[0]) - (cuts[3] - cuts[2]) + 2
    assert [node.index for node in small.nodes] == list(range(len(small.nodes)))
    assert all(edge.source < edge.target for edge in small.edges)
    assert sum(node.holds or 1 for node in small.nodes) == count
    of_node = {at: f"Op{at}" for at in range(count)}
    of_node |= {at: fold.label for fold in folds for at in fold.members}
    ways = {(of_node[e.source], of_node[e.target]) for e in graph.edges}
    found = {(small.nodes[e.source].name, small.nodes[e.target].name) for e in small.edges}
    assert found == {(a, b) for a, b in ways if a != b}
