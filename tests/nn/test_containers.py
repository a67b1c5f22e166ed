"""Sequential, ModuleList, ModuleDict: indexing, changing, printing, and what they refuse."""

from __future__ import annotations

from collections import OrderedDict

import pytest


def kinds(modules):
    return [type(module).__name__ for module in modules]


def chain(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Tanh(), nn.Linear(2, 1))


def test_sequential_sends_the_input_through(torch):
    nn = torch.nn
    x = torch.tensor([[-2.0, 3.0]])
    assert nn.Sequential(nn.ReLU(), nn.Flatten(0))(x).tolist() == [0.0, 3.0]
    assert nn.Sequential()(x) is x


def test_sequential_indexing_and_slicing_share_the_modules(torch):
    net = chain(torch)
    assert net[0] is net[-4] and len(net) == 4 and kinds(net) == kinds(net[:])
    part = net[1:3]
    assert type(part) is torch.nn.Sequential and part[0] is net[1]
    assert list(part._modules) == ["1", "2"]  # the names stay
    for index in (4, -5):
        with pytest.raises(IndexError, match=f"index {index} is out of range"):
            net[index]
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        net["a"]


def test_sequential_changes(torch):
    nn, net = torch.nn, chain(torch)
    del net[1]
    assert list(net._modules) == ["0", "1", "2"]  # the names close up
    net.append(nn.Sigmoid()).extend([nn.ELU()]).insert(0, nn.SiLU()).insert(-1, nn.LeakyReLU())
    net[1] = nn.Identity()
    assert kinds(net) == ["SiLU", "Identity", "Tanh", "Linear", "Sigmoid", "LeakyReLU", "ELU"]
    assert kinds([net.pop(0)]) == ["SiLU"] and kinds(net.pop(slice(0, 2))) == ["Identity", "Tanh"]
    del net[1:]
    assert kinds(net) == ["Linear"]


def test_sequentials_are_added(torch):
    nn = torch.nn
    net = nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
    net += nn.Sequential(nn.ELU())
    assert kinds(net) == ["ReLU", "Tanh", "ELU"]
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        net + 3


def test_sequential_with_names(torch):
    nn = torch.nn
    net = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.Tanh()))
    assert repr(net) == "Sequential(\n  (first): ReLU()\n  (second): Tanh()\n)"
    assert net.second is net[1]


def test_sequential_refuses(torch):
    net = chain(torch)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        torch.nn.Sequential(3)
    with pytest.raises(AssertionError, match="module should be of type: <class"):
        net.insert(0, 3)
    with pytest.raises(IndexError, match="Index out of range: 9"):
        net.insert(9, torch.nn.ReLU())


def test_module_list(torch):
    nn = torch.nn
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    layers.insert(0, nn.ELU())
    layers += [nn.Sigmoid()]
    layers.append(nn.SiLU()).extend(iter([nn.ReLU()]))
    layers[1] = nn.Identity()
    del layers[2]
    assert kinds(layers) == ["ELU", "Identity", "Sigmoid", "SiLU", "ReLU"]
    assert list(layers._modules) == ["0", "1", "2", "3", "4"]
    assert type(layers[1:3]) is nn.ModuleList and kinds(layers[1:3]) == ["Identity", "Sigmoid"]
    assert kinds(layers.__add__([nn.Tanh()]))[-1] == "Tanh" and len(layers) == 5
    assert kinds([layers.pop(-1)]) == ["ReLU"]
    with pytest.raises(IndexError, match="index 4 is out of range"):
        layers[4]
    with pytest.raises(TypeError, match="should be called with an iterable, but got int"):
        layers.extend(3)
    with pytest.raises(NotImplementedError, match=r"Module \[ModuleList\] is missing"):
        layers(1)


def test_module_list_prints_equal_neighbors_once(torch):
    nn = torch.nn
    layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)])
    assert repr(layers) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (2): ReLU()\n"
        "  (3): Linear(in_features=1, out_features=1, bias=True)\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"
    nested = nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())])
    assert repr(nested) == "ModuleList(\n  (0-1): 2 x Sequential(\n    (0): ReLU()\n  )\n)"


def test_module_dict(torch):
    nn = torch.nn
    layers = nn.ModuleDict({"a": nn.ReLU()})
    layers.update([("b", nn.Tanh())])
    layers["c"] = nn.ELU()
    assert list(layers) == list(layers.keys()) == ["a", "b", "c"] and "b" in layers
    assert kinds(layers.values()) == ["ReLU", "Tanh", "ELU"]
    assert [name for name, _ in layers.items()] == ["a", "b", "c"]
    assert kinds([layers.pop("a")]) == ["ReLU"] and len(layers) == 2
    del layers["b"]
    with pytest.raises(KeyError, match="b"):
        layers["b"]
    layers.clear()
    assert repr(layers) == "ModuleDict()"


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (3, TypeError, "should be called with an iterable of key/value pairs, but got int"),
        ([3], TypeError, "update sequence element #0 should be Iterable; isint"),
        ([("a",)], ValueError, "update sequence element #0 has length 1; 2 is required"),
        ({"a": 3}, TypeError, "int is not a Module subclass"),
    ],
)
def test_module_dict_refuses(torch, given, kind, message):
    with pytest.raises(kind, match=message):
        torch.nn.ModuleDict(given)
