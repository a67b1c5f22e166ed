"""Pictures of real runs: both libraries' graphs read the same, hooks sit where they act."""

import importlib
import warnings

import pytest

import minigrad
from minigrad.viz import beside, draw, watch_modules


@pytest.fixture(params=["minigrad", "torch"])
def library(request):
    if request.param == "torch":
        return pytest.importorskip("torch")
    return minigrad


def rescale_hook(module, grad_input, grad_output):
    return None


def worked_example(torch, kind=None):
    """Return the model of the worked example, its tensors by name, and the calls of its modules."""
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
            x1 = self.f0(x)
            return x1, self.f1(x1)

    net = Net()
    with torch.no_grad():
        net.f0.weight.fill_(0.3)
        net.f0.bias.fill_(0.1)
        net.f1.f.weight.fill_(0.4)
        net.f1.f.bias.fill_(0.2)
    if kind == "full":
        net.f1.register_full_backward_hook(rescale_hook)
    if kind == "legacy":
        net.f1.register_backward_hook(rescale_hook)
    x = torch.tensor([0.3], requires_grad=True)
    with warnings.catch_warnings():
        if kind == "legacy":  # deprecated, and says so
            warnings.simplefilter("ignore", FutureWarning)
        with watch_modules({"f1": net.f1}) as modules:
            x1, y = net(x)
    loss = (y - 1) ** 2
    loss.backward()
    return net, {"x": x, "x1": x1, "y": y, "loss": loss}, modules


def picture(torch, kind=None, **options):
    net, tensors, modules = worked_example(torch, kind)
    return draw(tensors["loss"], names=[net, tensors], modules=modules, **options)


TABLE = """\
#   node            sends to  tensor
0   PowBackward0    1         loss (1,) = 0.8535
1   SubBackward0    2 -
2   PowBackward0    3         y (1,) = 0.0762
3   ViewBackward0   4
4   AddmmBackward0  5 6 7
5   AccumulateGrad            f1.f.bias (1,) = 0.2000, grad -1.0199
6   ViewBackward0   8
7   TBackward0      9
8   ViewBackward0   10        x1 (1,) = 0.1900
9   AccumulateGrad            f1.f.weight (1, 1) = 0.4000, grad -0.1938
10  AddmmBackward0  11 12 13
11  AccumulateGrad            f0.bias (1,) = 0.1000, grad -0.4080
12  ViewBackward0   14
13  TBackward0      15
14  AccumulateGrad            x (1,) = 0.3000, grad -0.1224
15  AccumulateGrad            f0.weight (1, 1) = 0.3000, grad -0.1224
f1: SLinear: nodes 2 3 4 5 6 7 9
f1.f: Linear: nodes 3 4 5 6 7 9"""


def test_the_worked_example_reads_the_same_from_both(library):
    assert repr(picture(library)) == TABLE


def test_a_full_hook_stands_between_two_identity_nodes(library):
    shown = picture(library, "full")
    nodes = shown.graphs[0].nodes
    identities = [node.index for node in nodes if node.role == "identity"]
    assert len(identities) == 2
    assert set(identities) <= shown.graphs[0].groups["f1: SLinear"]
    if library is minigrad:
        holders = [
            node.index for node in nodes if any(h.kind == "full backward" for h in node.hooks)
        ]
        assert holders == [max(identities)]
        assert nodes[max(identities)].hooks[0].name == "rescale_hook"


def test_a_legacy_hook_sits_on_the_last_operation(library):
    nodes = picture(library, "legacy").graphs[0].nodes
    assert not any(node.role == "identity" for node in nodes)
    if library is minigrad:
        held = {node.index: [(h.kind, h.name) for h in node.hooks] for node in nodes if node.hooks}
        assert held == {2: [("legacy backward", "rescale_hook")]}


def test_both_side_by_side():
    both = beside(
        picture(minigrad, "full"), picture(minigrad, "legacy"), captions=["full", "legacy"]
    )
    assert both.table.count("rescale_hook") == 2


def test_every_hook_of_a_tensor_and_a_node_and_its_removal():
    x = minigrad.tensor(2.0, requires_grad=True)
    h = x * x
    z = h.exp()

    def on_tensor(gradient):
        return None

    def on_leaf(gradient):
        return None

    def after(leaf):
        return None

    def before_node(gradients):
        return None

    def after_node(grad_inputs, grad_outputs):
        return None

    handles = [
        h.grad_fn.register_hook(after_node),
        h.grad_fn.register_prehook(before_node),
        x.register_post_accumulate_grad_hook(after),
        x.register_hook(on_leaf),
        h.register_hook(on_tensor),
    ]
    h.retain_grad()

    def hooks():
        nodes = draw(z, names={"x": x, "h": h}).graphs[0].nodes
        return [[(hook.kind, hook.name) for hook in node.hooks] for node in nodes]

    held = hooks()
    assert held[0] == []
    assert [kind for kind, _ in held[1]] == [
        "tensor pre-hook",
        "retain_grad",
        "node pre-hook",
        "node hook",
    ]
    assert [name for kind, name in held[1] if kind != "retain_grad"] == [
        "on_tensor",
        "before_node",
        "after_node",
    ]
    assert held[2] == [("tensor pre-hook", "on_leaf"), ("post-accumulate", "after")]
    for handle in handles:
        handle.remove()
    assert [[kind for kind, _ in each] for each in hooks()] == [[], ["retain_grad"], []]


def test_drawing_changes_nothing(library):
    x = library.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    loss = (x * x).sum()
    before = draw(loss, names={"x": x})
    loss.backward()
    assert seen == [[2.0, 4.0]]
    assert "grad None" in before.table
    assert "grad [2.0000, 4.0000]" in draw(loss, names={"x": x}).table


def test_a_leaf_alone_and_a_tensor_without_graph(library):
    x = library.tensor([1.0], requires_grad=True)
    assert "AccumulateGrad" in draw(x, names={"x": x}).table
    with pytest.raises(ValueError, match="no graph to draw"):
        draw(library.tensor([1.0]))
