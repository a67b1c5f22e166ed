"""The classic bugs of an autograd are planted one by one, and for each a named test fails.

A living function is given the code of a wrong one, so that the bug is there for all who hold it.
What a wrong function mentions is therefore looked up in the right one's file.
"""

# ruff: noqa: F821
from functools import partial

import pytest

from minigrad.core.engine import AccumulateGrad, GraphTask, count_uses
from minigrad.core.hooks import NodeHooks
from minigrad.core.module_hooks import FullBackwardHooks, attach_legacy_hooks
from minigrad.core.node import reduce_gradient
from minigrad.core.tensor import unpack_array
from tests.autograd.test_reduce import (
    test_an_operation_on_broadcast_inputs_gives_gradients_in_their_shapes as broadcast,
)
from tests.oracle.test_oracle import (
    test_minigrad_does_what_pytorch_was_recorded_doing as as_recorded,
)


def overwrite(self, gradient, keep=True):
    self.variable._grad = wrap(gradient.copy())
    return ()


def count_double(self, gradient, keep=True):
    total = self.variable._grad
    self.variable._grad = wrap(gradient + (0 if total is None else 2 * total._array))
    return ()


def keep_always(self, roots, retain_graph, create_graph):
    self.roots, self.retain_graph, self.recorded, self.buffers = roots, True, create_graph, {}


def call_in_vain(self, gradients):
    for number, table in self.tensor_pre.items():
        for hook in table.values():
            hook(gradients[number])


def call_node_hooks_in_vain(self, kind, table, gradients, *seen):
    for hook in table.values():
        hook(tuple(gradients), *seen)
    return gradients


def call_module_hooks_in_vain(self, kind, hooks, grads, *seen):
    for hook in hooks:
        hook(self.module, grads, *seen)
    return grads


def hook_the_first(module, hooks, args, result):
    node = result.grad_fn
    while node.next_functions and node.next_functions[0][0].next_functions:
        node = node.next_functions[0][0]
    for hook in hooks:
        node.register_hook(LegacyHook(hook, module))


# the bug: where it is planted, what stands there instead, the test that finds it
CLASSICS = {
    "no reduction to the shape of what was broadcast": (
        reduce_gradient,
        lambda gradient, wanted: gradient,
        partial(broadcast, 0),
    ),
    "a gradient overwrites": (AccumulateGrad._run, overwrite, partial(as_recorded, "accumulation")),
    "nobody waits where ways meet": (
        count_uses,
        lambda roots: {},
        partial(as_recorded, "engine"),
    ),
    "a stale saved value": (
        unpack_array,
        lambda saved, node: saved._array if isinstance(saved, Tensor) else saved.array,
        partial(as_recorded, "inplace_errors"),
    ),
    "a second backward counts double": (
        AccumulateGrad._run,
        count_double,
        partial(as_recorded, "accumulation"),
    ),
    "a second backward is let through": (
        GraphTask.__init__,
        keep_always,
        partial(as_recorded, "engine"),
    ),
    "a tensor hook in vain": (
        NodeHooks.run_tensor_hooks,
        call_in_vain,
        partial(as_recorded, "tensor_hooks"),
    ),
    "a node hook in vain": (
        NodeHooks.run_node_hooks,
        call_node_hooks_in_vain,
        partial(as_recorded, "tensor_hook_moments"),
    ),
    "a module hook in vain": (
        FullBackwardHooks._call,
        call_module_hooks_in_vain,
        partial(as_recorded, "module_full_hooks"),
    ),
    "a legacy hook on the first node": (
        attach_legacy_hooks,
        hook_the_first,
        partial(as_recorded, "module_legacy_hooks"),
    ),
}


@pytest.mark.parametrize("bug", CLASSICS)
def test_a_classic_bug_is_found(bug, monkeypatch):
    place, wrong, test = CLASSICS[bug]
    monkeypatch.setattr(place, "__code__", wrong.__code__)
    with pytest.raises((AssertionError, RuntimeError)):  # a leaf refuses a wrong shape itself
        test()
