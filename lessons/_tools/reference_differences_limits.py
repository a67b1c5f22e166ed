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
        slug="batched-gradients",
        title="Batches of gradients (vmap)",
        what="There is no `vmap`. gradcheck's `check_batched_grad` and what else needs it are "
        "errors.",
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
        slug="devices",
        title="Devices",
        what="All tensors live on the CPU. `to('cpu')` and `cpu()` give the tensor itself; any "
        "other device is an error.",
        why="minigrad computes with NumPy.",
        code='torch.ones(2).to("meta")',
        names=("torch.Tensor.to", "torch.nn.Module.to", "torch.Tensor.cpu"),
    ),
    Difference(
        slug="view-as-dtype",
        title="view with a dtype",
        what="`view(dtype)` reads the same bytes as other numbers in PyTorch. Here it is an error.",
        why="It has nothing to do with gradients.",
        code="torch.ones(2).view(torch.int32)",
        names=("torch.Tensor.view",),
        covers=(("torch.Tensor.view", "without `dtype`"),),
    ),
    Difference(
        slug="weights-of-classes",
        title="Weights of classes in the losses",
        what="`weight`, `ignore_index` and `label_smoothing` can be given their default values "
        "only.",
        why="No lesson needs them.",
        code="weight = torch.ones(2)\n"
        "nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]), weight)",
        names=(
            "torch.nn.CrossEntropyLoss",
            "torch.nn.NLLLoss",
            "torch.nn.functional.cross_entropy",
            "torch.nn.functional.nll_loss",
        ),
    ),
    Difference(
        slug="label-smoothing",
        title="Smoothed labels in the cross entropy",
        what="`label_smoothing` has to be 0.",
        why="No lesson needs it.",
        code="nn.CrossEntropyLoss(label_smoothing=0.1)(torch.zeros(1, 2), torch.tensor([0]))",
        names=("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy"),
    ),
    Difference(
        slug="soft-targets",
        title="Weights with probabilities as targets",
        what="`cross_entropy` takes probabilities as targets, but no `weight` with them.",
        why="No lesson needs it.",
        code="scores, target = torch.zeros(1, 2), torch.tensor([[0.5, 0.5]])\n"
        "nn.functional.cross_entropy(scores, target, torch.ones(2))",
        names=("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss"),
    ),
    Difference(
        slug="losses-of-images",
        title="nll_loss over images",
        what="`nll_loss` takes scores of shape (N, C) or (C,); in PyTorch further dimensions may "
        "follow.",
        why="No lesson has images with a class for each pixel.",
        code="scores = torch.zeros(1, 2, 3)\n"
        "nn.functional.nll_loss(scores, torch.zeros(1, 3, dtype=torch.int64))",
        names=("torch.nn.functional.nll_loss", "torch.nn.NLLLoss"),
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
        what="Modules stay on the CPU: another device is an error.",
        why="minigrad computes with NumPy.",
        code='nn.Linear(1, 1).to("meta").weight.shape, nn.Linear(1, 1, device="meta").weight.shape',
        names=("torch.nn.Module.to", "torch.nn.Linear"),
    ),
    Difference(
        slug="matrix-norms",
        title="Norms of matrices",
        what="`norm` knows the norms of vectors, also along several dimensions; `p='nuc'` is an "
        "error.",
        why="The nuclear norm needs singular values.",
        code='torch.ones(2, 2).norm(p="nuc")',
        names=("torch.norm", "torch.Tensor.norm"),
    ),
    Difference(
        slug="operators",
        title="Operators: whole and rest of a division, bits shifted",
        what="`//`, `%`, `<<` and `>>` are not there. The list is with the operators of Tensor.",
        why="Their derivatives are zero nearly everywhere, and no lesson needs them yet.",
        code="torch.arange(3) % 2",
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
        slug="recorded-batches",
        title="Batches of gradients that are recorded",
        what="`autograd.grad` with `is_grads_batched=True` makes one pass for each row of the "
        "batch. Together with `create_graph=True` it is an error.",
        why="There is no `vmap`, and a graph of many passes would not look like PyTorch's.",
        code="x = torch.ones(2, requires_grad=True)\n"
        "rows = torch.eye(2)\n"
        "torch.autograd.grad(x.exp(), x, rows, is_grads_batched=True, create_graph=True)",
        names=("torch.autograd.grad",),
    ),
    Difference(
        slug="missing-dtypes",
        title="Dtypes that NumPy has not",
        what="There is no bfloat16, and there are no numbers of fewer than eight bits.",
        why="NumPy has none.",
        code="torch.bfloat16",
        names=("torch.dtype",),
    ),
)
