"""List the rooms that the reference compares, the public names in them, and the topics left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from _tools.reference_scenarios import OPERATORS


@dataclass(frozen=True)
class Page:
    """One page of the reference: its file's stem, its title and the rooms on it."""

    stem: str
    title: str
    rooms: tuple[str, ...]


PAGES = (
    Page("torch", "torch: functions and classes", ("torch", "torch.random", "torch.serialization")),
    Page("tensor", "torch.Tensor: methods, attributes, operators", ("torch.Tensor",)),
    Page(
        "autograd",
        "torch.autograd and torch.func",
        (
            "torch.autograd",
            *(
                f"torch.autograd.{part}"
                for part in (
                    "graph",
                    "function",
                    "functional",
                    "grad_mode",
                    "anomaly_mode",
                    "gradcheck",
                )
            ),
            "torch.func",
        ),
    ),
    Page(
        "nn",
        "torch.nn",
        (
            "torch.nn",
            "torch.nn.functional",
            "torch.nn.init",
            "torch.nn.utils",
            "torch.nn.utils.rnn",
            "torch.nn.parameter",
            "torch.nn.modules.module",
        ),
    ),
    Page(
        "optim",
        "torch.optim",
        (
            "torch.optim",
            "torch.optim.optimizer",
            "torch.optim.lr_scheduler",
        ),
    ),
    Page(
        "linalg",
        "torch.linalg and torch.special",
        ("torch.linalg", "torch.special"),
    ),
    Page(
        "utils",
        "torch.utils",
        ("torch.utils.hooks", "torch.utils.checkpoint", "torch.utils.data"),
    ),
)
ROOMS = tuple(room for page in PAGES for room in page.rooms)


@dataclass(frozen=True)
class Topic:
    """A topic of PyTorch that is out of the course's scope: the pattern of its names, and why."""

    title: str
    why: str
    pattern: str


# The first that fits a name takes it; each pattern has to match the whole name, whatever its case.
TOPICS = (
    Topic(
        "Quantized numbers",
        "they make trained networks small; nothing is differentiated",
        r"\w*(quantiz|fake_quant|fbgemm|qparams)\w*|q_(scale|zero|per)\w*|qu?int\d\w*|int_repr"
        r"|per_(channel|tensor)_\w*|qscheme",
    ),
    Topic(
        "Devices and their libraries",
        "minigrad computes with NumPy on the CPU",
        r"\w*(cuda|cudnn|miopen|mkldnn|vulkan|xpu|hpu|ipu|mtia|maia|xla|mps|autocast|device"
        r"|accelerator|stream|float32_matmul)(_\w*|\w*error|type|objtype)?"
        r"|\w*pin(ned)?(_memory)?|event|gradscaler|has_(mkl|openmp|lapack|spectral)|is_meta|is_cpu"
        r"|set_flush_denormal|outofmemoryerror|ThroughputBenchmark|Benchmark\w*"
        r"|\w*(Device|Stream)(Type|ObjType|_mismatch|s)?|get_device_states|set_device_states",
    ),
    Topic(
        "Sparse and nested layouts, memory formats, raw strides",
        "minigrad's tensors are dense, in NumPy's layout",
        r"\w*sparse(?!cat)\w*|\w*_(csr|csc|bsr|bsc)|to_dense|dense_dim|\w*coalesced?"
        r"|(c?crow|c?col|ccol|row)?_?indices(_copy)?|values(_copy)?|hspmm|hsmm|dsmm|smm|sspaddmm"
        r"|spmm|saddmm|strided|jagged|layout|to_padded_tensor|\w*_format|dim_order"
        r"|resolve_(conj|neg)|channels_last\w*|is_nested|as_strided\w*|empty_(strided|permuted)"
        r"|new_empty_strided|\w*memory_format\w*|enforce_grad_layout_policy",
    ),
    Topic(
        "Storages, files, and tensor types by name",
        "NumPy owns the memory, a dtype says what a tensor holds, files hold arrays",
        r"\w*storage(base|context|_\w+)?|typename|tensortype|tag|is_shared|share_memory_"
        r"|((b?float|double|half|byte|char|short|int|long|bool|complex)\w*)tensor"
        r"|(const_)?data_ptr|element_size|itemsize|nbytes|set_default_tensor_type|set_|is_set_to"
        r"|resize(_as)?_?|module_load|reinforce|from_file|frombuffer|to_dlpack|from_dlpack"
        r"|\w*(safe_?globals|serializ)\w*|load|save|get_file_path|hash_tensor|save_on_cpu"
        r"|region_activation_memory_budget|\w*(crc32|endianness|mmap)\w*|location_tag|mkdtemp"
        r"|register_package|skip_data|sourcechangewarning|check_module_version\w*"
        r"|default_restore_location",
    ),
    Topic(
        "Dtypes that NumPy has not",
        "bfloat16, numbers of eight bits and fewer, complex numbers of two halves",
        r"float[48]_\w*|bfloat16|bits\d\w*|u?int[1-7]|complex32|chalf|uint(16|32|64)",
    ),
    Topic(
        "Scripts, compilers, traces, and what PyTorch needs itself",
        "minigrad runs each line when Python comes to it",
        r"\w*(jit|script|compil|dynamo|freeze|functionaliz|capsule|fusion)\w*|sym_\w+"
        r"|(sym)(int|float|bool)(type)?|export|vmap|cond|while_loop|fork|wait|import_ir\w*"
        r"|parse_\w+|merge_type\w*|unify_type\w*|profiler_\w*|(any|await|bool|class|complex|dict"
        r"|enum|float|future|inferred|int|interface|list|none|number|optional|pyobject|rref|string"
        r"|tuple|union|aggregation|scaling|swizzle)type|type|value|use|graph|graphexecutorstate"
        r"|block|argument|functionschema|operatorinfo|executionplan|errorreport|fatalerror|future"
        r"|code|(?-i:Gradient)|staticmodule|iodescriptor|\w*logger(base)?|concretemodule\w*|aliasdb"
        r"|callstack|\w*argumentspec|dispatchkey(set)?|excludedispatch\w*|filecheck|tracingstate"
        r"|pytorchfile\w*|deepcopymemotable|bufferdict|disabletorch\w*|has_torch_\w*|cpp|bit"
        r"|classproperty|factory_kwargs|(?-i:AVG|SUM)|assert_int_or_pair|nestediofunction"
        r"|as_subclass|grad_dtype|thread_safe_generator|\w*(?<!index)_copy"
        r"|skip_init|fuse_\w*|stateless|(guaranteed|functional)_datapipe\w*"
        r"|\w*datapipe\w*|datachunk|argument_validation|runtime_validation\w*|non_deterministic",
    ),
    Topic(
        "Several processes and threads, remote machines",
        "a lesson runs in one process",
        r"\w*(distributed|rpc|ddp|dataparallel|multiprocessing|_threads|worker)\w*"
        r"|set_multithreading_enabled",
    ),
    Topic(
        "Named dimensions",
        "a prototype in PyTorch, and no longer worked on",
        r"align_\w*|rename_?|refine_names|names?|has_names",
    ),
    Topic(
        "Modules and parameters without a shape",
        "a lesson says how many features a layer has",
        r"lazy\w*|uninitialized\w*|is_lazy",
    ),
    Topic(
        "Parts of complex numbers",
        "minigrad differentiates real numbers",
        r"angle|conj(_physical)?_?|imag|real|polar|view_as_(complex|real)",
    ),
    Topic(
        "Less usual ways to normalize, pool, convolve, and sample",
        "torch.nn has the usual ones, with functions of their own",
        r"(?!clip_|get_|norm$|(remove_)?(weight|spectral)_norm$)\w*norm([123]d|_(?!_)\w+)?|normalize|\w*pool\dd\w*"
        r"|\w*conv(_?transpose)?(\dd|_tbc|olution)|\w*pad(\dd|_nd)?|(un)?fold"
        r"|pixel_?(un)?shuffle|(native_)?channel_?shuffle|upsample\w*|upsampling\w*|interpolate"
        r"|grid_sampl\w*|affine_grid\w*|local_?response\w*|crossmaplrn2d|lp_pool\dd|conv_tbc",
    ),
    Topic(
        "Fourier transforms, signals, and rare special functions",
        "no lesson needs them",
        r"\w*(bessel|gamma|_window|quantile|fft)(c?_?)|i?stft|(erf(inv|c)?|logit|sinc|i0|xlogy"
        r"|hypot|ldexp|nextafter|renorm|cauchy|log_normal|geometric|exponential|polygamma|igamma"
        r"|igammac|mvlgamma)_?|embedding_renorm_|zeta|frexp|histc|histogram(dd)?|bincount|cov"
        r"|corrcoef|ctc_?loss|i[01]e?|airy_ai|\w*polynomial_\w+|gammaincc?",
    ),
    Topic(
        "Less usual decompositions of matrices and solvers",
        "torch.linalg has the usual ones",
        r"cholesky(_\w+)?|svd(_lowrank)?|pca_lowrank|lu(_solve|_unpack)?|eig|qr|geqrf|orgqr|ormqr"
        r"|lstsq|symeig|pinverse|triangular_solve|lobpcg|slogdet|logdet|det|inverse|slice_inverse"
        r"|matrix_(exp|power|rank)|solve|chain_matmul|cdist|pdist|householder_product|ldl_\w+"
        r"|lu_factor(_ex)?",
    ),
)


def theirs(torch: ModuleType, room: str) -> Any:
    """Find a room in PyTorch.

    Args:
        torch: PyTorch.
        room: its name, such as "torch.nn" or "torch.Tensor".
    """
    return torch.Tensor if room == "torch.Tensor" else import_module(room)


def ours(room: str) -> Any | None:
    """Find the same room in minigrad; None where there is none.

    Args:
        room: PyTorch's name of it.
    """
    name = room.replace("torch", "minigrad", 1)
    if room == "torch.Tensor":
        return import_module("minigrad").Tensor
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None


def public_names(room: Any, also: Iterable[str] = ()) -> set[str]:
    """List the names that a room offers to everybody.

    These are the names in its `__all__`, where it has one. Where it has none, and beside it, they
    are what the room itself, or a part of it, defines. What it only imports is not its own.

    Args:
        room: a module or a class.
        also: further names that count, if the room has them.
    """
    if isinstance(room, type):
        return {name for name in dir(room) if not name.startswith("_") or name in OPERATORS}
    listed = getattr(room, "__all__", None)
    if listed is not None and room.__name__ != "torch":
        listed = {n for n in listed if not n.startswith("_") and hasattr(room, n)}
        return listed | {name for name in also if hasattr(room, name)}
    found = {*(listed or ()), *(name for name in also if hasattr(room, name))}
    for name in dir(room):
        value = getattr(room, name, None)
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        home = getattr(value, "__module__", None) or ""
        if _is_own(room.__name__, home, value):
            found.add(name)
    return found


def _is_own(room: str, home: str, value: Any) -> bool:
    package = room.partition(".")[0]
    if room == package:
        return home.partition(".")[0] == package or type(value).__module__.startswith(package)
    if home.partition(".")[0] == "torch" and type(value).__name__.startswith("builtin"):
        return True
    return home == room or home.startswith(f"{room}.")


def topic_of(name: str) -> Topic | None:
    """Say which topic that is left out a name of PyTorch belongs to.

    Args:
        name: without the room.
    """
    for topic in TOPICS:
        if re.fullmatch(topic.pattern, name, re.IGNORECASE):
            return topic
    return None
