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
    "CosineAnnealingWarmRestarts": [{"T_0": 3}, {"T_0": 1, "T_mult": 2, "eta_min": 0.125}],
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
    kept = {k: state[k] for k in sorted(state) if k not in LEFT_OUT}
    if "_schedulers" in kept:
        kept["_schedulers"] = [plain(each) for each in kept["_schedulers"]]
    return kept


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
        if "T_mult" in options:
            return  # PyTorch does not know how far it is in which period
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
def begun_anew(torch, log):
    """At its milestone SequentialLR begins a schedule anew."""
    schedules = torch.optim.lr_scheduler
    for name, all_options in SCHEDULES.items():
        if name == "OneCycleLR":
            continue
        optimizer = made(torch)
        first = schedules.ConstantLR(optimizer, factor=0.5)
        second = getattr(schedules, name)(optimizer, **all_options[-1])
        both = schedules.SequentialLR(optimizer, [first, second], [3])
        for epoch in range(6):
            optimizer.step()
            both.step()
            log(f"{name} at {epoch}", rates(optimizer), second.last_epoch)


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
def one_after_the_other(torch, log):
    """SequentialLR changes from one to the next at its milestones, and is saved whole."""
    schedules = torch.optim.lr_scheduler

    def build():
        optimizer = made(torch)
        parts = [
            schedules.LinearLR(optimizer, start_factor=0.5, total_iters=2),
            schedules.ExponentialLR(optimizer, gamma=0.5),
            schedules.CosineAnnealingLR(optimizer, T_max=3),
        ]
        return optimizer, schedules.SequentialLR(optimizer, parts, milestones=[2, 4])

    optimizer, schedule = build()
    log("first", rates(optimizer), schedule.get_last_lr(), plain(schedule.state_dict()))
    for epoch in range(8):
        optimizer.step()
        schedule.step()
        log(f"epoch {epoch}", rates(optimizer), schedule.get_last_lr(), schedule.last_epoch)
        if epoch == 2:
            saved = [schedule.state_dict(), optimizer.state_dict()]
    log("state", plain(schedule.state_dict()))
    other, again = build()
    other.load_state_dict(saved[1])
    again.load_state_dict(saved[0])
    other.step()
    again.step()
    log("again", rates(other), again.last_epoch)


@family
def between_epochs(torch, log):
    """Warm restarts take a part of an epoch, ahead and back, and go on from there."""
    for times in (1, 2):
        optimizer = made(torch)
        kind = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts
        schedule = kind(optimizer, T_0=2, T_mult=times)
        for epoch in (0.25, 1.5, 2, 2.75, 6.5, 1, None, None, 9.0, None):
            schedule.step(epoch)
            log(f"epoch {epoch}", rates(optimizer), schedule.last_epoch)
        log.raises("before the first", lambda schedule=schedule: schedule.step(-1))


@family
def functions_stay_behind(torch, log):
    """Functions are not saved with the schedule."""
    schedules = torch.optim.lr_scheduler
    schedule = schedules.LambdaLR(made(torch), [half, half])
    state = schedule.state_dict()
    log("state", plain(state), state["lr_lambdas"])
    schedule.load_state_dict(state)
    log("loaded", schedule.lr_lambdas == [half, half])


@family
def warnings(torch, log):
    """The schedule before the optimizer."""
    schedules = torch.optim.lr_scheduler
    optimizer = made(torch)
    schedule = schedules.ExponentialLR(optimizer, gamma=0.5)
    schedule.step()
    log("stepped", rates(optimizer))
    schedule.step()
    optimizer = made(torch)
    both = [schedules.StepLR(optimizer, 2), schedules.ExponentialLR(optimizer, gamma=0.5)]
    optimizer.step()
    for schedule in both:
        schedule.step()
    log("both", rates(optimizer), both[0].optimizer is optimizer)


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
        ("CosineAnnealingWarmRestarts", {"T_0": 0}),
        ("CosineAnnealingWarmRestarts", {"T_0": 1, "T_mult": 0}),
        ("ReduceLROnPlateau", {"factor": 1.0}),
        ("ReduceLROnPlateau", {"mode": "up"}),
        ("ReduceLROnPlateau", {"threshold_mode": "up"}),
        ("ReduceLROnPlateau", {"min_lr": [0.5]}),
        ("SequentialLR", {"schedulers": [], "milestones": []}),
        ("StepLR", {"step_size": 2, "last_epoch": 3}),
        ("StepLR", {"step_size": 2, "verbose": True}),
    ):
        kind = getattr(schedules, name)

        def attempt(kind=kind, options=options):
            return type(kind(made(torch), **options)).__name__

        log.raises(f"{name} {[*options]}", attempt)
    log.raises("no optimizer", lambda: schedules.StepLR(torch.nn.ReLU(), 2))
    log.raises("without momentum", lambda: schedules.OneCycleLR(adagrad, 1.0, total_steps=5))
    optimizer, other = made(torch), made(torch)
    step, foreign = schedules.StepLR(optimizer, 2), schedules.StepLR(other, 2)
    for label, parts, milestones in (
        ("too many milestones", [step], [2]),
        ("foreign", [step, foreign], [2]),
    ):
        log.raises(
            f"sequence: {label}",
            lambda p=parts, m=milestones: schedules.SequentialLR(optimizer, p, m),
        )
    short = schedules.OneCycleLR(made(torch), 1.0, total_steps=2)
    for _ in range(4):
        log.raises("one too many", short.step)
    base = schedules.LRScheduler
    log.raises("base", lambda: base(made(torch)))
