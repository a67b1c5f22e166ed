"""See every optimizer step by step, in every setting: parameters, state, printed form, loading."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()

SETTINGS = {
    "SGD": [
        {"momentum": 0.5, "dampening": 0.25, "weight_decay": 0.125, "maximize": True},
        {"lr": 0.25, "momentum": 0.75, "nesterov": True},
    ],
    "Adam": [
        {},
        {"lr": 0.125, "betas": (0.5, 0.75), "eps": 0.25, "weight_decay": 0.5, "maximize": True},
        {"lr": 0.125, "betas": (0.25, 0.5), "amsgrad": True},
        {"lr": 0.125, "weight_decay": 0.5, "decoupled_weight_decay": True},
    ],
    "AdamW": [
        {},
        {"lr": 0.125, "betas": (0.5, 0.75), "eps": 0.25, "weight_decay": 0.5, "maximize": True},
        {"lr": 0.125, "betas": (0.75, 0.875), "amsgrad": True, "weight_decay": 0},
    ],
    "RMSprop": [
        {},
        {"lr": 0.125, "alpha": 0.5, "centered": True, "eps": 0.25},
        {"lr": 0.125, "momentum": 0.5, "weight_decay": 0.25, "maximize": True},
        {"lr": 0.125, "momentum": 0.5, "centered": True, "alpha": 0.75},
    ],
    "Adagrad": [
        {},
        {"lr": 0.25, "lr_decay": 0.5, "initial_accumulator_value": 0.25},
        {"lr": 0.25, "weight_decay": 0.5, "eps": 0.25, "maximize": True},
    ],
    "Adadelta": [
        {},
        {"lr": 0.5, "rho": 0.5, "eps": 0.125, "weight_decay": 0.25, "maximize": True},
    ],
}
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")


def give_gradients(torch, parameters, step):
    """Give parameters the gradients of a step; every parameter a different one."""
    for index, parameter in enumerate(parameters):
        values = numbers(tuple(parameter.shape), 100 * step + index)
        parameter.grad = torch.tensor(values, dtype=parameter.dtype)


def made(torch, name, settings, dtype="float32"):
    """Make a matrix, a vector and a number to learn, one more without a gradient, and theirs."""
    kind = {"dtype": getattr(torch, dtype)}
    parameters = [leaf(torch, shape, 7 + i, **kind) for i, shape in enumerate([(2, 3), (2,), ()])]
    unused = leaf(torch, (1,), 11, **kind)
    optimizer = getattr(torch.optim, name)([*parameters, unused], **settings)
    return parameters, unused, optimizer


def add_steps(label, name, settings, dtype="float32"):
    """Make a scenario of five steps from given gradients."""

    def scenario(torch, log):
        parameters, unused, optimizer = made(torch, name, settings, dtype)
        for step in range(5):
            give_gradients(torch, parameters, step)
            before = [p.grad.tolist() for p in parameters]
            log(f"step {step}", optimizer.step(), *parameters)
            log("gradients stay", before == [p.grad.tolist() for p in parameters])
        log("unused", unused)
        log("state", *in_order(optimizer))
        log("versions", [p._version > 0 for p in (*parameters, unused)])
        log("leaves", [p.is_leaf and p.grad_fn is None for p in parameters])

    scenario.__doc__ = f"Five steps of {name} with {settings}, in {dtype}."
    family.add(label, scenario)


for _name, _all in SETTINGS.items():
    for _index, _settings in enumerate(_all):
        add_steps(f"{_name} {_index}", _name, _settings)
    add_steps(f"{_name} in float64", _name, _all[-1], "float64")


def in_order(optimizer):
    """Give the state, and the settings of each group in the order of their names."""
    saved = optimizer.state_dict()
    return saved["state"], [sorted(group.items()) for group in saved["param_groups"]]


@family
def printed(torch, log):
    """The printed form and the groups of each optimizer, as they are without settings."""
    for name in SETTINGS:
        optimizer = getattr(torch.optim, name)([leaf(torch, (1,), 1)])
        log(name, repr(optimizer), *in_order(optimizer), sorted(optimizer.defaults))


@family
def loading(torch, log):
    """A state dict goes on where it was left, in another optimizer and another dtype."""
    for name, settings in SETTINGS.items():
        parameters, _, optimizer = made(torch, name, settings[-1])
        for step in range(2):
            give_gradients(torch, parameters, step)
            optimizer.step()
        state = optimizer.state_dict()
        others, _, other = made(torch, name, {})
        with torch.no_grad():
            for own, saved in zip(others, parameters, strict=True):
                own.copy_(saved)
        other.load_state_dict(state)
        for each in (parameters, others):
            give_gradients(torch, each, 9)
        optimizer.step()
        other.step()
        same = [a.tolist() == b.tolist() for a, b in zip(parameters, others, strict=True)]
        log(name, same, repr(optimizer) == repr(other))
        wide, _, fitting = made(torch, name, {}, "float64")
        fitting.load_state_dict(state)
        kept = fitting.state_dict()["state"].get(0, {})
        # values in float32 that differ in their last bit are far apart for float64
        log("float64", {key: (str(v.dtype), list(v.shape)) for key, v in kept.items()})
        log("parameters stay", wide[0])


@family
def other_ways_of_stepping(torch, log):
    """foreach and fused give the same."""
    for name, settings in SETTINGS.items():
        for options in (
            {"foreach": True},
            {"fused": True},
        ):
            if "fused" in options and name not in FUSED:
                continue

            def attempt(name=name, settings=settings, options=options):
                parameters, _, optimizer = made(torch, name, {**settings[-1], **options})
                for step in range(2):
                    give_gradients(torch, parameters, step)
                    optimizer.step()
                return parameters[1]

            log.raises(f"{name} {options}", attempt)


@family
def rates_in_tensors(torch, log):
    """A learning rate in a tensor, changed between two steps."""
    for name in SETTINGS:
        rate = torch.tensor([0.25]) if name == "Adam" else torch.tensor(0.25)
        parameters, _, optimizer = made(torch, name, {"lr": rate})
        give_gradients(torch, parameters, 0)
        optimizer.step()
        rate.mul_(0.5)
        give_gradients(torch, parameters, 1)
        optimizer.step()
        log(name, parameters[0], optimizer.param_groups[0]["lr"] is rate)
        log.raises("two", lambda name=name: made(torch, name, {"lr": torch.tensor([1.0, 2.0])}))


@family
def a_decay_in_a_tensor(torch, log):
    """Weight decay kept in a tensor, which may require a gradient."""
    for needs_grad in (False, True):
        w = leaf(torch, (2,), 1)
        w.grad = leaf(torch, (2,), 2)
        decay = torch.tensor(0.5, requires_grad=needs_grad)
        optimizer = torch.optim.SGD([w], lr=0.5, weight_decay=decay, momentum=0.25)
        optimizer.step()
        log("stepped", w, *in_order(optimizer))
    log.raises("negative", lambda: torch.optim.SGD([w], weight_decay=torch.tensor(-0.5)))


@family
def bad_settings(torch, log):
    """What each optimizer refuses."""
    for name in SETTINGS:
        for settings in (
            {"lr": -1},
            {"lr": torch.tensor(-0.5)},
            {"eps": -1.0},
            {"betas": (-0.5, 0.5)},
            {"betas": (0.5, 1.0)},
            {"betas": (1.5, 1.0)},
            {"weight_decay": -0.5},
            {"momentum": -0.5},
            {"lr_decay": -0.5},
            {"initial_accumulator_value": -0.5},
            {"rho": 1.5},
            {"etas": (1.5, 2.0)},
            {"etas": (0.5, 0.75)},
        ):
            (setting,) = settings
            optimizer = getattr(torch.optim, name)
            if setting in optimizer.__init__.__code__.co_varnames:
                make = [leaf(torch, (1,), 1)]
                log.raises(f"{name} {setting}", lambda o=optimizer, p=make, s=settings: o(p, **s))


@family
def closures(torch, log):
    """Every step calls a closure with gradients on, and gives its loss back."""
    for name in SETTINGS:
        w = leaf(torch, (2,), 1)
        optimizer = getattr(torch.optim, name)([w])

        def closure(w=w, optimizer=optimizer):
            log("mode", torch.is_grad_enabled())
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            return loss

        with torch.no_grad():
            log(name, optimizer.step(closure).detach(), w.detach())


def bowl(w):
    """Give a loss with its lowest place at (1, 2), narrow along one axis."""
    return (w[0] - 1) ** 2 + 8 * (w[1] - 2) ** 2


def add_lbfgs(label, settings):
    """Make a scenario of three steps of LBFGS."""

    def scenario(torch, log):
        w = torch.nn.Parameter(torch.tensor([3.0, -1.0], dtype=torch.float64))
        unused = torch.nn.Parameter(torch.tensor([5.0], dtype=torch.float64))
        optimizer = torch.optim.LBFGS([w, unused], **settings)
        calls = []

        def closure():
            calls.append(torch.is_grad_enabled())
            optimizer.zero_grad()
            loss = bowl(w)
            loss.backward()
            return loss

        for _ in range(3):
            log("loss", optimizer.step(closure).detach(), w.detach(), len(calls))
        state = optimizer.state_dict()
        kept = state["state"][0]
        log("state", sorted(kept), kept["func_evals"], kept["n_iter"], len(kept["old_dirs"]))
        log("calls", all(calls), unused, state["param_groups"], list(state["state"]))

    scenario.__doc__ = f"Three steps of LBFGS with {settings}."
    family.add(label, scenario)


for _label, _settings in {
    "LBFGS": {"lr": 0.5, "max_iter": 3},
    "LBFGS that forgets": {"lr": 0.25, "max_iter": 4, "history_size": 2},
    "LBFGS with few evaluations": {"max_iter": 5, "max_eval": 3, "lr": 0.5},
}.items():
    add_lbfgs(_label, _settings)


@family
def lbfgs_errors(torch, log):
    """What LBFGS refuses."""
    w = leaf(torch, (2,), 1)
    log("printed", repr(torch.optim.LBFGS([w])))
    log.raises("groups", lambda: torch.optim.LBFGS([{"params": [w]}, {"params": [w * 1]}]))
    two = [{"params": [leaf(torch, (1,), 1)]}, {"params": [leaf(torch, (1,), 2)]}]
    log.raises("two groups", lambda: torch.optim.LBFGS(two))
    log.raises("rate", lambda: torch.optim.LBFGS([w], lr=-1))
