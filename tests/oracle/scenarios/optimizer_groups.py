"""See an optimizer's groups, its state dict, its printed form and what it refuses."""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module

from .tools import Family

family = Family()


def weight(torch, *values):
    """Make a parameter."""
    return torch.nn.Parameter(torch.tensor(values or (1.0, -2.0)))


def plain(group):
    """Give a group without its parameters, and their number."""
    return {k: v for k, v in group.items() if k != "params"}, len(group["params"])


def refuse(torch, log, label, make, **options):
    """Write down what making an SGD says, and the groups if it works."""

    def attempt():
        optimizer = torch.optim.SGD(make(), **{"lr": 0.5, **options})
        return [plain(group) for group in optimizer.param_groups]

    log.raises(label, attempt)


@family
def what_params_may_be(torch, log):
    """Iterables of tensors or of groups; what else is an error."""
    w, v = weight(torch), weight(torch, 3.0)
    result = w * 2
    kept = w * 2
    kept.retain_grad()
    for label, make in (
        ("a tensor", lambda: w),
        ("a plain tensor", lambda: torch.tensor([1.0])),
        ("empty", list),
        ("empty iterator", lambda: iter(())),
        ("iterator", lambda: iter((w, v))),
        ("tuple", lambda: (w, v)),
        ("a set", lambda: {w}),
        ("a dict", lambda: {"params": [w]}),
        ("a dict's values", lambda: OrderedDict(a=w, b=v).values()),
        ("numbers", lambda: [1.0]),
        ("None", lambda: [None]),
        ("just None", lambda: None),
        ("a number", lambda: 3),
        ("text", lambda: "ab"),
        ("mixed", lambda: [w, 3]),
        ("not a leaf", lambda: [result]),
        ("retains its gradient", lambda: [kept]),
        ("needs no gradient", lambda: [torch.tensor([1.0])]),
        ("integers", lambda: [torch.tensor([1])]),
        ("twice", lambda: [w, w]),
        ("groups", lambda: [{"params": [w], "lr": 0.25}, {"params": v, "more": 1}]),
        ("a group and a number", lambda: [{"params": [w]}, 3]),
        ("a tensor and a group", lambda: [w, {"params": [v]}]),
        ("shared", lambda: [{"params": [w]}, {"params": [v, w]}]),
        ("a group of a set", lambda: [{"params": {w}}]),
        ("an empty group", lambda: [{"params": []}]),
        ("an empty group and another", lambda: [{"params": []}, {"params": [w]}]),
        ("no params", lambda: [{"lr": 1.0}]),
        ("a group of one name", lambda: [{"params": ("a", w)}]),
        ("a group of an iterator", lambda: [{"params": iter([w, v])}]),
        ("an empty dict", dict),
    ):
        refuse(torch, log, label, make)


@family
def groups_are_added(torch, log):
    """add_param_group completes the very dict it is given, and refuses what does not fit."""
    w, v = weight(torch), weight(torch, 3.0)
    optimizer = torch.optim.SGD([w], lr=0.5)
    given = {"params": v, "momentum": 0.75}
    log("added", optimizer.add_param_group(given), optimizer.param_groups[1] is given)
    log("completed", plain(given))
    for label, group in (
        ("a list", [weight(torch)]),
        ("known", {"params": [w]}),
        ("known twice", {"params": [w, w]}),
        ("no params", {"lr": 1}),
        ("text", {"params": "ab"}),
        ("None", {"params": None}),
        ("a module", {"params": torch.nn.ReLU}),
        ("a result", {"params": [w * 2]}),
        ("required", {"params": [weight(torch)], "lr": None}),
    ):
        log.raises(label, lambda group=group: optimizer.add_param_group(group))
    log("groups", [plain(group) for group in optimizer.param_groups])


@family
def state_dicts(torch, log):
    """Parameters become numbers by place; state is shared when saved and copied when loaded."""
    w, v = weight(torch), weight(torch, 3.0)
    groups = [{"params": [w]}, {"params": [v], "lr": 0.125}]
    optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.5)
    log("new", optimizer.state_dict())
    w.grad, v.grad = torch.tensor([0.5, 0.25]), None
    optimizer.step()
    state = optimizer.state_dict()
    log("after a step", state, list(optimizer.state) == [w])
    buffer = optimizer.state[w]["momentum_buffer"]
    log("shared", state["state"][0]["momentum_buffer"] is buffer)
    log("a copy", state["param_groups"][0] is optimizer.param_groups[0])
    x, y = weight(torch), weight(torch, 3.0)
    other = torch.optim.SGD([{"params": [x]}, {"params": [y]}], lr=1)
    other.load_state_dict(state)
    log("loaded", other.state_dict(), type(other.state).__name__)
    log("shared", other.state[x]["momentum_buffer"] is buffer, state["param_groups"][0]["params"])
    other.load_state_dict({**state, "more": 1})
    single = torch.optim.SGD([w], lr=1)
    log.raises("other groups", lambda: single.load_state_dict(state))
    bigger = torch.optim.SGD([{"params": [w, v]}, {"params": [weight(torch)]}], lr=1)
    log.raises("other sizes", lambda: bigger.load_state_dict(state))
    log.raises("no dict", lambda: single.load_state_dict([1]))
    log.raises("empty", lambda: single.load_state_dict({}))
    log.raises("None", lambda: single.load_state_dict(None))
    log("untouched", plain(single.param_groups[0]))


@family
def state_is_cast(torch, log):
    """Loaded state takes the dtype of its parameter, inside containers too; other keys stay."""
    w = torch.nn.Parameter(torch.tensor([1.0, -2.0], dtype=torch.float64))
    optimizer = torch.optim.SGD([w], lr=0.5)
    state = optimizer.state_dict()
    state["state"] = {
        0: {
            "a": torch.tensor([1.0]),
            "step": torch.tensor(3.0),
            "whole": torch.tensor([2]),
            "list": [torch.tensor([3.0]), 1],
            "tuple": (torch.tensor([4.0]), 5),
            "dict": {"b": torch.tensor([6.0]), "n": None},
        },
        "other": torch.tensor([7.0]),
        9: {"unknown": torch.tensor([8.0])},
    }
    optimizer.load_state_dict(state)
    log("state", optimizer.state[w], optimizer.state["other"], optimizer.state[9])
    log("saved", optimizer.state_dict()["state"])
    whole = torch.optim.SGD([torch.tensor([1])], lr=0.5)
    whole.load_state_dict({**state, "state": {0: {"a": torch.tensor([1.0])}}})
    log("integers", whole.state_dict()["state"])


@family
def zeroing(torch, log):
    """zero_grad gives None, or zeros in place, and cuts a gradient off from its graph."""
    w, v = weight(torch), weight(torch, 3.0)
    optimizer = torch.optim.SGD([w, v], lr=0.5)
    ((w * 2) ** 2).sum().backward(create_graph=True)
    grad = w.grad
    log("with a graph", grad, optimizer.zero_grad(set_to_none=False))
    log("zeros", w.grad is grad, w.grad, v.grad)
    w.grad.requires_grad_()
    optimizer.zero_grad(False)
    log("needs none", w.grad)
    optimizer.zero_grad()
    log("None", w.grad, v.grad)


@family
def printed(torch, log):
    """The printed form lists the settings of each group by name."""
    optimizer = torch.optim.SGD([weight(torch)], lr=torch.tensor(0.5), momentum=0.25)
    log("one", repr(optimizer))
    optimizer.add_param_group({"params": weight(torch), "lr": 2, "note": "a note", "alpha": [1]})
    log("two", repr(optimizer), str(optimizer) == repr(optimizer))
    log("state", type(optimizer.state).__name__, dict(optimizer.state), optimizer.defaults)


@family
def options_of_sgd(torch, log):
    """What SGD refuses, and what it takes."""
    for label, options in (
        ("negative lr", {"lr": -1.0}),
        ("negative momentum", {"momentum": -1.0}),
        ("negative decay", {"weight_decay": -1.0}),
        ("nesterov alone", {"nesterov": True}),
        ("nesterov, dampening", {"nesterov": True, "momentum": 0.5, "dampening": 0.5}),
        ("negative tensor lr", {"lr": torch.tensor(-0.5)}),
        ("tensor lr", {"lr": torch.tensor([0.5, 0.25])}),
        ("tensor lr and foreach", {"lr": torch.tensor(0.5), "foreach": True}),
        ("lr as text", {"lr": "a"}),
        ("unknown", {"speed": 3}),
        ("zero", {"lr": 0}),
    ):
        refuse(torch, log, label, lambda: [weight(torch)], **options)


@family
def classes_of_ones_own(torch, log):
    """Optimizer itself has no step; a subclass with its own defaults, and one without any."""
    w = weight(torch)
    base = torch.optim.Optimizer([w], {"lr": 0.5})
    log("base", repr(base), base.state_dict())
    log.raises("step", lambda: base.step())
    log.raises("no defaults", lambda: torch.optim.Optimizer([w]))
    log("empty defaults", repr(torch.optim.Optimizer([w], {})))

    class Own(torch.optim.Optimizer):
        def __init__(self, params, speed=2.0):
            super().__init__(params, {"speed": speed})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                    p.sub_(group["speed"])

    own = Own([{"params": [w], "speed": 0.5}])
    log("step", own.step(), own.step(), w, own.state_dict())
    own.register_step_post_hook(lambda o, a, k: log("post", len(a), k))
    log("hooked", own.step(), repr(own))
    log("wrapped", Own.profile_hook_step(lambda self: 3)(own))


@family
def required_settings(torch, log):
    """A default may be `required`: then each group must say its own."""
    required = import_module(f"{torch.__name__}.optim.optimizer").required
    w = weight(torch)
    log.raises("missing", lambda: torch.optim.Optimizer([w], {"lr": required}))
    groups = [{"params": [w], "lr": 0.5}]
    optimizer = torch.optim.Optimizer(groups, {"lr": required, "momentum": 0})
    log("given", repr(optimizer), repr(required))
    log.raises("added without", lambda: optimizer.add_param_group({"params": [weight(torch)]}))
