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


def _function(name: str) -> Callable[[Tensor], Tensor]:
    def change(input: Tensor) -> Tensor:
        check_tensor(name, input)
        return getattr(input, name)()  # type: ignore[no-any-return]

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"Do what the method `{name}` of a tensor does, in place."
    return change


(
    abs_,
    acos_,
    acosh_,
    arccos_,
    arccosh_,
    arcsin_,
    arcsinh_,
    arctan_,
    arctanh_,
    asin_,
    asinh_,
    atan_,
    atanh_,
    ceil_,
    cos_,
    cosh_,
    deg2rad_,
    detach_,
    erf_,
    erfc_,
    exp2_,
    exp_,
    expm1_,
    fix_,
    floor_,
    frac_,
    log10_,
    log1p_,
    log2_,
    log_,
    neg_,
    negative_,
    rad2deg_,
    reciprocal_,
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
    zero_,
) = map(
    _function,
    """
    abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_
    ceil_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fix_ floor_ frac_ log10_ log1p_
    log2_ log_ neg_ negative_ rad2deg_ reciprocal_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_
    tan_ tanh_ trunc_ zero_
    """.split(),  # noqa: SIM905 - one name after the other reads better
)


def _done(name: str, input: Tensor, *arguments: Any, **options: Any) -> Tensor:
    check_tensor(name, input)
    return getattr(input, name)(*arguments, **options)  # type: ignore[no-any-return]


def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiply a matrix and a vector, and add the product in place."""
    return _done("addmv_", input, mat, vec, beta=beta, alpha=alpha)


def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """Look at the memory with any size and strides, in place."""
    return _done("as_strided_", input, size, stride, storage_offset)


def clamp_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to an interval, in place."""
    return _done("clamp_", input, min, max)


def clamp_max_(input: Tensor, max: Any) -> Tensor:
    """Limit from above, in place."""
    return _done("clamp_max_", input, max)


def clamp_min_(input: Tensor, min: Any) -> Tensor:
    """Limit from below, in place."""
    return _done("clamp_min_", input, min)


def clip_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to an interval, in place: NumPy's name for `clamp_`."""
    return _done("clip_", input, min, max)


def fill_(input: Tensor, value: Any) -> Tensor:
    """Set all entries to one number."""
    return _done("fill_", input, value)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write values to the places that several indices together say, in place."""
    return _done("index_put_", input, indices, values, accumulate)


def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """Multiply by powers of two, in place."""
    return _done("ldexp_", input, other)


def logit_(input: Tensor, eps: float | None = None) -> Tensor:
    """Take the inverse of the sigmoid, in place."""
    return _done("logit_", input, eps)


def nan_to_num_(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Replace what is no number, or infinite, in place."""
    return _done("nan_to_num_", input, nan, posinf, neginf)


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of another one, in place."""
    return _done("resize_as_", input, the_template, memory_format=memory_format)


def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to whole numbers, or to decimal places, in place."""
    return _done("round_", input, decimals=decimals)


def xlogy_(input: Tensor, other: Any) -> Tensor:
    """Multiply by the logarithm of another tensor, in place."""
    return _done("xlogy_", input, other)


methods: dict[str, Any] = {}
