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
        slug="out",
        title="out=",
        what="No function takes `out`, the tensor that the result is to be written into.",
        why="A result that is written over has no graph. PyTorch refuses it, too, as soon as a "
        "gradient is required. `copy_` says the same in a line of its own.",
        code="result = torch.empty(2)\ntorch.exp(torch.zeros(2), out=result)",
        covers=(("torch.*", "without `out`"),),
    ),
    Difference(
        slug="device",
        title="device=, pin_memory=",
        what="Functions that make tensors do not take `device` and `pin_memory`.",
        why="minigrad computes with NumPy, on the CPU.",
        code='torch.zeros(2, device="cpu")',
        covers=(
            ("torch.*", "without `device`"),
            ("torch.*", "without `pin_memory`"),
            ("torch.Tensor.*", "without `non_blocking`"),
        ),
    ),
    Difference(
        slug="layout",
        title="layout=, memory_format=",
        what="Functions do not take `layout` and `memory_format`.",
        why="Tensors are NumPy arrays: dense, with strides.",
        code="torch.zeros(2).clone(memory_format=None)",
        covers=(
            ("torch.*", "without `layout`"),
            ("torch.*", "without `memory_format`"),
            ("torch.Tensor.expand", "without `implicit`"),
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
        slug="rounding-mode",
        title="div with rounding_mode",
        what="`div` does not take `rounding_mode`.",
        why="Rounded division has the gradient zero nearly everywhere.",
        code='torch.div(torch.ones(2) * 3, 2, rounding_mode="floor")',
        covers=(("torch.*div|torch.*div_", "without `rounding_mode`"),),
    ),
    Difference(
        slug="by-position-and-by-name",
        title="Several ways to call, one signature",
        what="`max`, `min`, `arange`, `randint` and `to` have several signatures in PyTorch, and "
        "one in Python. All the ways to call them by position work, and by name; what "
        "`inspect.signature` shows is different.",
        why="A Python function has one signature.",
        code='import inspect\n\n"start" in str(inspect.signature(torch.arange))',
        covers=(
            ("torch.arange", "`*` by keyword, there by both"),
            ("torch.randint", "`*` by keyword, there by both"),
            ("torch.randint", "default of `size` is None, there required"),
            ("torch.*max|torch.*min", "`other` by keyword, there by both"),
            ("torch.Tensor.to", "`*` by keyword, there by both"),
            ("torch.Tensor.to", "without `tensor`"),
        ),
    ),
    Difference(
        slug="weighted-mean",
        title="mse_loss and l1_loss with weights",
        what="`mse_loss` and `l1_loss` do not take `weight`.",
        why="Multiplying the single losses by weights says the same.",
        code="nn.functional.mse_loss(torch.ones(2), torch.zeros(2), weight=torch.ones(2))",
        covers=(("torch.nn.functional.*_loss", "without `weight`"),),
    ),
    Difference(
        slug="scales-of-elu",
        title="The scales of elu_",
        what="`elu_` takes `alpha` only. PyTorch's takes two more numbers that its documentation "
        "does not name.",
        why="They are there for `selu` and `celu`, inside of PyTorch.",
        code="nn.functional.elu_(torch.ones(2), 1.0, 2.0)",
        covers=(("torch.nn.functional.elu_", "without `*scale`"),),
    ),
    Difference(
        slug="dtype-class",
        title="The class of dtypes",
        what="`torch.dtype` is a small Python class here and can be called, to make minigrad's own "
        "dtypes. PyTorch's cannot.",
        why="A dtype here is a name and NumPy's dtype, side by side.",
        code='torch.dtype("mine", "float32", "Mine")',
        names=("torch.dtype",),
        covers=(("torch.dtype", "only here *"),),
    ),
    Difference(
        slug="old-variable",
        title="torch.autograd.variable",
        what="In PyTorch `torch.autograd.variable` is a function left over from old times; here it "
        "is the module that `Variable` comes from.",
        why="PyTorch has both under one name. Nothing needs the function.",
        code="type(torch.autograd.variable).__name__",
        covers=(("torch.autograd.variable", "module, there function"),),
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
)
