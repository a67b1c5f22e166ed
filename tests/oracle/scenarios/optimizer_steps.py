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
