"""Passes of scenarios are PyTorch's event by event, but for a known number in a family."""

from __future__ import annotations

import pytest

from . import store
from .compare import differences as told_apart
from .compare import worded
from .passes import differences, recorded_run
from .scenarios import FAMILIES

# Families of operations check rules, which know nothing of the pass; several are made of other
# nodes here.
OF_PASSES = [each for each in FAMILIES if not each.startswith("operations")]
# In how many scenarios of a family the logs part. Most have an operation, or the rule of one, that
# PyTorch has as a node of its own and minigrad is made of others, or their nodes come in another
# order; torch.func and several threads run their passes in another way.
PARTS = {
    "activations_in_place": 1,
    "custom_function_derivatives": 1,
    "distributions": 2,
    "function_transforms": 7,
    "functional": 6,
    "functional_matrices": 2,
    "gradcheck": 2,
    "gradcheck_errors": 1,
    "gradient_edges": 2,
    "gradient_layouts": 1,
    "graph_corners": 2,
    "higher_derivatives": 2,
    "indices_changed": 1,
    "inference_mode_backward": 1,
    "layers_attention": 10,
    "layers_of_images": 13,
    "layers_recurrent": 12,
    "module_calls": 3,
    "module_conversion": 1,
    "module_fuzzed": 1,
    "numbers_written": 1,
    "operation_errors": 1,
    "parameter_utilities": 2,
    "precision_of_halves": 18,
    "saved_attributes": 1,
    "saved_in_place": 7,
    "second_derivatives_reach": 14,
    "seldom_met": 1,
    "tensor_hook_errors": 1,
    "tensor_memory": 1,
    "threads": 5,
}
# They print what a node carries, and a recorded node carries its label.
SHOWN = {"anomaly_details.notes_on_nodes"}


@pytest.mark.examples
@pytest.mark.parametrize("family", OF_PASSES)
def test_passes_leave_equal_logs(family: str) -> None:
    """Nodes, hooks, order, values: each event is the same on both libraries."""
    torch = pytest.importorskip("torch")
    found = differences(family, torch)
    assert len(found) == PARTS.get(family, 0), found


@pytest.mark.examples
@pytest.mark.parametrize("family", OF_PASSES)
def test_recording_changes_nothing_in_pytorch(family: str) -> None:
    """Hooks, errors, values, gradients and lifetimes are PyTorch's own while a log is written."""
    torch = pytest.importorskip("torch")
    recorded = store.read(family)["scenarios"]
    found = {}
    for name, scenario in FAMILIES[family].items():
        told, _ = recorded_run(scenario, torch)
        if f"{family}.{name}" not in SHOWN:
            found[name] = told_apart(recorded[name], told, words=worded(family))
    assert {name: each for name, each in found.items() if each} == {}
