"""Pictures of real runs read the same from both libraries; boxes around modules nest."""

import importlib

import pytest

import minigrad
from minigrad.viz import draw, watch_modules


@pytest.fixture(params=["minigrad", "torch"])
def library(request):
    return pytest.importorskip(request.param)


def worked_example(torch):
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
            self.f0, self.f1 = nn.Linear(1, 1), SLinear()

        def forward(self, x):
            return self.f1(self.f0(x))

    net = Net()
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), (0.3, 0.1, 0.4, 0.2), strict=True):
            parameter.fill_(value)
    return net


def run(torch, net):
    x = torch.tensor([0.3], requires_grad=True)
    with watch_modules(net) as modules:
        y = net(x)
    return (y - 1) ** 2, modules, {"x": x, "y": y}


def hook(module, grad_input, grad_output):
    return None


TABLE = """\
#   node            sends to  tensor
0   PowBackward0    1         output (1,) = 0.8535
1   SubBackward0    2 -
2   PowBackward0    3         y (1,) = 0.0762
3   ViewBackward0   4
4   AddmmBackward0  5 6 7
5   AccumulateGrad            f1.f.bias (1,) = 0.2000, grad -1.0199
6   ViewBackward0   8
7   TBackward0      9
8   ViewBackward0   10
9   AccumulateGrad            f1.f.weight (1, 1) = 0.4000, grad -0.1938
10  AddmmBackward0  11 12 13
11  AccumulateGrad            f0.bias (1,) = 0.1000, grad -0.4080
12  ViewBackward0   14
13  TBackward0      15
14  AccumulateGrad            x (1,) = 0.3000, grad -0.1224
15  AccumulateGrad            f0.weight (1, 1) = 0.3000, grad -0.1224
Net: nodes 2 3 4 5 6 7 8 9 10 11 12 13 15
f0: Linear: nodes 8 10 11 12 13 15
f1: SLinear: nodes 2 3 4 5 6 7 9
f1.f: Linear: nodes 3 4 5 6 7 9"""


def test_the_worked_example_reads_the_same_from_both(library):
    loss, modules, names = run(library, worked_example(library))
    loss.backward()
    assert repr(draw(loss, names=names, modules=modules)) == TABLE
    # parameters and boxes have their names from the modules alone
    unnamed = TABLE.replace(" y (1,) = 0.0762", "").replace(" x (1,)", " leaf (1,)")
    told = repr(draw(loss, modules=modules))
    assert [line.split() for line in told.splitlines()] == [
        line.split() for line in unnamed.splitlines()
    ]


def test_all_module_boxes_hold_just_their_nodes_and_nest(library):
    loss, modules, _ = run(library, worked_example(library))
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
    net = worked_example(library)
    net.f1.register_full_backward_hook(hook)
    net.f1.f.register_full_backward_hook(hook)
    net.f1.register_forward_hook(lambda module, args, result: result * 2)
    loss, modules, _ = run(library, net)
    graph = draw(loss, modules=modules).graphs[0]
    inside = {label: [graph.nodes[at] for at in held] for label, held in graph.groups.items()}
    identities = [sum(n.role == "identity" for n in nodes) for nodes in inside.values()]
    assert identities == [4, 0, 4, 2]
    # so is what a forward hook computes before the identity
    assert "MulBackward0" in {node.name for node in inside["f1: SLinear"]}


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


def test_watching_and_drawing_change_nothing_and_end(library):
    net = worked_example(library)
    watched, modules, _ = run(library, net)
    x = library.tensor([0.3], requires_grad=True)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    plain = (net(x) - 1) ** 2
    assert len(modules.calls) == 4
    assert repr(draw(watched, hooks=False)) == repr(draw(plain, hooks=False))
    assert seen == []
    watched.backward()
    gradients = [parameter.grad.tolist() for parameter in net.parameters()]
    net.zero_grad()
    plain.backward()
    assert [parameter.grad.tolist() for parameter in net.parameters()] == gradients
    assert seen == [x.grad.tolist()]


def test_an_error_in_a_forward_does_not_keep_the_watch_on():
    net = worked_example(minigrad)
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
    for wrong in (3, []):
        with pytest.raises(TypeError, match="expected a Module"):
            watch_modules(wrong)


def test_a_module_can_be_drawn_with_what_to_call_it_with(library):
    net = worked_example(library)
    x = library.tensor([0.3], requires_grad=True)
    table = draw(net, x).table
    assert "x (1,) = 0.3000" in table and "f1.f: Linear: nodes" in table and "f1.f.weight" in table
    with pytest.raises(TypeError, match="draw\\(\\) calls a Module with the inputs"):
        draw(x * 2, x)
    with library.no_grad(), pytest.raises(ValueError, match="no graph to draw"):
        draw(net, x)
    assert "AccumulateGrad" in draw(x, names={"x": x}).table  # a leaf alone
