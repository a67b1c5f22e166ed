"""Boxes around modules: found by themselves, nested, one for each call, the same for PyTorch."""

import importlib

import pytest

import minigrad
from minigrad.viz import draw, watch_modules


@pytest.fixture(params=["minigrad", "torch"])
def library(request):
    if request.param == "torch":
        return pytest.importorskip("torch")
    return minigrad


def nested_model(torch):
    nn = importlib.import_module(f"{torch.__name__}.nn")

    class SLinear(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Linear(1, 1)

        def forward(self, x):
            return self.f(x) ** 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.f0 = nn.Linear(1, 1)
            self.f1 = SLinear()

        def forward(self, x):
            return self.f1(self.f0(x))

    net = Net()
    with torch.no_grad():
        for value, parameter in enumerate(net.parameters()):
            parameter.fill_(0.1 + 0.1 * value)
    return net


def run(torch, net, x=None):
    x = torch.tensor([0.3], requires_grad=True) if x is None else x
    with watch_modules(net) as modules:
        y = net(x)
    return (y - 1) ** 2, modules


def hook(module, grad_input, grad_output):
    return None


TABLE = """\
#   node            sends to  tensor
0   PowBackward0    1         output (1,) = 0.7749
1   SubBackward0    2 -
2   PowBackward0    3
3   ViewBackward0   4
4   AddmmBackward0  5 6 7
5   AccumulateGrad            f1.f.bias (1,) = 0.3000, grad None
6   ViewBackward0   8
7   TBackward0      9
8   ViewBackward0   10
9   AccumulateGrad            f1.f.weight (1, 1) = 0.2000, grad None
10  AddmmBackward0  11 12 13
11  AccumulateGrad            f0.bias (1,) = 0.2000, grad None
12  ViewBackward0   14
13  TBackward0      15
14  AccumulateGrad            leaf (1,) = 0.3000, grad None
15  AccumulateGrad            f0.weight (1, 1) = 0.1000, grad None
Net: nodes 2 3 4 5 6 7 8 9 10 11 12 13 15
f0: Linear: nodes 8 10 11 12 13 15
f1: SLinear: nodes 2 3 4 5 6 7 9
f1.f: Linear: nodes 3 4 5 6 7 9"""


def test_boxes_and_names_come_by_themselves_and_from_both(library):
    net = nested_model(library)
    with library.no_grad():
        net.f1.f.weight.fill_(0.2)
        net.f1.f.bias.fill_(0.3)
    loss, modules = run(library, net)
    assert repr(draw(loss, modules=modules)) == TABLE


def test_all_module_boxes_hold_just_their_nodes_and_nest(library):
    loss, modules = run(library, nested_model(library))
    canvas = draw(loss, modules=modules)._canvases[0]
    places = canvas.frame_places()
    assert list(places) == ["Net", "f0: Linear", "f1: SLinear", "f1.f: Linear"]
    for label, (left, top, width, height) in places.items():
        for node in canvas.graph.nodes:
            x, y, wide, high = canvas.node_place(node.index)
            held = left <= x and x + wide <= left + width and top <= y
            held = held and y + high <= top + height
            assert held is (node.index in canvas.graph.groups[label])
    inner, outer = places["f1.f: Linear"], places["f1: SLinear"]
    assert inner[0] > outer[0]
    assert inner[1] > outer[1]


def test_the_identity_nodes_of_full_hooks_are_within_the_box(library):
    net = nested_model(library)
    net.f1.register_full_backward_hook(hook)
    net.f1.f.register_full_backward_hook(hook)
    loss, modules = run(library, net)
    graph = draw(loss, modules=modules).graphs[0]

    def identities(label):
        return sum(graph.nodes[at].role == "identity" for at in graph.groups[label])

    assert [identities(label) for label in graph.groups] == [4, 0, 4, 2]


def test_what_a_forward_hook_computes_before_the_identity_is_inside(library):
    net = nested_model(library)
    net.f1.register_forward_hook(lambda module, args, result: result * 2)
    net.f1.register_full_backward_hook(hook)
    loss, modules = run(library, net)
    graph = draw(loss, modules=modules).graphs[0]
    names = {graph.nodes[at].name for at in graph.groups["f1: SLinear"]}
    assert "MulBackward0" in names


def test_a_module_called_twice_has_two_boxes_and_shares_its_parameters(library):
    nn = importlib.import_module(f"{library.__name__}.nn")
    f = nn.Linear(1, 1)
    with watch_modules({"f": f}) as modules:
        y = f(f(library.ones(1, 1, requires_grad=True)))
    graph = draw(y, modules=modules).graphs[0]
    assert list(graph.groups) == ["f (1): Linear", "f (2): Linear"]
    inside = frozenset().union(*graph.groups.values())
    shared = [node for node in graph.nodes if node.role == "leaf" and node.index not in inside]
    assert {card.name for node in shared for card in node.cards} == {"f.weight", "f.bias", "leaf"}
    assert not graph.groups["f (1): Linear"] & graph.groups["f (2): Linear"]


def test_watching_changes_nothing_and_ends(library):
    net = nested_model(library)
    loss, modules = run(library, net)
    seen = len(modules.calls)
    plain = (net(library.tensor([0.3], requires_grad=True)) - 1) ** 2
    assert len(modules.calls) == seen == 4
    assert repr(draw(loss)) == repr(draw(plain))
    assert loss.tolist() == plain.tolist()
    loss.backward()
    plain.backward()
    assert (loss - plain).abs().sum() == 0


def test_an_error_in_a_forward_does_not_keep_the_watch_on():
    net = nested_model(minigrad)
    watched = watch_modules(net)
    with pytest.raises(RuntimeError), watched:
        net(minigrad.ones(2, 3))
    seen = len(watched.calls)
    net(minigrad.tensor([1.0]))
    assert len(watched.calls) == seen
    with watched:
        net(minigrad.tensor([1.0]))
    assert len(watched.calls) == seen + 4


def test_modules_of_others_are_not_watched_and_several_may_be():
    one, other, loss = minigrad.nn.Linear(1, 1), minigrad.nn.Linear(1, 1), minigrad.nn.MSELoss()
    with watch_modules([{"one": one}, {"other": other}]) as modules:
        out = loss(other(one(minigrad.ones(1, 1))), minigrad.zeros(1, 1))
    assert [call.label for call in modules.calls] == ["one: Linear", "other: Linear"]
    assert list(draw(out, modules=modules).graphs[0].groups) == ["one: Linear", "other: Linear"]
    with pytest.raises(TypeError, match="expected a Module"):
        watch_modules(3)
    with pytest.raises(TypeError, match="expected a Module"):
        watch_modules([])


def test_a_module_can_be_drawn_with_what_to_call_it_with(library):
    net = nested_model(library)
    x = library.tensor([0.3], requires_grad=True)
    picture = draw(net, x)
    assert "x (1,) = 0.3000" in picture.table
    assert "f1.f: Linear: nodes" in picture.table
    assert "f1.f.weight" in picture.table
    with pytest.raises(TypeError, match="draw\\(\\) calls a Module with the inputs"):
        draw(x * 2, x)
    with library.no_grad(), pytest.raises(ValueError, match="no graph to draw"):
        draw(net, x)


def test_the_cells_of_an_unrolled_rnn_are_boxes_that_do_not_overlap():
    cell = minigrad.nn.RNNCell(2, 3)
    state = minigrad.zeros(1, 3)
    with watch_modules({"cell": cell}) as modules:
        for _ in range(4):
            state = cell(minigrad.ones(1, 2), state)
    canvas = draw(state, modules=modules)._canvases[0]
    places = list(canvas.frame_places().values())
    assert len(places) == 4
    for at, (_, top, _, height) in enumerate(places):
        assert all(top + height <= other[1] or top >= other[1] + other[3] for other in places[:at])
