"""See every schedule epoch by epoch: learning rates, momentum, state, errors."""

from __future__ import annotations

from .tools import Family

family = Family()


def half(epoch):
    """Give a factor that falls with the epoch."""
    return 0.5**epoch


SCHEDULES = {
    "LambdaLR": [{"lr_lambda": half}],
    "StepLR": [{"step_size": 3}, {"step_size": 2, "gamma": 0.5}],
    "MultiStepLR": [{"milestones": [2, 5, 5], "gamma": 0.5}],
    "ConstantLR": [{}, {"factor": 0.5, "total_iters": 3}],
    "LinearLR": [{}, {"start_factor": 0.25, "end_factor": 0.5, "total_iters": 4}],
    "ExponentialLR": [{"gamma": 0.5}],
    "PolynomialLR": [{}, {"total_iters": 4, "power": 2.0}],
    "CosineAnnealingLR": [{"T_max": 4}, {"T_max": 3, "eta_min": 0.125}],
    "OneCycleLR": [
        {"max_lr": 1.0, "total_steps": 9},
        {"max_lr": [1.0, 2.0], "epochs": 3, "steps_per_epoch": 3, "anneal_strategy": "linear"},
        {"max_lr": 1.0, "total_steps": 9, "three_phase": True, "pct_start": 0.25},
        {"max_lr": 1.0, "total_steps": 9, "cycle_momentum": False, "div_factor": 4.0},
        {"max_lr": 1.0, "total_steps": 9, "base_momentum": 0.5, "max_momentum": [0.75, 0.875]},
    ],
}


def made(torch, kind="SGD", **options):
    """Make an optimizer with two groups."""
    groups = [
        {"params": [torch.nn.Parameter(torch.tensor([1.0]))]},
        {"params": [torch.nn.Parameter(torch.tensor([2.0]))], "lr": 0.25},
    ]
    settings = {"lr": 1.0, **({"momentum": 0.5} if kind == "SGD" else {}), **options}
    return getattr(torch.optim, kind)(groups, **settings)


def rates(optimizer):
    """Give the learning rate of each group, and its momentum."""
    return [
        (group["lr"], group["momentum"] if "momentum" in group else group["betas"])
        for group in optimizer.param_groups
    ]


LEFT_OUT = (
    "lr_lambdas",
    "_get_lr_called_within_step",
    "default_min_lr",
)


def plain(state):
    """Give a state by name, without what is no value, or tells only of the call that is running."""
    return {k: state[k] for k in sorted(state) if k not in LEFT_OUT}


def add_course(label, name, options):
    """Make a scenario of nine epochs, then of a schedule that goes on from the fourth."""

    def scenario(torch, log):
        optimizer = made(torch)
        kind = getattr(torch.optim.lr_scheduler, name)
        schedule = kind(optimizer, **options)
        log("first", rates(optimizer), schedule.get_last_lr(), plain(schedule.state_dict()))
        saved = None
        for epoch in range(9):
            optimizer.step()
            schedule.step()
            log(f"epoch {epoch}", rates(optimizer), schedule.get_last_lr())
            if epoch == 3:
                saved = [dict(schedule.state_dict()), optimizer.state_dict()]
        log("last", plain(schedule.state_dict()), optimizer.state_dict()["param_groups"])
        other = made(torch)
        again = kind(other, **options)
        other.load_state_dict(saved[1])
        again.load_state_dict(saved[0])
        for epoch in range(4, 7):
            other.step()
            again.step()
            log(f"again {epoch}", rates(other), again.get_last_lr())
        third = made(torch)
        third.load_state_dict(saved[1])
        resumed = kind(third, **options, last_epoch=4)
        log("resumed", rates(third))
        third.step()
        resumed.step()
        log("resumed", rates(third), resumed.last_epoch)

    scenario.__doc__ = f"Nine epochs of {name}."
    family.add(label, scenario)


for _name, _all in SCHEDULES.items():
    for _index, _options in enumerate(_all):
        add_course(f"{_name} {_index}", _name, _options)


@family
def rates_and_betas(torch, log):
    """Adam's first beta is led as momentum is."""
    for name, all_options in SCHEDULES.items():
        optimizer = made(torch, "Adam", lr=0.5)
        schedule = getattr(torch.optim.lr_scheduler, name)(optimizer, **all_options[0])
        for _ in range(3):
            optimizer.step()
            schedule.step()
            log(name, rates(optimizer))
        log("last", schedule.get_last_lr())


@family
def plateau(torch, log):
    """The learning rate falls when a measure stays where it is."""
    measures = [4.0, 3.0, 3.0, 2.9999, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    for options in (
        {"patience": 1, "factor": 0.5},
        {"patience": 0, "mode": "max", "factor": 0.25, "min_lr": [0.125, 0.0]},
        {"patience": 1, "threshold": 0.5, "threshold_mode": "abs", "cooldown": 2},
        {"patience": 1, "mode": "max", "threshold": 0.5, "threshold_mode": "abs"},
        {"patience": 1, "eps": 0.5, "factor": 0.75},
    ):
        optimizer = made(torch)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        log("first", schedule.get_last_lr(), plain(schedule.state_dict()))
        for measure in measures:
            schedule.step(torch.tensor(measure))
            log("rates", rates(optimizer), schedule.num_bad_epochs, schedule.in_cooldown)
        state = schedule.state_dict()
        other = torch.optim.lr_scheduler.ReduceLROnPlateau(made(torch))
        other.load_state_dict(state)
        log("loaded", plain(other.state_dict()), other.get_last_lr())


@family
def refusals(torch, log):
    """What each schedule refuses."""
    schedules = torch.optim.lr_scheduler
    adagrad = torch.optim.Adagrad([torch.nn.Parameter(torch.tensor([1.0]))])
    for name, options in (
        ("LambdaLR", {"lr_lambda": [half]}),
        ("LinearLR", {"start_factor": 0}),
        ("LinearLR", {"start_factor": 1.5}),
        ("OneCycleLR", {"max_lr": 1.0}),
        ("OneCycleLR", {"max_lr": 1.0, "total_steps": 0}),
        ("OneCycleLR", {"max_lr": 1.0, "epochs": 0, "steps_per_epoch": 2}),
        ("OneCycleLR", {"max_lr": 1.0, "epochs": 2, "steps_per_epoch": 0}),
        ("OneCycleLR", {"max_lr": 1.0, "total_steps": 5, "pct_start": 1.5}),
        ("OneCycleLR", {"max_lr": 1.0, "total_steps": 5, "anneal_strategy": "up"}),
        ("OneCycleLR", {"max_lr": [1.0], "total_steps": 5}),
        ("ReduceLROnPlateau", {"factor": 1.0}),
        ("ReduceLROnPlateau", {"mode": "up"}),
        ("ReduceLROnPlateau", {"threshold_mode": "up"}),
        ("ReduceLROnPlateau", {"min_lr": [0.5]}),
        ("StepLR", {"step_size": 2, "last_epoch": 3}),
        ("StepLR", {"step_size": 2, "verbose": True}),
    ):
        kind = getattr(schedules, name)

        def attempt(kind=kind, options=options):
            return type(kind(made(torch), **options)).__name__

        log.raises(f"{name} {[*options]}", attempt)
    log.raises("no optimizer", lambda: schedules.StepLR(torch.nn.ReLU(), 2))
    log.raises("without momentum", lambda: schedules.OneCycleLR(adagrad, 1.0, total_steps=5))
    short = schedules.OneCycleLR(made(torch), 1.0, total_steps=2)
    for _ in range(4):
        log.raises("one too many", short.step)
    base = schedules.LRScheduler
    log.raises("base", lambda: base(made(torch)))
