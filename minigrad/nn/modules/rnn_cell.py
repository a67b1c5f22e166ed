"""Take single steps of a recurrent network: `RNNCell`, `LSTMCell` and `GRUCell`."""

from __future__ import annotations

import math
from typing import Any

from minigrad.creation import empty, zeros
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.parameter import Parameter
from minigrad.ops.calling import stepping
from minigrad.tensor import Tensor

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What the cells share: weights for the input and the state, biases, checks.

    Args:
        input_size: The size of an input.
        hidden_size: The size of the state.
        bias: Whether there are biases.
        num_chunks: How many gates there are.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        """Give the sizes, and the settings that are not the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def reset_parameters(self) -> None:
        r"""Draw all parameters uniformly from $\pm 1/\sqrt{n}$ for a state of size $n$."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_dimensions(self, input: Tensor, hx: Tensor | None) -> None:
        for what, tensor in (("input", input), ("hidden", hx)):
            if tensor is not None and tensor.ndim not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected {what} to be 1D or 2D, "
                    f"got {tensor.ndim}D instead"
                )

    def _zeros(self, input: Tensor) -> Tensor:
        return zeros(input.shape[0], self.hidden_size, dtype=input.dtype)

    def _step(self, call: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        """Take a step of a cell with one tensor of states."""
        self._check_dimensions(input, hx)
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
            hx = None if hx is None else hx.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        result = call(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)  # type: ignore[no-any-return]


class RNNCell(RNNCellBase):
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

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Take a step, from zeros if `hx` is None."""
        if self.nonlinearity not in ("tanh", "relu"):
            self._check_dimensions(input, hx)
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        tanh = self.nonlinearity == "tanh"
        return self._step(stepping.rnn_tanh_cell if tanh else stepping.rnn_relu_cell, input, hx)


class GRUCell(RNNCellBase):
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

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Take a step, from zeros if `hx` is None."""
        return self._step(stepping.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
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

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Take a step, from zeros if `hx` is None; give the state and the cell state."""
        self._check_dimensions(input, None)
        for place, state in enumerate(hx or ()):
            if state.ndim not in (1, 2):
                raise ValueError(
                    f"LSTMCell: Expected hx[{place}] to be 1D or 2D, got {state.ndim}D instead"
                )
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            first = self._zeros(input)
            hx = (first, first)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = stepping.lstm_cell(
            input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
