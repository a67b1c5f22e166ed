"""Normalize each channel of each sample by itself: `InstanceNorm1d`, `InstanceNorm2d`, ..."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.modules.batchnorm import _NormBase
from minigrad.nn.warning import warn
from minigrad.tensor import Tensor

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    """Instance normalization of any number of dimensions."""

    _spatial: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version")
        if version is None and not self.track_running_stats:
            names = ("running_mean", "running_var")
            found = [prefix + name for name in names if prefix + name in state_dict]
            if found:
                listed = " and ".join(f'"{name}"' for name in found)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {listed} for {type(self).__name__} with "
                    "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, "
                    "this may be expected because "
                    f"{type(self).__name__} does not track running stats by default since 0.4.0. "
                    "Please remove these keys from state_dict. If the running stats are actually "
                    f"needed, instead set track_running_stats=True in {type(self).__name__} to "
                    f"enable them. See the documentation of {type(self).__name__} for details."
                )
                for name in found:
                    state_dict.pop(name)
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )

    def _check_input_dim(self, input: Tensor) -> None:
        small, large = self._spatial + 1, self._spatial + 2
        if input.dim() not in (small, large):
            raise ValueError(f"expected {small}D or {large}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        self._check_input_dim(input)
        single = input.dim() == self._spatial + 1
        dim = 0 if single else 1
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {input.size(dim)}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
                UserWarning,
            )
        if single:
            return self._normalized(input.unsqueeze(0)).squeeze(0)  # type: ignore[no-any-return]
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalize each channel of each signal; arguments as for `InstanceNorm2d`.

    Shape:
        - input and output: (N, C, L) or (C, L)
    """

    _spatial = 1


class InstanceNorm2d(_InstanceNorm):
    r"""Normalize each channel of each image: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    Args:
        num_features: The number of channels $C$.
        eps: Added to the variance, so that nothing is divided by 0.
        momentum: The share of the new in the running statistics.
        affine: Whether there are weights and biases to learn.
        track_running_stats: Whether to keep running statistics, and to use them in evaluation.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.
        bias: Whether there are biases, if there are weights.

    Raises:
        ValueError: If the input has another number of dimensions, or other channels than weights.

    Shape:
        - input and output: (N, C, H, W) or (C, H, W)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.InstanceNorm2d(1)
        >>> layer(torch.tensor([[[[1.0, 3.0]]]]))
        tensor([[[[-1.0000,  1.0000]]]])
    """

    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalize each channel of each volume; arguments as for `InstanceNorm2d`.

    Shape:
        - input and output: (N, C, D, H, W) or (C, D, H, W)
    """

    _spatial = 3
