"""Call operations in place as functions: `minigrad.exp_(x)` does what `x.exp_()` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.ops.calling.arguments import check_tensor
from minigrad.tensor import Tensor

__all__ = [
    "abs_",
    "acos_",
    "acosh_",
    "addmv_",
    "arccos_",
    "arccosh_",
    "arcsin_",
    "arcsinh_",
    "arctan_",
    "arctanh_",
    "as_strided_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "ceil_",
    "clamp_",
    "clamp_max_",
    "clamp_min_",
    "clip_",
    "cos_",
    "cosh_",
    "deg2rad_",
    "detach_",
    "erf_",
    "erfc_",
    "exp2_",
    "exp_",
    "expm1_",
    "fill_",
    "fix_",
    "floor_",
    "frac_",
    "index_put_",
    "ldexp_",
    "log1p_",
    "log2_",
    "log10_",
    "log_",
    "logit_",
    "nan_to_num_",
    "neg_",
    "negative_",
    "rad2deg_",
    "reciprocal_",
    "resize_as_",
    "round_",
    "rsqrt_",
    "sigmoid_",
    "sin_",
    "sinc_",
    "sinh_",
    "sqrt_",
    "square_",
    "tan_",
    "tanh_",
    "trunc_",
    "xlogy_",
    "zero_",
]


def _function(name: str) -> Callable[..., Tensor]:
    def call(input: Tensor, *arguments: Any, **options: Any) -> Tensor:
        check_tensor(name, input)
        return getattr(input, name)(*arguments, **options)  # type: ignore[no-any-return]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Do what the method `{name}` of a tensor does, in place."
    return call


(
    abs_,
    acos_,
    acosh_,
    addmv_,
    arccos_,
    arccosh_,
    arcsin_,
    arcsinh_,
    arctan_,
    arctanh_,
    as_strided_,
    asin_,
    asinh_,
    atan_,
    atanh_,
    ceil_,
    clamp_,
    clamp_max_,
    clamp_min_,
    clip_,
    cos_,
    cosh_,
    deg2rad_,
    detach_,
    erf_,
    erfc_,
    exp2_,
    exp_,
    expm1_,
    fill_,
    fix_,
    floor_,
    frac_,
    index_put_,
    ldexp_,
    log10_,
    log1p_,
    log2_,
    log_,
    logit_,
    nan_to_num_,
    neg_,
    negative_,
    rad2deg_,
    reciprocal_,
    resize_as_,
    round_,
    rsqrt_,
    sigmoid_,
    sin_,
    sinc_,
    sinh_,
    sqrt_,
    square_,
    tan_,
    tanh_,
    trunc_,
    xlogy_,
    zero_,
) = map(
    _function,
    """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_
    asin_ asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_
    detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ index_put_ ldexp_ log10_
    log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ resize_as_ round_
    rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_
    """.split(),  # noqa: SIM905 - one name after the other reads better
)

methods: dict[str, Any] = {}
