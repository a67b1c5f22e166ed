"""Bend what linear layers compute: activation functions as modules."""

from __future__ import annotations

from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.creation.factories import full
from minigrad.nn import functional as F
from minigrad.nn.modules.layer import Layer
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.signatures import VARIANTS

__all__ = [
    "CELU", "ELU", "GELU", "SELU", "Hardsigmoid", "Hardswish",
    "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "PReLU",
    "RReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmin", "Softplus",
    "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class ReLU(Layer, calls=F.relu, settings="inplace=False"):
    r"""$\max(x, 0)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """


class Tanh(Module):
    r"""$\tanh x$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Tanh()(torch.tensor([0.0]))
        tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return VARIANTS["tanh"].method(input)


class Sigmoid(Module):
    r"""$1 / (1 + e^{-x})$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Sigmoid()(torch.tensor([0.0]))
        tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return VARIANTS["sigmoid"].method(input)


class Softplus(Layer, calls=F.softplus, settings="beta=1.0, threshold=20.0"):
    r"""$\frac{1}{\beta} \log(1 + e^{\beta x})$, elementwise: a smooth ReLU.

    Args:
        beta: How sharply it bends.
        threshold: Above $\beta x$ = threshold it is computed as $x$.
    """


class LeakyReLU(Layer, calls=F.leaky_relu, settings="negative_slope=0.01, inplace=False"):
    r"""$x$ for $x > 0$, and `negative_slope` times $x$ otherwise, elementwise.

    Args:
        negative_slope: The slope on the left.
        inplace: Overwrite the input.
    """


class ELU(Layer, calls=F.elu, settings="alpha=1.0, inplace=False"):
    r"""$x$ for $x > 0$, and $\alpha (e^x - 1)$ otherwise, elementwise.

    Args:
        alpha: Minus the value far on the left.
        inplace: Overwrite the input.
    """


class CELU(Layer, calls=F.celu, settings="alpha=1.0, inplace=False"):
    r"""$x$ for $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ otherwise, elementwise.

    Source: Barron, *Continuously differentiable exponential linear units*, 2017.

    Args:
        alpha: Minus the value far on the left.
        inplace: Overwrite the input.
    """


class SELU(Layer, calls=F.selu, settings="inplace=False"):
    r"""$s x$ for $x > 0$, and $s \alpha (e^x - 1)$ otherwise: keeps mean 0 and variance 1.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017.

    Args:
        inplace: Overwrite the input.
    """


class SiLU(Layer, calls=F.silu, settings="inplace=False"):
    r"""$x / (1 + e^{-x})$, elementwise, also known as swish.

    Args:
        inplace: Overwrite the input.
    """


class Hardsigmoid(Layer, calls=F.hardsigmoid, settings="inplace=False", shows=""):
    r"""$\min(\max(x + 3, 0), 6) / 6$, elementwise.

    Args:
        inplace: Overwrite the input.
    """


class Hardswish(Layer, calls=F.hardswish, settings="inplace=False", shows=""):
    r"""$x \min(\max(x + 3, 0), 6) / 6$, elementwise.

    Source: Howard et al., *Searching for MobileNetV3*, 2019.

    Args:
        inplace: Overwrite the input.
    """


class GELU(Layer, calls=F.gelu, settings="approximate='none'"):
    r"""$x \Phi(x)$, elementwise, with the distribution function of the normal distribution.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016.

    Args:
        approximate: `"none"`, or `"tanh"` to compute $\Phi$ by a hyperbolic tangent.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.GELU()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """


class Softmax(Layer, calls=F.softmax, settings="dim=None"):
    r"""$e^{x_i} / \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Softmax(dim=0)(torch.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """


class LogSoftmax(Layer, calls=F.log_softmax, settings="dim=None"):
    r"""$x_i - \log \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the probabilities sum to 1. Leaving it out is deprecated.
    """


class Softmin(Layer, calls=F.softmin, settings="dim=None"):
    """The softmax of minus the input along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.
    """


class LogSigmoid(Layer, calls=F.logsigmoid):
    r"""$\ln(1 / (1 + e^{-x}))$, elementwise."""


class Softsign(Layer, calls=F.softsign):
    r"""$x / (1 + |x|)$, elementwise."""


class Tanhshrink(Layer, calls=F.tanhshrink):
    r"""$x - \tanh x$, elementwise."""


class Threshold(Layer, calls=F.threshold, settings="threshold, value, inplace=False"):
    """Keeps what is greater than a threshold, and puts a value instead of the rest.

    Args:
        threshold: The threshold.
        value: What takes the place.
        inplace: Overwrite the input.
    """


class RReLU(Layer, calls=F.rrelu, settings="lower=1.0 / 8, upper=1.0 / 3, inplace=False"):
    """A leaky ReLU whose slopes are drawn at random while the module is trained.

    Source: Xu et al., *Empirical evaluation of rectified activations in convolution network*, 2015.

    Args:
        lower: The smallest slope.
        upper: The largest slope.
        inplace: Overwrite the input.
    """


class Hardtanh(Layer, calls=F.hardtanh, settings="min_val=-1.0, max_val=1.0, inplace=False"):
    """Limits to an interval, elementwise.

    Args:
        min_val: The lower end.
        max_val: The upper end.
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep(settings)
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )


class ReLU6(Hardtanh, settings="inplace=False"):
    r"""$\min(\max(x, 0), 6)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU6()(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep({"min_val": 0.0, "max_val": 6.0, **settings})


class PReLU(
    Layer,
    calls=F.prelu,
    settings="num_parameters=1, init=0.25, device=None, dtype=None",
    shows="num_parameters=",
):
    """A leaky ReLU whose slope is learned: one, or one for each channel (dimension 1).

    Source: He et al., *Delving deep into rectifiers*, 2015.

    Args:
        num_parameters: How many slopes.
        init: What they begin with.
        device: Only the CPU is there.
        dtype: The element type of the slopes; the default dtype if None.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])
    """

    weight: Tensor

    def _keep(self, settings: dict[str, Any]) -> None:
        made = {name: settings[name] for name in ("dtype", "device")}
        super()._keep(settings)
        self.weight = Parameter(full((self.num_parameters,), float(self.init), **made))

    def reset_parameters(self) -> None:
        """Begin again with the first slope."""
        self.weight.data.fill_(self.init)
