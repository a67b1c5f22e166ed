"""The classic bugs of an autograd are planted one by one, and for each a named test fails."""

import inspect
import textwrap
from functools import partial

import pytest

from minigrad.core.engine import AccumulateGrad, GraphTask
from minigrad.core.hooks import NodeHooks
from minigrad.core.module_hooks import FullBackwardHooks, attach_legacy_hooks
from minigrad.core.node import reduce_gradient
from minigrad.core.tensor import unpack_array
from minigrad.fast.engine import used_again
from tests.autograd.test_reduce import (
    test_an_operation_on_broadcast_inputs_gives_gradients_in_their_shapes as broadcast,
)
from tests.oracle.test_oracle import (
    test_minigrad_does_what_pytorch_was_recorded_doing as as_recorded,
)

GRAD_FN = "node = tensor.grad_fn"
FIRST = """node = tensor.grad_fn
    while node.next_functions and node.next_functions[0][0].next_functions:
        node = node.next_functions[0][0]"""
ACCUMULATE, ADDED = AccumulateGrad._run, "total._array += gradient"
TENSOR, NODE = NodeHooks.run_tensor_hooks, NodeHooks.run_node_hooks
REPLACED = "if result is not None"
MODULE, LEGACY = FullBackwardHooks._call, attach_legacy_hooks
NO_LAYOUT = "if gradient is None or layout is None"
KEPT, ALWAYS = "= roots, retain_graph,", "= roots, True,"
REFUSED = "extensions.messages.refuse_stale(saved, node)"
# the bug: where it is planted, what stands there, what instead, and the family that finds it
CLASSICS = {
    "no reduction to the shape of what was broadcast": (reduce_gradient, NO_LAYOUT, "if True", ""),
    "a gradient overwrites": (ACCUMULATE, ADDED, "total._array[...] = gradient", "engine"),
    "a second backward counts double": (ACCUMULATE, ADDED, f"{ADDED} * 2", "engine"),
    "nobody waits where ways meet": (used_again, "uses.get(node, 1) + 1", "1", "engine"),
    "a second backward is let through": (GraphTask.__init__, KEPT, ALWAYS, "engine"),
    "a stale saved value": (unpack_array, REFUSED, "pass", "inplace_errors"),
    "a tensor hook in vain": (TENSOR, REPLACED, "if False", "tensor_hooks"),
    "a node hook in vain": (NODE, REPLACED, "if False", "tensor_hook_moments"),
    "a module hook in vain": (MODULE, "if replaced is None", "if True", "module_full_hooks"),
    "a legacy hook on the first node": (LEGACY, GRAD_FN, FIRST, "module_legacy_hooks"),
}


@pytest.mark.parametrize("bug", CLASSICS)
def test_a_classic_bug_is_found(bug, monkeypatch):
    place, right, wrong, family = CLASSICS[bug]
    source = textwrap.dedent(inspect.getsource(place))
    assert source.count(right) == 1
    names = {}
    exec("from __future__ import annotations\n" + source.replace(right, wrong), names)
    monkeypatch.setattr(place, "__code__", names[place.__name__].__code__)
    test = partial(as_recorded, family) if family else partial(broadcast, 0)
    with pytest.raises((AssertionError, RuntimeError)):  # a leaf refuses a wrong shape itself
        test()
