"""See lookups in tables, dropout without chance, distances, and what the layers of them print."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (4,), (2, 3)
ODD: tuple[str, ...] = ()
FLOATS = ("float16", "float64", "int64")


def F(t):
    return t.nn.functional


def places(t):
    return t.tensor([[0, 2], [2, 1]])


def once(call, *shapes, **more):
    return operation(call, *shapes, dtypes=ODD, **more)


TABLE = {
    "embedding": once(
        lambda t, w: F(t).embedding(places(t), w),
        (3, 2),
        wrong={
            "floats": lambda t, w: F(t).embedding(t.tensor([0.5]), w),
            "too large": lambda t, w: F(t).embedding(t.tensor([3]), w),
            "negative": lambda t, w: F(t).embedding(t.tensor([-1]), w),
            "padding": lambda t, w: F(t).embedding(t.tensor([1]), w, padding_idx=3),
            "vector": lambda t, w: F(t).embedding(t.tensor([1]), w[0]),
            "number": lambda t, w: F(t).embedding(1, w),
        },
    ),
    "embedding with padding": once(
        lambda t, w: F(t).embedding(places(t), w, padding_idx=-1), (3, 2)
    ),
    "pairwise_distance": operation(
        lambda t, x, y: t.pairwise_distance(x, y), M, M, dtypes=FLOATS, composed=True
    ),
    "pairwise_distance of order 3": once(
        lambda t, x, y: t.pairwise_distance(x, y, p=3.0, keepdim=True), M, (3,), composed=True
    ),
    "cosine_similarity": operation(
        lambda t, x, y: t.cosine_similarity(x, y),
        M,
        M,
        dtypes=FLOATS[:2],
        wrong={
            "dim": lambda t, x, y: t.cosine_similarity(x, y, 2),
            "sizes": lambda t, x, y: t.cosine_similarity(x, t.ones(4)),
        },
    ),
    "cosine_similarity broadcast": once(
        lambda t, x, y: F(t).cosine_similarity(x, y, dim=-1, eps=1.5), M, (1, 3), composed=True
    ),
}

family = add_all(TABLE)


@family
def bags(torch, log):
    """embedding_bag of sums and means: values, gradients, errors."""
    f = torch.nn.functional
    table = torch.tensor([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]], requires_grad=True)
    numbers, offsets = torch.tensor([0, 2, 2, 1]), torch.tensor([0, 0, 3])
    cotangent = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def shown(label, result, *inputs):
        gradients = torch.autograd.grad(result, inputs, cotangent[: len(result)])
        log(label, result.detach(), *gradients)

    for mode in ("sum", "mean"):
        for padding in (None, 2):
            result = f.embedding_bag(numbers, table, offsets, mode=mode, padding_idx=padding)
            shown(f"{mode} {padding}", result, table)
        shown(f"{mode} of rows", f.embedding_bag(numbers.view(2, 2), table, mode=mode), table)
    last = f.embedding_bag(numbers, table, torch.tensor([0, 1, 4]), include_last_offset=True)
    log("with the end", last.detach())
    factors = torch.tensor([0.5, 2.0, -1.0, 3.0], requires_grad=True)
    result = f.embedding_bag(numbers, table, offsets, mode="sum", per_sample_weights=factors)
    shown("weighted", result, table, factors)
    log.raises("no offsets", lambda: f.embedding_bag(numbers, table))
    log.raises("beyond", lambda: f.embedding_bag(numbers, table, torch.tensor([0, 9])))
    log.raises(
        "weighted mean",
        lambda: f.embedding_bag(numbers, table, offsets, per_sample_weights=factors),
    )


@family
def layers(torch, log):
    """Printed forms, settings and first values of the layers."""
    nn = torch.nn
    made = (
        nn.Embedding(3, 2), nn.Embedding(3, 2, padding_idx=-1),
        nn.Embedding(3, 2, 0, max_norm=1, norm_type=3.0, scale_grad_by_freq=True),
        nn.EmbeddingBag(3, 2), nn.EmbeddingBag(3, 2, mode="sum", padding_idx=1),
        nn.Dropout(), nn.Dropout(0.3, True),
        nn.Dropout1d(), nn.Dropout2d(0.1), nn.Dropout3d(),
        nn.Unflatten(1, (2, 2)), nn.Flatten(0, 1),
        nn.CosineSimilarity(), nn.PairwiseDistance(keepdim=True),
    )  # fmt: skip
    for layer in made:
        settings = {
            name: value
            for name, value in vars(layer).items()
            if not name.startswith("_") and name != "training"
        }
        shapes = [(name, tuple(each.shape)) for name, each in layer.state_dict().items()]
        log(repr(layer), sorted(settings.items()), shapes)
    log("padding", made[1].weight[2], made[4].weight[1])
    frozen = nn.Embedding.from_pretrained(torch.ones(2, 2))
    log("frozen", frozen.weight.requires_grad)
    log.raises("shape", lambda: nn.Embedding(3, 2, _weight=torch.ones(2, 2)))
    log.raises("padding too large", lambda: nn.Embedding(3, 2, padding_idx=3))
    log.raises("bag padding", lambda: nn.EmbeddingBag(3, 2, padding_idx=5))
    log.raises("pretrained", lambda: nn.Embedding.from_pretrained(torch.ones(2)))
    log.raises("probability", lambda: nn.Dropout(1.5))
    log("unflattened", nn.Unflatten(1, (2, -1))(torch.ones(1, 4)).shape)
    log("distance", nn.PairwiseDistance(p=1.0)(torch.zeros(2), torch.ones(2)))
    log("cosine", nn.CosineSimilarity(0)(torch.ones(2), torch.tensor([1.0, 0.0])))


@family
def dropout_without_chance(torch, log):
    """Where nothing is left to chance: p of 0 and 1, evaluation, dimensions, errors."""
    f = torch.nn.functional
    x = torch.tensor([[[1.0, 2.0], [3.0, -4.0]]], requires_grad=True)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
        call = getattr(f, name)
        if name == "dropout3d":
            x = x[..., None]
        log(f"{name} of 0", call(x, 0.0, True).detach())
        log(f"{name} of 1", call(x, 1.0, True).detach())
        log(f"{name} evaluated", torch.equal(call(x, 0.5, False), x))
        log(f"{name} in place", call(x * 1, 1.0, True, True).detach())
    log.raises("dropout of 2", lambda: f.dropout(torch.ones(2), 2.0))
    log.raises("scalar channels", lambda: f.dropout1d(torch.ones(2)))
    log.raises("integers", lambda: f.dropout(torch.tensor([1, 2])))
    log("native", *torch.native_dropout(x.detach(), 0.5, False))


@family
def dropout_by_chance(torch, log):
    """The masks are PyTorch's for the same seed."""
    f = torch.nn.functional
    x = torch.arange(1.0, 13.0).view(1, 3, 4)
    for name in ("dropout", "dropout1d"):
        torch.manual_seed(3)
        log(name, getattr(f, name)(x, 0.4, True))
    torch.manual_seed(3)
    log("native", *torch.native_dropout(x.detach(), 0.4, True))


@family
def first_values(torch, log):
    """init fills tensors with PyTorch's numbers for the same seed; and its errors and warnings."""
    init = torch.nn.init
    for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_",
                 "kaiming_uniform_", "kaiming_normal_", "eye_", "ones_", "zeros_"):  # fmt: skip
        torch.manual_seed(5)
        log(name, getattr(init, name)(torch.empty(3, 4)))
    log("constant_", init.constant_(torch.empty(2), 0.5))
    log("gains", [init.calculate_gain(n) for n in ("relu", "tanh", "selu", "linear", "conv2d")])
    log("empty", init.kaiming_uniform_(torch.empty(0, 2)))
    log.raises("order", lambda: init.uniform_(torch.empty(2), 1, 0))
    log.raises("deviation", lambda: init.normal_(torch.empty(2), 0, -1))
    log.raises("eye", lambda: init.eye_(torch.empty(2)))
    log.raises("fan", lambda: init.xavier_uniform_(torch.empty(2)))
    log.raises("mode", lambda: init.kaiming_uniform_(torch.empty(2, 2), mode="x"))
    log.raises("gain", lambda: init.calculate_gain("x"))
    log.raises("orthogonal", lambda: init.orthogonal_(torch.empty(2)))
