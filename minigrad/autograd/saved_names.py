"""Ask a node for what it saved, under PyTorch's names: `_saved_self`, `_raw_saved_self`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.members import attach
from minigrad.autograd.messages import FREED, RELEASED, detached, stale, wrong_call
from minigrad.autograd.saved_hooks import OwnResult, PackedTensor, Unpack, gradient_edge, pack
from minigrad.core.engine import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import SavedTensor, Tensor, unpack_array, unpack_tensor, wrap_as_normal

Computed = Callable[[Any], Any]


def kept(node: Node, name: str) -> Any:
    """Give what a node saved under a name, as it keeps it.

    Raises:
        RuntimeError: If it was released.
    """
    place = node._names_of_saved.index(name)
    if node._saved is not None:
        return node._saved[place]
    if place not in node._numbers_at:
        raise RuntimeError(RELEASED)
    return node._numbers[node._numbers_at.index(place)]


def look_at(saved: Any, node: Node) -> Any:
    """Give a saved value to somebody who looks at a node: its rule would refuse a detached one."""
    if isinstance(saved, PackedTensor) or (isinstance(saved, SavedTensor) and saved.tensor is None):
        return unpack_tensor(saved, node)
    counter = saved._version_counter
    if counter is not None and counter.value != getattr(saved, "version", 0):
        raise stale(saved, node)
    return saved.tensor if isinstance(saved, SavedTensor) else saved


def _constant(value: Any) -> Computed:
    return lambda node: value


def _positions(node: Any) -> Any:
    return wrap_as_normal(kept(node, "positions"))


def _indices(node: Any) -> Any:
    """Give the positions of extremes in the shape of the result."""
    positions, dim = kept(node, "positions"), kept(node, "dim")
    same = kept(node, "keepdim") or not kept(node, "self_sym_sizes")
    return wrap_as_normal(positions if same else positions.squeeze(dim))


def _split_size(node: Any) -> int:
    return int(node._shape[0][kept(node, "dim")])


def _split_from(node: Any) -> tuple[int, ...]:
    dim = kept(node, "dim")
    sizes = list(node._shape[0])
    sizes[dim] = sum(part[dim] for part in node._shape)
    return tuple(sizes)


_ONE = _constant(1)
_ELU = {"scale": _ONE, "input_scale": _ONE}


def _array(node: Any, name: str) -> Any:
    """Give the array of a saved tensor; None if it was not needed."""
    value = kept(node, name)
    return None if value is None else look_at(value, node)._array


def _shape_behind(node: Any) -> tuple[int, ...]:
    """Give the shape of a parameter, or of its transpose, by the node that it is reached by."""
    if isinstance(node, AccumulateGrad):
        return tuple(node.variable.shape)
    if type(node).__name__ == "TBackward0":
        return _shape_behind(node.next_functions[0][0])[::-1]
    return ()


def _factor(name: str, other: str, axis: int, edge: int) -> dict[str, Computed]:
    """Tell how a factor of a product of matrices lies in memory, also if it was not saved."""

    def sizes(node: Any) -> tuple[int, ...]:
        array, beside = _array(node, name), _array(node, other)
        if array is not None:
            return tuple(array.shape)
        inner = -1 if beside is None else beside.shape[axis]
        unknown = (-1, inner) if axis == 0 else (inner, -1)  # unless it is a parameter
        return _shape_behind(node.next_functions[edge][0]) or unknown

    def strides(node: Any) -> tuple[int, ...]:
        if node.next_functions[edge][0] is None:
            return ()
        array, (rows, columns) = _array(node, name), sizes(node)
        if array is not None:
            return tuple(stride // array.itemsize for stride in array.strides)
        return (1, rows) if kept(node, f"{name}_sym_columns") else (columns, 1)

    return {f"{name}_sym_sizes": sizes, f"{name}_sym_strides": strides}


def _of(name: str, look: Callable[[Any, Any], Any]) -> Computed:
    """Give what follows from something that a node keeps, and from the node."""
    return lambda node: look(kept(node, name), node)


def _unless_empty(name: str) -> dict[str, Computed]:
    """Give a saved weight; None for the empty one that stands for none."""

    def weight(node: Any) -> Any:
        saved = kept(node, name)
        tensor = None if saved is None else look_at(saved, node)
        return None if tensor is None or not tensor._array.size else tensor

    return {name: weight}


def _statistic(name: str, shape: Callable[[Any], Any]) -> Computed:
    """Give the mean or 1 / standard deviation that was computed, in PyTorch's shape."""

    def statistic(node: Any) -> Tensor:
        statistics, layout = kept(node, "statistics"), kept(node, "layout")
        if statistics.fixed:
            return wrap_as_normal(np.zeros(0, np.float32))
        return wrap_as_normal(getattr(statistics, name).reshape(shape(layout)))

    return statistic


def _statistics(shape: Callable[[Any], Any]) -> dict[str, Computed]:
    return {"result1": _statistic("mean", shape), "result2": _statistic("rstd", shape)}


def _layout(look: Callable[[Any], Any]) -> Computed:
    return _of("layout", lambda layout, node: look(layout))


def _running(place: int) -> Computed:
    return _of("statistics", lambda statistics, node: statistics.running[place])


def _chosen(node: Any) -> Tensor:
    names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    settings = [kept(node, name) for name in names]
    sizes = _array(node, "self").shape[-len(settings[0]) :]
    return wrap_as_normal(kept(node, "chosen").positions(sizes, settings))


def _scores(node: Any) -> Any:
    """Give the scores that an attention makes its weights of."""
    query, key = _array(node, "query"), _array(node, "key")
    scores, mask = query @ np.swapaxes(key, -1, -2) * kept(node, "scale"), kept(node, "mask")
    return scores if mask is None else scores + getattr(mask, "_array", mask)


def _log_of_sums(node: Any) -> Tensor:
    return wrap_as_normal(np.log(np.exp(_scores(node)).sum(-1)).astype(np.float32))


def _called(place: int) -> Computed:
    return _of("kept", lambda attention, node: attention.call[place])


_ATTENTION = {
    "attn_mask": _called(0),
    "is_causal": _called(1),
    "scale": _called(2),
    "dropout_p": _constant(0.0),
    "logsumexp": _log_of_sums,
    "output": _of("kept", lambda a, node: wrap_as_normal(a.weights @ _array(node, "value"))),
}


def _split_sizes(node: Any) -> tuple[int, ...]:
    return tuple(part[kept(node, "dim")] for part in node._shape)


def _total_weight(node: Any) -> Any:
    """Give the sum of the targets' weights, which a mean is divided by."""
    if kept(node, "reduction") == 0:
        return 0
    target, weight = _array(node, "target"), kept(node, "weight")
    counted = target[target != kept(node, "ignore_index")]
    return counted.size if weight is None else np.sum(weight[counted])


def _resizing(dims: int) -> dict[str, Computed]:
    """Tell the size and the scales of what was resized."""
    names = [f"scales_{axis}" for axis in "dhw"[3 - dims :]] if dims > 1 else ["scales"]

    def scale(place: int) -> Computed:
        return _of("taps", lambda taps, node: taps.scales[place])

    scales = {name: scale(place) for place, name in enumerate(names)}
    return {"output_size": _of("taps", lambda taps, node: taps.sizes), **scales}


_CORNERS = {"align_corners": _of("taps", lambda taps, node: taps.align_corners)}
_FALSE = _constant(False)
_EMBEDDING = {
    "indices": _positions,
    "scale_grad_by_freq": _FALSE,
    "sparse": _FALSE,
    "weight_sym_argsize_0": _of("weight_sym_sizes", lambda sizes, node: sizes[0]),
}
_NLL = {"total_weight": lambda node: wrap_as_normal(np.array(_total_weight(node), np.float32))}


def _setting(place: int) -> Computed:
    return lambda node: node._settings[place]


# Values that need not be saved, as they follow from what is. By the names of nodes, whose end is
# left out: "Mean" is MeanBackward0, and "Mean1" MeanBackward1.
_COMPUTED: tuple[tuple[str, dict[str, Computed]], ...] = (
    ("Add Sub Rsub1", {"alpha": _ONE}),
    ("Addmm Baddbmm", {"alpha": _ONE, "beta": _ONE}),
    ("Addmm", _factor("mat1", "mat2", 0, 1) | _factor("mat2", "mat1", 1, 2)),
    ("Mm", _factor("self", "mat2", 0, 0) | _factor("mat2", "self", 1, 1)),
    (
        "Convolution",
        {"bias_sym_sizes_opt": lambda n: _shape_behind(n.next_functions[2][0]) or (0,)},
    ),
    ("NativeBatchNorm", _statistics(lambda layout: -1)),
    ("NativeBatchNorm", {"running_mean": _running(0), "running_var": _running(1)}),
    ("NativeBatchNorm", {"training": _of("statistics", lambda s, node: not s.fixed)}),
    ("NativeLayerNorm", _statistics(lambda layout: layout.means)),
    (
        "NativeLayerNorm",
        {"normalized_shape": _layout(lambda layout: tuple(layout.view[d] for d in layout.axes))},
    ),
    ("NativeGroupNorm", _statistics(lambda layout: layout.view[:2])),
    ("NativeGroupNorm", {"N": _layout(lambda layout: layout.view[0])}),
    ("NativeGroupNorm", {"C": _layout(lambda layout: math.prod(layout.view[1:3]))}),
    ("NativeGroupNorm", {"HxW": _layout(lambda layout: layout.view[3])}),
    ("NativeGroupNorm", {"group": _layout(lambda layout: layout.view[1])}),
    ("NativeBatchNorm NativeLayerNorm NativeGroupNorm", _unless_empty("weight")),
    ("MaxPool2DWithIndices MaxPool3DWithIndices", {"result1": _chosen}),
    ("MaxPool2DWithIndicesBackward MaxPool3DWithIndicesBackward", {"indices": _chosen}),
    ("Im2Col", {"self_sym_argsize_minus_1": _of("self_sym_sizes", lambda sizes, node: sizes[-1])}),
    ("Im2Col", {"self_sym_argsize_minus_2": _of("self_sym_sizes", lambda sizes, node: sizes[-2])}),
    ("Embedding EmbeddingBag", _EMBEDDING),
    ("LinalgSolveEx", {"left": _constant(True)}),
    ("ScaledDotProductFlashAttentionForCpu", _ATTENTION),
    ("Mean Mean1", {"self_sym_numel": lambda node: math.prod(node._saved_self_sym_sizes)}),
    ("StdMean VarMean", {"dim": _setting(0), "correction": _setting(1), "keepdim": _setting(2)}),
    ("Kthvalue Max Median1 Min Mode", {"indices": _indices}),
    ("Cummax Cummin Sort Sort1 Topk", {"indices": _positions}),
    ("Gather", {"index": _positions, "sparse_grad": _FALSE}),
    ("IndexSelect Scatter Scatter1 ScatterAdd", {"index": _positions}),
    ("IndexPutImpl", {"accumulate": _constant(True)}),
    ("IndexPut", {"accumulate": _FALSE}),
    ("Split UnsafeSplit", {"self_sym_sizes": _split_from, "split_size": _split_size}),
    ("SplitWithSizes", {"self_sym_sizes": _split_from, "split_sizes": _split_sizes}),
    ("ThresholdBackward", {"threshold": _constant(0)}),
    ("NllLoss NllLoss2D", _NLL),
    ("UpsampleNearest1D UpsampleNearestExact1D", _resizing(1)),
    ("UpsampleNearest2D UpsampleNearestExact2D", _resizing(2)),
    ("UpsampleNearest3D UpsampleNearestExact3D", _resizing(3)),
    ("UpsampleLinear1D", _CORNERS | _resizing(1)),
    ("UpsampleBilinear2D UpsampleBicubic2D", _CORNERS | _resizing(2)),
    ("UpsampleTrilinear3D", _CORNERS | _resizing(3)),
    ("LinalgCholeskyEx", {"upper": _FALSE}),
    ("LogSigmoid", {"buffer": lambda node: wrap_as_normal(np.exp(-abs(_array(node, "self"))))}),
    ("Elu", _ELU),
    ("EluBackward", {**_ELU, "is_result": _FALSE}),
)
computed: dict[str, dict[str, Computed]] = {}
for _nodes, _values in _COMPUTED:
    for _node in _nodes.split():
        _node = f"{_node[:-1]}Backward1" if _node.endswith("1") else f"{_node}Backward0"
        computed[_node] = {**computed.get(_node, {}), **_values}
        if _node.startswith("Upsample"):  # its rule is linear, and keeps as much
            computed[_node.replace("Backward0", "BackwardBackward0")] = _values

# Values that PyTorch's node has under another name.
renamed: dict[str, dict[str, str]] = {
    "ThresholdBackwardBackward0": {"self": "output"},
    "EluBackwardBackward0": {"self_or_result": "self"},
    "AdaptiveMaxPool2DBackward0": {"result1": "indices"},
    "UnfoldBackward0": {"dimension": "dim"},
    "NormBackward1": {"p": "ord"},
    "LinalgInvExBackward0": {"inverse": "result"},
    "LinalgCholeskyExBackward0": {"L": "result"},
}


# What they keep for our rules alone.
_OWN = {"chosen", "kept", "layout", "positions", "sizes", "statistics", "taps", "weights"}
_OWN_HERE = {
    **dict.fromkeys(
        (f"MaxPool{dims}DWithIndicesBackwardBackward0" for dims in (2, 3)),
        "ceil_mode dilation kernel_size padding self stride",
    ),
    "AsStridedBackward0": "own",
    "EmbeddingBackward0": "weight_sym_sizes",
    "EmbeddingBagBackward0": "bags weight_sym_sizes",
    "LinalgSolveExBackward0": "vector",
    "Im2ColBackward0": "self_sym_sizes",
    "NativeBatchNormBackward0": "bias",
    "NativeGroupNormBackward0": "bias",
    "NativeLayerNormBackward0": "eps",
    "ScaledDotProductFlashAttentionForCpuBackward0": "mask",
}


def is_own(class_name: str, name: str) -> bool:
    """Tell whether a saved value is minigrad's own: PyTorch's node has none of that name."""
    return (
        name in _OWN
        or name in _OWN_HERE.get(class_name, "").split()
        or name.endswith("_sym_columns")
        or name in renamed.get(class_name, {}).values()
    )


def names_of(node: Any) -> list[str]:
    """Give the names under which a node can be asked for what it saved."""
    kind = type(node).__name__
    own = [name for name in node._names_of_saved if not is_own(kind, name)]
    return [*own, *renamed.get(kind, ()), *(n for n in computed.get(kind, ()) if n not in own)]


def attributes_of(node: Any) -> list[str]:
    """List the attributes of a node that show what it saved."""
    names = names_of(node)
    raw = [f"_raw_saved_{name}" for name in names if _is_tensor(node, name)]
    return [*(f"_saved_{name}" for name in names), *raw]


def ask(node: Any, attribute: str) -> Any:
    """Give the value of an attribute `_saved_<name>` or `_raw_saved_<name>`.

    Raises:
        AttributeError: If there is no such attribute.
        RuntimeError: If the value was released, or modified by an in-place operation.
    """
    kind = type(node).__name__
    prefix, found, name = attribute.partition("_saved_")
    known = found and prefix in ("", "_raw") and name in names_of(node)
    name = renamed.get(kind, {}).get(name, name)
    if not known or (prefix and not _is_tensor(node, name)):
        raise AttributeError(f"'{kind}' object has no attribute '{attribute}'")
    if prefix:
        return raw_saved(node, node._names_of_saved.index(name))
    instead = kind.startswith(("Native", "ScaledDotProduct")) or name not in node._names_of_saved
    if instead and name in computed.get(kind, ()):
        value = _shown(computed[kind][name](node), name)
        if node._saved is None and isinstance(value, Tensor):
            raise RuntimeError(RELEASED)
        return value
    value = kept(node, name)
    return look_at(value, node) if hasattr(value, "_version_counter") else _shown(value, name)


def _is_tensor(node: Any, name: str) -> bool:
    """Tell whether a tensor is saved under a name, or was, or would be if it was needed."""
    name = renamed.get(type(node).__name__, {}).get(name, name)
    if name not in node._names_of_saved or node._names_of_saved.index(name) in node._numbers_at:
        return False
    value = None if node._saved is None else kept(node, name)
    return value is None or hasattr(value, "_version_counter")


# Numbers that tensors are computed with, which keep their sign.
_NUMBERS = "alpha exponent max max_val min min_val negative_slope ord self threshold value"
_SIGNED = {"beta", "other", "p", *_NUMBERS.split()}


def _shown(value: Any, name: str) -> Any:
    """Show index arrays as tensors, and a dimension that is taken whole as None.

    Of dimensions and the like, a number that was negative is shown as PyTorch shows it: without
    sign, in 64 bits.
    """
    value = getattr(value, "said", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 or name in _SIGNED else value + 2**64
    if isinstance(value, np.ndarray):
        return wrap_as_normal(value)
    if isinstance(value, tuple) and any(not isinstance(each, Tensor) for each in value):
        return tuple(None if isinstance(each, slice) else _shown(each, name) for each in value)
    return value


class RawSavedTensor:
    """A value that a node saved, as `node._raw_saved_<name>` gives it: it can be given hooks."""

    __slots__ = ("__weakref__", "_node", "_place")

    _node: Node
    _place: int

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a pack hook returned; None once it was released."""
        entry = self._entry()
        if isinstance(entry, PackedTensor):
            packed = entry.packed
            return wrap_as_normal(packed.array) if isinstance(packed, OwnResult) else packed
        if isinstance(entry, SavedTensor):
            return wrap_as_normal(entry.array) if entry.tensor is None else entry.tensor
        return entry

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that gives the value back; None if there is none."""
        entry = self._entry()
        return entry.unpack if isinstance(entry, PackedTensor) else None

    def unpack(self) -> Any:
        """Give the saved tensor, as the node's rule would get it.

        Raises:
            RuntimeError: If it was released, or modified by an in-place operation, or if it is
                the node's own result, which has no place in the graph without the node.
        """
        if self._node._saved is None:
            raise RuntimeError(RELEASED)
        entry = self._entry()
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            raise detached(" This is the node's own result: ask node._saved_result for it.")
        return entry if entry is None else unpack_tensor(entry, self._node)

    def _entry(self) -> Any:
        return None if self._node._saved is None else self._node._saved[self._place]

    def register_hooks(self, *hooks: Any) -> None:
        """Pack this saved value, now, with `pack_hook`; `unpack_hook` will give it back.

        Args:
            *hooks: The pack hook and the unpack hook, as for `saved_tensors_hooks`.

        Raises:
            TypeError: If the arguments are not two callables.
            RuntimeError: If the value has hooks already, is None, or was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * x
            >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
            >>> y.backward()
            >>> x.grad
            tensor([33.])
        """
        if len(hooks) != 2 or not all(callable(hook) for hook in hooks):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types "
                "are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked "
                f"with: {', '.join(map(repr, (self, *hooks)))}"
            )
        node = self._node
        if node._saved is None:
            told = FREED.format("variables")
            raise RuntimeError(
                f"Calling register_hooks on a saved tensor after it has been freed. {told}"
            )
        entry = node._saved[self._place]
        if isinstance(entry, PackedTensor):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if entry is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        tensor = entry if isinstance(entry, Tensor) else entry.tensor
        if tensor is None:
            packed = pack(wrap_as_normal(entry.array), None, node._result_nr(self._place), hooks)
        else:
            packed = pack(tensor.detach(), *gradient_edge(tensor), hooks)
        packed.requires_grad = tensor is None or tensor.requires_grad
        saved = list(node._saved)
        saved[self._place] = packed
        node._saved = tuple(saved)


def raw_saved(node: Node, place: int) -> RawSavedTensor:
    """Give a handle on one of the values that a node saved."""
    raw = object.__new__(RawSavedTensor)
    raw._node = node
    raw._place = place
    return raw


RawSavedTensor.__name__ = RawSavedTensor.__qualname__ = "SavedTensor"  # as in PyTorch


@attach(Node)
class NodeFace(Node):
    """What a node offers beside what the engine needs of it."""

    __slots__ = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict for notes about this node."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata: dict[str, Any] = {}
            return self._metadata

    def __call__(self, *gradients: Any, **named: Any) -> Any:
        """Apply the backward rule to gradients of the results, by hand.

        Args:
            *gradients: A tensor for each output of the node.
            **named: Refused.

        Returns:
            The gradients of the inputs: a tuple, or a tensor if there is one input.

        Raises:
            TypeError: If there are not as many gradients as outputs, or one is given by name.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> (x * x).grad_fn(torch.tensor([10.0]))
            (tensor([30.], grad_fn=<MulBackward0>), tensor([30.], grad_fn=<MulBackward0>))
        """
        given = all(gradient is None or isinstance(gradient, Tensor) for gradient in gradients)
        expected = len(self._shape) if self._multiple else 1
        if named or len(gradients) != expected or not given:
            raise wrong_call(expected, gradients, named)
        if all(gradient is None for gradient in gradients) and not self._runs_without_gradient:
            results: Sequence[Any] = (None,) * len(self.next_functions)
        else:
            if isinstance(self, AccumulateGrad) and gradients[0].shape != self.variable.shape:
                zeros: Any = wrap_as_normal(np.zeros_like(self.variable._array))
                gradients = (zeros.add_(gradients[0]),)
            results = self._run_recorded(list(gradients) if self._multiple else gradients[0])
        if isinstance(self, AccumulateGrad) and self._hooks is not None:
            self._hooks.run_post_accumulate_hooks(self.variable)  # no others run
        return results[0] if len(results) == 1 else tuple(results)

    def _sequence_nr(self) -> int:
        """Tell the place of this node in the order of recording; the latest runs first."""
        return 2**64 - 1 if isinstance(self, AccumulateGrad) else -self._priority

    def _set_sequence_nr(self, number: int) -> None:
        self._priority = -number

    def _check_saved(self) -> None:
        """Raise if the saved values that the rule needs were released, or written to since.

        Raises:
            RuntimeError: If they were.
        """
        if self._names_of_saved:
            if self._saved is None:
                raise RuntimeError(RELEASED)
            for value in self._saved:
                if getattr(value, "_version_counter", None) is not None:
                    unpack_array(value, self)

    def __getattr__(self, name: str) -> Any:
        """Give `_saved_<name>`, a value that the node keeps for its rule, or `_raw_saved_<name>`.

        A raw one is a handle that takes hooks.
        """
        return ask(self, name)

    def __dir__(self) -> list[str]:
        """List the saved values too."""
        hidden = ("_names_of_saved", "_saved")  # what begins like this is a saved value
        own = (name for name in object.__dir__(self) if name not in hidden)
        return [*own, *attributes_of(self)]
