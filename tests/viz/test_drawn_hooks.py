"""Each kind of hook is drawn where it really sits, and is gone from the picture when removed."""

import warnings

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from minigrad.nn.modules.module import (
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from minigrad.viz import draw, watch_modules
from minigrad.viz.shapes import hook_label

POST = "post-accumulate hook"


class Run:
    """A small network in which there is a place for every kind of hook."""

    def __init__(self):
        self.x = torch.tensor([[0.5]], requires_grad=True)
        self.net = nn.Sequential(nn.Linear(1, 1), nn.Tanh())

    def forward(self):
        with watch_modules(self.net) as self.modules, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # legacy hooks are deprecated
            self.y = self.net(self.x)
        self.z = self.y * 3
        return self

    def drawn(self):
        """Give for each hook drawn: its node's name, its name, and what is written beside it."""
        names = {"x": self.x, "y": self.y, "z": self.z}
        picture = draw(self.z, names=names, modules=self.modules)
        found = [
            ((node.cards or [node])[0].name, hook.name, hook_label(hook))
            for node in picture.graphs[0].nodes
            for hook in node.hooks
        ]
        for _, name, label in found:
            assert f">{label}<" in picture.svg
            assert f"{label} {name}".strip() in picture.table
            assert f"{label} {name}".strip() in picture.alt
        return found


def on_tensor(gradient):
    return None


def on_module(module, *gradients):
    return None


def multi(run, mode):
    return register_multi_grad_hook([run.x, run.y], on_tensor, mode=mode)


@pytest.mark.parametrize(
    ("register", "where", "label"),
    [
        (lambda run: run.y.register_hook(on_tensor), "y", "tensor hook"),
        (lambda run: run.x.register_hook(on_tensor), "x", "tensor hook"),
        (lambda run: run.z.grad_fn.register_prehook(on_tensor), "z", "node pre-hook"),
        (lambda run: run.z.grad_fn.register_hook(on_tensor), "z", "node hook"),
        (lambda run: run.x.register_post_accumulate_grad_hook(on_tensor), "x", POST),
        (lambda run: multi(run, "all"), "yx", "multi-grad hook"),
        (lambda run: multi(run, "any"), "yx", "multi-grad hook"),
    ],
)
def test_hooks_on_tensors_and_nodes(register, where, label):
    run = Run().forward()
    assert run.drawn() == []
    handle = register(run)
    assert run.drawn() == [(name, "on_tensor", label) for name in where]
    handle.remove()
    assert run.drawn() == []


def test_retain_grad_leaves_with_its_tensor():
    run = Run().forward()
    run.y.retain_grad()
    assert run.drawn() == [("y", "", "retain_grad")]
    inner = run.net[0](run.x)
    inner.retain_grad()
    outer = inner * 2
    assert [hook.kind for node in draw(outer).graphs[0].nodes for hook in node.hooks] == [
        "retain_grad"
    ]
    del inner
    assert not any(node.hooks for node in draw(outer).graphs[0].nodes)


@pytest.mark.parametrize(
    ("register", "where", "label"),
    [
        # the second identity node on the way: the one at the input
        (lambda net: net[1].register_full_backward_hook, [0, 1], "full backward hook"),
        (lambda net: net[1].register_full_backward_pre_hook, [1, 0], "full backward pre-hook"),
        (
            lambda net: register_module_full_backward_hook,
            [0, 0, 1, 0, 1, 1],
            "global full backward hook",
        ),
        (
            lambda net: register_module_full_backward_pre_hook,
            [1, 1, 0, 1, 0, 0],
            "global full backward pre-hook",
        ),
    ],
)
def test_full_hooks_are_on_the_identity_nodes_until_the_next_forward(register, where, label):
    run = Run()
    handle = register(run.net)(on_module)
    run.forward()
    nodes = draw(run.z, modules=run.modules).graphs[0].nodes
    identities = [node for node in nodes if node.role == "identity"]
    assert [len(node.hooks) for node in identities] == where
    assert {hook_label(hook) for node in nodes for hook in node.hooks} == {label}
    assert sum(len(node.hooks) for node in nodes) == sum(where)
    handle.remove()
    # The hooks of a call are those that were there when it was made, as in PyTorch.
    assert len(run.drawn()) == sum(where)
    assert run.forward().drawn() == []
    assert not any(node.role == "identity" for node in draw(run.z).graphs[0].nodes)


def test_own_and_global_hooks_are_told_apart():
    run = Run()
    handle = register_module_full_backward_hook(on_module)
    run.net[1].register_full_backward_hook(on_module)
    labels = [label for _, _, label in run.forward().drawn()]
    handle.remove()
    # On one function registered twice there is nothing to tell them apart by: it is the module's.
    assert labels.count("global full backward hook") == 2
    assert labels.count("full backward hook") == 2


def test_without_gradients_of_inputs_a_full_hook_is_at_the_output():
    run = Run()
    run.x = run.x.detach()
    run.net[0].register_full_backward_hook(on_module)
    run.forward()
    (node,) = [node for node in draw(run.z).graphs[0].nodes if node.role == "identity"]
    assert [hook.kind for hook in node.hooks] == ["full backward"]


def test_a_legacy_hook_is_on_the_last_operation():
    run = Run()
    handle = run.net.register_backward_hook(on_module)
    run.forward()
    assert run.drawn() == [("y", "on_module", "legacy backward hook")]
    nodes = draw(run.z).graphs[0].nodes
    (holder,) = [node for node in nodes if node.hooks]
    assert holder.name == "TanhBackward0"
    handle.remove()
    assert run.forward().drawn() == []


def test_hooks_on_saved_tensors():
    def pack(tensor):
        return tensor

    def unpack(tensor):
        return tensor

    run = Run()
    with saved_tensors_hooks(pack, unpack):
        run.forward()
    assert [(name, label) for _, name, label in run.drawn()] == [
        ("unpack", "saved-tensor hooks on result"),
        ("unpack", "saved-tensor hooks on mat1"),
        ("unpack", "saved-tensor hooks on mat2"),
    ]
    run.z.sum().backward()
    assert run.drawn() == []  # what was saved has been released
    assert run.forward().drawn() == []
    run.y.grad_fn._raw_saved_result.register_hooks(pack, unpack)
    assert run.drawn() == [("y", "unpack", "saved-tensor hooks on result")]


def test_all_parts_of_a_stack_are_in_the_order_in_which_they_run():
    run = Run().forward()
    run.y.grad_fn.register_hook(on_tensor)
    run.y.grad_fn.register_prehook(on_tensor)
    run.y.retain_grad()
    run.y.register_hook(on_tensor)
    picture = draw(run.z, names={"y": run.y})
    graph = picture.graphs[0]
    at = next(node.index for node in graph.nodes if node.name == "TanhBackward0")
    canvas = picture._canvases[0]
    stack = zip(canvas.stacks[at], canvas.places[at], strict=True)
    down = sorted((place[1], part.hook or part.kind) for part, place in stack)
    assert [what for _, what in down] == [
        "tensor",
        "tensor pre-hook",
        "retain_grad",
        "node pre-hook",
        "operation",
        "node hook",
    ]
