"""Rebuild on minigrad the graph that PyTorch left, so that `explain` can write its formulas.

For each node of PyTorch's there is one of minigrad's with the same name. It gets the same edges and
what PyTorch's node saved; nothing is computed again. The gradients come from a recorded pass of
PyTorch's own engine, with its own hooks. PyTorch is not imported here: its tensors come from who
has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.recording import Log
from minigrad.core.engine import AccumulateGrad, resolve_edge
from minigrad.core.module_hooks import BackwardHookFunctionBackward
from minigrad.core.node import NO_EDGE
from minigrad.core.operation import registry
from minigrad.core.tensor import SavedTensor, wrap_as_normal
from minigrad.symbolic import passes
from minigrad.symbolic.chain_rule import ChainRule
from minigrad.viz import pytorch, pytorch_passes


class Rebuilt:
    """A graph of PyTorch's, rebuilt on minigrad.

    Args:
        loss: PyTorch's tensor.

    Raises:
        NotImplementedError: If minigrad has no such node.
        RuntimeError: If a backward has freed the graph, or a saved tensor was written to since.

    Attributes:
        twins: For each node of PyTorch's the one of minigrad's.
        eps: The precision of the least precise type on the way.
    """

    def __init__(self, loss: Any) -> None:
        self.loss, finfo = loss, sys.modules["torch"].finfo
        self.twins = {node: _twin(node) for node in pytorch.reachable([loss.grad_fn])}
        types = {about.dtype for node in self.twins for about in node._input_metadata}
        self.eps = max(finfo(each).eps for each in types if each.is_floating_point)
        for node, twin in self.twins.items():
            if not isinstance(twin, AccumulateGrad):
                self._fill(node, twin)

    def _fill(self, node: Any, twin: Any) -> None:
        """Give a new node its edges and what PyTorch's node saved."""
        edges = [NO_EDGE if n is None else (self.twins[n], nr) for n, nr in node.next_functions]
        twin._set_up(edges)
        twin._set_sequence_nr(node._sequence_nr())
        if twin._multiple:
            layouts = map(_layout, node._input_metadata)
            twin._shape, twin._dtype = map(list, zip(*layouts, strict=True))
        else:
            twin._saved = tuple(self._saved(node, name) for name in twin._names_of_saved)
            targets = [n and n._input_metadata[nr] for n, nr in node.next_functions]
            twin._broadcast = tuple(about and _layout(about) for about in targets)

    def _saved(self, node: Any, name: str) -> Any:
        """Give what a node of PyTorch's saved as minigrad's would have it."""
        value = getattr(node, f"_saved_{name}", [])
        if not pytorch.is_foreign(value) or name not in self.twins[node]._plan.saved_tensors:
            return _plain(value)
        tensor = self.tensor(value)
        return SavedTensor(tensor, tensor.grad_fn is self.twins[node])

    def tensor(self, tensor: Any) -> Any:
        """Give minigrad's tensor for one of PyTorch's, with its place in the graph."""
        edge: Any = pytorch_passes.edge_of(tensor) if tensor.requires_grad else NO_EDGE
        node, output_nr = edge
        if node not in self.twins and "CloneBackward0" in str(node):
            node, output_nr = node.next_functions[0]  # a copy from before a write in place
        twin = self.twins.get(node)
        if isinstance(twin, AccumulateGrad):
            return twin.variable
        made = wrap_as_normal(pytorch.as_array(tensor))
        if twin is not None:
            made._edge = (twin, output_nr)
        return made

    def run_recorded(self) -> list[passes.Passage]:
        """Run a pass of PyTorch's that changes nothing, and record how it went."""
        leaves = {n: twin for n, twin in self.twins.items() if isinstance(twin, AccumulateGrad)}
        grad, log = sys.modules["torch"].autograd.grad, Log()
        recorder = pytorch_passes.Recorder([], log)
        recorder.start()
        retained = [(t, t.grad) for each in recorder.alive.retaining if (t := each()) is not None]
        try:
            inputs = [node.variable for node in leaves]
            found = grad(self.loss, inputs, retain_graph=True, allow_unused=True)
        finally:
            recorder.stop()
            for tensor, gradient in retained:
                tensor.grad = gradient
        ours = [twin.variable for twin in leaves.values()]
        return passes.passages_of(log, ours, map(pytorch.copied, found), self.twins)

    def check(self, chain: ChainRule) -> None:
        """Compute with minigrad what PyTorch computed: each value, and what each node gave.

        Raises:
            RuntimeError: If something else comes out.
        """
        naming = chain.naming
        for value, array in naming.known.items():
            if value[0].next_functions:
                shape = naming.shape[value]
                again = passes.forward_of(value, shape, naming.array, lambda a: a, naming.array)
                self._compare(value[0], array if again is None else again, array)
        for passage in chain.passages:
            if passage.ran:
                node, given = passage.node, passes.run_rule(passage.node, passage.given)
                for edge, mine, due in zip(node.next_functions, given, passage.computed):  # noqa: B905
                    if edge is not NO_EDGE:
                        self._compare(node, mine, due)

    def _compare(self, node: Any, mine: Any, due: Any) -> None:
        one, other = (0.0 if each is None else each for each in (mine, due))
        if not np.allclose(one, other, self.eps**0.5, self.eps, equal_nan=True):
            raise RuntimeError(
                f"explain() shows nothing: at {node.name()} minigrad computes {np.sum(one):g}, and "
                f"PyTorch had {np.sum(other):g}. If a tensor has changed since the forward pass, "
                "by an optimizer's step or .data, run it again. Otherwise PyTorch's operation has "
                "a setting that minigrad's doesn't have."
            )


def chain_rule(loss: Any, names: Sequence[tuple[str, Any]]) -> ChainRule:
    """Follow a backward pass of PyTorch's.

    Args:
        loss: PyTorch's tensor.
        names: (name, tensor) pairs.
    """
    graph = Rebuilt(loss)
    pairs = [(name, graph.tensor(each)) for name, each in names]
    chain = ChainRule(graph.tensor(loss), pairs, graph.run_recorded())
    graph.check(chain)
    return chain


def _twin(node: Any) -> Any:
    """Make a node of minigrad's of the same name, without edges."""
    name = node.name().rpartition("::")[2]
    if name == AccumulateGrad.__name__:
        return resolve_edge(wrap_as_normal(pytorch.as_array(node.variable)).requires_grad_())[0]
    if name == BackwardHookFunctionBackward.__name__:
        return BackwardHookFunctionBackward()
    known = [o for o in registry.values() if o.node.__name__ == name and _fits(o.plan, node)]
    if not known:
        raise NotImplementedError(
            f"explain() can't write the formula of {name}: minigrad has no node of that name that "
            "saves the same. Write that step with other operations, or explain() the tensor that "
            "goes into it. (A Function of your own is explained if you import minigrad as torch.)"
        )
    scaled = getattr(node, "_saved_alpha", 1) != 1  # a sum has two forms
    return next((o for o in known if ("alpha" in o.plan.saved) == scaled), known[0]).node()


def _fits(plan: Any, node: Any) -> bool:
    """Tell whether PyTorch's node has what an operation of minigrad's saves."""
    # how a matrix lies in memory is of no account: with one entry there is one way only; nor is
    # what is only kept so that it needn't be computed again
    saved = all(n.endswith(("columns", "kept")) or hasattr(node, f"_saved_{n}") for n in plan.saved)
    return saved and len(node.next_functions) == len(plan.differentiable)


def _plain(value: Any) -> Any:
    """Give a setting as minigrad has it; PyTorch shows a dimension of -1 as an unsigned number."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if pytorch.is_foreign(value):
        return pytorch.as_array(value)
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def _layout(about: Any) -> tuple[tuple[int, ...], Any]:
    """Give the shape and NumPy's dtype of a tensor from what PyTorch's node knows of it."""
    empty = sys.modules["torch"].empty(0, dtype=about.dtype)
    return tuple(about.shape), pytorch.as_array(empty).dtype
