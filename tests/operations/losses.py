"""Losses: of numbers, of probabilities, of classes, with margins; lookups in tables."""

from __future__ import annotations

from .table import M, op

NOTHING = ()
REDUCED = ("mean", "sum", "none")


def loss(name: str, shapes, call: str, *more: str, **options):
    """Describe a loss: `call` ends where `reduction` is to follow."""
    calls = [f"{call}, reduction='{way}')" for way in REDUCED]
    return op(name, shapes, *calls, *more, dtypes=options.pop("dtypes", NOTHING), **options)


# fmt: off
TABLE = [
    loss("mse_loss", (M, M), "F.mse_loss(x, y", "nn.MSELoss()(x, y)", dtypes=("float64", "int64")),
    op("mse_loss", (M, (2, 1)), "F.mse_loss(x, y)", dtypes=NOTHING,
       faults=["F.mse_loss(x, torch.zeros(3, 2))"]),
    loss("l1_loss", (M, M), "F.l1_loss(x, y"),
    loss("smooth_l1_loss", (M, M), "F.smooth_l1_loss(x, y, beta=0.7",
         "F.smooth_l1_loss(x, y[0], beta=0.7)", "F.smooth_l1_loss(x, y, beta=0.0)",
         faults=["F.smooth_l1_loss(x, y, reduction='x')", "F.smooth_l1_loss(x, y, beta=-1.0)"],
         proof=((1,), (1,))),
    loss("huber_loss", (M, M), "F.huber_loss(x, y, delta=0.7",
         "F.huber_loss(x, y[0], delta=0.7)", faults=["F.huber_loss(x, y, delta=0.0)"],
         proof=((1,), (1,))),
    loss("binary_cross_entropy", (M, M), "F.binary_cross_entropy(x.sigmoid(), y.sigmoid()",
         "F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), weight=n(0.5, 2, 1.5))",
         proof="where x*(1 - x) is below 1e-12, it divides by that, as PyTorch does",
         faults=["F.binary_cross_entropy(x * 9, y)",
                 "F.binary_cross_entropy(x.sigmoid(), y[:1])"]),
    loss("binary_cross_entropy_with_logits", (M, M), "F.binary_cross_entropy_with_logits(x, y",
         "F.binary_cross_entropy_with_logits(x, y, weight=n(0.5, 2, 1.5))",
         "F.binary_cross_entropy_with_logits(x, y, n(0.5, 2, 1.5), pos_weight=n(1.5, 3, 2.5))",
         proof=((1,), (1,)), faults=["F.binary_cross_entropy_with_logits(x, y[:1])"]),
    op("kl_div", (M, M), "F.kl_div(x, y, reduction='batchmean')",
       "F.kl_div(x, y, reduction='sum')", "F.kl_div(x, y, reduction='sum', log_target=True)",
       positive=True, dtypes=NOTHING),
    op("triplet_margin_loss", (M, M, M), "F.triplet_margin_loss(x, y, z)",
       "F.triplet_margin_loss(x, y, z, swap=True, reduction='none')", dtypes=NOTHING,
       proof="it takes long", faults=["nn.TripletMarginLoss(margin=-1.0)"]),
    loss("nll_loss", M, "F.nll_loss(x, classes", "F.nll_loss(x, classes, ignore_index=2)",
         "F.nll_loss(x[0], torch.tensor(1), n(0.5, 2, 1.5))",
         faults=["F.nll_loss(x, torch.tensor([0, 1, 2]))",
                 "F.nll_loss(torch.tensor(1.0), torch.tensor(0))",
                 "F.nll_loss(x, torch.tensor([0, 3]))", "F.nll_loss(x, torch.tensor([0, -1]))",
                 "F.nll_loss(x, classes, weight=torch.ones(2))",
                 "F.nll_loss(x, classes, weight=torch.ones(3).double())",
                 "F.nll_loss(x, torch.ones(2, 3).long())", "F.nll_loss(x, classes.double())",
                 "F.nll_loss(x, classes.int())", "F.nll_loss(x, [0, 2])",
                 "F.nll_loss([[1.0]], classes)",
                 "F.nll_loss(x, classes, torch.ones(3, requires_grad=True))"]),
    loss("nll_loss", M, "F.nll_loss(x, classes, n(0.5, 2, 1.5)"),
    loss("nll_loss2d", (2, 3, 1, 2),
         "F.nll_loss(x, torch.tensor([[[1, 0]], [[0, 2]]]), n(0.5, 2, 1.5)",
         "F.nll_loss(x[:, :, 0], torch.tensor([[1, 0], [0, 2]]))",
         faults=["F.nll_loss(torch.ones(2, 3, 4), torch.ones(2, 5).long())",
                 "F.nll_loss(torch.ones(2, 3, 4, 2), torch.ones(2, 4, 3).long())"]),
    loss("cross_entropy", M, "F.cross_entropy(x, classes", "nn.CrossEntropyLoss()(x, classes)",
         "F.cross_entropy(x[0], torch.tensor(1))", proof=(2, 3),
         faults=["F.cross_entropy(x, torch.tensor([0, 3]))",
                 "F.cross_entropy(x, torch.tensor([0]))",
                 "F.cross_entropy(x, classes, reduction='median')", "F.cross_entropy(x, [0, 2])",
                 "F.cross_entropy(torch.ones(3), torch.tensor([0, 1, 2]))",
                 "F.cross_entropy(x, 1)",
                 "F.cross_entropy(torch.tensor([[1, 2]]), torch.tensor([0]))",
                 "F.cross_entropy(x, x, ignore_index=1)",
                 "F.cross_entropy(x, x, weight=torch.ones(2))"]),
    loss("cross_entropy, smoothed", M, "F.cross_entropy(x, classes, label_smoothing=0.25",
         proof="its parts are proved above"),
    op("cross_entropy, weighted", M,
       "F.cross_entropy(x, classes, n(0.5, 2, 1.5), ignore_index=0, label_smoothing=0.25)",
       "F.cross_entropy(x, classes, n(0.5, 2, 1.5))", dtypes=NOTHING,
       proof="its parts are proved above"),
    loss("cross_entropy of probabilities", (M, M), "F.cross_entropy(x, y",
         "F.cross_entropy(x, y, n(0.5, 2, 1.5), label_smoothing=0.25)",
         proof="its parts are proved above"),
    op("cross_entropy at places", (2, 3, 2),
       "F.cross_entropy(x, torch.tensor([[1, 0], [0, 2]]), n(0.5, 2, 1.5))", dtypes=NOTHING,
       proof="its parts are proved above"),
    # ------------------------------------------------------------ lookups
    op("embedding", (3, 2), "F.embedding(torch.tensor([[0, 2], [2, 1]]), x)",
       "F.embedding(torch.tensor(1), x)", dtypes=NOTHING,
       faults=["F.embedding(torch.tensor([0.5]), x)", "F.embedding(torch.tensor([3]), x)",
               "F.embedding(torch.tensor([-1]), x)", "F.embedding(i, x, padding_idx=3)",
               "F.embedding(1, x)"]),
    op("embedding", (3, 2), "F.embedding(torch.tensor([[0, 2], [2, 1]]), x, padding_idx=-1)",
       "F.embedding(torch.tensor(1), x, 1)", dtypes=NOTHING, checked=False,
       proof="what is padding gets no gradient"),
    op("embedding_bag", ((3, 2), (4,)), "F.embedding_bag(bag, x, starts, mode='sum')",
       "F.embedding_bag(bag, x, starts)",
       "F.embedding_bag(bag, x, starts, mode='mean', padding_idx=2)",
       "F.embedding_bag(bag, x, starts, mode='sum', padding_idx=2)",
       "F.embedding_bag(bag.view(2, 2), x)", "F.embedding_bag(bag.view(2, 2), x, mode='sum')",
       "F.embedding_bag(bag, x, torch.tensor([0, 1, 4]), include_last_offset=True)",
       "F.embedding_bag(bag, x, starts, mode='sum', per_sample_weights=y)", dtypes=NOTHING,
       twice=False,
       faults=["F.embedding_bag(bag, x)", "F.embedding_bag(bag, x, torch.tensor([0, 9]))",
               "F.embedding_bag(bag, x, starts, per_sample_weights=y)"]),
    op("one_hot", (), "F.one_hot(classes)", "F.one_hot(classes, 4)",
       "F.one_hot(torch.tensor(1), num_classes=3)", dtypes=NOTHING,
       faults=["F.one_hot(classes - 1)", "F.one_hot(classes, 2)", "F.one_hot(x)",
               "F.one_hot(torch.zeros(0).long())", "F.one_hot([0, 2])"]),
]
# fmt: on
