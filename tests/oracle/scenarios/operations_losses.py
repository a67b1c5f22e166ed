"""See losses as functions and as modules: reductions, weights, shapes that do not fit."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

V, M = (4,), (2, 3)
ODD: tuple[str, ...] = ()


def F(t):
    return t.nn.functional


def weights(t):
    return t.tensor([1.0, 0.5, 2.0])


def once(call, *shapes, **more):
    return operation(call, *shapes, dtypes=ODD, **more)


def reductions(name, call, *shapes, **more):
    """Rows for a loss with each reduction."""
    return {
        f"{name} {way}": once(lambda t, *x, way=way: call(t, *x, reduction=way), *shapes, **more)
        for way in ("mean", "sum", "none")
    }


WRONG = {
    "reduction": lambda t, x, y: F(t).smooth_l1_loss(x, y, reduction="x"),
    "beta": lambda t, x, y: F(t).smooth_l1_loss(x, y, beta=-1.0),
    "delta": lambda t, x, y: F(t).huber_loss(x, y, delta=0.0),
    "sizes": lambda t, x, y: F(t).binary_cross_entropy_with_logits(x, y[:1]),
    "range": lambda t, x, y: F(t).binary_cross_entropy(x * 9, y),
    "probabilities": lambda t, x, y: F(t).binary_cross_entropy(x.sigmoid(), y[:1]),
}

TABLE = {
    **reductions("smooth_l1_loss", lambda t, x, y, **k: F(t).smooth_l1_loss(x, y, **k), V, V),
    "smooth_l1_loss narrow": once(lambda t, x, y: F(t).smooth_l1_loss(x, y, beta=0.5), M, M),
    "smooth_l1_loss of 0": once(
        lambda t, x, y: F(t).smooth_l1_loss(x, y, beta=0.0), V, V, wrong=WRONG
    ),
    **reductions("huber_loss", lambda t, x, y, **k: F(t).huber_loss(x, y, delta=0.5, **k), V, V),
    "l1_loss": once(lambda t, x, y: F(t).l1_loss(x, y), V, V),
    **reductions(
        "binary_cross_entropy",
        lambda t, x, y, **k: F(t).binary_cross_entropy(x.sigmoid(), y.sigmoid(), **k),
        M,
        M,
    ),
    "binary_cross_entropy weighted": once(
        lambda t, x, y: F(t).binary_cross_entropy(x.sigmoid(), y.sigmoid(), weight=weights(t)), M, M
    ),
    **reductions(
        "with_logits",
        lambda t, x, y, **k: F(t).binary_cross_entropy_with_logits(x, y, **k),
        M,
        M,
    ),
    "with_logits weighted": once(
        lambda t, x, y: F(t).binary_cross_entropy_with_logits(x, y, weight=weights(t)), M, M
    ),
    "kl_div": once(lambda t, x, y: F(t).kl_div(x, y, reduction="batchmean"), M, M, positive=True),
    "kl_div of logarithms": once(
        lambda t, x, y: F(t).kl_div(x, y, reduction="sum", log_target=True), M, M
    ),
    "triplet_margin_loss": once(
        lambda t, x, y, z: F(t).triplet_margin_loss(x, y, z), M, M, M, composed=True
    ),
    "triplet_margin_loss swapped": once(
        lambda t, x, y, z: F(t).triplet_margin_loss(x, y, z, swap=True, reduction="none"),
        M,
        M,
        M,
        composed=True,
    ),
    **reductions(
        "nll_loss weighted",
        lambda t, x, **k: F(t).nll_loss(x, t.tensor([2, 0]), weights(t), **k),
        M,
    ),
    **reductions(
        "nll_loss ignoring",
        lambda t, x, **k: F(t).nll_loss(x, t.tensor([2, 0]), ignore_index=2, **k),
        M,
    ),
    **reductions(
        "nll_loss at places",
        lambda t, x, **k: F(t).nll_loss(x, t.tensor([[1, 0], [0, 2]]), **k),
        (2, 3, 2),
    ),
    "nll_loss of pictures": once(
        lambda t, x: F(t).nll_loss(x, t.tensor([[[1, 0]], [[0, 2]]]), weights(t)), (2, 3, 1, 2)
    ),
    **reductions(
        "cross_entropy smoothed",
        lambda t, x, **k: F(t).cross_entropy(x, t.tensor([2, 0]), label_smoothing=0.25, **k),
        M,
    ),
    "cross_entropy smoothed, weighted": once(
        lambda t, x: F(t).cross_entropy(
            x, t.tensor([2, 0]), weights(t), ignore_index=0, label_smoothing=0.25
        ),
        M,
    ),
    **reductions(
        "cross_entropy of probabilities", lambda t, x, y, **k: F(t).cross_entropy(x, y, **k), M, M
    ),
    "cross_entropy of probabilities, smoothed": once(
        lambda t, x, y: F(t).cross_entropy(x, y, weights(t), label_smoothing=0.25), M, M
    ),
    "cross_entropy at places": once(
        lambda t, x: F(t).cross_entropy(x, t.tensor([[1, 0], [0, 2]]), weights(t)), (2, 3, 2)
    ),
    "cross_entropy of a vector": once(lambda t, x: F(t).cross_entropy(x, t.tensor(1)), V),
}

family = add_all(TABLE)


@family
def targets_that_do_not_fit(torch, log):
    """Errors of nll_loss and cross_entropy."""
    f = torch.nn.functional
    x = torch.ones(2, 3)
    y = torch.tensor([0, 2])
    log.raises("too many", lambda: f.nll_loss(x, torch.tensor([0, 1, 2])))
    log.raises("no dimension", lambda: f.nll_loss(torch.tensor(1.0), torch.tensor(0)))
    log.raises("no class", lambda: f.nll_loss(x, torch.tensor([0, 3])))
    log.raises("negative", lambda: f.nll_loss(x, torch.tensor([0, -1])))
    log.raises("weights", lambda: f.nll_loss(x, y, weight=torch.ones(2)))
    log.raises("types", lambda: f.nll_loss(x, y, weight=torch.ones(3).double()))
    log.raises("matrix", lambda: f.nll_loss(x, torch.ones(2, 3).long()))
    log.raises("places", lambda: f.nll_loss(torch.ones(2, 3, 4), torch.ones(2, 5).long()))
    log.raises("pictures", lambda: f.nll_loss(torch.ones(2, 3, 4, 2), torch.ones(2, 4, 3).long()))
    log.raises("floats", lambda: f.nll_loss(x, torch.tensor([0.0, 1.0])))
    log.raises("int32", lambda: f.nll_loss(x, y.int()))
    log.raises("learned", lambda: f.nll_loss(x, y, torch.ones(3, requires_grad=True)))
    log("bytes", f.nll_loss(x, y.to(torch.uint8)))
    log("ignored", f.nll_loss(x, torch.tensor([-100, -100])))
    log("nothing", f.cross_entropy(torch.ones(0, 3), torch.ones(0).long()))
    log.raises("ignoring", lambda: f.cross_entropy(x, x, ignore_index=1))
    log.raises("integers", lambda: f.cross_entropy(torch.ones(3), torch.tensor([0, 1, 2])))
    log.raises("whole scores", lambda: f.cross_entropy(torch.tensor([[1, 2]]), torch.tensor([0])))
    log.raises("weights of few", lambda: f.cross_entropy(x, x, weight=torch.ones(2)))
    log.raises("bad reduction", lambda: f.cross_entropy(x, y, reduction="x"))


@family
def old_arguments(torch, log):
    """size_average and reduce warn, and kl_div warns of its mean."""
    f = torch.nn.functional
    x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.0])
    log("size_average", f.smooth_l1_loss(x, y, size_average=False))
    log("reduce", f.binary_cross_entropy(x, y, reduce=False))
    log("mean of kl_div", f.kl_div(x, y))
    log("module", torch.nn.BCELoss(size_average=True).reduction)


@family
def modules(torch, log):
    """Printed forms, settings, buffers and results of the losses."""
    nn = torch.nn
    x = torch.tensor([[0.25, -1.0, 0.5], [2.0, 0.75, -0.25]])
    y = torch.tensor([[0.5, 0.25, 1.0], [0.0, 0.5, 0.75]])
    made = (
        (nn.SmoothL1Loss(beta=0.5), (x, y)), (nn.HuberLoss(delta=2.0), (x, y)),
        (nn.BCELoss(weights(torch)), (y, y)), (nn.BCEWithLogitsLoss(), (x, y)),
        (nn.BCEWithLogitsLoss(weights(torch), pos_weight=weights(torch)), (x, y)),
        (nn.KLDivLoss(reduction="batchmean", log_target=True), (x, y)),
        (nn.TripletMarginLoss(p=1.0), (x, y, x + y)),
        (nn.NLLLoss(weights(torch), ignore_index=1), (x, torch.tensor([0, 1]))),
        (nn.CrossEntropyLoss(weights(torch), label_smoothing=0.5), (x, torch.tensor([0, 1]))),
    )  # fmt: skip
    for loss, given in made:
        settings = {
            name: value
            for name, value in vars(loss).items()
            if not name.startswith("_") and name != "training"
        }
        log(repr(loss), loss(*given), sorted(settings.items()), list(loss.state_dict()))
    log.raises("margin", lambda: nn.TripletMarginLoss(margin=-1.0))


@family
def what_is_no_tensor(torch, log):
    """Losses of lists, arrays and numbers, as beginners write them."""
    functional, x, classes = torch.nn.functional, leaf(torch, (2, 3), 1), [0, 2]
    for name in ("cross_entropy", "nll_loss"):
        loss = getattr(functional, name)
        log.raises("a list", lambda loss=loss: loss(x, classes))
        log.raises("lists", lambda loss=loss: loss([[1.0, 2.0]], torch.tensor([1])))
        log.raises("a number", lambda loss=loss: loss(x, 1))
        log.raises("an array", lambda loss=loss: loss(x, torch.tensor(classes).numpy()))
    log.raises("one_hot", lambda: functional.one_hot(classes))
    log.raises("one_hot", lambda: functional.one_hot(torch.tensor(classes).numpy(), 3))
    log.raises("relu", lambda: functional.relu(torch.ones(1).numpy()))
    log.raises("linear", lambda: torch.nn.Linear(1, 1)(torch.ones(1).numpy()))
    for name in ("sum", "mean", "max", "min", "flatten", "squeeze", "isnan", "isinf"):
        function = getattr(torch, name)
        log.raises(name, lambda function=function: function([1.0, 2.0]))
        log.raises(name, lambda function=function: function(torch.ones(2).numpy()))
        log.raises(name, lambda function=function: function(None))
