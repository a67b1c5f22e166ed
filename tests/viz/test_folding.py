"""Modules drawn as one node each keep what is seen from outside."""

from itertools import pairwise

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import draw


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.act = nn.Linear(2, 2), nn.Tanh()

    def forward(self, x):
        return x + self.act(self.inner(x))


def look(module, grad_input, grad_output):
    pass


def test_each_module_of_a_depth_is_one_node_with_its_edges_and_hooks():
    shared = Residual()
    net = nn.Sequential(nn.Linear(3, 2), shared, shared, nn.Linear(2, 1))
    net[1].act.register_full_backward_hook(look)
    x = torch.ones(1, 3, requires_grad=True)
    (graph,) = draw(net, x, depth=1).graphs
    found = {node.name: node for node in graph.nodes if node.role != "leaf"}
    assert list(found) == ["3: Linear", "1 (2): Residual", "1 (1): Residual", "0: Linear"]
    # the parameters that both calls use belong to neither
    leaves = [node.cards[0].name for node in graph.nodes if node.role == "leaf"]
    assert sorted(leaves) == ["1.inner.bias", "1.inner.weight", "input"]
    hooks = {name: [hook.name for hook in node.hooks] for name, node in found.items() if node.hooks}
    assert hooks == {
        "1 (2): Residual": ["look at 1.act (2)"],
        "1 (1): Residual": ["look at 1.act (1)"],
    }
    ways = {(graph.nodes[edge.source].name, graph.nodes[edge.target].name) for edge in graph.edges}
    assert set(pairwise(found)) <= ways
    assert found["3: Linear"].notes == ["4 nodes"]


def test_a_deeper_depth_and_a_graph_that_is_large_only_in_its_modules():
    net = nn.Sequential(*(Residual() for _ in range(8)))
    x = torch.ones(1, 2)
    (whole,) = draw(net, x).graphs
    (parts,) = draw(net, x, depth=2).graphs
    (blocks,) = draw(net, x, depth=1, limit=20).graphs
    assert len(whole.nodes) > len(parts.nodes) > len(blocks.nodes) == 8
    with pytest.raises(ValueError, match="draw modules as one node each by depth=1"):
        draw(net, x, limit=20)
