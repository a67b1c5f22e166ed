"""The ways to call one operation: by position, by name, sizes one by one or in one sequence."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()


@family
def sizes_and_dimensions_of_methods(torch, log):
    """Methods take sizes one by one, as one tuple or list, and by name."""
    x = leaf(torch, (2, 3), 1)
    log("view", x.view(3, 2).shape, x.view((3, 2)).shape, x.view(size=(3, 2)).shape)
    log("reshape", x.reshape(6), x.reshape([6]), x.reshape(shape=(6,)))
    log("expand", x.expand(2, 2, 3).shape, x.expand(size=(2, 2, 3)).shape)
    log("repeat", x.repeat(1, 2), x.repeat(repeats=(1, 2)))
    log("permute", x.permute(1, 0), x.permute((1, 0)), x.permute(dims=(1, 0)))
    log("flip", x.flip(0, 1), x.flip((0, 1)), x.flip(dims=[0]))
    log("graph", graph(x.view(size=(6,)).flip(dims=(0,)).sum()))


@family
def sizes_and_dimensions_of_functions(torch, log):
    """Functions take one tuple or list, by position or by name."""
    x = leaf(torch, (2, 3), 1)
    log("flip", torch.flip(x, (0, 1)), torch.flip(x, dims=[1]))
    log("permute", torch.permute(x, (1, 0)), torch.permute(x, dims=[1, 0]))
    log("reshape", torch.reshape(x, (6,)), torch.reshape(input=x, shape=(3, 2)))
    log.raises("one number for flip", lambda: torch.flip(x, 0))
    log.raises("one number for reshape", lambda: torch.reshape(x, 6))


@family
def tensors_made_by_name(torch, log):
    """Functions that make tensors take sizes and bounds by name."""
    log("size", torch.zeros(size=(2,)), torch.ones(size=[1, 2]), torch.empty(size=(3,)).shape)
    log("random", torch.rand(size=(2,)).shape, torch.randn(size=(2,)).shape)
    log("end", torch.arange(end=3), torch.arange(1, end=3), torch.arange(start=1, end=6, step=2))
    log("step", torch.arange(0, 4, step=2), torch.arange(3.0), torch.arange(0.5, 2))
    for found in (
        torch.randint(3, size=(2,)),
        torch.randint(high=3, size=(2,)),
        torch.randint(2, 3, size=(2,)),
        torch.randint(low=2, high=3, size=(2,)),
    ):
        log("randint", found.shape, found.dtype, bool((found < 3).all()))
    log("order", torch.randperm(3, dtype=torch.float64).dtype)
    log("like", torch.rand_like(torch.ones(2), dtype=torch.float64).dtype)
    log.raises("dtype by position", lambda: len(torch.as_tensor([1.0], dtype=torch.float64)))


@family
def tensors_by_class(torch, log):
    """The class itself takes data, or sizes; a float is neither."""
    log("data", torch.Tensor([[1, 2]]), torch.Tensor())
    log(
        "sizes",
        torch.Tensor(2, 3).shape,
        torch.Tensor(2).shape,
        torch.Tensor(torch.Size([4])).shape,
    )
    log.raises("float", lambda: torch.Tensor(3.0))


@family
def names_of_operands(torch, log):
    """The operands of products, pieces and copies have PyTorch's names."""
    x, y = leaf(torch, (2, 2), 1), leaf(torch, (2, 2), 2)
    log("mm", torch.mm(input=x, mat2=y), x.mm(mat2=y))
    log("mv", torch.mv(input=x, vec=y[0]))
    log("dot", torch.dot(input=x[0], tensor=y[0]), x[0].dot(tensor=y[0]))
    log("bmm", torch.bmm(input=x[None], mat2=y[None]))
    log("split", torch.split(tensor=x, split_size_or_sections=1), x.split(split_size=1))
    log("swapaxes", x.swapaxes(axis0=0, axis1=1))
    log("copy", x.detach().clone().copy_(other=y.detach()), x.detach().clone().mul_(other=2))
    log("norm", x.norm(dtype=torch.float64), torch.norm(x, "fro"))


@family
def losses_with_old_words(torch, log):
    """The switches that were there before `reduction` still work, and warn."""
    F, nn = torch.nn.functional, torch.nn
    x, y = leaf(torch, (2, 3), 1), leaf(torch, (2, 3), 2, requires_grad=False)
    classes = torch.tensor([0, 2])
    log("sum", F.mse_loss(x, y, size_average=False), F.l1_loss(x, y, False))
    log("none", F.mse_loss(x, y, reduce=False), F.cross_entropy(x, classes, reduce=False))
    log("mean", F.nll_loss(x, classes, size_average=True))
    log("modules", nn.MSELoss(False).reduction, nn.L1Loss(None, False).reduction)
    loss = nn.CrossEntropyLoss(reduction="sum")
    log("cross entropy", loss, loss(x, classes), loss.ignore_index, loss.label_smoothing)
    log("state", dict(loss.state_dict()), loss.weight)
    log("softmax", F.softmax(x, 0, dtype=torch.float64), F.log_softmax(x, -1, 3, torch.float64))
