"""Write an optimizer by saying what happens to one parameter: `SGD`, `Adam`, `RMSprop`, ..."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import starmap
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.autograd.grad_mode import INFERENCE, enable_grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import tensor
from minigrad.creation.factories import full_like, zeros_like
from minigrad.optim.optimizer import Optimizer
from minigrad.signatures.out import refuse_repeats

Values = dict[str, Any]


# What a setting must fulfill.
_CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "betas": lambda betas: all(0.0 <= beta < 1.0 for beta in betas),
    "rho": lambda rho: 0.0 <= rho <= 1.0,
}
_AMOUNTS = "lr eps weight_decay momentum lr_decay initial_accumulator_value"
_CONDITIONS |= dict.fromkeys(_AMOUNTS.split(), lambda value: bool(number(value) >= 0))


def check(settings: Values) -> None:
    """Raise ValueError for a setting that makes no sense."""
    for name in settings.keys() & _CONDITIONS.keys():
        if not _CONDITIONS[name](settings[name]):
            raise ValueError(f"Invalid {name}: {settings[name]}")


class EachParameter(Optimizer):
    """Base class of optimizers whose step treats each parameter by itself.

    A subclass tells its settings as `__init__` takes them, and defines `_update`, its formula. The
    gradient that `_update` is given has its sign turned for `maximize` and weight decay added, and
    the step is counted.
    """

    # What is kept of each parameter beside the number of steps: tensors in its shape that begin
    # with zeros.
    _averages: ClassVar[tuple[str, ...]] = ()
    _averages_for: ClassVar[dict[str, str]] = {}  # by the setting that asks for one more

    if TYPE_CHECKING:

        def __init__(self, params: Any, *values: Any, **settings: Any) -> None: ...

    def __init_subclass__(cls, settings: str | None = None, **others: Any) -> None:
        """Write `__init__` for a class, and give it a `step` of its own: errors name the class."""
        super().__init_subclass__(settings=settings, **others)
        if settings is not None:
            code, defaults = EachParameter.step.__code__, EachParameter.step.__defaults__
            step: Any = FunctionType(code, globals(), "step", defaults)
            step.__qualname__ = f"{cls.__qualname__}.step"
            cls.step = step  # type: ignore[method-assign]

    def _set_up(self, params: Any, given: Values) -> None:
        """Check the settings and keep them as defaults.

        Raises:
            ValueError: If a setting does not fulfill its condition.
            NotImplementedError: If a step is to be recorded.
        """
        check(given)
        if "betas" in given:
            given["betas"] = tuple(given["betas"])
        Optimizer.__init__(self, params, dict(given))
        if given["differentiable"]:
            raise NotImplementedError("a step records nothing: leave out differentiable=True")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        """Change the arrays of a parameter and of its state, in place."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter before its first step."""
        asked = (name for setting, name in self._averages_for.items() if group[setting])
        averages = {name: zeros_like(parameter) for name in (*self._averages, *asked)}
        return {"step": tensor(0.0), **averages}

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, in place.

        Args:
            closure: Computes the loss again, with gradients; called first, if given.

        Returns:
            The loss that the closure returned, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            ready = [(p, grad) for p in group["params"] if (grad := p.grad) is not None]
            if ready:
                with np.errstate(all="ignore"):  # like PyTorch, of infinities and NaN
                    self._step_group(group, ready)
        return loss

    def _step_group(self, group: Values, ready: list[tuple[Tensor, Any]]) -> None:
        """Make the step of each parameter."""
        lr, decay = number(group["lr"]), number(group.get("weight_decay", 0))
        for parameter, given in ready:
            kept: Any = self.state.get(parameter)
            if not kept and (kept := self._new_state(parameter, group)):
                self.state[parameter] = kept
            values: Values = {name: getattr(value, "_array", value) for name, value in kept.items()}
            array, gradient = parameter._array, given._array
            parameter._bump_version()
            refuse_repeats(array)
            if group["maximize"]:
                gradient = -gradient
            if decay != 0:
                if group.get("decoupled_weight_decay"):
                    array *= 1 - lr * decay
                else:
                    gradient = gradient + array * decay
            if "step" in values:
                values["step"] += 1
            self._update(array, gradient, values, group, lr)
            for name, value in values.items():
                held = kept.get(name)
                if isinstance(held, Tensor) and held._array is value:
                    held._bump_version()
                elif isinstance(value, np.ndarray):
                    kept[name] = wrap(value)


# Arithmetic in place ----------------------------------------------------------------------------


def number(value: Any) -> Any:
    """Give a setting as a number; it may be kept in a tensor, to be changed in place.

    Raises:
        ValueError: If it is kept in a tensor of several entries.
    """
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        return value
    if math.prod(value.shape) != 1:
        raise ValueError("A setting of an optimizer is one number; a tensor must have one entry")
    return value.item()


def is_plain(parameter: Tensor, gradient: Tensor) -> bool:
    """Tell whether nothing has to be looked at before a step changes the array of a parameter."""
    array, other = parameter._array, gradient._array
    return (
        type(array) is np.ndarray
        and array.dtype.kind == "f"
        and array.dtype == other.dtype
        and 0 not in array.strides
        and parameter._version_counter is not INFERENCE
    )


def lerp_(value: Any, end: Any, weight: Any) -> None:
    r"""Move towards an end in place: $v \leftarrow v + w (e - v)$."""
    way = end - value
    value[...] = value + way * weight if weight < 0.5 else end - way * (1 - weight)


def addcmul_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a product in place: $v \leftarrow v + f a b$."""
    value += a * factor * b


def addcdiv_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a quotient in place: $v \leftarrow v + f a / b$."""
    value += a * factor / b


# Stochastic gradient descent --------------------------------------------------------------------


class SGD(
    EachParameter,
    settings="lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, "
    "maximize=False, foreach=None, differentiable=False, fused=None",
):
    r"""Stochastic gradient descent.

    With gradient $g_t$ (to which weight decay adds $\lambda \theta_{t-1}$), momentum $\mu$,
    dampening $\tau$ and learning rate $\gamma$:

    $$b_t = \mu b_{t-1} + (1 - \tau) g_t, \quad b_1 = g_1, \qquad
    \theta_t = \theta_{t-1} - \gamma b_t,$$

    or, with Nesterov's momentum, $\theta_t = \theta_{t-1} - \gamma (g_t + \mu b_t)$.

    Source: Sutskever et al., *On the importance of initialization and momentum in deep learning*,
    2013, with the learning rate outside of the momentum.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        momentum: The factor $\mu$.
        dampening: The share $\tau$ of the gradient that momentum ignores.
        weight_decay: The factor $\lambda$; like the rate it may be a tensor.
        nesterov: Whether to use Nesterov's momentum.
        maximize: Go uphill instead.
        foreach: Accepted and kept, without effect.
        differentiable: Must be False: a step records nothing.
        fused: Accepted and kept, without effect.

    Raises:
        ValueError: If a number is out of range, or Nesterov's momentum lacks momentum.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w
        Parameter containing:
        tensor([0.8000], requires_grad=True)
    """

    def _set_up(self, params: Any, given: Values) -> None:
        if given["nesterov"] and (given["momentum"] <= 0 or given["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super()._set_up(params, given)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        return {"momentum_buffer": None} if group["momentum"] != 0 else {}

    def _step_group(self, group: Values, ready: list[tuple[Tensor, Any]]) -> None:
        rate, bare = group["lr"], group["momentum"] == group["weight_decay"] == 0
        bare = bare and type(rate) is float and rate < 65504 and not group["maximize"]
        if not (bare and all(starmap(is_plain, ready))):
            super()._step_group(group, ready)
            return
        for parameter, gradient in ready:  # the commonest step, at once
            array = parameter._array
            if getattr(rate, "dtype", None) is not array.dtype:  # NumPy converts a float each time
                rate = np.array(group["lr"], array.dtype)
            array -= gradient._array * rate
            parameter._bump_version()

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = np.array(gradient)
            else:
                velocity *= number(momentum)
                velocity += gradient * (1 - number(group["dampening"]))
            gradient = gradient + velocity * number(momentum) if group["nesterov"] else velocity
        parameter -= gradient * lr


# A step of its own size for each weight --------------------------------------------------------
# Adam keeps running averages of gradients and of their squares, the others of the squares alone.


class Adam(
    EachParameter,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None, "
    "decoupled_weight_decay=False",
):
    r"""Adam: adaptive moments.

    With gradient $g_t$ and running averages $m_t$ of it and $v_t$ of its square:

    $$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \quad
    v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t^2,$$

    $$\theta_t = \theta_{t-1} - \gamma \frac{m_t / (1 - \beta_1^t)}
    {\sqrt{v_t / (1 - \beta_2^t)} + \epsilon}.$$

    Source: Kingma and Ba, *Adam: a method for stochastic optimization*, 2014; `amsgrad`: Reddi et
    al., *On the convergence of Adam and beyond*, 2018.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays: $\beta_1$ and $\beta_2$.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        amsgrad: Divide by the largest $v$ so far rather than by the present one.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        capturable: Accepted; it is for graphs of a graphics card.
        differentiable: Must be False: a step records nothing.
        fused: Accepted; the numbers are the same.
        decoupled_weight_decay: Shrink the weights by $1 - \gamma \lambda$ instead, as `AdamW` does.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w
        Parameter containing:
        tensor([0.9000], requires_grad=True)
    """

    _averages = ("exp_avg", "exp_avg_sq")
    _averages_for: ClassVar = {"amsgrad": "max_exp_avg_sq"}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        average, square = state["exp_avg"], state["exp_avg_sq"]
        lerp_(average, gradient, 1 - beta1)
        square *= beta2
        addcmul_(square, gradient, gradient, 1 - beta2)
        if group["amsgrad"]:
            square = np.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
        steps = state["step"].item()
        divisor = np.sqrt(square)
        divisor /= (1 - beta2**steps) ** 0.5
        divisor += group["eps"]
        addcdiv_(parameter, average, divisor, -(lr / (1 - beta1**steps)))


class AdamW(
    Adam,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None",
):
    r"""Adam with decoupled weight decay.

    Each step first shrinks the weights, $\theta \leftarrow (1 - \gamma \lambda) \theta$, then goes
    Adam's way with the gradient alone.

    Source: Loshchilov and Hutter, *Decoupled weight decay regularization*, 2017.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays.
        eps: Keeps the divisor away from zero.
        weight_decay: The factor $\lambda$.
        amsgrad: Divide by the largest average of squares so far rather than by the present one.
        maximize: Go uphill instead.
        foreach: Accepted; the numbers are the same.
        capturable: Accepted; it is for graphs of a graphics card.
        differentiable: Must be False: a step records nothing.
        fused: Accepted; the numbers are the same.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.8500])
    """

    def _set_up(self, params: Any, given: Values) -> None:
        super()._set_up(params, {**given, "decoupled_weight_decay": True})


class Adagrad(
    EachParameter,
    settings="lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, "
    "foreach=None, *, maximize=False, differentiable=False, fused=None",
):
    r"""Adagrad: adaptive subgradients.

    $$s_t = s_{t-1} + g_t^2, \qquad
    \theta_t = \theta_{t-1} - \frac{\gamma}{1 + (t - 1) \eta} \frac{g_t}{\sqrt{s_t} + \epsilon}.$$

    Source: Duchi et al., *Adaptive subgradient methods for online learning and stochastic
    optimization*, 2011.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        lr_decay: How fast it falls: $\eta$.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        initial_accumulator_value: The sum $s_0$.
        eps: $\epsilon$, which keeps the divisor away from zero.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Must be False: a step records nothing.
        fused: Accepted; the numbers are the same.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adagrad([w], lr=0.5)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000])
    """

    def _set_up(self, params: Any, given: Values) -> None:
        super()._set_up(params, given)
        for group in self.param_groups:
            for parameter in group["params"]:
                start = full_like(parameter, number(given["initial_accumulator_value"]))
                self.state[parameter].update(step=tensor(0.0), sum=start)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rate = lr / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"]
        addcmul_(total, gradient, gradient)
        addcdiv_(parameter, gradient, np.sqrt(total) + group["eps"], -rate)


class RMSprop(
    EachParameter,
    settings="lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, "
    "capturable=False, foreach=None, maximize=False, differentiable=False",
):
    r"""RMSprop: root mean square propagation.

    $$v_t = \alpha v_{t-1} + (1 - \alpha) g_t^2, \qquad
    \theta_t = \theta_{t-1} - \gamma \frac{g_t}{\sqrt{v_t} + \epsilon},$$

    where `centered` takes the square of the average gradient off $v_t$ under the root, and with
    momentum $\mu$ the steps $b_t = \mu b_{t-1} + g_t / (\sqrt{v_t} + \epsilon)$ are taken.

    Source: Hinton, lecture 6 of *Neural networks for machine learning*, 2012; `centered`: Graves,
    *Generating sequences with recurrent neural networks*, 2013.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        alpha: How much of the running average stays.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        momentum: The factor $\mu$.
        centered: Divide by the root of the variance.
        capturable: Accepted; it is for graphs of a graphics card.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Must be False: a step records nothing.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RMSprop([w], lr=0.1, alpha=0.75)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.8000])
    """

    _averages = ("square_avg",)
    _averages_for: ClassVar = {"momentum": "momentum_buffer", "centered": "grad_avg"}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        alpha, square = group["alpha"], state["square_avg"]
        square *= alpha
        addcmul_(square, gradient, gradient, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            lerp_(mean, gradient, 1 - alpha)
            # rounded once, as PyTorch does: what is left may be tiny
            wide = mean.astype(np.promote_types(mean.dtype, np.float64))
            square = (square - wide * wide).astype(square.dtype)
        divisor = np.sqrt(square) + group["eps"]
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            addcdiv_(velocity, gradient, divisor)
            parameter -= velocity * lr
        else:
            addcdiv_(parameter, gradient, divisor, -lr)
