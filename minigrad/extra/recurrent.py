"""Read sequences step by step: `RNN`, `LSTM`, `GRU` and their cells.

They are recorded step by step, operation by operation; but a layer of an LSTM of float32 is one
node, as in PyTorch, where oneDNN computes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from minigrad.autograd.custom_nodes import Decomposition, lead_back, new_node
from minigrad.autograd.gradients import grad
from minigrad.autograd.messages import warn
from minigrad.core.tensor import SavedTensor, Tensor, wrap
from minigrad.creation.factories import zeros
from minigrad.extra import lstm
from minigrad.extra.packing import PackedSequence
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.layer import Layer, add_parameters, changed
from minigrad.ops import joining
from minigrad.ops.activations import relu, sigmoid, tanh
from minigrad.ops.linear import linear
from minigrad.ops.shape import alias

NAMES = ("GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase")


# Steps ------------------------------------------------------------------------------------------

# The state after a step: of an LSTM, and its cell state.
State = tuple[Tensor, ...]


class _Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    w_x: Tensor
    w_h: Tensor
    b_x: Tensor | None = None
    b_h: Tensor | None = None


def _tanh_step(x: Tensor, state: State, weights: _Weights) -> State:
    return (tanh(linear(state[0], weights.w_h, weights.b_h) + x),)


def _relu_step(x: Tensor, state: State, weights: _Weights) -> State:
    return (relu(linear(state[0], weights.w_h, weights.b_h) + x),)


def _lstm_step(x: Tensor, state: State, weights: _Weights) -> State:
    h, c = state
    i, f, g, o = joining.unsafe_chunk(linear(h, weights.w_h, weights.b_h) + x, 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    c = f * c + i * g
    return o * tanh(c), c


def _gru_step(x: Tensor, state: State, weights: _Weights) -> State:
    (h,) = state
    x_r, x_z, x_n = joining.unsafe_chunk(x, 3, 1)
    h_r, h_z, h_n = joining.unsafe_chunk(linear(h, weights.w_h, weights.b_h), 3, 1)
    r = sigmoid(h_r + x_r)
    z = sigmoid(h_z + x_z)
    n = tanh(x_n + h_n * r)
    return ((h - n) * z + n,)


# By mode: how many gates there are, and what takes the projected input of a step, the state and
# the weights, and gives the next state.
_MODES: dict[str, tuple[int, Callable[[Tensor, State, _Weights], State]]] = {
    "LSTM": (4, _lstm_step),
    "GRU": (3, _gru_step),
    "RNN_TANH": (1, _tanh_step),
    "RNN_RELU": (1, _relu_step),
}


def _read(
    mode: str, sizes: list[int] | None, x: Tensor, first: State, weights: _Weights, reverse: bool
) -> tuple[Tensor, State]:
    """Run one layer in one direction; of packed sequences, `sizes` says how many take each step.

    The batch gets smaller where sequences end; from the end, it grows where they begin.
    """
    x = linear(x, weights.w_x, weights.b_x)
    pieces: Sequence[Tensor] = x.unbind(0) if sizes is None else x.split(sizes)
    state, ended, outputs = first, [], []
    for each in reversed(pieces) if reverse else pieces:
        last, size = len(state[0]), len(each)
        if size < last:
            ended.append([part[size:] for part in state])
            state = tuple(part[:size] for part in state)
        elif size > last:
            grown = zip(state, first, strict=True)
            state = tuple(joining.cat([part, more[last:size]], 0) for part, more in grown)
        state = _MODES[mode][1](each, state, weights)
        outputs.append(state[0])
    if ended and not reverse:
        parts = zip(state, *reversed(ended), strict=True)
        state = tuple(joining.cat(each, 0) for each in parts)
    outputs = outputs[::-1] if reverse else outputs
    return joining.stack(outputs, 0) if sizes is None else joining.cat(outputs, 0), state


class MkldnnRnnLayerBackward0(Decomposition):
    """Backward of a layer of an LSTM in one direction, named after what computes it in PyTorch."""

    __slots__ = ()
    _names_of_saved = (
        *("cx_", "hx_", "input", "weight0", "weight1", "weight2", "weight3"),
        *("result0", "result1", "result2", "result3"),
    )

    def _result_nr(self, index: int) -> int:
        return index - 7

    def _apply(self, gradient: Any, keep: bool, unpack: Callable[..., Any]) -> Any:
        return super()._apply(gradient, keep, unpack)[0]

    def rule(self, *values: Any) -> Any:
        """Give the gradients; those that are recorded come from the steps, taken again."""
        *grads, c, h, x, w_x, w_h, b_x, b_h, states, _, _, kept, reverse = values
        if isinstance(x, Tensor):
            # hooks sit on the inputs: they are not called for an alias
            given = [*map(alias, (x, w_x, w_h, b_x, b_h, h, c))]
            first, weights = (given[5], given[6]), _Weights(*given[1:5])
            output, last = _read("LSTM", None, given[0], first, weights, reverse)
            pairs = zip((output, *last), grads, strict=True)
            outputs, arrived = zip(*[pair for pair in pairs if pair[1] is not None], strict=True)
            wanted = [each for each in given if each.requires_grad]
            found = iter(grad(outputs, wanted, arrived, create_graph=True))
            return [next(found) if each.requires_grad else None for each in given]
        order = slice(None, None, -1 if reverse else 1)
        for number, each in enumerate(grads):
            if each is None:
                grads[number] = np.zeros(self._shape[number], x.dtype)
        grads[0], needs = grads[0][order], [edge[0] is not None for edge in self._edges]
        found = iter(lstm.backward(grads, x[order], h, w_x, w_h, states[order], kept, needs))
        of_x = next(found)
        return [of_x if of_x is None else np.ascontiguousarray(of_x[order]), *found]


def _fused_lstm(x: Tensor, first: State, weights: Any, reverse: bool) -> tuple[Tensor, State]:
    """Run one layer in one direction, and record it as one node."""
    if weights.b_x is None:
        nothing = zeros(len(weights.w_x), dtype=x.dtype)
        weights = weights._replace(b_x=nothing, b_h=nothing)
    tensors: Any = (x, *weights, *first)
    sequence, *others = [each._array for each in (x, *first, *weights)]
    order = slice(None, None, -1 if reverse else 1)
    states, *last, kept = lstm.forward(sequence[order], *others)
    outputs = tuple(map(wrap, (np.ascontiguousarray(states[order]), *last)))
    node = new_node(MkldnnRnnLayerBackward0, tensors, every=True)
    if node is not None:
        inputs = (*tensors[:-3:-1], *tensors[:5])
        results = [SavedTensor(each, True) for each in outputs]
        node._saved = (*map(SavedTensor, inputs), *results, SavedTensor(wrap(kept)))
        node._settings = (reverse,)
        lead_back(node, outputs)
    return outputs[0], outputs[1:]


# Layers -----------------------------------------------------------------------------------------


class _Recurrent(Layer):
    """Layers and cells with a state."""

    def reset_parameters(self) -> None:
        r"""Draw all parameters uniformly from $\pm 1/\sqrt{n}$ for a state of size $n$."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)


class RNNBase(
    _Recurrent,
    settings="mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, "
    "dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None",
):
    """What `RNN`, `LSTM` and `GRU` share: stacked layers of weights, checks, packed sequences.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        proj_size: Must be 0: in PyTorch the state of an LSTM may be mapped to another size.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Raises:
        TypeError: If a size or a flag is of another type.
        ValueError: If a size is not positive, or `dropout` is no probability.
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        dropout = float(settings["dropout"])
        super()._keep(settings | {"dropout": dropout})
        sizes = self.input_size, self.hidden_size, self.num_layers
        if min(sizes) <= 0 or not 0 <= dropout <= 1 or self.proj_size != 0:
            raise ValueError(
                f"{type(self).__name__}: sizes and layers {sizes} must be positive, "
                f"dropout={dropout} a probability, and proj_size={self.proj_size} is 0 here"
            )
        if dropout > 0 and self.num_layers == 1:
            warn("dropout works between layers: with one layer, there is nothing to drop")
        self._all_weights: list[list[str]] = []
        rows = _MODES[self.mode][0] * self.hidden_size
        for layer in range(self.num_layers):
            width = self.hidden_size * (1 + bool(self.bidirectional)) if layer else self.input_size
            shapes: dict[str, Any] = {"weight_ih": (rows, width)}
            shapes["weight_hh"] = (rows, self.hidden_size)
            if self.bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            for suffix in ("", "_reverse")[: 1 + bool(self.bidirectional)]:
                named = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                add_parameters(self, settings, **named)
                self._all_weights.append([*named])
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Do nothing: on the CPU the parameters lie well where they are."""

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise if the input does not fit the weights.

        Raises:
            RuntimeError: If it has another size.
            ValueError: If it is of another dtype, or has another number of dimensions.
        """
        dtype = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != dtype or input.ndim != (3 if batch_sizes is None else 2):
            raise ValueError(
                f"The input must have steps, a batch and features, all of {dtype}; it is of shape "
                f"{list(input.shape)}, of {input.dtype}"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"The input has {input.shape[-1]} features, not {self.input_size}")

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Read sequences.

        Args:
            input: Of shape (L, N, input_size), or (N, L, input_size) with `batch_first`, or
                (L, input_size) for a single sequence; or a `PackedSequence`.
            hx: The first states; zeros if None.

        Returns:
            What the last layer says after each step, and the final states of all layers.

        Raises:
            RuntimeError: If sizes do not fit.
            ValueError: If the input is of another dtype, or has neither two nor three dimensions.
        """
        packed = isinstance(input, PackedSequence)
        fields: tuple[Any, ...] = input if packed else (input, None, None, None)
        data, batch_sizes, order, back = fields
        lstm, batch_dim = self.mode == "LSTM", 0 if self.batch_first and not packed else 1
        single = not packed and data.ndim == 2
        if single:
            data = data.unsqueeze(batch_dim)
        self.check_input(data, batch_sizes)
        if not packed and not data.shape[1 - batch_dim]:
            raise RuntimeError("an RNN needs a step to take")
        batch = int(batch_sizes[0]) if packed else data.shape[batch_dim]
        directions = (False, True)[: 1 + bool(self.bidirectional)]
        shape = (self.num_layers * len(directions), batch, self.hidden_size)
        if hx is None:
            states = [zeros(shape, dtype=data.dtype) for _ in range(1 + lstm)]
        else:
            states = [*hx] if lstm else [hx]
            if order is not None:
                states = [state.index_select(1, order) for state in states]
            elif single:
                states = [state.unsqueeze(1) for state in states]
        if any(state.shape != shape for state in states):
            found = [list(state.shape) for state in states]
            raise RuntimeError(f"{self.mode}: the states must be of shape {shape}, not {found}")
        output: Any = data.transpose(0, 1) if batch_dim == 0 else data
        counts = batch_sizes.tolist() if packed else None
        weights = [_Weights(*each) for each in self.all_weights]
        read_layer: Any = partial(_read, self.mode, counts)
        arrays = [each._array for each in (data, *states, *self._flat_weights)]
        kinds = {(type(array), array.dtype.char) for array in arrays}
        # as PyTorch asks whether oneDNN can compute it
        if lstm and kinds == {(np.ndarray, "f")} and data.numel() and len(set(counts or (1,))) == 1:
            read_layer = _fused_lstm
            output = output.view(-1, batch, self.input_size) if packed else output.contiguous()
            firsts = [tuple(state[n] for state in states) for n in range(len(weights))]
        else:
            firsts = list(zip(*(state.unbind(0) for state in states), strict=True))
        finals: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                output = F.dropout(output, self.dropout, True)
            read = []
            for reverse in directions:
                first, weight = firsts[len(finals)], weights[len(finals)]
                each, last = read_layer(output, first, weight, reverse)
                read.append(each)
                finals.append(last)
            output = joining.cat(read, output.ndim - 1) if self.bidirectional else read[0]
        final = [joining.stack(each, 0) for each in [*zip(*finals, strict=True)][::-1]][::-1]
        if batch_dim == 0:  # in place where PyTorch does it, so that the node has the same name
            output = output.transpose(0, 1) if lstm else output.transpose_(0, 1)
        if packed:
            output = output.flatten(0, -2)
            output = PackedSequence(output, batch_sizes, order, back)
        elif single:
            output, final = output.squeeze(batch_dim), [state.squeeze(1) for state in final]
        if back is not None:
            final = [state.index_select(1, back) for state in final]
        return output, tuple(final) if lstm else final[0]

    def extra_repr(self) -> str:
        """Give the sizes, and the settings that are not the defaults."""
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        others = changed(self, **usual, bidirectional=False)
        return f"{self.input_size}, {self.hidden_size}{others}"


class RNN(RNNBase):
    r"""Stacked Elman networks, $h_t = \tanh(W_x x_t + b_x + W_h h_{t-1} + b_h)$.

    Source: Elman, *Finding structure in time*, 1990.

    Args:
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        nonlinearity: "tanh" or "relu".
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (L, N, input_size), (N, L, input_size) with `batch_first`, or (L, input_size)
        - hx and the final states: (layers * directions, N, hidden_size), without N if it is not
          in the input
        - output: as the input, with directions * hidden_size for input_size

    Example:
        >>> import minigrad as torch
        >>> rnn = torch.nn.RNN(3, 4, num_layers=2)
        >>> output, states = rnn(torch.randn(5, 1, 3))
        >>> output.shape, states.shape
        (torch.Size([5, 1, 4]), torch.Size([2, 1, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"nonlinearity must be 'tanh' or 'relu', not {self.nonlinearity!r}")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class GRU(RNNBase):
    r"""Stacked networks of gated recurrent units.

    With gates $(r, z) = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h)$ and the candidate
    $n = \tanh(W_{xn} x_t + b_{xn} + r (W_{hn} h_{t-1} + b_{hn}))$ the state is
    $h_t = (1 - z) n + z h_{t-1}$. Source: Cho et al., *Learning phrase representations using RNN
    encoder-decoder for statistical machine translation*, 2014.

    Args:
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (L, N, input_size), (N, L, input_size) with `batch_first`, or (L, input_size)
        - hx and the final states: (layers * directions, N, hidden_size), without N if it is not
          in the input
        - output: as the input, with directions * hidden_size for input_size

    Example:
        >>> import minigrad as torch
        >>> gru = torch.nn.GRU(3, 4, bidirectional=True)
        >>> output, h = gru(torch.randn(5, 2, 3))
        >>> output.shape, h.shape
        (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    r"""Stacked networks of long short-term memory.

    With gates $(i, f, o) = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h)$ and a candidate $g$ made the
    same way with $\tanh$, the cell is $c_t = f c_{t-1} + i g$ and the state $h_t = o \tanh c_t$.
    Source: Hochreiter and Schmidhuber, *Long short-term memory*, 1997.

    Args:
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        proj_size: Must be 0.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (L, N, input_size), (N, L, input_size) with `batch_first`, or (L, input_size)
        - states: a pair, (layers * directions, N, hidden_size) and the cell states
          (layers * directions, N, hidden_size), without N if it is not in the input
        - output: as the input, with directions * hidden_size for input_size

    Example:
        >>> import minigrad as torch
        >>> lstm = torch.nn.LSTM(3, 4, batch_first=True)
        >>> output, (h, c) = lstm(torch.randn(2, 5, 3))
        >>> output.shape, h.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


# Cells ------------------------------------------------------------------------------------------


class RNNCellBase(_Recurrent):
    """What the cells share: weights for the input and the state, biases, checks."""

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None
    _mode: ClassVar[str]

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep(settings)
        rows = _MODES[self._mode or "RNN_TANH"][0] * self.hidden_size
        shapes = {"weight_ih": (rows, self.input_size), "weight_hh": (rows, self.hidden_size)}
        biases = dict.fromkeys(("bias_ih", "bias_hh"), (rows,) if self.bias else None)
        add_parameters(self, settings, **shapes, **biases)
        self.reset_parameters()

    def extra_repr(self) -> str:
        """Give the sizes, and the settings that are not the defaults."""
        kind = {"nonlinearity": "tanh"} if hasattr(self, "nonlinearity") else {}
        return f"{self.input_size}, {self.hidden_size}{changed(self, bias=True, **kind)}"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Take a step, from zeros if `hx` is None; an `LSTMCell` gives state and cell state.

        Raises:
            ValueError: If an input has neither one nor two dimensions.
            RuntimeError: If sizes do not fit.
        """
        lstm = self._mode == "LSTM"
        states = () if hx is None else hx if lstm else (hx,)
        if any(tensor.ndim not in (1, 2) for tensor in (input, *states)):
            raise ValueError(f"{type(self).__name__}: input and states must be 1D or 2D")
        single = input.ndim == 1
        if single:
            input, *states = (tensor.unsqueeze(0) for tensor in (input, *states))
        if not states:
            states = [zeros(input.shape[0], self.hidden_size, dtype=input.dtype)] * (1 + lstm)
        expected = (len(input), self.hidden_size)
        if any(state.shape != expected for state in states):
            raise RuntimeError(f"{type(self).__name__}: states must be of shape {expected}")
        weights = _Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        mode = self._mode or f"RNN_{self.nonlinearity.upper()}"
        x = linear(input, weights.w_x, weights.b_x)
        result = _MODES[mode][1](x, tuple(states), weights)
        result = tuple(each.squeeze(0) for each in result) if single else result
        return result if lstm else result[0]


_CELL = "input_size, hidden_size, bias=True, device=None, dtype=None"


class RNNCell(RNNCellBase, settings=_CELL.replace("True", "True, nonlinearity='tanh'"), mode=""):
    r"""One step of an Elman network, $h' = \tanh(W_x x + b_x + W_h h + b_h)$.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        bias: Whether there are biases.
        nonlinearity: "tanh" or "relu".
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (N, input_size) or (input_size)
        - hx and the result: (N, hidden_size) or (hidden_size)

    Example:
        >>> import minigrad as torch
        >>> cell = torch.nn.RNNCell(3, 4)
        >>> cell(torch.randn(2, 3)).shape
        torch.Size([2, 4])
    """


class GRUCell(RNNCellBase, settings=_CELL, mode="GRU"):
    """One step of a gated recurrent unit; see `GRU` for the formula.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        bias: Whether there are biases.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (N, input_size) or (input_size)
        - hx and the result: (N, hidden_size) or (hidden_size)
    """


class LSTMCell(RNNCellBase, settings=_CELL, mode="LSTM"):
    """One step of long short-term memory; see `LSTM` for the formula.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        bias: Whether there are biases.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (N, input_size) or (input_size)
        - hx and the result: pairs of states, (N, hidden_size) or (hidden_size)

    Example:
        >>> import minigrad as torch
        >>> h, c = torch.nn.LSTMCell(3, 4)(torch.randn(2, 3))
        >>> h.shape
        torch.Size([2, 4])
    """
