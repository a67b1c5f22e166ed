"""See averages of a model's weights, and the schedule that goes with them."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def layer(torch, seed):
    """Make a layer with given numbers and a buffer."""
    made = torch.nn.Linear(2, 1)
    with torch.no_grad():
        made.weight.copy_(leaf(torch, (1, 2), seed))
        made.bias.copy_(leaf(torch, (1,), seed + 1))
    made.register_buffer("seen", leaf(torch, (2,), seed + 2, requires_grad=False))
    return made


@family
def averages(torch, log):
    """Means, running averages, averages of one's own."""
    swa = torch.optim.swa_utils
    for label, options in (
        ("mean", {}),
        ("mean and buffers", {"use_buffers": True}),
        ("running", {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.75)}),
        ("running, one by one", {"avg_fn": swa.get_ema_avg_fn(0.75)}),
        ("mean of lists", {"multi_avg_fn": swa.get_swa_multi_avg_fn()}),
        ("own", {"avg_fn": lambda mean, value, count: mean + value / count}),
    ):
        average = swa.AveragedModel(layer(torch, 1), **options)
        log(label, average.n_averaged, list(average.state_dict()))
        for seed in (5, 9, 13):
            average.update_parameters(layer(torch, seed))
            log("updated", average.state_dict())
        log("result", average(torch.tensor([1.0, 2.0])).detach(), average.module.weight.is_leaf)
    log.raises("decay", lambda: swa.get_ema_avg_fn(1.5))
    log.raises("decay", lambda: swa.get_ema_multi_avg_fn(-0.5))
    both = {"avg_fn": swa.get_swa_avg_fn(), "multi_avg_fn": swa.get_swa_multi_avg_fn()}
    log.raises("both", lambda: swa.AveragedModel(layer(torch, 1), **both))
    model = layer(torch, 1)
    log("no statistics", swa.update_bn([torch.ones(2)], model), model.training)


@family
def schedules(torch, log):
    """SWALR goes to its value in a wave or a line."""
    swa = torch.optim.swa_utils
    for options in (
        {"swa_lr": 0.25, "anneal_epochs": 3},
        {"swa_lr": [0.25, 2.0], "anneal_epochs": 2, "anneal_strategy": "linear"},
        {"swa_lr": 0.125, "anneal_epochs": 0},
    ):
        groups = [{"params": [leaf(torch, (1,), 1)]}, {"params": [leaf(torch, (1,), 2)], "lr": 0.5}]
        optimizer = torch.optim.SGD(groups, lr=1.0)
        schedule = swa.SWALR(optimizer, **options)
        for _ in range(5):
            log("rates", schedule.get_last_lr(), [group["swa_lr"] for group in groups])
            optimizer.step()
            schedule.step()
        state = schedule.state_dict()
        log(
            "state",
            {key: state[key] for key in ("anneal_epochs", "last_epoch", "_anneal_strategy")},
        )
        other = swa.SWALR(torch.optim.SGD([leaf(torch, (1,), 1)], lr=1.0), 0.5)
        other.load_state_dict(state)
        log("loaded", other.anneal_func(0.25), other.last_epoch)
    for options in (
        {"swa_lr": [0.5, 0.5]},
        {"swa_lr": 0.5, "anneal_strategy": "up"},
        {"swa_lr": 0.5, "anneal_epochs": -1},
        {"swa_lr": 0.5, "anneal_epochs": 1.5},
    ):
        optimizer = torch.optim.SGD([leaf(torch, (1,), 1)], lr=1.0)
        log.raises(f"{options}", lambda o=optimizer, s=options: swa.SWALR(o, **s))
