"""Walking the tree of modules, and acting on all of it."""

from __future__ import annotations

import pytest


def tree(torch):
    """A model in which one layer stands in two places."""
    nn = torch.nn
    model = nn.Module()
    model.first = model.again = nn.Linear(2, 2)
    model.inner = nn.Sequential(nn.ReLU(), nn.Linear(2, 1, bias=False))
    model.register_buffer("mean", torch.zeros(1))
    model.empty = None
    model.add_module("nothing", None)
    return model


def names(pairs):
    return [name for name, _ in pairs]


def test_what_stands_in_two_places_is_listed_once_unless_asked(torch):
    model = tree(torch)
    assert names(model.named_parameters()) == ["first.weight", "first.bias", "inner.1.weight"]
    assert names(model.named_parameters(remove_duplicate=False)) == [
        "first.weight",
        "first.bias",
        "again.weight",
        "again.bias",
        "inner.1.weight",
    ]
    assert names(model.named_modules()) == ["", "first", "inner", "inner.0", "inner.1"]
    assert names(model.named_modules(remove_duplicate=False))[:3] == ["", "first", "again"]
    assert names(model.named_children()) == ["first", "inner"]
    assert len(list(model.parameters())) == 3 and len(list(model.children())) == 2
    assert len(list(model.modules())) == 5 and len(list(model.buffers())) == 1


def test_prefix_and_recurse(torch):
    model = tree(torch)
    assert names(model.named_buffers(prefix="net")) == ["net.mean"]
    assert names(model.named_parameters("net"))[0] == "net.first.weight"
    assert names(model.named_parameters(recurse=False)) == []
    assert names(model.named_modules(prefix="net"))[:2] == ["net", "net.first"]


def test_finding_by_dotted_name(torch):
    model = tree(torch)
    assert model.get_submodule("") is model
    assert model.get_submodule("inner.0") is model.inner[0]
    assert model.get_parameter("first.weight") is model.first.weight
    assert model.get_buffer("mean") is model.mean


@pytest.mark.parametrize(
    ("find", "message"),
    [
        (lambda m: m.get_submodule("first.nope"), "Linear has no attribute `nope`"),
        (lambda m: m.get_submodule("first.weight"), "`weight` is not an nn.Module"),
        (lambda m: m.get_parameter("first.nope"), "Linear has no attribute `nope`"),
        (lambda m: m.get_parameter("mean"), "`mean` is not an nn.Parameter"),
        (lambda m: m.get_parameter("nope.weight"), "Module has no attribute `nope`"),
        (lambda m: m.get_buffer("first"), "`first` is not a buffer"),
    ],
)
def test_what_is_not_there_is_named(torch, find, message):
    with pytest.raises(AttributeError) as error:
        find(tree(torch))
    assert str(error.value) == message


def test_apply_visits_children_before_parents(torch):
    model, visited = tree(torch), []
    assert model.apply(lambda module: visited.append(type(module).__name__)) is model
    assert visited == ["Linear", "ReLU", "Linear", "Sequential", "Module"]


def test_train_and_eval_reach_everything(torch):
    model = tree(torch)
    assert model.eval() is model
    assert {module.training for module in model.modules()} == {False}
    model.train()
    assert {module.training for module in model.modules()} == {True}
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        model.train(1)


def test_requires_grad_freezes(torch):
    model = tree(torch)
    assert model.requires_grad_(False) is model
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_zero_grad_forgets_or_fills(torch):
    linear = torch.nn.Linear(1, 1)
    linear(torch.full((1, 1), 3.0)).sum().backward()
    gradient = linear.weight.grad
    assert gradient.item() == 3.0
    linear.zero_grad(set_to_none=False)
    assert linear.weight.grad is gradient and gradient.item() == 0.0
    linear.zero_grad()
    assert linear.weight.grad is None


def test_converting_keeps_the_parameters_and_leaves_integers_alone(torch):
    linear = torch.nn.Linear(1, 1)
    linear.register_buffer("count", torch.tensor([1]))
    linear(torch.ones(1, 1)).sum().backward()
    weight, gradient = linear.weight, linear.weight.grad
    assert linear.double() is linear
    assert linear.weight is weight and weight.dtype == torch.float64 and weight.is_leaf
    assert weight.grad is gradient and gradient.dtype == torch.float64
    assert linear.count.dtype == torch.int64
    assert linear.float().weight.dtype == torch.float32
    assert linear.to(dtype=torch.float64).weight.dtype == torch.float64
    assert linear.to(torch.ones(1)).to("cpu").weight.dtype == torch.float32


def test_converting_to_integers_is_refused(torch):
    with pytest.raises(TypeError) as error:
        torch.nn.Linear(1, 1).to(torch.int64)
    assert str(error.value) == (
        "nn.Module.to only accepts floating point or complex dtypes, but got desired "
        "dtype=torch.int64"
    )


def test_the_printed_form(torch):
    class Named(torch.nn.Module):
        def __init__(self, extra, child):
            super().__init__()
            self.extra = extra
            if child:
                self.inner = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
                self.add_module("nothing", None)

        def extra_repr(self):
            return self.extra

    assert repr(Named("", False)) == "Named()"
    assert repr(Named("a=1", False)) == "Named(a=1)"
    assert repr(Named("a=1\nb=2", False)) == "Named(\n  a=1\n  b=2\n)"
    assert repr(Named("a=1", True)) == (
        "Named(\n"
        "  a=1\n"
        "  (inner): Sequential(\n"
        "    (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "    (1): ReLU()\n"
        "  )\n"
        "  (nothing): None\n"
        ")"
    )


def test_a_module_deep_down_is_replaced_by_name(torch):
    net = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    new = torch.nn.Tanh()
    net.set_submodule("0.0", new)
    assert net[0][0] is new
    net.set_submodule("0.more", new)
    assert [name for name, _ in net.named_modules(remove_duplicate=False)] == [
        "",
        "0",
        "0.0",
        "0.more",
    ]
    with pytest.raises(AttributeError, match="Sequential has no attribute `other`"):
        net.set_submodule("0.other", new, strict=True)
    with pytest.raises(ValueError, match="Cannot set the submodule without a target name"):
        net.set_submodule("", new)
    with pytest.raises(ValueError, match=r"`module` is not an nn\.Module, found"):
        net.set_submodule("0.0", 3)


def test_to_reads_its_arguments_like_a_signature(torch):
    layer = torch.nn.Linear(1, 1)
    assert layer.to("cpu", torch.float64).weight.dtype is torch.float64
    assert layer.half().weight.dtype is torch.float16
    for args, options in (
        ((torch.float32, "cpu"), {}),
        ((torch.float32,), {"dtype": torch.float32}),
        ((), {"color": "red"}),
        (([],), {}),
    ):
        with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
            layer.to(*args, **options)
    assert layer.weight.dtype is torch.float16
