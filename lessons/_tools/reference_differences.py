"""Collect the known differences between minigrad and PyTorch; those of behavior are kept here."""

from __future__ import annotations

from _tools.reference_demonstrations import Difference
from _tools.reference_differences_calls import CALLS
from _tools.reference_differences_limits import LIMITS

BEHAVIOR = (
    Difference(
        slug="classes-of-tensors",
        title="Classes of your own made of Tensor",
        what="What operations, indexing, `detach`, `.data`, `.T` and iteration give of a tensor of "
        "a subclass is a plain `Tensor`; in PyTorch it is of the subclass. What is done in place "
        "keeps its class. There is no `as_subclass`. `__torch_function__` and "
        "`__torch_dispatch__` are not called; a subclass that defines one is warned of as it is "
        "defined. An object of another class that has `__torch_function__` is a TypeError where a "
        "tensor is wanted.",
        why="Each operation would have to look at the classes of its arguments.",
        code='Marked = type("Marked", (torch.Tensor,), {})\ntype(Marked([1.0]) * 2).__name__',
        names=("torch.Tensor",),
    ),
    Difference(
        slug="random-numbers",
        title="Random numbers in their last bits",
        what="The same seed gives the same random numbers, and the state of the generator is the "
        "same, byte for byte. Sixteen normal numbers or more in one float32 tensor may differ in "
        "the last bit or two; so may float16 ones.",
        why="PyTorch computes many normal numbers at once by approximations of its own to the "
        "logarithm and the sine.",
        code="_ = torch.manual_seed(0)\ntorch.randn(1000).double().sum().item()",
        names=("torch.randn*", "torch.normal", "torch.Tensor.normal_"),
    ),
    Difference(
        slug="float16-on-the-way",
        title="float16 between the steps of one operation",
        what="An operation of float16 computes in float32 and rounds once. Where an operation of "
        "PyTorch rounds on the way, or counts in float16, its result differs in the last bits, or "
        "is infinite or 0 while minigrad's is right: `logsumexp` of more than 65,504 equal "
        "entries, the gradient of an average over so large a window, losses near the smallest "
        "numbers.",
        why="One policy for all operations, where PyTorch has one for each.",
        code="torch.zeros(70_000, dtype=torch.float16).logsumexp(0)",
        names=("torch.logsumexp", "torch.nn.functional.avg_pool*d"),
    ),
    Difference(
        slug="longer-messages",
        title="Messages with a sentence more",
        what="Where it helps, an error message goes on after PyTorch's text and says what to do. "
        "The type is PyTorch's, and its text stands at the beginning, unchanged.",
        why="A learner meets these messages first here. Tests compare the beginning.",
        code="torch.ones(2).item()",
    ),
    Difference(
        slug="own-type-errors",
        title="Wrong numbers of arguments",
        what="A call with too many, too few, or unknown arguments is a TypeError in both. The "
        "words are Python's here, and those of PyTorch's parser there.",
        why="minigrad's operations are plain Python functions.",
        code="torch.ones(2).abs(1)",
    ),
    Difference(
        slug="given-gradient",
        title="A gradient that the caller keeps",
        what="If a gradient that is handed to `backward` reaches a leaf through a view, PyTorch "
        "lets `.grad` share its memory, so that adding up changes it. minigrad copies what "
        "somebody else holds.",
        why="Sharing is an optimization there and no promise; the copy is safer.",
        code="x = torch.ones(2, requires_grad=True)\n"
        "given = torch.ones(2)\n"
        "x.view(2).backward(given)\n"
        "x.view(2).backward(torch.ones(2))\n"
        "given",
        names=("torch.Tensor.backward", "torch.autograd.backward"),
        known=("oracle:engine.gradient_given_to_backward",),
    ),
    Difference(
        slug="saves-less",
        title="Saved tensors that hooks do not see",
        what="Hooks of saved tensors meet fewer tensors here for indexing, `gather`, `max` and "
        "`min`, and the losses with class numbers: not the positions, masks, counts, or weights.",
        why="The gradient needs no such tensor, or positions are kept as plain arrays.",
        code="seen = []\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t), lambda t: t):\n"
        "    _ = x[torch.tensor([0, 2])]\n"
        "len(seen)",
        names=("torch.autograd.graph.saved_tensors_hooks",),
        known=tuple(
            f"oracle:saved_packing.{name}"
            for name in ("max_dim", "index_select", "index", "index 8", "index 34", "gather")
        ),
    ),
    Difference(
        slug="input-metadata",
        title="grad_fn._input_metadata",
        what="Nodes do not tell the shapes and dtypes that they expect in `_input_metadata`.",
        why="It is private in PyTorch. The shape is in the error message of a wrong gradient.",
        code='y = torch.ones(2, requires_grad=True) * 2\nhasattr(y.grad_fn, "_input_metadata")',
        names=("torch.autograd.graph.Node",),
    ),
    Difference(
        slug="gradient-edge-by-hand",
        title="A GradientEdge made by hand",
        what="`backward` from a hand-made edge needs a gradient, also where the output has one "
        "entry.",
        why="Such an edge holds a node and a number, and minigrad's nodes do not all keep the "
        "shape of their outputs.",
        code="x = torch.ones(1, requires_grad=True)\n"
        "y = x * 2\n"
        "edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)\n"
        "torch.autograd.backward(edge)\n"
        "x.grad",
        names=("torch.autograd.graph.GradientEdge", "torch.autograd.backward"),
    ),
    Difference(
        slug="node-types",
        title="What a node is an instance of",
        what="Every node is an instance of `torch.autograd.graph.Node` in both. Here the classes "
        "inherit from it and can be read; there they are registered with it, and come from C++.",
        why="The rules are Python here, and meant to be read.",
        code="y = torch.ones(2, requires_grad=True) * 2\n"
        "torch.autograd.graph.Node in type(y.grad_fn).__mro__",
        names=("torch.autograd.graph.Node",),
    ),
    Difference(
        slug="numpy-functions",
        title="NumPy's functions of tensors",
        what="NumPy's functions of tensors give tensors, and are recorded where a gradient is "
        "required; so does an operator with an array on its left, which counts as a tensor: whole "
        "numbers beside float32 give float32. What minigrad does not know is an error. PyTorch "
        "turns the tensors into arrays first, and refuses where a gradient is required; or the "
        "result has NumPy's type, float64.",
        why="NumPy's own protocols carry the dispatch here: that is how one backward rule computes "
        "with arrays and with tensors.",
        code="import numpy as np\n\nx = torch.ones(2, requires_grad=True)\n"
        "np.exp(x), np.ones(2) * x",
    ),
    Difference(
        slug="numpy-complex",
        title="A complex number of NumPy's beside real numbers",
        what="The result is complex. PyTorch drops the imaginary part without a word.",
        why="What fails silently teaches wrong.",
        code="import numpy as np\n\ntorch.ones(2) + np.complex64(1j)",
    ),
    Difference(
        slug="variance-over-nothing",
        title="The gradient of a variance over the dimensions ()",
        what="No dimensions mean all, for `var`, `std` and their gradients. PyTorch computes the "
        "value of all, but divides in the gradient as if there were one entry: it is infinite.",
        why="The gradient here is that of the value.",
        code="x = torch.tensor([1.0, 2.0], requires_grad=True)\nx.var(()).backward()\nx.grad",
    ),
    Difference(
        slug="singular-determinants",
        title="Gradients of determinants of singular matrices",
        what="The gradient of `det` is the matrix of cofactors. PyTorch's is 0 for a singular "
        "matrix, unless `create_graph=True`. Gradients of `logdet` and `slogdet` are NaN there, "
        "and so are those of `linalg.qr`; entries of PyTorch's may be infinite.",
        why="Two ways to ask for one derivative have one answer; and the logarithm of 0 has none.",
        code="x = torch.ones(2, 2, requires_grad=True)\ntorch.det(x).backward()\nx.grad",
    ),
    Difference(
        slug="hooks-of-changed-views",
        title="A hook on a view whose base was changed",
        what="After a change in place of its base, or of another view of that, a view has another "
        "`grad_fn`. A hook registered after the change runs. In PyTorch `grad_fn` has to be read "
        "between the two: else the hook is lost if the view had one before, and PyTorch crashes "
        "if it had none.",
        why="What was registered runs.",
        code="x = torch.ones(2, requires_grad=True)\nbase = x * 1\nview = base[:1]\nseen = []\n"
        '_ = view.register_hook(lambda g: seen.append("before"))\n_ = base.mul_(2)\n'
        '_ = view.register_hook(lambda g: seen.append("after"))\nview.sum().backward()\nseen',
    ),
    Difference(
        slug="infinities-on-the-way",
        title="Infinities on the way to a result",
        what="Where PyTorch meets infinity times 0, or less itself, on its way only, it gives nan, "
        "and minigrad what the formula says: for infinity or nan added to complex numbers, which "
        "PyTorch multiplies by 1 first; for infinite weights of `batch_norm`, `instance_norm` and "
        "`group_norm`, and numbers whose squares are infinite in `layer_norm`; for the slope of "
        "`softplus` where a threshold far away lets its powers grow beyond all numbers; for "
        "`gelu` of infinity; and for causal attention whose scale is not positive. Attention whose "
        "scale is nan is nan here, "
        "and 0 there; and the gradient of a convolution, and a transposed one, with infinite "
        "kernels is nan where these meet borders of zeros.",
        why="In which order numbers are computed is no promise; the formula is.",
        code='torch.complex(torch.ones(1), torch.ones(1)) + float("inf")',
    ),
    Difference(
        slug="arguments-from-the-end",
        title="Jacobians by an argument that is counted from the end",
        what="`torch.func.jacfwd` with a negative `argnums` gives the Jacobian, as `jacrev` does, "
        "and `hessian` what both make of it. PyTorch's give zeros.",
        why="A derivative that is wrong in silence teaches wrong.",
        code="torch.func.jacfwd(torch.exp, -1)(torch.zeros(2))",
        names=("torch.func.jacfwd", "torch.func.hessian"),
    ),
    Difference(
        slug="left-open",
        title="What nobody promises",
        what="Where several entries are equal `kthvalue` and `median` give the index of one of "
        "them: the value is the same, the index may be another. And a centered "
        "`RMSprop` whose `alpha` is 0 divides by the root of a square less itself: what rounding "
        "leaves there is 0 here, and may be less, hence nan, in PyTorch. `linalg.pinv` of a "
        "singular matrix divides by what rounding leaves, too, if `rtol` is 0 or less. Rows with "
        "NaN have no order in which `unique` could sort them. And a tensor without entries made "
        "of an array has strides of 0 in PyTorch if the array has.",
        why="The answer depends on the order in which the numbers are looked at, or on rounding; "
        "and no entry has a place where there are none.",
        code="torch.tensor([1.0, 1.0, 2.0]).kthvalue(2, 0).indices",
        names=("torch.kthvalue", "torch.median"),
    ),
    Difference(
        slug="counted-too-far",
        title="What PyTorch counts wrongly",
        what="Where the step of `arange` is near 2^63, PyTorch's count "
        "overflows. Where a `pos_weight` of bytes is 0, less 1 is 255: both say so of the "
        "loss, and PyTorch's gradient is that of another one. A setting of an optimizer that is "
        "one of NumPy's bytes overflows there, and is a number here. Attention over "
        "a batch of no values has no results here, and zeros there.",
        why="The number meant is the one that was written.",
        code="torch.arange(0, 2**63 - 1, 2**62)",
        names=("torch.arange",),
    ),
    Difference(
        slug="read-only-memory",
        title="Arrays that must not be written to",
        what="A tensor of a read-only array cannot be changed in place: that is a ValueError. "
        "PyTorch warns when the tensor is made, and writes into the array all the same.",
        why="Who locks an array relies on it.",
        code="import numpy as np\n\narray = np.ones(2)\narray.flags.writeable = False\n"
        "torch.from_numpy(array).zero_()",
    ),
    Difference(
        slug="numpy-warnings",
        title="NumPy's warnings about infinities",
        what="Infinity minus infinity is nan in both. If all warnings are switched on, NumPy says "
        "so here; by default it does not.",
        why="To silence NumPy in every sum would cost time.",
        code='torch.tensor([float("inf")]) - torch.tensor([float("inf")])',
    ),
    Difference(
        slug="names-of-modules",
        title="Where a class says that it lives",
        what="The printed form of a class names minigrad's modules. Tensors, layers, nodes and "
        "errors print as in PyTorch.",
        why="That is where to read it.",
        code="torch.nn.Linear",
    ),
    Difference(
        slug="overlapping-writes",
        title="Writing a part of a tensor over the whole",
        what="Where an operation in place reads a part of the memory that it writes, minigrad "
        "computes as if it read first. PyTorch does not notice all such cases, and then what comes "
        "out depends on the order in which its loops run.",
        why="NumPy looks for overlap.",
        code="x = torch.arange(4.0).view(2, 2)\nx += x[:, :1]\nx",
        names=tuple(
            f"torch.Tensor.{name}"
            for name in (
                "add_",
                "sub_",
                "mul_",
                "div_",
                "copy_",
                "__iadd__",
                "__isub__",
                "__imul__",
            )
        ),
    ),
    Difference(
        slug="gradients-memory",
        title="The memory of gradients",
        what="Whether a gradient is a view, and its version, may differ. The values agree.",
        why="PyTorch adds gradients up in place where it happens to hold the only reference, and "
        "returns views where a rule ends in one. It promises neither.",
        code="x = torch.ones(2, 2, requires_grad=True)\n"
        "(found,) = torch.autograd.grad(x.t(), x, torch.ones(2, 2))\n"
        "found._is_view()",
        names=("torch.autograd.grad", "torch.Tensor.grad"),
    ),
    Difference(
        slug="more-derivatives",
        title="Second derivatives that PyTorch lacks",
        what="Attention in one node, `cdist` and `embedding_bag` can be differentiated twice here.",
        why="The rules here are written in operations that have rules themselves. PyTorch has "
        "kernels in C++ for those gradients, and none for theirs.",
        code="x = torch.tensor([[0.5]], requires_grad=True)\n"
        "y = torch.cdist(x, torch.zeros(1, 1), p=3.0) ** 2\n"
        "(first,) = torch.autograd.grad(y, x, create_graph=True)\n"
        "torch.autograd.grad(first, x)",
        names=(
            "torch.cdist",
            "torch.nn.functional.scaled_dot_product_attention",
            "torch.nn.functional.embedding_bag",
            "torch.nn.EmbeddingBag",
        ),
    ),
    Difference(
        slug="ties",
        title="The order of equal entries",
        what="`sort` and `argsort` leave equal entries in their order. PyTorch promises that with "
        "`stable=True` only, and does otherwise where there are more than 16 entries.",
        why="Both are right: nothing is promised. A stable order is easier to follow.",
        code="torch.sort(torch.zeros(20)).indices.tolist() == list(range(20))",
        names=("torch.*sort", "torch.Tensor.*sort"),
    ),
    Difference(
        slug="decompositions",
        title="Who decomposes matrices",
        what="Decompositions and solutions come from NumPy's LAPACK. The last bits may differ, "
        "and so may what mathematics leaves open, such as the signs of singular vectors. In "
        "float16 neither library has them; the errors name the kernel that is missing.",
        why="PyTorch is built with another LAPACK.",
        code='"BLAS_INFO" in torch.__config__.show() if hasattr(torch, "__config__") else "NumPy"',
        names=("torch.linalg.svd*|torch.linalg.eig*|torch.linalg.qr",),
    ),
    Difference(
        slug="one-process",
        title="Workers of a DataLoader",
        what="With `num_workers` the batches come in the same order, but all work is done in the "
        "one process, and nothing gets faster. `get_worker_info()` is None; what a dataset draws "
        "at random comes from the program's own generators; an `IterableDataset` is gone through "
        "once, not once by each worker.",
        why="A lesson runs in one process, also in the browser.",
        code="import os\n\n\n"
        "def process(batch):\n"
        "    return os.getpid()\n\n\n"
        "loader = torch.utils.data.DataLoader([1, 2], num_workers=1, collate_fn=process)\n"
        "set(loader) == {os.getpid()}",
        names=("torch.utils.data.DataLoader",),
    ),
    Difference(
        slug="files",
        title="What is in a saved file",
        what="`save` and `load` write and read PyTorch's own files, but only with tensors, "
        "numbers, texts, and dictionaries, lists, tuples and sets of them: what a `state_dict()` "
        "gives. A whole module is refused. With the ending `.npz`, `save` writes arrays by name, "
        "for dictionaries of tensors. Files from before PyTorch 1.6 are refused.",
        why="What is unpickled can run any program; here nothing in a file is executed.",
        code="import tempfile\nimport zipfile\nfrom pathlib import Path\n\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        '    path = Path(folder) / "model.npz"\n'
        '    torch.save({"weight": torch.ones(1)}, path)\n'
        '    found = "weight.npy" in zipfile.ZipFile(path).namelist()\n'
        "found",
        names=("torch.save", "torch.load"),
        covers=(
            ("torch.*save", "default of `pickle_module` is None, there pickle"),
            ("torch.*save", "default of `pickle_protocol` is None, there 2"),
        ),
    ),
    Difference(
        slug="tensor-counts",
        title="Positions in the errors of methods",
        what="Where an error says which argument is wrong, a function and the method of its name "
        "count alike here: the tensor is the first. PyTorch does not count the tensor that a "
        "method is called on.",
        why="A method is the function here, and the tensor its first argument.",
        code='torch.ones(2, 2).argmax("a")',
        names=("torch.Tensor.arg*", "torch.Tensor.cumsum", "torch.Tensor.dot"),
    ),
)

DIFFERENCES: tuple[Difference, ...] = (*BEHAVIOR, *LIMITS, *CALLS)
