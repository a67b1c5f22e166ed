"""What PyTorch does and minigrad refuses: the known limits, each with the lines that show it."""

from __future__ import annotations

from _tools.reference_demonstrations import Difference

LIMITS = (
    Difference(
        slug="complex-gradients",
        title="Gradients of complex numbers",
        what="Complex tensors can be made and printed. One that requires a gradient is an error.",
        why="minigrad differentiates real numbers only: the lessons' mathematics is real.",
        code="torch.tensor([1j], requires_grad=True).requires_grad",
        names=("torch.tensor", "torch.complex*", "torch.c*float|torch.c*double"),
    ),
    Difference(
        slug="mutation-of-saved-tensors",
        title="Changes of saved tensors",
        what="A saved tensor that is changed before its backward pass is always an error: there is "
        "no `allow_mutation_on_saved_tensors`, which keeps copies.",
        why="To compute on a `clone()` says the same, and where.",
        code="with torch.autograd.graph.allow_mutation_on_saved_tensors():\n"
        "    x = torch.ones(2)\n"
        "x",
        names=("torch.autograd.graph.allow_mutation_on_saved_tensors",),
    ),
    Difference(
        slug="forward-mode",
        title="Forward-mode derivatives",
        what="There are no dual tensors. What needs them is an error: gradcheck's "
        "`check_forward_ad`, `check_fwd_over_rev` and the like.",
        why="The course is about the backward pass.",
        code="x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "torch.autograd.gradcheck(torch.exp, x, check_forward_ad=True)",
        names=(
            "torch.autograd.gradcheck",
            "torch.autograd.gradgradcheck",
            "torch.autograd.gradcheck.grad*check",
        ),
    ),
    Difference(
        slug="forward-mode-jacobians",
        title="Jacobians in forward mode",
        what='`strategy="forward-mode"` of `autograd.functional` is an error. `func.jacfwd` '
        "and `func.hessian` give what forward mode gives, by backward passes, but for the points "
        "of the next entry.",
        why="The course is about the backward pass.",
        code="torch.autograd.functional.jacobian(\n"
        '    torch.exp, torch.ones(2), vectorize=True, strategy="forward-mode"\n'
        ")",
        names=("torch.autograd.functional.jacobian", "torch.autograd.functional.hessian"),
    ),
    Difference(
        slug="forward-mode-at-singular-points",
        title="Forward mode where a derivative is infinite",
        what="`func.jacfwd` and `func.hessian` may be NaN where PyTorch's formula for forward "
        "mode puts a 0: `std` of equal entries, a norm of order 3 of zeros, `x ** x` at 0. "
        "For `xlogy` of a negative first input it is the other way round. Inputs that `where` or "
        "`masked_fill` cuts off add no NaN, as in PyTorch.",
        why="The product of a Jacobian and a vector is the derivative of a recorded backward pass, "
        "whose formulas have their exceptions at other places.",
        code="torch.func.jacfwd(torch.std)(torch.ones(2))",
        names=("torch.func.jacfwd", "torch.func.hessian"),
    ),
    Difference(
        slug="batched-gradients",
        title="Batches of gradients (vmap)",
        what="gradcheck's `check_batched_grad` and what else runs a batch of backward passes at "
        "once are errors.",
        why="A loop over the batch says the same, and shows the passes.",
        code="x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "torch.autograd.gradcheck(torch.exp, x, check_batched_grad=True)",
        names=(
            "torch.autograd.gradcheck",
            "torch.autograd.gradgradcheck",
            "torch.autograd.gradcheck.grad*check",
        ),
    ),
    Difference(
        slug="old-arguments",
        title="Arguments of old programs",
        what="`Hardtanh` takes no `min_value` and `max_value`.",
        why="They are deprecated there.",
        code="torch.nn.Hardtanh(min_value=-2.0)",
        covers=(("torch.nn.Hardtanh", "without `m*_value`"),),
    ),
    Difference(
        slug="rare-settings",
        title="Settings that courses leave alone",
        what="An LSTM has no `proj_size`. Optimizers take no names of parameters, Adam's `betas` "
        "are no tensors, and a step records nothing: `differentiable=True` is refused. "
        "LBFGS has no line search here: leave line_search_fn out, and choose lr. "
        "MultiheadAttention adds no keys here: leave out add_bias_kv and add_zero_attn. For keys "
        "and values of other sizes, put a Linear before it instead of kdim and vdim.",
        why="Each would need code of its own. Who wants the derivative of a step writes the step "
        "in operations, as `p - lr * p.grad`.",
        code="weight = torch.ones(1, requires_grad=True)\n"
        "torch.optim.SGD([weight], differentiable=True)",
        names=("torch.nn.LSTM", "torch.nn.MultiheadAttention", "torch.optim.*"),
    ),
    Difference(
        slug="antialias",
        title="Images made smaller without antialiasing",
        what="`interpolate` takes no `antialias=True`.",
        why="The lessons enlarge; a mean over parts (`area`) makes images smaller.",
        code="x = torch.ones(1, 1, 4, 4)\n"
        'torch.nn.functional.interpolate(x, size=(2, 2), mode="bilinear", antialias=True)',
        names=("torch.nn.functional.interpolate",),
    ),
    Difference(
        slug="factors-of-products",
        title="Unknowns from the left",
        what="`torch.linalg.solve` takes no `left`.",
        why="Transpose in a line of its own, and the graph shows it.",
        code="torch.linalg.solve(torch.eye(1), torch.ones(1, 1), left=False)",
        covers=(("torch.linalg.solve", "without `left`"),),
    ),
    Difference(
        slug="listed-settings",
        title="Reductions where entries are written, and weights where they are counted",
        what="`scatter` takes no `reduce`, and `histogram` no `weight`.",
        why="PyTorch has no derivative of the one, and no course that we know uses the other. "
        "`scatter_add` adds, and has a derivative.",
        code="place = torch.tensor([0, 0])\n"
        'torch.scatter(torch.ones(1), 0, place, 2.0, reduce="add")',
        covers=(
            ("torch.scatter", "without `reduce`"),
            ("torch.Tensor.scatter*", "without `reduce`"),
            ("torch.histogram", "without `weight`"),
            ("torch.Tensor.histogram", "without `weight`"),
        ),
    ),
    Difference(
        slug="checkpoint-debug",
        title="The log of a checkpoint",
        what="`debug=True` of `torch.utils.checkpoint.checkpoint` is an error: what the two runs "
        "recorded is not written down.",
        why="`minigrad.viz.record` and a hook show what runs.",
        code="def part(x):\n"
        "    return x.exp()\n\n\n"
        "x = torch.ones(1, requires_grad=True)\n"
        "torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False, debug=True).tolist()",
        names=("torch.utils.checkpoint.checkpoint",),
    ),
    Difference(
        slug="devices",
        title="Devices",
        what="All tensors live on the CPU. `to('cpu')` and `cpu()` give the tensor itself; any "
        "other device is an error.",
        why="minigrad computes with NumPy.",
        code='torch.ones(2).to("meta")',
        names=("torch.Tensor.to", "torch.nn.Module.to", "torch.Tensor.cpu"),
    ),
    Difference(
        slug="grad-dtype",
        title="A gradient of another dtype",
        what="There is no `grad_dtype`: a gradient always has its tensor's dtype.",
        why="It is new in PyTorch, and for training in mixed precision.",
        code="torch.ones(2, requires_grad=True).grad_dtype",
        names=("torch.Tensor.grad",),
    ),
    Difference(
        slug="devices-of-modules",
        title="Devices of modules",
        what='`Module.to("meta")` keeps sizes and types and lets the entries go; computing with '
        "such parameters is an error. So is any other device, or making a module there.",
        why="minigrad computes with NumPy.",
        code='nn.Linear(1, 1).to("meta").weight.sum().shape',
        names=("torch.nn.Module.to", "torch.nn.Linear"),
    ),
    Difference(
        slug="batches-of-passes",
        title="Several backward passes at once",
        what="`autograd.grad` with `is_grads_batched=True` is an error.",
        why="A loop over the rows says the same, and shows the passes.",
        code="x = torch.ones(2, requires_grad=True)\n"
        "rows = torch.eye(2)\n"
        "torch.autograd.grad(x.exp(), x, rows, is_grads_batched=True)",
        names=("torch.autograd.grad",),
    ),
    Difference(
        slug="sparse-tensors",
        title="Sparse tensors are kept in full",
        what="`sparse_coo_tensor` gives the tensor with all its zeros, and warns; `to_sparse()` "
        "and `coalesce()` give the tensor itself.",
        why="Programs with graphs of some thousand nodes run so, with the same results.",
        code="import warnings\n\n"
        'warnings.simplefilter("ignore")\n'
        "torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).layout",
        names=("torch.sparse_coo_tensor", "torch.Tensor.to_sparse", "torch.Tensor.coalesce"),
    ),
    Difference(
        slug="composed-functions",
        title="Functions that are composed of others",
        what="`take`, `nansum` and others, seldom called, are computed as a line of other "
        "functions; so the graph has the nodes of these. So is `addmm` whose `beta` or "
        "`alpha` is not 1: the factors are nodes of their own, before the product.",
        why="One line each; the values and gradients are the same.",
        code="torch.take(torch.ones(2, requires_grad=True), torch.tensor([0])).grad_fn.name()",
        names=("torch.take", "torch.nansum"),
    ),
    Difference(
        slug="sparse-gradients",
        title="Sparse gradients of gather",
        what="`gather` takes `sparse_grad=False` only.",
        why="There are no sparse tensors.",
        code="torch.gather(torch.ones(2), 0, torch.tensor([1]), sparse_grad=True)",
        names=("torch.gather", "torch.Tensor.gather"),
    ),
    Difference(
        slug="sparse-embeddings",
        title="Embeddings with sparse gradients",
        what="`sparse=True` is an error, and so are `scale_grad_by_freq=True` and a `max_norm`.",
        why="There are no sparse tensors; and courses leave gradients as they are.",
        code="table = nn.Embedding(2, 1, sparse=True)\ntable(torch.tensor([0])).shape",
        names=("torch.nn.Embedding*", "torch.nn.functional.embedding*"),
    ),
    Difference(
        slug="missing-dtypes",
        title="Dtypes that NumPy has not",
        what="`bfloat16` has a name, so that programs can compare dtypes with it, and no tensors. "
        "`complex32`, `uint16`, `uint32`, `uint64`, float8, and numbers of fewer than eight bits "
        "have no names either.",
        why="NumPy has no bfloat16; the others are hardly used.",
        code="torch.zeros(1, dtype=torch.bfloat16)",
        names=("torch.dtype", "torch.bfloat16"),
    ),
    Difference(
        slug="half-complex",
        title="Complex numbers of two halves",
        what="Two float16 tensors make no complex one.",
        why="NumPy has no such numbers.",
        code="half = torch.ones(1).half()\ntorch.complex(half, half)",
        names=("torch.complex",),
    ),
    Difference(
        slug="bags",
        title="Bags of largest entries",
        what="`embedding_bag` makes sums and means of rows. It has no largest entries, and "
        "neither it nor `embedding` divides gradients by how often a row is used.",
        why="Courses join what they look up to sums and means.",
        code="numbers, table = torch.tensor([[0, 1]]), torch.eye(2)\n"
        'nn.functional.embedding_bag(numbers, table, mode="max")',
        names=("torch.nn.functional.embedding*", "torch.nn.Embedding*"),
    ),
    Difference(
        slug="shared-heads",
        title="Heads that share keys and values",
        what="`scaled_dot_product_attention` takes `enable_gqa=False` only.",
        why="`repeat_interleave` gives each head its own.",
        code="q, k = torch.ones(1, 2, 1, 2), torch.ones(1, 1, 1, 2)\n"
        "nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True).shape",
        names=("torch.nn.functional.scaled_dot_product_attention",),
    ),
    Difference(
        slug="circular-padding",
        title="Padding from the other side",
        what="`pad`, and the padding of convolutions, have no `circular` mode.",
        why="No course that we know uses it; `torch.cat` joins the other side.",
        code='nn.functional.pad(torch.ones(1, 3), (1, 0), "circular").shape',
        names=("torch.nn.functional.pad", "torch.nn.Conv*d"),
    ),
    Difference(
        slug="norms-of-matrices",
        title="Norms of matrices",
        what="`torch.linalg.norm` and `torch.norm` take of a matrix the root of the sum of squares "
        "only; vectors have norms of every order.",
        why="The others are sums of rows or columns, or of singular values.",
        code='torch.linalg.norm(torch.eye(2), "nuc")',
        names=("torch.linalg.norm", "torch.norm", "torch.Tensor.norm"),
    ),
    Difference(
        slug="weighted-errors",
        title="Weights of each error",
        what="`mse_loss`, `l1_loss` and `huber_loss` take no `weight`.",
        why="It is new in PyTorch; multiply the errors of `reduction='none'`.",
        code="x = torch.zeros(2)\nnn.functional.mse_loss(x, x, weight=torch.ones(2))",
        covers=(("torch.nn.functional.*_loss", "without `weight`"),),
    ),
    Difference(
        slug="layouts",
        title="Sparse layouts",
        what="`layout` takes `torch.strided` only.",
        why="Tensors are NumPy arrays: dense, with strides.",
        code="torch.zeros(2, layout=torch.sparse_coo)",
        names=("torch.sparse_coo", "torch.layout"),
    ),
    Difference(
        slug="memory-formats",
        title="Channels last in memory",
        what="`memory_format` takes the usual orders only.",
        why="How entries lie in memory matters for speed on some devices, and for nothing else.",
        code="x = torch.zeros(1, 2, 3, 4)\n"
        "x.contiguous(memory_format=torch.channels_last).stride()",
        names=("torch.channels_last*", "torch.Tensor.contiguous", "torch.memory_format"),
    ),
    Difference(
        slug="pickle-options",
        title="Options of pickle",
        what="`save` and `load` take no options that set how things are pickled.",
        why="A `.pt` file holds a pickle of plain data, and one way to write it is enough; see "
        "[files](differences.md#files).",
        code="import io\nimport pickle\n\ntorch.save({}, io.BytesIO(), pickle_module=pickle)",
        names=("torch.save",),
    ),
    Difference(
        slug="unpickle-options",
        title="Options of unpickling",
        what="`load` refuses what would set how things are unpickled.",
        why="A reader of minigrad's own makes plain data of a pickle, and calls nothing it names.",
        code="import io\n\n"
        "file = io.BytesIO()\n"
        "torch.save({}, file)\n"
        "_ = file.seek(0)\n"
        'torch.load(file, encoding="ascii")',
        names=("torch.load",),
    ),
    Difference(
        slug="mapped-files",
        title="Files that stay on the disk",
        what="`load` with `mmap=True` is an error: a file is read as a whole.",
        why="The tensors of a lesson are small.",
        code="import tempfile\nfrom pathlib import Path\n\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        '    path = Path(folder) / "weights.npz"\n'
        "    torch.save({}, path)\n"
        "    try:\n"
        "        said = torch.load(path, mmap=True)\n"
        "    except NotImplementedError as error:\n"
        "        said = str(error)\n"
        "said",
        names=("torch.load",),
    ),
    Difference(
        slug="map-location",
        title="Loading to another device",
        what='`map_location` takes None and "cpu".',
        why="minigrad computes with NumPy.",
        code="import io\n\n"
        "file = io.BytesIO()\n"
        'torch.save({"weight": torch.ones(1)}, file)\n'
        "_ = file.seek(0)\n"
        'torch.load(file, map_location="meta")',
        names=("torch.load",),
    ),
    Difference(
        slug="set-in-a-graph",
        title="set_ in a graph",
        what="`set_` refuses tensors that require a gradient. PyTorch takes them, and fails in the "
        "backward pass.",
        why="It has no derivative: the error comes where the mistake is.",
        code="x = torch.ones(2, requires_grad=True)\ntorch.ones(2).set_(x)",
        names=("torch.Tensor.set_",),
    ),
    Difference(
        slug="storages",
        title="Storages",
        what="`untyped_storage()` tells the address and the bytes of the memory that views share. "
        "A tensor cannot be made of a storage.",
        why="NumPy owns the memory; `x.set_(y)` shares that of another tensor.",
        code="x = torch.ones(2)\n"
        "try:\n"
        "    x.set_(torch.zeros(3).untyped_storage())\n"
        "    said = x\n"
        "except Exception as error:\n"
        "    said = type(error).__name__\n"
        "said",
        names=("torch.Tensor.set_", "torch.Tensor.untyped_storage", "torch.is_storage"),
    ),
    Difference(
        slug="rooms",
        title="Rooms of PyTorch that are not here",
        what="`torch.jit`, `torch.fx`, `torch.distributed`, `torch.onnx` and some others can be "
        "imported. Questions are answered with no, decorators that change no computation, such as "
        "`jit.script` and `compiler.disable`, give the function back, and everything else there "
        "raises an error when it is used: nothing is written, registered or profiled as if it "
        "were.",
        why="So a program that only mentions them runs.",
        code="try:\n"
        "    said = type(torch.fx.Tracer()).__name__\n"
        "except NotImplementedError as error:\n"
        "    said = str(error)\n"
        "said",
    ),
    Difference(
        slug="mixed-precision",
        title="Mixed precision",
        what="`autocast` and `GradScaler` for a GPU are switched off, with a warning, as in "
        "PyTorch without a GPU. `autocast` for the CPU is an error.",
        why="NumPy has no bfloat16.",
        code="try:\n"
        '    with torch.autocast("cpu"):\n'
        "        said = (torch.ones(1, 1) @ torch.ones(1, 1)).dtype\n"
        "except NotImplementedError as error:\n"
        "    said = str(error)\n"
        "said",
        names=("torch.autocast",),
    ),
)
