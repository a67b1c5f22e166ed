"""The known differences in how names are called: parameters, their defaults, their kinds."""

from __future__ import annotations

from _tools.reference_demonstrations import Difference

CALLS = (
    Difference(
        slug="saved-tensor-hooks",
        title="The signatures of SavedTensor's methods",
        what="PyTorch's have none that Python can see. They are called in the same way.",
        why="A binding to C++ makes those methods, and calls the parameters `arg0` and `arg1`.",
        code="import inspect\n\n"
        "try:\n"
        "    said = str(inspect.signature(torch.autograd.SavedTensor.register_hooks))\n"
        "except ValueError as error:\n"
        "    said = type(error).__name__\n"
        "said",
        covers=(
            ("torch.autograd.SavedTensor.*", "without `self`"),
            ("torch.autograd.SavedTensor.*", "without `arg0`"),
            ("torch.autograd.SavedTensor.*", "without `arg1`"),
            ("torch.autograd.SavedTensor.*", "only here `*hooks`"),
        ),
    ),
    Difference(
        slug="out-dtype",
        title="out_dtype of the products of matrices",
        what="`mm`, `bmm` and `addmm` do not take `out_dtype`.",
        why="PyTorch computes with it on GPUs only.",
        code="a = torch.ones(1, 1)\n"
        "try:\n"
        "    torch.mm(a, a, out_dtype=torch.float64)\n"
        "except Exception as error:\n"
        "    said = type(error).__name__\n"
        "said",
        covers=(("torch.*mm", "without `out_dtype`"),),
    ),
    Difference(
        slug="undocumented-parameters",
        title="Parameters that PyTorch's documentation does not name",
        what="`elu_` takes `alpha` only, PyTorch's two more scales; `expand` takes no `implicit`, "
        "`type` no `memory_format`, and `jacrev` nothing with an underscore.",
        why="They are there for PyTorch's own use, or choose nothing.",
        code="nn.functional.elu_(torch.ones(2), 1.0, 2.0)",
        covers=(
            ("torch.nn.functional.elu_", "without `*scale`"),
            ("torch.Tensor.expand", "without `implicit`"),
            ("torch.Tensor.type", "without `memory_format`"),
            ("torch.func.jacrev", "without `_preallocate_and_copy`"),
        ),
    ),
    Difference(
        slug="abstract-node",
        title="The abstract class Node",
        what="`torch.autograd.graph.Node` declares `metadata` as a method in PyTorch, though it is "
        "an attribute of every node; and it calls a hook `fn` in the signatures, though nodes take "
        "it by position only. Here the class says how nodes are.",
        why="The declarations are never run there.",
        code="callable(torch.autograd.graph.Node.metadata)",
        names=("torch.autograd.graph.Node",),
        covers=(
            ("torch.autograd.graph.Node.metadata", "attribute, there method"),
            ("torch.autograd.graph.Node.register_*hook", "without `fn`"),
            ("torch.autograd.graph.Node.register_*hook", "only here `hook`"),
        ),
    ),
    Difference(
        slug="inner-classes",
        title="Parameters of classes that nobody calls",
        what="The metaclass of `Function` and the Function behind a reentrant checkpoint call "
        "some of their parameters by other names.",
        why="They are called by the libraries themselves, by position.",
        code="import inspect\n\n"
        "made = torch.autograd.function.FunctionMeta.__init__\n"
        "list(inspect.signature(made).parameters)",
        covers=(
            ("torch.autograd.function.FunctionMeta", "*`attr*`"),
            ("torch.utils.checkpoint.CheckpointFunction.backward", "*"),
        ),
    ),
    Difference(
        slug="matrices-called-a",
        title="What torch.linalg calls its matrices",
        what="Matrices are called `A`, as in PyTorch's documentation. When they are given by name, "
        "some of PyTorch's functions want `input`.",
        why="The documentation is what one reads. By position all is alike.",
        code="torch.linalg.eig(A=torch.ones(1, 1))",
        covers=(
            ("torch.linalg.*", "without `input`"),
            ("torch.linalg.*", "only here `A`"),
            ("torch.linalg.vector_norm", "only here `x`"),
        ),
    ),
    Difference(
        slug="without-out",
        title="A few functions without out=",
        what="Most functions that take `out` in PyTorch take it here. These do not.",
        why="They are layers and losses, whose results nobody writes over, or choose among tensors "
        "of several types. `copy_` says the same in a line of its own.",
        code="place = torch.empty(2)\nnn.functional.gelu(torch.zeros(2), out=place)",
        covers=(("torch.*", "without `out`"),),
    ),
    Difference(
        slug="norm-out",
        title="out of norm by position",
        what="`torch.norm` takes `out` by its name only.",
        why="So do all functions here, and nearly all there.",
        code="result = torch.zeros(())\n"
        'torch.norm(torch.ones(4), "fro", None, False, result)\n'
        "result",
        covers=(("torch.norm", "`out` by keyword, there by both"),),
    ),
    Difference(
        slug="special-softmax",
        title="softmax among the special functions",
        what="`torch.special.softmax` and `log_softmax` are the functions of `torch`, and so take "
        "`out`, and `dtype` by position. Among PyTorch's special functions they do not.",
        why="Two names for one function.",
        code="result = torch.zeros(2)\n"
        "try:\n"
        "    torch.special.softmax(torch.ones(2), 0, out=result)\n"
        "except TypeError as error:\n"
        "    said = type(error).__name__\n"
        "else:\n"
        "    said = result\n"
        "said",
        covers=(
            ("torch.special.*softmax", "only here `out`"),
            ("torch.nn.functional.sigmoid", "only here `out`"),
            ("torch.nn.functional.tanh", "only here `out`"),
            ("torch.special.log_softmax", "`dtype` by both, there by keyword"),
        ),
    ),
    Difference(
        slug="one-body",
        title="What some parameters are called, and how they are given",
        what="`update` and `extend` of containers, `forward` of layers that are made from their "
        "function, `initialize_parameters` of lazy layers, and the options of `gradcheck` that it "
        "refuses say their parameters otherwise. `gelu` takes `approximate` by position, too.",
        why="One body serves several methods there. They are called by position.",
        code="import inspect\n\nlist(inspect.signature(nn.ModuleDict.update).parameters)",
        covers=(
            ("torch.nn.*Dict.update", "*"),
            ("torch.nn.Sequential.extend", "*"),
            ("torch.nn.RMSNorm.forward", "*"),
            ("torch.nn.RNNCellBase.forward", "*"),
            ("torch.nn.Lazy*.initialize_parameters", "only here *"),
            ("torch.autograd.gradcheck*", "only here `**o*`"),
            ("torch.autograd.gradgradcheck", "only here `**o*`"),
            ("torch.nn.functional.gelu", "`approximate` by both, there by keyword"),
        ),
    ),
    Difference(
        slug="rarer-parameters",
        title="Parameters about memory that choose nothing here",
        what="`empty` takes no `memory_format`, and `set_` a tensor only.",
        why="No program for a CPU was found that sets them.",
        code="try:\n"
        "    said = torch.empty(2, memory_format=torch.contiguous_format).shape\n"
        "except TypeError as error:\n"
        "    said = type(error).__name__\n"
        "said",
        covers=(
            ("torch.empty", "without `memory_format`"),
            ("torch.Tensor.set_", "without `storage_offset`"),
            ("torch.Tensor.set_", "without `size`"),
            ("torch.Tensor.set_", "without `stride`"),
        ),
    ),
    Difference(
        slug="placeholders",
        title="What stands at a path for something that is not here",
        what="At PyTorch's paths to saving, checkpoints and data, a name that minigrad has not can "
        "be imported. It refuses when it is used.",
        why="Programs import more than they use.",
        code="try:\n"
        '    torch.utils.data.functional_datapipe("name")\n'
        '    said = "made"\n'
        "except NotImplementedError as error:\n"
        "    said = type(error).__name__\n"
        "said",
        covers=(
            ("torch.serialization.*", "function, there class"),
            ("torch.utils.checkpoint.SAC_IGNORED_OPS", "*"),
            ("torch.utils.data.*", "function, there class"),
        ),
    ),
    Difference(
        slug="unlisted-parameters",
        title="Parameters that PyTorch takes and does not list",
        what="NumPy's spellings `axis` and `keepdims`, and a few others, are parameters in both. "
        "PyTorch's lists of signatures leave them out.",
        why="A Python function says what it takes. PyTorch's parser of calls knows NumPy's names "
        "beside the lists.",
        code="import inspect\n\n"
        "try:\n"
        "    said = str(inspect.signature(torch.argmax))\n"
        "except ValueError as error:\n"
        "    said = type(error).__name__\n"
        '"axis" in said',
        covers=(
            ("torch.*", "only here `axis`"),
            ("torch.*", "only here `keepdims`"),
            ("torch.nonzero", "only here `as_tuple`"),
            ("torch.nn.Module.to", "only here `*`"),
            ("torch.full|torch.ones|torch.zeros", "only here `pin_memory`"),
            ("torch.Tensor.cpu", "only here `memory_format`"),
        ),
    ),
    Difference(
        slug="numpys-names",
        title="NumPy's names in every call",
        what="PyTorch's parser of calls takes `axis` for `dim`, `keepdims` for `keepdim`, `x` for "
        "`input` and `x2` for `other` in every function that is written in C++. Here `axis` and "
        "`keepdims` work where an operation reduces, accumulates, sorts, or joins.",
        why="They are left over from a time before NumPy's own names were agreed on.",
        code="torch.exp(x=torch.zeros(1))",
    ),
    Difference(
        slug="written-defaults",
        title="Defaults in other words",
        what="`layout`, `memory_format` and the like are None by default here. PyTorch writes "
        "the only value that they can stand for. They mean the same, and None can be given in "
        "both.",
        why="None says that there is nothing to choose.",
        code="import inspect\n\n"
        "try:\n"
        '    said = str(inspect.signature(torch.zeros).parameters["layout"].default)\n'
        "except ValueError as error:\n"
        "    said = type(error).__name__\n"
        "said",
        covers=(
            ("torch.*", "default of `layout` is None, there torch.strided"),
            ("torch.*", "default of `memory_format` is None, there torch.*"),
            ("torch.Tensor.contiguous", "default of `memory_format` is None, there 0"),
            ("torch.randperm", "default of `dtype` is None, there torch.int64"),
            ("torch.nn.functional.avg_pool*", "default of `stride` is None, there ()"),
        ),
    ),
    Difference(
        slug="by-position-and-by-name",
        title="Several ways to call, one signature",
        what="`max`, `arange`, `randint`, `to`, `round` and others have several "
        "signatures in PyTorch, and one in Python. The ways to call them work, by position and by "
        "name; what `inspect.signature` shows is different. A tensor given to `max` or `min` is "
        "compared entry by entry, by whatever name; PyTorch takes one called `dim` for a number.",
        why="A Python function has one signature.",
        code='import inspect\n\n"start" in str(inspect.signature(torch.arange))',
        covers=(
            ("torch.arange", "`*` by keyword, there by both"),
            ("torch.rand*", "`*` by keyword, there by both"),
            ("torch.randint", "default of `size` is None, there required"),
            ("torch.*max|torch.*min", "`other` by keyword, there by both"),
            ("torch.*scatter*", "`value` by keyword, there by both"),
            ("torch.*argsort", "default of `stable` is False, there required"),
            ("torch.*round*", "default of `decimals` is 0, there required"),
            ("torch.Tensor.nonzero", "default of `as_tuple` is False, there required"),
            ("torch.*repeat_interleave", "default of `*` is None, there required"),
            ("torch.tensordot", "`out` by keyword, there by both"),
            ("torch.compile", "`options` by **, there by keyword"),
            ("torch.nn.RNNBase.forward", "*"),
            ("torch.Tensor.to", "`*` by keyword, there by both"),
            ("torch.Tensor.*", "`memory_format` by keyword, there by both"),
            ("torch.Tensor.to", "without `tensor`"),
            ("torch.nn.ModuleList.extend", "*"),
            ("torch.nn.utils.rnn.PackedSequence", "*"),
        ),
    ),
    Difference(
        slug="seldom-used-options",
        title="Options that hardly any program uses",
        what="A few functions that are composed of others lack options: `nansum` has no `dtype`, "
        "`quantile` no `interpolation`, and `matrix_rank` not all of its tolerances. `view` sees "
        "no other type in the same memory, and `state_dict` takes its options by name. "
        "`DataLoader` has none for a device's memory and for the order of workers.",
        why="They stand in `extra`, kept thin. The functions that they are composed of have them.",
        code="torch.nansum(torch.ones(2), dtype=torch.float64)",
        covers=(
            ("torch.utils.data.DataLoader", "without `*`"),
            ("torch.*nansum", "without `dtype`"),
            ("torch.linalg.matrix_rank", "*"),
            ("torch.*quantile", "without `interpolation`"),
            ("torch.sparse_coo_tensor|torch.Tensor.to_sparse", "without `*`"),
            ("torch.normal", "only here `**options`"),
            ("torch.Tensor.view", "without `dtype`"),
            ("torch.nn.Module.state_dict", "without `args`"),
            ("torch.nn.functional.avg_pool1d", "only here `divisor_override`"),
            ("torch.*save", "without `_disable_byteorder_record`"),
            ("torch.random.fork_rng", "*"),
            ("torch.Tensor.cuda", "only here `*`"),
            ("torch.Tensor.is_pinned|torch.Tensor.to_dense", "without `*`"),
            ("torch.nn.Embedding*.from_pretrained", "only here `**settings`"),
            ("torch.linalg.pinv", "without `*`"),
            ("torch.optim.lr_scheduler.*.step", "without `epoch`"),
        ),
    ),
    Difference(
        slug="by-position-only",
        title="A few names that work by position only",
        what="`isin` calls its parameters by other names in PyTorch when they are numbers; `new` "
        "has several lists of parameters; and what `sum_to_size` takes has a name there. Here "
        "those are given by position.",
        why="Programs give them by position, too.",
        code="torch.isin(element=1, test_elements=torch.ones(2))",
        covers=(
            ("torch.isin", "without `*element`"),
            ("torch.Tensor.new", "*"),
            ("torch.Tensor.sum_to_size", "`size` by *, there by both"),
        ),
    ),
    Difference(
        slug="from",
        title="A parameter called from",
        what="`uniform_` calls its lower bound `from_`; `random_` takes its bounds by position.",
        why="PyTorch's `from` is a word of the language. Python has no parameter of that name.",
        code="torch.ones(2).uniform_(from_=3.0, to=3.0)",
        covers=(
            ("torch.Tensor.uniform_", "without `from`"),
            ("torch.Tensor.uniform_", "only here `from_`"),
            ("torch.Tensor.random_", "without `*"),
            ("torch.Tensor.random_", "only here `*bounds`"),
        ),
    ),
    Difference(
        slug="dtype-class",
        title="The classes of dtypes, layouts and memory formats",
        what="`torch.dtype`, `torch.layout` and `torch.memory_format` are small Python classes "
        "here and can be called. PyTorch's cannot.",
        why="A dtype here is a name and NumPy's dtype, side by side.",
        code='torch.dtype("mine", "float32", "Mine")',
        names=("torch.dtype", "torch.layout", "torch.memory_format"),
        covers=(("torch.dtype|torch.layout|torch.memory_format", "only here *"),),
    ),
)
