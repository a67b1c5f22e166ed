"""Load the less usual operations when they are first asked for, so that importing stays quick.

The operations are called through the rooms of `minigrad.ops.calling`. Those named here are loaded
late: `ROOMS` says which functions of `minigrad` and which methods of `Tensor` wait in which room.
Each room says the same in two names of its own: `__all__` lists its functions, and `methods` holds
its methods by name. For NumPy's own functions on tensors it may have `ufuncs` and `functions`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from minigrad.tensor import Tensor


class Room(NamedTuple):
    """What waits in a room.

    Attributes:
        functions: Names of functions of `minigrad`, in one text.
        methods: Names of methods of `Tensor`, in one text.
    """

    functions: str
    methods: str


ROOMS: dict[str, Room] = {
    "convolution": Room(
        functions="conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
        methods="",
    ),
    "triangles": Room(
        "diag diag_embed diagflat diagonal diagonal_scatter trace tril triu",
        "diag diag_embed diagflat diagonal diagonal_scatter fill_diagonal_ trace tril tril_ triu "
        "triu_",
    ),
    "patterns": Room("adjoint tril_indices triu_indices vander", "H adjoint mH"),
    "contracting": Room("einsum", ""),
    "dotting": Room("inner tensordot", "inner"),
    "distances": Room("cdist", ""),
    "adding_products": Room(
        "addbmm addmv addr baddbmm",
        "addbmm addbmm_ addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
    ),
    "more_products": Room(
        "chain_matmul cross ger kron matrix_power vdot",
        "cross ger kron matrix_power vdot",
    ),
    "solving": Room("inverse", "inverse"),
    "factoring": Room(
        "cholesky cholesky_inverse cholesky_solve", "cholesky cholesky_inverse cholesky_solve"
    ),
    "determining": Room("det logdet slogdet", "det logdet slogdet"),
    "decomposing": Room("qr svd", "qr svd"),
    "fitting": Room("matrix_exp pinverse", "matrix_exp pinverse"),
    "matrix_norms": Room("", ""),
    "drawing": Room(
        "",
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
    ),
    "random_like": Room("rand_like randint_like randn_like", ""),
    "sampling": Room("bernoulli multinomial normal poisson", "bernoulli multinomial"),
    "types": Room(
        "BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor "
        "ShortTensor bfloat16 can_cast chalf complex32 finfo iinfo is_complex is_floating_point "
        "is_signed promote_types result_type set_default_tensor_type uint16 uint32 uint64",
        "is_complex is_signed",
    ),
    "foreign_memory": Room("asarray from_dlpack frombuffer", ""),
    "less_usual_creation": Room(
        "complex empty_like empty_strided logspace range scalar_tensor", ""
    ),
    "new_tensors": Room("", "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"),
    "information": Room(
        "backends channels_last channels_last_3d contiguous_format cuda device "
        "get_default_device is_conj is_nonzero is_same_size is_storage layout "
        "memory_format numel preserve_format set_default_device sparse_coo strided typename",
        "apply_ cuda dense_dim device get_device is_conj is_cpu is_cuda is_distributed is_ipu "
        "is_maia is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_pinned is_quantized "
        "is_same_size is_shared is_sparse is_sparse_csr is_vulkan is_xla is_xpu layout new "
        "pin_memory sparse_dim storage_offset to_dense untyped_storage",
    ),
    "activating": Room(
        "celu celu_ hardshrink prelu relu_ rrelu rrelu_ selu selu_ threshold threshold_",
        "hardshrink prelu",
    ),
    "dropping": Room(
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
        "feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout",
        "",
    ),
    "measuring": Room("bilinear cosine_similarity pairwise_distance", ""),
    "scoring": Room(
        "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss",
        "",
    ),
    "accumulating": Room(
        "cummax cummin cumprod cumsum diff logcumsumexp",
        "cummax cummin cumprod cumsum diff logcumsumexp cumsum_ cumprod_",
    ),
    "settings": Room(
        "are_deterministic_algorithms_enabled compile get_float32_matmul_precision "
        "get_num_interop_threads get_num_threads is_deterministic_algorithms_warn_only_enabled "
        "set_float32_matmul_precision set_num_interop_threads set_num_threads "
        "use_deterministic_algorithms",
        "",
    ),
    "averaging": Room(
        "aminmax nanmean nansum prod std std_mean var var_mean",
        "aminmax nanmean nansum prod std var",
    ),
    "counting": Room(
        "bincount histc histogram",
        "bincount histc histogram",
    ),
    "distinct": Room(
        "unique unique_consecutive",
        "unique unique_consecutive",
    ),
    "finding": Room(
        "all any argmax argmin argwhere count_nonzero nonzero",
        "all any argmax argmin argwhere count_nonzero nonzero",
    ),
    "integrating": Room("cumulative_trapezoid trapezoid trapz", ""),
    "searching": Room("bucketize isin searchsorted", ""),
    "norms": Room("dist norm renorm", "dist norm renorm renorm_"),
    "quantiles": Room(
        "corrcoef cov nanquantile quantile",
        "corrcoef cov nanquantile quantile",
    ),
    "ranking": Room(
        "argsort kthvalue median mode msort nanmedian sort topk",
        "argsort kthvalue median mode msort nanmedian sort topk",
    ),
    "rearranging": Room(
        "fliplr flipud moveaxis movedim ravel roll rot90 swapaxes swapdims unflatten",
        "fliplr flipud moveaxis movedim ravel reshape_as roll rot90 swapdims unflatten",
    ),
    "repeating": Room(
        "broadcast_shapes broadcast_tensors broadcast_to repeat_interleave tile",
        "broadcast_to repeat_interleave tile",
    ),
    "parting": Room(
        "as_strided narrow select select_scatter slice_scatter",
        "as_strided narrow select select_scatter slice_scatter unfold",
    ),
    "assembling": Room(
        "atleast_1d atleast_2d atleast_3d block_diag column_stack concat concatenate dstack "
        "hstack row_stack vstack",
        "",
    ),
    "gridding": Room(
        "cartesian_prod combinations meshgrid",
        "",
    ),
    "dividing": Room(
        "dsplit hsplit split_with_sizes tensor_split unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit",
        "dsplit hsplit split_with_sizes tensor_split unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit",
    ),
    "listing": Room(
        "index_add index_copy index_fill index_reduce index_select",
        "index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_reduce "
        "index_reduce_ index_select",
    ),
    "taking": Room(
        "index_put put take take_along_dim",
        "index_put index_put_ put put_ take take_along_dim",
    ),
    "masking": Room(
        "masked_scatter masked_select",
        "masked_scatter masked_scatter_ masked_select",
    ),
    "scattering": Room(
        "scatter scatter_add scatter_reduce",
        "scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_",
    ),
    "reshaping_in_place": Room(
        "",
        "as_strided_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    ),
    "recurring": Room("gru lstm rnn_relu rnn_tanh", ""),
    "stepping": Room("gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell", ""),
    "numpy_shapes": Room(
        "",
        "",
    ),
    "trigonometry": Room(
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan "
        "atan2 atanh cosh deg2rad hypot rad2deg sinc sinh tan",
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh "
        "arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ "
        "atan atan2 atan2_ atan_ atanh atanh_ cosh cosh_ deg2rad deg2rad_ hypot hypot_ "
        "rad2deg rad2deg_ sinc sinc_ sinh sinh_ tan tan_",
    ),
    "exponentials": Room(
        "exp2 float_power ldexp log10 log2 logaddexp logaddexp2 logit xlogy",
        "exp2 exp2_ float_power float_power_ ldexp ldexp_ log10 log10_ log2 log2_ logaddexp "
        "logaddexp2 logit logit_ xlogy xlogy_",
    ),
    "special": Room(
        "digamma erf erfc erfinv lgamma mvlgamma polygamma",
        "digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ lgamma lgamma_ mvlgamma "
        "mvlgamma_ polygamma polygamma_",
    ),
    "rounding": Room(
        "ceil fix floor floor_divide fmod frac nan_to_num remainder round trunc",
        "__floordiv__ __ifloordiv__ __imod__ __mod__ __rfloordiv__ __rmod__ ceil ceil_ div_ "
        "divide_ fix fix_ floor floor_ floor_divide floor_divide_ fmod fmod_ frac frac_ "
        "nan_to_num nan_to_num_ remainder remainder_ round round_ trunc trunc_",
    ),
    "mixing": Room(
        "addcdiv addcmul copysign fmax fmin heaviside lerp rsub",
        "addcdiv addcdiv_ addcmul addcmul_ copysign copysign_ fmax fmin heaviside heaviside_ "
        "lerp lerp_ where",
    ),
    "limiting": Room(
        "clamp_max clamp_min clip",
        "clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip_",
    ),
    "comparing": Room(
        "bitwise_left_shift bitwise_not bitwise_right_shift greater greater_equal isneginf "
        "isposinf isreal less less_equal not_equal positive signbit",
        "__iand__ __ilshift__ __invert__ __ior__ __irshift__ __ixor__ __lshift__ __pos__ "
        "__rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ bitwise_and_ "
        "bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or_ "
        "bitwise_right_shift bitwise_right_shift_ bitwise_xor_ eq eq_ ge ge_ greater greater_ "
        "greater_equal greater_equal_ gt gt_ is_nonzero isneginf isposinf isreal le le_ less "
        "less_ less_equal less_equal_ logical_and_ logical_not_ logical_or_ logical_xor_ lt "
        "lt_ ne ne_ not_equal not_equal_ positive signbit",
    ),
    "windows": Room("bartlett_window blackman_window hamming_window hann_window", ""),
    "complex_parts": Room(
        "angle conj conj_physical conj_physical_ imag polar real resolve_conj resolve_neg "
        "view_as_complex view_as_real",
        "angle conj conj_physical conj_physical_ imag real resolve_conj resolve_neg",
    ),
    "aliases": Room(
        "absolute divide multiply negative sgn subtract true_divide",
        "absolute absolute_ clip divide expm1_ log1p_ multiply multiply_ negative negative_ "
        "rsqrt_ sgn sgn_ sign_ square_ subtract subtract_ true_divide true_divide_",
    ),
    "representation": Room(
        "frexp gcd is_neg lcm nextafter", "frexp gcd gcd_ lcm lcm_ nextafter nextafter_"
    ),
    "differences": Room(
        "detach gradient narrow_copy unravel_index",
        "dim_order map_ name narrow_copy share_memory_ sum_to_size",
    ),
    "in_place_functions": Room(
        "abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ "
        "as_strided_ asin_ asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ cos_ "
        "cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ "
        "index_put_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ "
        "rad2deg_ reciprocal_ resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ "
        "square_ tan_ tanh_ trunc_ xlogy_ zero_",
        "",
    ),
}

_room_of_function = {name: room for room in ROOMS for name in ROOMS[room].functions.split()}


def enter(room: str) -> Any:
    """Load a room, and give `Tensor` its methods and NumPy its operations.

    Args:
        room: A name in `ROOMS`.
    """
    module = import_module(f"minigrad.ops.calling.{room}")
    for name, method in module.methods.items():
        setattr(Tensor, name, method)
    Tensor._ufuncs.update(getattr(module, "ufuncs", {}))
    Tensor._functions.update(getattr(module, "functions", {}))
    return module


def enter_all() -> None:
    """Load every room: NumPy was given a tensor, and what it asks for was not found."""
    for room in ROOMS:
        enter(room)


def function(name: str) -> Any:
    """Give a function of `minigrad` that waits in a room, or None."""
    room = _room_of_function.get(name)
    return None if room is None else getattr(enter(room), name)


def functions() -> list[str]:
    """Give the names of all functions that wait."""
    return [*_room_of_function]


class Waiting:
    """Stands for a method of `Tensor` until it is first asked for."""

    __slots__ = ("name", "room")

    def __init__(self, room: str, name: str) -> None:
        self.room, self.name = room, name

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        enter(self.room)
        return getattr(owner if tensor is None else tensor, self.name)

    def __set__(self, tensor: Tensor, value: Any) -> None:
        enter(self.room)  # what waits may be a property that can be assigned
        setattr(tensor, self.name, value)


def attach_waiting() -> None:
    """Give `Tensor` the methods that wait in rooms."""
    for room, content in ROOMS.items():
        for name in content.methods.split():
            setattr(Tensor, name, Waiting(room, name))
    Tensor._enter_all = staticmethod(enter_all)  # type: ignore[method-assign]
